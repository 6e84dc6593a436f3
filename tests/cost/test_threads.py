"""Sequence points with any number of threads: memory in proportion to their bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest

import clrevents
from clrevents.encode.values import ThreadRow
from costly import many_threads, many_threads_of_four
from counting import peak
from in_memory import six

SIZES = (10_000, 20_000, 40_000)
pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def read(data: bytes, limits: clrevents.Limits | None = None) -> None:
    with clrevents.open(data, errors="salvage", limits=limits or clrevents.Limits()) as trace:
        for _ in trace.events():
            pass


def removed_threads(n: int) -> bytes:
    return six(lambda w: w.remove_threads((i, 1) for i in range(n)))


def threads(n: int) -> bytes:
    return six(lambda w: w.threads([ThreadRow(i) for i in range(n)]))


def growth(make: Callable[[int], bytes], limits: clrevents.Limits | None = None) -> list[float]:
    """How much memory reading takes for each byte more, from size to size, the input not counted."""
    streams = [make(n) for n in SIZES]
    # What is loaded once for any trace.
    read(many_threads(1))
    peaks = [peak(partial(read, data, limits)) for data in streams]
    return [(b - a) / (len(y) - len(x)) for (x, a), (y, b) in pairwise(zip(streams, peaks, strict=True))]


@pytest.mark.parametrize("make", [many_threads, removed_threads])
def test_threads_that_have_no_rows(make: Callable[[int], bytes]) -> None:
    assert all(each < 16 for each in growth(make))


@pytest.mark.parametrize("make", [threads, many_threads_of_four])
def test_threads_beyond_the_limit(make: Callable[[int], bytes]) -> None:
    assert all(each < 6 for each in growth(make, clrevents.Limits(threads=1000)))
