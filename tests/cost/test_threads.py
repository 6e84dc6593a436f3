"""Sequence points with any number of threads: memory in proportion to their bytes."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import pytest

import clrevents
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import ThreadRow
from costly import many_threads, many_threads_of_four

SIZES = (10_000, 20_000, 40_000)
pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def peak(data: bytes, limits: clrevents.Limits | None = None) -> int:
    """The most memory in use while all events are read, the input not counted."""
    # What is loaded once for any trace.
    sum(1 for _ in clrevents.open(many_threads(1)).events())
    tracemalloc.start()
    try:
        with clrevents.open(data, errors="salvage", limits=limits or clrevents.Limits()) as trace:
            for _ in trace.events():
                pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def removed_threads(n: int) -> bytes:
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink)
    writer.remove_threads((i, 1) for i in range(n))
    writer.end()
    return sink.getvalue()


def threads(n: int) -> bytes:
    sink = io.BytesIO()
    writer = NetTrace6Writer(sink)
    writer.threads([ThreadRow(i) for i in range(n)])
    writer.end()
    return sink.getvalue()


def growth(make: Callable[[int], bytes], limits: clrevents.Limits | None = None) -> list[float]:
    """How much memory each byte more takes, from size to size."""
    streams = [make(n) for n in SIZES]
    peaks = [peak(data, limits) for data in streams]
    return [(b - a) / (len(y) - len(x)) for (x, a), (y, b) in pairwise(zip(streams, peaks, strict=True))]


@pytest.mark.parametrize("make", [many_threads, removed_threads])
def test_threads_that_have_no_rows(make: Callable[[int], bytes]) -> None:
    assert all(each < 16 for each in growth(make))


@pytest.mark.parametrize("make", [threads, many_threads_of_four])
def test_threads_beyond_the_limit(make: Callable[[int], bytes]) -> None:
    assert all(each < 6 for each in growth(make, clrevents.Limits(threads=1000)))
