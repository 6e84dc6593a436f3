"""When all threads were stopped for a garbage collection, from events as they come; who stops them for other reasons.

Keeps a row for each collection's stop, and none for those of the sample profiler. A stop without an end is dropped.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents.analysis.gather import Gathered

SUSPENDING: Final = "runtime/GCSuspendEEBegin"
RESTARTED: Final = "runtime/GCRestartEEEnd"

_FOR_GC: Final = (1, 6)
_NOBODY: Final = (1 << 32) - 1
"""The number of collections that a suspension of the sample profiler tells."""


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
        """The next events. Ends matter only after a begin on their thread that is for a collection."""
        if begins is not None and len(begins):
            thread, time = _numbers(begins, "thread_id"), _numbers(begins, "time_ns")
            reason = _numbers(begins, "Reason")
            number = _numbers(begins, "Count") if "Count" in begins.table else np.zeros(len(begins), dtype=np.int64)
            mine = np.isin(reason, _FOR_GC)
            for which, counts in ((mine, self.collecting), (~mine & (number == _NOBODY), self.sampling)):
                ids, how_many = np.unique(thread[which], return_counts=True)
                for one, count in zip(ids.tolist(), how_many.tolist(), strict=True):
                    counts[one] = counts.get(one, 0) + count
            ids, first = np.unique(thread, return_index=True)
            last = len(thread) - 1 - np.unique(thread[::-1], return_index=True)[1]
            for one, low, high in zip(ids.tolist(), time[first].tolist(), time[last].tolist(), strict=True):
                self.moments[one] = (min(low, self.moments.get(one, (low, 0))[0]), high)
        if (begins is None or not len(begins) or not mine.any()) and not self._begun:
            return
        self._pair(begins, ends)

    def _pair(self, begins: Gathered | None, ends: Gathered | None) -> None:
        rows: list[tuple[int, int, int, int]] = []
        for events, is_end in ((begins, False), (ends, True)):
            if events is None or not len(events):
                continue
            kind = np.full(len(events), 2) if is_end else np.isin(_numbers(events, "Reason"), _FOR_GC).astype(np.int64)
            columns = (events.places, kind, _numbers(events, "thread_id"), _numbers(events, "time_ns"))
            rows += zip(*(column.tolist() for column in columns), strict=True)
        for _, kind, thread, time in sorted(rows):
            if kind == 1:
                self._begun[thread] = time
            elif kind == 0:
                self._begun.pop(thread, None)
            elif thread in self._begun:
                start = self._begun.pop(thread)
                if time > start:
                    self.spans.append((start, time))


def _numbers(events: Gathered, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return events.numbers(name).astype(np.int64)
