"""Tables of plain rows: the annotations of a class give the columns."""

from __future__ import annotations

import attrs
import pyarrow as pa
import pytest

from clrevents.schema.runtime_flags import OptimizationTier
from clrevents.table.table import UInt64, plain, row_table


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
