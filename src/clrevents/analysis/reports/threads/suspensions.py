"""When all threads were stopped for a garbage collection, from events as they come; who stops them for other reasons.

Keeps a row for each collection's stop, and none for those of the sample profiler. A stop without an end is dropped.
"""

from __future__ import annotations

import numpy as np

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.gc_suspensions import FOR_GC, of_sampling
from clrevents.analysis.shared.events.gc_suspensions import RESTARTED as RESTARTED
from clrevents.analysis.shared.events.gc_suspensions import SUSPENDING as SUSPENDING


class StopMaker:
    """Takes the two events of a process in order of time."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        """From when to when threads were stopped."""
        self.collecting: dict[int, int] = {}
        """How often each thread stopped the others for a collection."""
        self.sampling: dict[int, int] = {}
        """The same for samples."""
        self.moments: dict[int, tuple[int, int]] = {}
        """The first and the last moment of each thread that stopped the others."""
        self._begun: dict[int, int] = {}

    def take(self, begins: Gathered | None, ends: Gathered | None) -> None:
        """The next events. Ends matter only after a start on their thread that is for a collection."""
        if begins is not None and len(begins):
            thread, time = _numbers(begins, "thread_id"), _numbers(begins, "time_ns")
            mine, sampling = np.isin(_numbers(begins, "Reason"), FOR_GC), of_sampling(begins)
            for which, counts in ((mine, self.collecting), (sampling, self.sampling)):
                ids, how_many = np.unique(thread[which], return_counts=True)
                for one, count in zip(ids.tolist(), how_many.tolist(), strict=True):
                    counts[one] = counts.get(one, 0) + count
            for who in sorted(set(thread.tolist())):
                times = time[thread == who].tolist()
                self.moments[who] = (min(times[0], self.moments.get(who, (times[0], 0))[0]), times[-1])
        if (begins is None or not len(begins) or not mine.any()) and not self._begun:
            return
        self._pair(begins, ends)

    def _pair(self, begins: Gathered | None, ends: Gathered | None) -> None:
        rows: list[tuple[int, int, int, int]] = []
        for events, is_end in ((begins, False), (ends, True)):
            if events is None or not len(events):
                continue
            kind = np.full(len(events), 2) if is_end else np.isin(_numbers(events, "Reason"), FOR_GC).astype(np.int64)
            columns = (events.places, kind, _numbers(events, "thread_id"), _numbers(events, "time_ns"))
            rows += zip(*(column.tolist() for column in columns), strict=True)
        for _, kind_of, by, moment in sorted(rows):
            if kind_of == 1:
                self._begun[by] = moment
            elif kind_of == 0:
                self._begun.pop(by, None)
            elif by in self._begun:
                start = self._begun.pop(by)
                if moment > start:
                    self.spans.append((start, moment))


def _numbers(events: Gathered, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return events.numbers(name).astype(np.int64)
