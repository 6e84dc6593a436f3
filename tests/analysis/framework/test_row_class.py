"""Row classes: what their columns are, and that everything which is wrong with one is said at once."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import attrs
import pytest

from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.cells import CELLS, column_of
from clrevents.analysis.framework.vocabulary.report_table import (
    Row,
    RowShape,
    SpanRow,
    column,
    columns_of,
    hidden_columns,
    row,
    shape_of,
    windowed_columns,
)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Good(SpanRow):
    """A row."""

    start_ns: cells.Ns = column("When it began.")
    end_ns: cells.Ns | None = column("When it ended.")
    thread_id: cells.ThreadId = column("Whose it is.")
    parts: tuple[cells.CodeName, ...] = column("Names.", hidden=True, windowed=True)


def test_columns_stand_as_declared_between_process_and_marks() -> None:
    assert [c.name for c in columns_of(Good)] == [
        "process_id",
        "start_ns",
        "end_ns",
        "thread_id",
        "parts",
        "clipped",
        "lossy",
    ]
    by_name = {c.name: c for c in columns_of(Good)}
    assert (by_name["end_ns"].nullable, by_name["start_ns"].nullable) == (True, False)
    assert (by_name["parts"].many, by_name["parts"].type.kind) == (True, "list")
    assert by_name["thread_id"].type.kind == "uint64"
    assert hidden_columns(Good) == windowed_columns(Good) == {"parts"}
    assert shape_of(Good) == RowShape(("start_ns", "end_ns"), None, None, ("thread_id",))


def test_rows_are_frozen_and_equal_by_value() -> None:
    made = Good(process_id=1, lossy=False, clipped=False, start_ns=1, end_ns=None, thread_id=2, parts=("a",))
    assert made == attrs.evolve(made)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        made.start_ns = 2  # type: ignore[misc]


def test_a_class_that_extends_rows_lies_in_time_as_they_do() -> None:
    @row
    class More(Good):
        size: cells.Bytes = column("How large.")

    @row(span=("start_ns", "end_ns"))
    class Other(Good):
        pass

    assert shape_of(More) == shape_of(Good)
    assert [c.name for c in columns_of(More)][-3:] == ["size", "clipped", "lossy"]
    assert shape_of(Other).threads == ()


class _Kind(IntEnum):
    ONE = 1


@row(span=("start_ns", "gone"), at="size", threads=("many", "size"))
class Wrong(Row):
    """Everything is wrong."""

    plain: int = column("Not a cell.")
    kind: _Kind = column("Not a cell either.")
    anything: Any = column("Nor that.")
    both: cells.Ns | cells.Bytes = column("Two at once.")
    undescribed: cells.Ns = column("")
    fragment: cells.Ns = column("without an end")
    start_ns: cells.Ns = column("When.")
    size: cells.Bytes = column("How large.")
    many: tuple[cells.ThreadId, ...] = column("Threads.")


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(TypeError) as caught:
        columns_of(Wrong)
    text = str(caught.value)
    for part in (
        "Wrong: ",
        "plain: <class 'int'> is not a cell type; use one of Ns, DurationNs, ",
        "kind: ",
        "anything: typing.Any is not a cell type",
        "both: ",
        "undescribed: describe it",
        "fragment: describe it",
        "gone: the shape of Wrong names this column, which is not there",
        "Wrong has a span and no column `clipped`: extend SpanRow",
        "Wrong has more than one of span, at and since",
        "size: the shape of Wrong needs one time there",
        "size: the shape of Wrong needs one thread there",
        "many: the shape of Wrong needs one thread there",
    ):
        assert part in text
    assert "start_ns:" not in text


def test_rows_that_may_be_clipped_say_what_their_span_is() -> None:
    @row
    class Spanless(SpanRow):
        start_ns: cells.Ns = column("When.")

    with pytest.raises(TypeError, match="Spanless extends SpanRow: say which columns are its span"):
        columns_of(Spanless)


@pytest.mark.parametrize(
    ("hint", "kind", "nullable", "many"),
    [
        (cells.Ns, "int64", False, False),
        (cells.Address | None, "uint64", True, False),
        (tuple[cells.Word, ...], "list", False, True),
        (tuple[cells.Count, ...] | None, "list", True, True),
    ],
)
def test_an_annotation_is_a_column(hint: Any, kind: str, nullable: bool, many: bool) -> None:
    found = column_of("x", hint, "It.")
    assert (found.type.kind, found.nullable, found.many) == (kind, nullable, many)


def test_every_cell_is_described_and_has_a_type_that_tables_have() -> None:
    for name, cell in CELLS.items():
        assert name == cell.name
        assert cell.meaning
        assert cell.kind in ("int64", "uint64", "int32", "float64", "bool", "string")
        assert cell.privacy in ("public", "code", "private")


def test_a_row_for_each_text_is_of_a_private_one() -> None:
    @row(text="name")
    class Wrong(Row):
        name: cells.CodeName = column("A name.")

    with pytest.raises(TypeError, match="name: the shape of Wrong needs private texts there"):
        columns_of(Wrong)
