"""Located values of one payload, which may all point at the same bytes: as many elements as its size allows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import clrevents
from clrevents import RawPayload
from costly import located_array, located_fields, located_in_order

pytestmark = pytest.mark.full

SIZES = (250, 500, 1000)


def elements(value: object) -> int:
    """How many numbers there are in a value, however deep."""
    if isinstance(value, RawPayload):
        return sum(map(elements, value.partial.values()))
    if isinstance(value, tuple | list | dict):
        return sum(map(elements, value.values() if isinstance(value, dict) else value))
    return 1


@pytest.mark.parametrize("make", [located_fields, located_array])
@pytest.mark.parametrize("n", SIZES)
def test_fields_that_share_their_bytes(make: Callable[[int, int], bytes], n: int) -> None:
    data = make(n, 60_000)
    with clrevents.open(data) as trace:
        (event,) = trace.events()
        (problem,) = trace.problems
    assert isinstance(event.payload, RawPayload)
    assert elements(event.payload) <= 9 * len(data)
    assert (problem.kind, problem.severity) == ("short-payload", "payload")
    assert "located values overlap more than 8 times" in problem.message


def test_an_array_of_all_the_budget_allows() -> None:
    with clrevents.open(located_array(8, 60_000)) as trace:
        (event,) = trace.events()
    assert event.payload["x"] == ((0,) * 60_000,) * 8


@pytest.mark.parametrize("n", SIZES)
def test_fields_with_bytes_of_their_own_are_read(n: int) -> None:
    with clrevents.open(located_in_order(n, 20)) as trace:
        (event,) = trace.events()
        assert not trace.problems
    assert elements(clrevents.asdict(event.payload)) == 20 * n


def test_equal_short_values_may_be_stored_once() -> None:
    with clrevents.open(located_fields(60, 60)) as trace:
        (event,) = trace.events()
    assert elements(clrevents.asdict(event.payload)) == 60 * 60
