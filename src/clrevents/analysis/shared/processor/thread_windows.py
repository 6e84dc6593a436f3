"""Counts of threads → windows: from when to when a thread used so much processor time, and was ready for so long.

The windows of a thread follow one another without gaps. Ready time is credited when a thread gets a processor, and a
running thread's time with a tick, so what does not fit into a window belongs before it. Knows numbers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.groups import groups

Ints: TypeAlias = NDArray[np.int64]

NO_THREAD: Final = -2
"""What stands for a thread where windows are of many."""
_MOST: Final = 1 << 40
"""No thread uses more in one window: damaged counts must not overflow."""


@frozen(eq=False)
class ThreadWindows:
    """In order of thread, then time. `ready` is 0 where it is unknown."""

    thread: Ints
    start: Ints
    end: Ints
    processor: Ints
    ready: Ints
    ready_known: bool = True

    @classmethod
    def of(cls, thread: Ints, end: Ints, interval: Ints, processor: Ints, ready: Ints) -> ThreadWindows:
        """Of readings at `end` that say what was used within an `interval` before; -1 is unknown."""
        order = np.lexsort((end, thread))
        thread, end = thread[order], end[order]
        used, wanted = (np.clip(column[order], 0, _MOST) for column in (processor, ready))
        # What was used since a reading before the trace began counts in the trace, as far back as it must.
        start = np.minimum(np.maximum(end - np.clip(interval[order], 0, _MOST), 0), end - used)
        start = np.minimum(start, end)
        same = np.zeros(len(thread), dtype=np.bool_)
        same[1:] = thread[1:] == thread[:-1]
        before = np.where(same, np.roll(end, 1), start)
        # Where nothing was read, nothing had changed.
        gap = np.flatnonzero(start > before)
        columns = (
            (thread, thread[gap]),
            (np.maximum(start, before), before[gap]),
            (end, start[gap]),
            (used, 0),
            (wanted, 0),
        )
        thread, start, end, used, wanted = (np.insert(column, gap, added) for column, added in columns)
        return cls(thread, start, end, used, wanted, bool((ready >= 0).all()))._fitted()

    def __len__(self) -> int:
        return len(self.thread)

    def and_(self, more: ThreadWindows) -> ThreadWindows:
        """These, and more after them."""
        names = ("thread", "start", "end", "processor", "ready")
        columns: dict[str, Any] = {name: np.concatenate((getattr(self, name), getattr(more, name))) for name in names}
        return attrs.evolve(self, **columns)

    def by_thread(self) -> Iterator[tuple[int, Ints]]:
        """The rows of each thread."""
        return groups(self.thread)

    def _fitted(self) -> ThreadWindows:
        """The same with what does not fit into a window in the ones before it.

        Ready time that does not fit into the first one was before it.
        """
        length, used, wanted = (column.tolist() for column in (self.end - self.start, self.processor, self.ready))
        for _, rows in self.by_thread():
            first, more, later = int(rows[0]), 0, 0
            for row in reversed(rows.tolist()):
                used[row] += more
                more = max(used[row] - length[row], 0) if row > first else 0
                used[row] -= more
                wanted[row] += later
                later = max(wanted[row] - max(length[row] - used[row], 0), 0)
                wanted[row] -= later
        return attrs.evolve(self, processor=np.array(used, dtype=np.int64), ready=np.array(wanted, dtype=np.int64))


def portion(start: Ints, end: Ints, amount: Ints, window: TimeWindow) -> Ints:
    """How much of each amount, spread evenly from its start to its end, lies in a window."""

    length = np.maximum(end - start, 1)

    def until(moment: int) -> Ints:
        found: Ints = np.floor(amount * ((np.clip(moment, start, end) - start) / length)).astype(np.int64)
        return np.where(moment <= start, 0, np.where(moment >= end, amount, found))

    return until(window.high) - until(window.low)
