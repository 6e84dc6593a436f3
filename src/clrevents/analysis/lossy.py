"""Which results a loss may have spoilt: windows of time in which events are missing, by thread.

Knows when something was lost and where; what that does to a result is the result's business.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.trace import Loss, Trace

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

FOREVER: Final = int(np.iinfo(np.int64).max)
"""The end of what has none in the trace."""


class LossWindows:
    """The windows of a trace's losses, to be asked about many spans at once.

    A loss of a thread that the trace does not name counts for every thread. Where the list of losses was cut
    (`Limits.problems`), everything from the last one on counts as lossy.
    """

    def __init__(self, trace: Trace) -> None:
        losses = list(trace.losses)
        if losses and sum(loss.count for loss in losses) < trace.lost:
            losses.append(Loss(-1, 0, losses[-1].start_ns, FOREVER))
        self._all = _Windows(losses)
        by_thread: dict[int, list[Loss]] = {}
        for loss in losses:
            by_thread.setdefault(loss.thread_id, []).append(loss)
        self._nobody = _Windows(by_thread.pop(-1, []))
        self._threads = {thread: _Windows(found) for thread, found in by_thread.items()}

    def __bool__(self) -> bool:
        return bool(self._threads) or len(self._nobody.starts) > 0

    def touched(self, starts: Ints, ends: Ints, threads: NDArray[Any] | None = None) -> Mask:
        """Whether each span, both ends included, touches a window: of its thread, or (None) of any."""
        if threads is None:
            return self._all.touched(starts, ends)
        found = self._nobody.touched(starts, ends)
        for thread, windows in self._threads.items():
            mine = np.flatnonzero(threads == np.uint64(thread))
            found[mine] |= windows.touched(starts[mine], ends[mine])
        return found

    def touches(self, start_ns: int, end_ns: int, thread_id: int | None = None) -> bool:
        """The same of one span."""
        threads = None if thread_id is None else np.array([thread_id], dtype=np.uint64)
        return bool(self.touched(np.array([start_ns]), np.array([end_ns]), threads)[0])


class _Windows:
    """Windows in order of their start, and how far those so far reach."""

    def __init__(self, losses: list[Loss]) -> None:
        found = sorted((loss.start_ns, loss.end_ns) for loss in losses)
        self.starts = np.array([start for start, _ in found], dtype=np.int64)
        self.reach = np.maximum.accumulate(np.array([end for _, end in found], dtype=np.int64))

    def touched(self, starts: Ints, ends: Ints) -> Mask:
        if not len(self.starts):
            return np.zeros(len(starts), dtype=np.bool_)
        last = np.searchsorted(self.starts, ends, side="right") - 1
        return (last >= 0) & (self.reach[np.maximum(last, 0)] >= starts)
