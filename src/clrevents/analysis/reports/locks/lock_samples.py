"""Samples and locks: runs of samples of the threads that held one, and of those that wait to enter.

Knows times and threads; no names and no tables.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import Ints, TimeWindow
from clrevents.analysis.reports.locks.convoys import LockWait
from clrevents.analysis.shared.events.contention_spans import ContentionSpans, Holding, holdings
from clrevents.analysis.shared.samples.sample_runs import SampleRuns

_FEW: Final = 8
"""So many runs are looked at one by one."""


@frozen
class HeldLock:
    """Who held a lock while others waited, with the runs of samples meanwhile: those from `first` to before `last`, of
    `every` run of the thread."""

    holding: Holding
    first: int
    last: int
    every: range


class HeldRuns:
    """Who held which lock while others waited: `all`, and by lock.

    `low` and `high` are from when to when each run is taken to last.
    """

    def __init__(self, found: ContentionSpans, runs: SampleRuns, low: Ints, high: Ints) -> None:
        self._low, self._high = low.tolist(), high.tolist()
        bounds: dict[int, tuple[int, int]] = {}
        for thread in set(found.owner.tolist()) | set(found.thread.tolist()):
            first, last = (int(np.searchsorted(runs.thread, np.uint64(thread), side=s)) for s in ("left", "right"))
            bounds[thread] = first, last
        self.all: list[HeldLock] = []
        self.by_lock: dict[int, list[HeldLock]] = {}
        for holding in holdings(found):
            begin, end = bounds[holding.thread]
            # Those that have a sample meanwhile.
            first = begin + int(np.searchsorted(runs.last[begin:end], holding.start_ns, side="left"))
            last = begin + int(np.searchsorted(runs.first[begin:end], holding.end_ns, side="left"))
            one = HeldLock(holding, first, max(first, last), range(begin, end))
            self.all.append(one)
            self.by_lock.setdefault(holding.lock, []).append(one)

    def labelled(self, labels: Ints) -> LabelledRuns:
        """The runs with a label each."""
        return LabelledRuns(labels.tolist(), self._low, self._high)


class LabelledRuns:
    """How long holders were seen with each label of their runs.

    One thread may hold very many locks for as many runs: those that lie in a holding as a whole are added up once.
    """

    def __init__(self, labels: list[int], low: list[int], high: list[int]) -> None:
        self._labels, self._low, self._high = labels, low, high
        self._of_thread: dict[range, dict[int, tuple[list[int], list[int]]]] = {}

    def took(self, one: HeldLock, start: int, end: int) -> list[tuple[int, int, int]]:
        """Between two moments: label, time, and the first run with it, in order of these."""
        low, high = max(one.holding.start_ns, start), min(one.holding.end_ns, end)
        first = bisect_right(self._high, low, one.first, one.last)
        last = bisect_left(self._low, high, first, one.last)
        found: dict[int, tuple[int, int]] = {}
        whole = range(first + 1, last - 1)
        sums = self._sums(one.every) if len(whole) > _FEW else {}
        for run in (first, *(() if sums else whole), last - 1) if last - first > 1 else range(first, last):
            took = min(self._high[run], high) - max(self._low[run], low)
            if took > 0:
                before = found.get(self._labels[run], (0, run))
                found[self._labels[run]] = before[0] + took, before[1]
        for label, (runs, until) in sums.items():
            begin, end = bisect_left(runs, whole.start), bisect_left(runs, whole.stop)
            if took := until[end] - until[begin]:
                before = found.get(label, (0, runs[begin]))
                found[label] = before[0] + took, min(before[1], runs[begin])
        return sorted(((label, took, run) for label, (took, run) in found.items()), key=lambda row: row[2])

    def _sums(self, every: range) -> dict[int, tuple[list[int], list[int]]]:
        """By label, the runs of a thread that have it, and how long those before each of them took."""
        known = self._of_thread.get(every)
        if known is None:
            known = self._of_thread[every] = {}
            for run in every:
                runs, until = known.setdefault(self._labels[run], ([], [0]))
                runs.append(run)
                until.append(until[-1] + max(self._high[run] - self._low[run], 0))
        return known


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
