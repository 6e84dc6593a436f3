"""Which code is at an address: as many steps with ranges that claim everything as without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clrevents
from clrevents.symbols.lifetimes import EARLY, FOUND, UNDECIDED, Lifetimes, Ranges
from costly import vast_method
from counting import operations

SIZES = (250, 500, 1000)
SAMPLES = 40


def frames(methods: int) -> int:
    """The number of operations for the frames of samples above many small methods."""
    with clrevents.open(vast_method(methods, SAMPLES)) as trace:
        assert len(trace.methods) == methods + 1
        events = list(trace.events("ThreadSample"))
        reasons: set[str | None] = set()

        def run() -> None:
            reasons.update(frame.reason for event in events for frame in event.frames)

        count = operations(run)
    # The small methods showed that the vast one was gone.
    assert reasons == {"unloaded"}
    return count


def test_a_method_that_claims_everything() -> None:
    small, *larger = (frames(n) / SAMPLES for n in SIZES)
    assert all(count < small + 100 for count in larger)


def of(
    ranges: list[tuple[int, int, int, int]], spaces: list[int] | None = None, processes: tuple[int, ...] = (-1,)
) -> Ranges:
    """An index of ranges (start, size, begin, end), each in one of the spaces of `processes`."""
    every = sorted(
        zip(spaces or [0] * len(ranges), ranges, strict=True), key=lambda each: (each[0], each[1][0], each[1][2])
    )
    start, size, begin, end = np.array([each for _, each in every], dtype=np.int64).reshape(-1, 4).T
    none = np.zeros(len(ranges), dtype=np.int64)
    space = np.array([number for number, _ in every], dtype=np.int64)
    made = Lifetimes(space, start.astype(np.uint64), size.astype(np.uint64), begin, end, none, none, none, none)
    return Ranges(made, processes)


def found(index: Ranges, addresses: list[int], time: int | None) -> list[int]:
    times = None if time is None else np.full(len(addresses), time)
    places, outcome = index.find(np.array(addresses, dtype=np.uint64), times)
    assert ((places >= 0) == (outcome == FOUND)).all()
    return list(places.tolist())


def outcomes(index: Ranges, addresses: list[int], time: int) -> list[int]:
    answer: list[int] = index.find(np.array(addresses, dtype=np.uint64), np.full(len(addresses), time))[1].tolist()
    return answer


def examined(index: Ranges, addresses: list[int], time: int) -> int:
    """How many pairs of an address and a range that claims it are looked at."""
    looked = 0
    alive = index._one_alive

    def counting(group: Any, asked: Any, time_ns: Any) -> Any:
        nonlocal looked
        looked += 1
        return alive(group, asked, time_ns)

    index._one_alive = counting  # type: ignore[method-assign]
    outcomes(index, addresses, time)
    return looked


a_range = st.tuples(st.integers(0, 60), st.integers(1, 40), st.integers(0, 9), st.integers(1, 5)).map(
    lambda r: (r[0], r[1], r[2], r[2] + r[3])
)


@settings(max_examples=200, deadline=None)
@given(st.lists(a_range, min_size=1, max_size=40, unique_by=lambda r: r[0]), st.integers(0, 14))
def test_the_nearest_start_below_that_was_there(ranges: list[tuple[int, int, int, int]], time: int) -> None:
    addresses = list(range(105))
    ranges.sort()

    def there(address: int, time: int | None) -> int:
        fits = [
            place
            for place, (start, size, begin, end) in enumerate(ranges)
            if start <= address < start + size and (time is None or begin <= time < end)
        ]
        return max(fits, default=-1)

    index = of(ranges)
    assert found(index, addresses, time) == [there(address, time) for address in addresses]
    assert found(index, addresses, None) == [there(address, None) for address in addresses]
    # A few are looked for in another way than many.
    assert [place for a in addresses for place in found(index, [a], time)] == found(index, addresses, time)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(a_range, st.integers(0, 2)), max_size=40, unique_by=lambda r: (r[1], r[0][0], r[0][2])),
    st.one_of(st.none(), st.integers(0, 14)),
    st.sampled_from([None, -1, 3, 5, 7]),
)
def test_one_address_is_found_as_many_are(
    ranges: list[tuple[tuple[int, int, int, int], int]], time: int | None, process: int | None
) -> None:
    # Ranges with the same start follow each other in time, as lifetimes do.
    follow: dict[tuple[int, int], int] = {}
    for place, ((start, size, begin, end), space) in enumerate(ranges):
        moved = max(0, follow.get((space, start), 0) - begin)
        ranges[place] = (start, size, begin + moved, end + moved), space
        follow[space, start] = end + moved
    index = of([each for each, _ in ranges], [space for _, space in ranges], (-1, 3, 5))
    addresses = list(range(105))
    times = None if time is None else np.full(len(addresses), time)
    places, outcome = index.find(np.array(addresses, dtype=np.uint64), times, process)
    one_by_one = [index.find_one(address, time, process) for address in addresses]
    assert one_by_one == list(zip(places.tolist(), outcome.tolist(), strict=True))


@pytest.mark.parametrize("n", SIZES)
def test_ranges_of_other_times_around_each_address(n: int) -> None:
    index = of([(16 * i, 1 << 20, 1000, 2000) for i in range(n)])
    # What all queries together have for such ranges is used up.
    count = operations(lambda: [found(index, [16 * n + i], 5) for i in range(60_000 // n)])
    assert count > 10_000
    assert operations(lambda: found(index, [16 * n + 7], 5)) < 1000
    # Then the answer says that it is none; whoever is near is found all the same.
    assert outcomes(index, [16 * n + 7, 4], 5) == [UNDECIDED, EARLY]
    assert index.find_one(16 * n + 7, 5) == (-1, UNDECIDED)
    assert operations(lambda: index.find_one(16 * n + 7, 5)) < 500
    assert found(index, [16 * n + 7], 1500) == [n - 1]


@pytest.mark.parametrize("n", SIZES)
def test_many_queries_share_what_is_examined(n: int) -> None:
    ranges = [(16 * i, 1 << 20, 1000, 2000) for i in range(n)]
    for queries in (1, 100):
        index = of(ranges)
        looked = examined(index, [16 * n + i for i in range(queries)], 5)
        assert looked <= 10_000 + 8 * n + 4 * queries
    # One query alone may look at all of them, and is sure.
    assert outcomes(of(ranges), [16 * n], 5) == [EARLY]
    assert of(ranges).find_one(16 * n, 5) == (-1, EARLY)


@pytest.mark.parametrize("n", SIZES)
def test_ranges_with_the_same_start(n: int) -> None:
    index = of([(64, 1 << 20, 0, 1), *((64, 8, 10 * i, 10 * i + 5) for i in range(1, n))])
    assert found(index, [80], None) == [0]
    assert found(index, [70], None) == [n - 1]
    assert operations(lambda: found(index, [80], None)) < 500
