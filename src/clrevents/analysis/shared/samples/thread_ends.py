"""When threads ended: by events, where these tell, else by samples that show others and not them any more.

A wait without an end lasted no longer than its thread. Knows no waits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.thread_ids import whole_of
from clrevents.analysis.shared.events.wait_events import field_numbers
from clrevents.analysis.shared.samples.sample_runs import SampleRuns
from clrevents.analysis.shared.samples.sampled_states import unseen

Ints: TypeAlias = NDArray[np.int64]

_CREATED: Final = "runtime/ThreadCreated"
_TERMINATED: Final = "runtime/ThreadTerminated"
THREAD_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    _CREATED: ("time_ns", "thread_id", "ManagedThreadID", "ManagedThreadIndex", "OSThreadID"),
    _TERMINATED: ("time_ns", "ManagedThreadID"),
}
"""What is kept of each event."""


class ThreadEnds:
    """The ends of the threads of a process, by these events and runs of samples."""

    def __init__(self, events: Mapping[str, Gathered], runs: SampleRuns) -> None:
        self._runs = runs
        created, terminated = events[_CREATED], events[_TERMINATED]
        ends: dict[int, list[int]] = {}
        for time, pointer in sorted(_rows(terminated, "time_ns", "ManagedThreadID")):
            ends.setdefault(pointer, []).append(time)
        self._lives: dict[int, list[tuple[int, int]]] = {}
        names = ("time_ns", "ManagedThreadID", "OSThreadID", "thread_id")
        rows = sorted(_rows(created, *names))
        told = whole_of((row[2] for row in rows), {*np.unique(runs.thread).tolist(), *(row[3] for row in rows)})
        for (time, pointer, _, by), system in zip(rows, told, strict=True):
            mine = ends.get(pointer, [])
            place = bisect_right(mine, time)
            lives = self._lives.setdefault(system or by, [])
            if lives:
                # Its id is used again, so that the one before is gone.
                lives[-1] = lives[-1][0], min(lives[-1][1], time)
            lives.append((time, mine[place] if place < len(mine) else FOREVER))

    def after(self, thread: NDArray[np.uint64], since: Ints) -> Ints:
        """When each thread, which lived at a moment, ended; `FOREVER` where that is unknown."""
        found = np.full(len(thread), FOREVER, dtype=np.int64)
        gone = unseen(self._runs, thread, since)
        if gone.any():
            last = self._runs.last[np.searchsorted(self._runs.thread, thread[gone], side="right") - 1]
            found[gone] = np.maximum(last + self._runs.sampling.half_ns, since[gone])
        for row, (number, moment) in enumerate(zip(thread.tolist(), since.tolist(), strict=True)):
            lives = self._lives.get(number, ())
            for start, end in lives:
                # What began before the first creation was of a thread that had the id before.
                if start > moment:
                    found[row] = min(found[row], start)
                    break
                if end > moment:
                    found[row] = min(found[row], end)
                    break
        return found


def _rows(events: Gathered, *names: str) -> list[tuple[int, ...]]:
    return list(zip(*(field_numbers(events, name).tolist() for name in names), strict=True))
