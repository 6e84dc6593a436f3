"""The slowest suspensions of a process and where its threads were last seen before them: a hint at which thread was
late.

A sample before a suspension does not prove that its thread held the others up. Knows samples, and no collection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.vocabulary.answer_values import Ints
from clrevents.analysis.gathering.gather import Gathered
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
) -> list[dict[str, Any]]:
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
                {
                    "start_ns": begin_ns,
                    "end_ns": int(held.times[1][row]),
                    "suspend_ns": int(held.times[1][row]) - begin_ns,
                    "number": numbers[row],
                    "thread_id": int(thread[sample]),
                    "before_ns": begin_ns - seen_ns,
                    "method": named(int(stack[sample]), seen_ns),
                }
            )
    return found


def _last_before(places: Ints, first: Ints, place: int) -> Ints:
    """The last sample of each thread, whose samples begin at `first`, before a place among events."""
    # A thread's places rise, so the count of those before is where the first that is not before stands.
    counts = np.add.reduceat(places < place, first) if len(first) else first
    return (first + counts - 1)[counts > 0]
