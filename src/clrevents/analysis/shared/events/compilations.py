"""Compilations of methods: from where the JIT began to where the code was loaded, as arrays, one value each.

Knows the events of methods being compiled and loaded, and what happens inside of them; names and sums are up to the
caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered, matched
from clrevents.analysis.gathering.groups import NONE, either, picked
from clrevents.schema.method_flags import MethodFlags

Ints: TypeAlias = NDArray[np.int64]
Array: TypeAlias = NDArray[Any]


@frozen(eq=False)
class Compilations:
    """One value for each compilation, in order of time; `precompiled` counts loads of code that was there before.

    `begin` and `load` are rows of the events of that side (all loads concatenated), -1 without one. Places count all
    events gathered; a compilation without a start or an end spans nothing.
    """

    begin: Ints
    load: Ints
    start_place: Ints
    end_place: Ints
    start_ns: Ints
    end_ns: Ints
    thread: NDArray[np.uint64]
    method_id: NDArray[np.uint64]
    precompiled: int

    def __len__(self) -> int:
        return len(self.begin)


def compilations(begins: Gathered, loads: Sequence[Gathered]) -> Compilations:
    """Of MethodJittingStarted, and the loads of both kinds that belong to one or stand alone."""
    jitted = (column(loads, "MethodFlags").astype(np.int64) & int(MethodFlags.Jitted)) > 0
    first, second = matched([begins], loads, ("thread_id", "MethodID"))
    end_of = np.full(len(begins), NONE, dtype=np.int64)
    end_of[first] = second
    alone = jitted.copy()
    alone[second] = False
    begin = np.concatenate((np.arange(len(begins)), np.full(int(alone.sum()), NONE)))
    load = np.concatenate((end_of, np.flatnonzero(alone)))
    load_places = np.concatenate([rows.places for rows in loads])
    start, end = picked(begins.places, begin), picked(load_places, load)
    order = np.argsort(np.where(begin == NONE, end, start), kind="stable")
    begin, load, start, end = begin[order], load[order], start[order], end[order]
    known = begin != NONE

    def of_either(name: str) -> Array:
        return either(begins.numbers(name), begin, column(loads, name), load)

    return Compilations(
        begin,
        load,
        np.where(known, start, end),
        np.where(load != NONE, end, start),
        np.where(known, picked(begins.numbers("time_ns"), begin), NONE),
        np.where(load != NONE, picked(column(loads, "time_ns"), load), NONE),
        of_either("thread_id").astype(np.uint64),
        of_either("MethodID").astype(np.uint64),
        int((~jitted).sum()),
    )


def column(parts: Sequence[Gathered], name: str) -> Array:
    """A column of numbers of several events, concatenated."""
    return np.concatenate([rows.numbers(name) for rows in parts])


def inside(made: Compilations, threads: NDArray[np.uint64], places: Ints) -> Ints:
    """The innermost compilation that each event, by thread and place, lies in; -1 for none."""
    if not len(made):
        return np.full(len(places), NONE, dtype=np.int64)
    order = np.lexsort((made.start_place, made.thread))
    thread, start, end = made.thread[order], made.start_place[order], made.end_place[order]
    parent = _parents(thread.tolist(), start.tolist(), end.tolist())
    low, high = np.searchsorted(thread, threads, side="left"), np.searchsorted(thread, threads, side="right")
    # One search for all threads: each has its own stretch of numbers.
    reach = int(max(end.max(), places.max(initial=0))) + 1
    number = np.cumsum(np.append(False, thread[1:] != thread[:-1]))
    mine = np.where(low < high, number[np.minimum(low, len(number) - 1)], 0)
    at = np.searchsorted(number * reach + start, mine * reach + places, side="right") - 1
    at = np.where((low < high) & (at >= low), at, NONE)
    while len(over := np.flatnonzero((at != NONE) & (end[at] < places))):
        at[over] = parent[at[over]]
    return np.where(at == NONE, NONE, order[at])


def _parents(thread: list[int], start: list[int], end: list[int]) -> Ints:
    """The compilation around each one; a type's initializer may be compiled while a method is."""
    open_: list[int] = []
    found = []
    for row, begins in enumerate(start):
        while open_ and (thread[open_[-1]] != thread[row] or end[open_[-1]] < begins):
            open_.pop()
        found.append(open_[-1] if open_ else NONE)
        open_.append(row)
    return np.array(found, dtype=np.int64)
