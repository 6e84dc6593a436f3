"""Fields with equal names: each name is compared a bounded number of times until it is unique."""

from __future__ import annotations

from typing import Any

import pytest

import clrevents
from clrevents.schema.dynamic import ClassCache, FieldDescription, Variant
from clrevents.schema.layout import Layout
from clrevents.table.event_schema import unique_name
from costly import equal_names

pytestmark = pytest.mark.full

SIZES = (500, 1000, 2000)


def learned(*names: str) -> Layout:
    layout = ClassCache(10).layout(tuple(FieldDescription(name, 6) for name in names), Variant())
    assert layout is not None
    return layout


def test_names_that_are_numbered_already() -> None:
    layout = learned("x", "x (2)", "x", "x (2)", "x", "x (3)")
    assert [field.name for field in layout.fields] == ["x", "x (2)", "x (3)", "x (2) (2)", "x (4)", "x (3) (2)"]


@pytest.mark.parametrize("n", SIZES)
def test_equal_names_of_columns(n: int) -> None:
    tried: list[Any] = []

    class Taken(dict[str, int]):
        def __contains__(self, name: object) -> bool:
            tried.append(name)
            return super().__contains__(name)

    taken = Taken(time=2)
    found = [unique_name(name, taken) for name in ["Time", *("ab", "AB", "aB", "Ab") * (n // 4)]]
    assert found[:5] == ["payload.Time", "ab", "payload.AB", "payload.aB (2)", "payload.Ab (3)"]
    assert len({name.lower() for name in found}) == n + 1
    assert len(tried) <= 4 * n


@pytest.mark.parametrize("n", SIZES)
def test_a_trace_with_equal_names(n: int) -> None:
    with clrevents.open(equal_names(n)) as trace:
        (event,) = trace.events()
        table = trace.table("E")
    assert list(clrevents.asdict(event.payload)) == ["x", *(f"x ({i})" for i in range(2, n + 1))]
    assert event.payload[f"x ({n})"] == 0
    assert table[f"x ({n})"].tolist() == [0]
