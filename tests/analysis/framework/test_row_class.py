"""Row classes: what their columns are, and that those of all reports are sound."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import attrs
import pytest

from clrevents import analysis
from clrevents.analysis.framework.model.declaration import parameters_of
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.listing import report_names
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


def unsound(row_class: type[Any]) -> set[str]:
    """The columns of a class that lack a sentence, or that its shape names and cannot."""
    columns = {column.name: column for column in columns_of(row_class)}
    shape = shape_of(row_class)
    span, tree = shape.span or (), shape.tree
    wrong = {name for name, column in columns.items() if not column.description.endswith(".")}
    wrong |= {name for name in (tree.depth, tree.name, tree.weight) if name not in columns} if tree else set()
    for cell, names in (("time", (*span, shape.at, shape.since)), ("thread", shape.threads)):
        for name in filter(None, names):
            if name not in columns or columns[name].cell.name != cell or columns[name].many:
                wrong.add(name)
    if shape.text and (shape.text not in columns or columns[shape.text].cell.privacy != "private"):
        wrong.add(shape.text)
    if ("clipped" in columns and row_class is not SpanRow) != bool(span):
        wrong.add("clipped")
    if [bool(span), bool(shape.at), bool(shape.since)].count(True) > 1:
        wrong.add("at")
    return wrong


def test_all_row_classes_are_sound() -> None:
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages(analysis.__path__, "clrevents.analysis.")]
    classes = {
        value
        for m in modules
        for value in vars(m).values()
        if isinstance(value, type) and hasattr(value, "__row_shape__")
    }
    assert len(classes) > 80
    assert {c.__name__: wrong for c in classes if (wrong := unsound(c))} == {}


@pytest.mark.parametrize("name", report_names())
def test_all_parameters_are_described(name: str) -> None:
    assert all(one.description.endswith(".") for one in parameters_of(find_report(name).parameters))


@row(span=("start_ns", "gone"), at="size", threads=("many", "size"), text="code")
class Wrong(Row):
    """Everything is wrong."""

    fragment: cells.Ns = column("without an end")
    start_ns: cells.Ns = column("When.")
    size: cells.Bytes = column("How large.")
    many: tuple[cells.ThreadId, ...] = column("Threads.")
    code: cells.CodeName = column("A name.")


def test_what_is_unsound_is_found() -> None:
    assert unsound(Wrong) == {"fragment", "gone", "size", "many", "code", "clipped", "at"}


@pytest.mark.parametrize("hint", [int, Any, cells.Ns | cells.Bytes])
def test_what_is_no_cell_is_no_column(hint: Any) -> None:
    with pytest.raises(TypeError, match=r"^x: .* is not a cell type; use one of Ns, DurationNs, "):
        column_of("x", hint, "It.")


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
