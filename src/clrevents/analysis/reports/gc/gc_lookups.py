"""What parameters look up: where threads were before slow suspensions, and what was pinned or had a finalizer.

A sample before a suspension is a hint at which thread was late, and no proof. An object that is pinned lies where it
was allocated, in the first collection after that: where an allocation tick has its address, the tick's stack is the
allocation of this very object. Finalizers are known by their type only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import Array, Ints, groups
from clrevents.analysis.reports.gc.gc_rows import KeptObjects, SuspensionHint
from clrevents.analysis.shared.events.gc_suspensions import Suspensions

SAMPLE: Final = "sample/ThreadSample"
SLOWEST: Final = 20
"""For how many suspensions, those that took longest to stop all threads, the threads are shown."""
_REACH_NS: Final = 20_000_000
"""Older samples say little of where a thread was."""
_MANAGED: Final = 2
"""The type of a sample in managed code, for which alone a suspension has to wait."""


def hint_rows(
    held: Suspensions, numbers: list[int | None], samples: Gathered, named: Callable[[int, int], str | None]
) -> list[SuspensionHint]:
    """The last sample before each of the slowest suspensions, for each thread that was in managed code.

    `named` gives the innermost method of a stack at a time.
    """
    known = np.flatnonzero(held.known(0, 1))
    took = (held.times[1] - held.times[0])[known]
    slowest = np.sort(known[np.argsort(-took, kind="stable")[:SLOWEST]])
    order = np.lexsort((samples.places, samples.numbers("thread_id")))
    thread, place = samples.numbers("thread_id")[order], samples.places[order]
    time, stack = samples.numbers("time_ns")[order], samples.numbers("stack_id")[order]
    managed, told = samples.numbers("Type")[order] == _MANAGED, samples.column("thread_id").known[order]
    _, first = np.unique(thread, return_index=True)
    found = []
    for row in slowest.tolist():
        begin_ns, begin = int(held.times[0][row]), int(held.places[0][row])
        before = _last_before(place, first, begin)
        near = before[managed[before] & told[before] & (begin_ns - time[before] <= _REACH_NS)]
        for sample in near[np.argsort(-time[near], kind="stable")].tolist():
            seen_ns = int(time[sample])
            found.append(
                SuspensionHint(
                    start_ns=begin_ns,
                    end_ns=int(held.times[1][row]),
                    suspend_ns=int(held.times[1][row]) - begin_ns,
                    number=numbers[row],
                    thread_id=int(thread[sample]),
                    before_ns=begin_ns - seen_ns,
                    method=named(int(stack[sample]), seen_ns),
                )
            )
    return found


def _last_before(places: Ints, first: Ints, place: int) -> Ints:
    """The last sample of each thread, whose samples begin at `first`, before a place among events."""
    # A thread's places rise, so the count of those before is where the first that is not before stands.
    counts = np.add.reduceat(places < place, first) if len(first) else first
    return (first + counts - 1)[counts > 0]


PINNED: Final = "PinObjectAtGCTime"
FINALIZED: Final = "FinalizeObject"
TICK: Final = "GCAllocationTick"
COLUMNS: Final = {
    PINNED: ("ObjectID", "ObjectSize", "TypeName"),
    FINALIZED: ("TypeID",),
    TICK: ("TypeID", "TypeName", "Address"),
}
"""What is kept of each event, beside its headers."""


def kept_rows(
    starts: Ints, pinned: Gathered, finalized: Gathered, ticks: Gathered, named: Callable[[int, int], str | None]
) -> list[KeptObjects]:
    """The rows of the table `kept`, most objects of each kind first.

    `starts` are the places of the collections' starts, rising; `named` gives the method of a stack at a time.
    """
    types, stacks, times = ticks.column("TypeName"), ticks.numbers("stack_id"), ticks.numbers("time_ns")

    def row(kind: str, name: str | None, objects: int, size: int | None, told: Ints) -> KeptObjects:
        _, first, counts = np.unique(stacks[told], return_index=True, return_counts=True)
        who: Counter[str | None] = Counter()
        for place in np.argsort(first).tolist():
            # Stacks are many fewer than ticks: each is named as it was when it first came.
            tick = told[first[place]]
            who[named(int(stacks[tick]), int(times[tick]))] += int(counts[place])
        samples = who.total()
        del who[None]
        method = max(who, key=lambda name: who[name]) if who else None
        return KeptObjects(
            kind=kind,
            type=name,
            objects=objects,
            bytes=size,
            method=method,
            samples=samples,
        )

    names = pinned.column("TypeName").tolist()
    turn, address = np.searchsorted(starts, pinned.places), pinned.numbers("ObjectID").astype(np.int64)
    # Several handles may pin one object.
    order = np.lexsort((address, turn))
    once = order[np.flatnonzero(np.diff(turn[order], prepend=-1) | np.diff(address[order], prepend=-1))]
    sizes = pinned.numbers("ObjectSize").astype(np.int64)
    objects: Counter[str | None] = Counter()
    bytes_: Counter[str | None] = Counter()
    for i, size in zip(once.tolist(), sizes[once].tolist(), strict=True):
        objects[names[i] or None] += 1
        bytes_[names[i] or None] += size
    places = ticks.numbers("Address").astype(np.int64)
    hits = _among(places, address)
    before = np.searchsorted(starts, ticks.places[hits]) + 1
    seen = _among(address, places[hits]).tolist()
    there = {(int(turn[i]), int(address[i])): names[i] or None for i in seen}
    at: dict[str | None, list[int]] = {}
    for tick, key in zip(hits.tolist(), zip(before.tolist(), places[hits].tolist(), strict=True), strict=True):
        if key in there:
            at.setdefault(there[key], []).append(tick)
    numbers, ids = finalized.numbers("TypeID"), ticks.numbers("TypeID")
    mine = _among(ids, numbers)
    of_type = {number: mine[rows] for number, rows in groups(ids[mine]) if number}
    found = [row("pinned", name, n, bytes_[name], _ints(at.get(name, ()))) for name, n in objects.most_common()]
    for number, n in Counter(numbers.tolist()).most_common():
        told = of_type.get(number, _ints(()))
        type_ = types.take(told[:1]).tolist()[0] or None if len(told) else None
        found.append(row("finalized", type_, n, None, told))
    return found


def _ints(values: Iterable[int]) -> Ints:
    return np.array(tuple(values), dtype=np.int64)


def _among(values: Array, few: Array) -> Ints:
    """The places of those values that are among a few others: these are sorted, not all."""
    known, _ = np.unique(few, return_counts=True)
    if not len(known):
        return _ints(())
    nearest = known[np.minimum(np.searchsorted(known, values), len(known) - 1)]
    return np.flatnonzero(nearest == values)
