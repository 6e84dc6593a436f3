"""When all threads were stopped, from events as they come: for each collection a row, for other reasons two sums.

A stop without an end is dropped. A stop for another reason than a collection lasts from GCSuspendEEBegin to the next
GCRestartEEEnd on its thread, so it may include a wait for another suspension to end. Which thread is the sampler's is
decided elsewhere.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

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


_BEGIN, _OTHER, _END = range(3)
_NOTHING: Final = np.zeros(0, dtype=np.int64)


class SamplerStops:
    """Takes the two events of a process in order of time."""

    def __init__(self) -> None:
        self.held: dict[int, int] = {}
        """The total duration of all complete stops of each thread."""
        self.stops: dict[int, int] = {}
        """How many there are."""
        self._open: dict[int, int] = {}

    def take(self, begins: Gathered | None, ends: Gathered | None) -> None:
        """The next events."""
        threads, times, kinds, places = [_NOTHING], [_NOTHING], [_NOTHING], [_NOTHING]
        for events, is_end in ((begins, False), (ends, True)):
            if events is None or not len(events):
                continue
            threads.append(events.numbers("thread_id").astype(np.int64))
            times.append(events.numbers("time_ns").astype(np.int64))
            kinds.append(np.full(len(events), _END) if is_end else np.where(of_sampling(events), _BEGIN, _OTHER))
            places.append(events.places)
        order = np.argsort(np.concatenate(places), kind="stable")
        thread, time, kind = (np.concatenate(parts)[order] for parts in (threads, times, kinds))
        for who in {*thread[kind == _BEGIN].tolist(), *self._open}:
            mine = thread == who
            self._add(who, time[mine], kind[mine])

    def _add(self, thread: int, time: NDArray[np.int64], kind: NDArray[np.int64]) -> None:
        begun = self._open.pop(thread, None)
        if begun is not None:
            time, kind = np.concatenate(([begun], time)), np.concatenate(([_BEGIN], kind))
        whole = np.flatnonzero((kind[:-1] == _BEGIN) & (kind[1:] == _END))
        self.held[thread] = self.held.get(thread, 0) + int((time[whole + 1] - time[whole]).sum())
        self.stops[thread] = self.stops.get(thread, 0) + len(whole)
        if len(kind) and kind[-1] == _BEGIN:
            self._open[thread] = int(time[-1])
