"""How long each thread that stops the others for a reason other than a collection held them: two sums per thread, from
events as they come.

A stop lasts from GCSuspendEEBegin to the next GCRestartEEEnd on its thread, so it may include a wait for another
suspension to end. Which of the threads is the sampler's is decided elsewhere.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.gc_suspensions import of_sampling

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
