"""Tables of plain rows: the annotations of a class give the columns."""

from __future__ import annotations

import pickle

import attrs
import numpy as np
import pyarrow as pa
import pytest

from clrevents.schema.runtime_flags import OptimizationTier
from clrevents.table.arrow import arrow_array
from clrevents.table.table import UInt64, deferred_column, plain, row_table


@attrs.frozen
class Inner:
    a: int
    b: tuple[int, ...]


@attrs.frozen
class Row:
    number: int
    address: UInt64
    share: float
    name: str
    good: bool
    tier: OptimizationTier
    names: tuple[str, ...]
    later: int | None = None
    told: OptimizationTier | None = None
    end_address: UInt64 | None = None
    inner: Inner | None = attrs.field(default=None, metadata={"table": False})


ROW = Row(-1, (1 << 64) - 1, 0.5, "é", True, OptimizationTier.QuickJitted, ("a", "b"), None, None, None, Inner(1, (2,)))
VALUES = {
    "number": -1,
    "address": (1 << 64) - 1,
    "share": 0.5,
    "name": "é",
    "good": True,
    "tier": "QuickJitted",
    "names": ["a", "b"],
    "later": None,
    "told": None,
    "end_address": None,
}


def test_values_and_types() -> None:
    table = row_table(Row, [ROW], {"name": "rows"})
    assert list(table.rows()) == [VALUES]
    assert {f.name: (str(f.type), f.nullable) for f in table.fields} == {
        "number": ("int64", False),
        "address": ("uint64", False),
        "share": ("float64", False),
        "name": ("string", False),
        "good": ("bool", False),
        "tier": ("string", False),
        "names": ("list<string>", False),
        "later": ("int64", True),
        "told": ("string", True),
        "end_address": ("uint64", True),
    }
    assert [f.name for f in table.fields if f.address] == ["address", "end_address"]
    assert table.metadata == {"name": "rows"}


@pytest.mark.full
def test_libraries_take_it() -> None:
    table = row_table(Row, [ROW, ROW])
    assert table.to_arrow().schema.field("names").type == pa.list_(pa.string())
    assert table.to_pandas()["address"].tolist() == [(1 << 64) - 1] * 2
    assert table.to_polars()["tier"].to_list() == ["QuickJitted"] * 2


def test_no_rows() -> None:
    table = row_table(Row, [])
    assert len(table) == 0
    assert table.columns == list(VALUES)


def test_plain_values() -> None:
    assert plain(ROW) == {**VALUES, "inner": {"a": 1, "b": [2]}}
    assert plain({OptimizationTier.QuickJitted: (1,)}) == {"QuickJitted": [1]}


@attrs.frozen
class Named:
    name: str


def test_halves_of_surrogate_pairs() -> None:
    """Text of a trace may have them, and UTF-8 cannot. Two halves that belong together are one sign."""
    table = row_table(Named, map(Named, ("a\ud800b", "\ud83d\ude00", "\U0001f600", "é")))
    assert table.to_arrow()["name"].to_pylist() == ["a\ufffdb", "\U0001f600", "\U0001f600", "é"]


def test_texts_are_made_when_they_are_asked_for() -> None:
    asked: list[int] = []

    def text(place: int) -> str:
        asked.append(place)
        return f"text {place}"

    column = deferred_column(1000, text, np.array([5, -1, 7, 5]))
    assert column.take(np.array([0, 1, 3])).tolist() == ["text 5", None, "text 5"]
    # One more stands for what is null.
    assert asked == [5, 7]
    for whole in (column, pickle.loads(pickle.dumps(column))):
        assert whole.tolist() == arrow_array(whole).to_pylist() == ["text 5", None, "text 7", "text 5"]
    assert deferred_column(9, text, np.array([-1, -1])).tolist() == [None, None]
