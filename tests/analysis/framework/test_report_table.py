"""`ReportTable`: rows as columns and back, and every way of taking some of them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, column, row
from clrevents.table.table import ColumnType, from_values, number_column


@row(at="time_ns")
class Item(Row):
    """A row."""

    time_ns: cells.Ns = column("When.")
    name: cells.CodeName | None = column("Its name.")
    handle: cells.Handle | None = column("Its handle.")
    share: cells.Number = column("How much.")
    words: tuple[cells.Word, ...] = column("Words.")


def item(time_ns: int, name: str | None = None, **more: Any) -> Item:
    values = {"process_id": 1, "lossy": False, "handle": None, "share": 0.5, "words": ()}
    return Item(**{**values, "time_ns": time_ns, "name": name, **more})


ITEMS = st.builds(
    item,
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.none() | st.text(max_size=5),
    process_id=st.none() | st.integers(0, 1 << 32),
    handle=st.none() | st.integers(0, (1 << 64) - 1),
    share=st.floats(allow_nan=False),
    words=st.lists(st.text(max_size=3), max_size=3).map(tuple),
    lossy=st.booleans(),
)
ROWS = st.lists(ITEMS, max_size=6)


def table(*items: Item) -> ReportTable[Item]:
    return ReportTable.of(Item, items)


@given(ROWS)
def test_rows_come_back_as_they_went_in(rows: list[Item]) -> None:
    held = ReportTable.of(Item, rows)
    assert (list(held), len(held)) == (rows, len(rows))
    assert [held[i] for i in range(-len(rows), len(rows))] == rows + rows
    assert pickle.loads(pickle.dumps(held)) == held
    assert [tuple(r["words"]) for r in held.rows()] == [one.words for one in rows]


@given(ROWS, st.data())
def test_taking_slicing_joining_and_sorting_are_those_of_lists(rows: list[Item], data: st.DataObject) -> None:
    held = ReportTable.of(Item, rows)
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5)) if rows else []
    assert list(held.take(np.array(places, dtype=np.int64))) == [rows[place] for place in places]
    low, high = sorted(data.draw(st.tuples(st.integers(-7, 7), st.integers(-7, 7))))
    assert list(held[low:high]) == rows[low:high]
    assert list(held[::-2]) == rows[::-2]
    assert list(ReportTable.joined(Item, [held, held[:1]])) == rows + rows[:1]
    for name in ("name", "time_ns", "words"):
        for descending in (False, True):
            known = sorted(
                (one for one in rows if getattr(one, name) is not None),
                key=lambda one: getattr(one, name),
                reverse=descending,
            )
            null = [one for one in rows if getattr(one, name) is None]
            assert list(held.sorted_by(name, descending)) == known + null


def test_equal_are_rows_of_one_class_with_equal_cells() -> None:
    @row(at="time_ns")
    class Other(Item):
        pass

    assert table(item(1, "a")) == table(item(1, "a"))
    assert table(item(1, "a")) != table(item(1, "b"))
    assert table(item(1)) != table(item(1), item(1))
    assert table() != ReportTable.of(Other, [])
    assert table() != []
    # However many parts it is made of.
    assert ReportTable.joined(Item, [table(item(1)), table(), table(item(2))]) == table(item(1), item(2))


@pytest.mark.parametrize("index", [2, -3])
def test_a_row_that_is_not_there_is_an_index_error(index: int) -> None:
    with pytest.raises(IndexError, match=f"row {index + 2 if index < 0 else index} of 2|row {index} of 2"):
        table(item(1), item(2))[index]


def test_columns_are_numpy_masked_where_null() -> None:
    held = table(item(1, handle=(1 << 64) - 1), item(2))
    assert held["time_ns"].tolist() == [1, 2]
    assert held["handle"].tolist() == [(1 << 64) - 1, None]
    assert held.numbers("handle", 7).tolist() == [(1 << 64) - 1, 7]
    assert held.numbers("handle", (1 << 64) - 2).tolist() == [(1 << 64) - 1, (1 << 64) - 2]
    with pytest.raises(KeyError):
        held.column("nothing")
    with pytest.raises(KeyError):
        held.sorted_by("nothing")


def values(count: int = 2, **changed: Any) -> dict[str, Any]:
    made = {"process_id": [None], "lossy": [False], "time_ns": [1], "name": ["a"], "handle": [3], "share": [0.5]}
    return {**{name: value * count for name, value in made.items()}, "words": [["w"]] * count, **changed}


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"odd": []}, "Item: missing or unexpected columns: odd"),
        ({"share": [0.5]}, "Item: columns of different lengths: .*share 1"),
        ({"time_ns": [1, None]}, r"time_ns has nulls, but was not declared with `\| None`"),
        ({"time_ns": from_values(ColumnType("int64"), [1, None])}, "time_ns has nulls"),
        ({"handle": number_column("int64", np.array([3, 3]))}, "handle is .*int64.*, and .*uint64.* was declared"),
    ],
)
def test_columns_that_are_not_those_declared_are_refused(changed: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ReportTable.from_columns(Item, values(**changed))


def test_its_text_shows_the_first_rows_with_units() -> None:
    assert repr(table()) == "<0 rows of Item: process_id, time_ns, name, handle, share, words, lossy>"
    shown = repr(table(*(item(10**6 * number, f"name {number}") for number in range(100)))).split("\n")
    assert shown[0] == "<100 rows of Item>"
    assert "99.0 ms" not in shown[-2]
    assert "name 5" in shown[7]
    assert len(shown) <= 25
    assert shown[-1].strip() == "20 of 100 rows of Item"


@pytest.mark.full
def test_it_is_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = table(item(1, "a"), item(2)).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert (frame["time_ns"].tolist(), frame["name"].isna().tolist()) == ([1, 2], [False, True])


def test_sums_beyond_64_bits_are_the_nearest_that_there_are() -> None:
    made = ReportTable.of(Item, [item(1 << 70), item(-(1 << 70), handle=1 << 70)])
    assert made.column("time_ns").tolist() == [(1 << 63) - 1, -(1 << 63)]
    assert made.column("handle").tolist() == [None, (1 << 64) - 1]
