"""Clocks of two recordings: whatever threads did, the true distance is never excluded, and stays near the middle."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clrevents.trace.alignment import edges_between

TURNS = st.lists(st.integers(1_000, 400_000), min_size=6, max_size=40)
"""Of one thread: how long it was on and off its processor, in turn."""


def times(turns: list[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    moments = np.cumsum([0, *turns]).tolist()
    spans = list(pairwise(moments))
    return spans[::2], spans[1::2]


@given(st.lists(TURNS, min_size=1, max_size=4), st.integers(-900_000, 900_000), st.data())
def test_the_true_distance_is_inside(threads: list[list[int]], distance: int, data: st.DataObject) -> None:
    written: list[tuple[int, int]] = []
    away: list[tuple[int, int, int]] = []
    for thread, turns in enumerate(threads):
        on, off = times(turns)
        away += [(thread, start, end) for start, end in off]
        for start, end in on:
            inside = st.integers(start + 1, end - 1)
            written += [(m - distance, thread) for m in data.draw(st.lists(inside, max_size=3))]
    columns: Any = [np.array(column, dtype=np.int64) for column in zip(*away, strict=True)]
    moments: Any = np.array([m for m, _ in written], dtype=np.int64)
    edges = edges_between(moments, np.array([t for _, t in written], dtype=np.int64), *columns)
    assert not len(edges.depths(distance))
    low, high = edges.best()
    assert low < high
    # Some other distance may fit as well, but none fits better than the true one.
    assert not len(edges.depths((low + high) // 2))


def test_edges_on_both_sides_leave_little_room() -> None:
    """Each turn ends with an event just before, and begins with one just after, as those of the sample profiler."""
    start = np.arange(100, dtype=np.int64) * 1_000_000 + np.arange(100) ** 2 * 137
    end = start + 700_000
    moments = np.concatenate((start[1:] - 3_000, end + 5_000))
    edges = edges_between(moments - 250_000, np.zeros(len(moments), dtype=np.int64), np.zeros_like(start), start, end)
    assert edges.best() == (250_000 - 5_000, 250_000 + 3_000)
    assert edges.depths(260_000).tolist() == [7_000] * 99
