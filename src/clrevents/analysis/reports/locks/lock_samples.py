"""Samples and locks: runs of samples of the threads that held one, and of those that wait to enter.

Knows times and threads; no names and no tables.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.reports.locks.convoys import LockWait
from clrevents.analysis.shared.events.contention_spans import ContentionSpans, Holding, holdings
from clrevents.analysis.shared.samples.sample_runs import SampleRuns


class HeldRuns:
    """Who held which lock while others waited, each with the runs of samples meanwhile: `all`, and by lock."""

    def __init__(self, found: ContentionSpans, runs: SampleRuns) -> None:
        bounds: dict[int, tuple[int, int]] = {}
        for thread in set(found.owner.tolist()) | set(found.thread.tolist()):
            low, high = (int(np.searchsorted(runs.thread, np.uint64(thread), side=side)) for side in ("left", "right"))
            bounds[thread] = low, high
        self.all: list[tuple[Holding, range]] = []
        self.by_lock: dict[int, list[tuple[Holding, range]]] = {}
        for holding in holdings(found):
            low, high = bounds[holding.thread]
            # Those that have a sample meanwhile.
            first = low + int(np.searchsorted(runs.last[low:high], holding.start_ns, side="left"))
            last = low + int(np.searchsorted(runs.first[low:high], holding.end_ns, side="left"))
            one = holding, range(first, last)
            self.all.append(one)
            self.by_lock.setdefault(holding.lock, []).append(one)


def entering(
    window: TimeWindow, waits: Iterable[LockWait], stretches: Sequence[tuple[int, int, int]]
) -> tuple[int, int]:
    """How long stretches (thread, begin, end) are within a window, and how much of that is outside any wait of the
    thread."""
    by_thread: dict[int, tuple[list[int], list[int]]] = {}
    for wait in sorted(waits, key=lambda wait: wait.start_ns):
        starts, ends = by_thread.setdefault(wait.thread, ([], []))
        starts.append(wait.start_ns)
        ends.append(wait.end_ns)
    total = inside = 0
    for thread, start, end in stretches:
        low, high = max(start, window.low), min(end, window.high)
        if high <= low:
            continue
        total += high - low
        starts, ends = by_thread.get(thread, ([], []))
        # Those of a thread follow one another.
        for place in range(max(bisect_right(starts, low) - 1, 0), bisect_left(starts, high)):
            inside += max(0, min(ends[place], high) - max(starts[place], low))
    return total, total - inside
