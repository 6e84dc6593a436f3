"""Which rows may be affected by lost or destroyed events. The one place that decides this, for all reports.

A hole is a stretch of time in which events of a thread are missing, because the runtime dropped them or because the
bytes are damaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.distant_times import near_ns
from clrevents.analysis.gathering.groups import groups
from clrevents.trace import Loss, Trace, passes_of

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


@frozen
class Hole:
    """Events of a thread (None: of any) that are missing between two of its events, and why: for those who look at
    stacks, an event without its own is missing."""

    thread_id: int | None
    count: int
    start_ns: int
    end_ns: int
    cause: Literal["loss", "damage", "stacks"]


def holes_of(losses: Iterable[Loss], destroyed: Iterable[Loss], lost: int, missing: int) -> tuple[Hole, ...]:
    """The holes of a trace, in order of their ends.

    `lost` and `missing` count all events; if the limited lists are shorter, whatever they leave out lies at an unknown
    time after their last entry.
    """
    found = []
    for listed, total, cause in ((list(losses), lost, "loss"), (list(destroyed), missing, "damage")):
        found += [_hole(loss, cause) for loss in listed]
        rest = total - sum(loss.count for loss in listed)
        if listed and rest > 0:
            found.append(_hole(Loss(-1, rest, listed[-1].start_ns, FOREVER), cause))
    return tuple(sorted(found, key=lambda hole: (hole.end_ns, hole.start_ns)))


def trace_holes(trace: Trace) -> tuple[Hole, ...]:
    """Everything that is missing from a trace."""
    scan = passes_of(trace).scan(raising=False)
    return holes_of(scan.losses, scan.destroyed, scan.lost, scan.missing)


def stack_holes(stackless: Loss | None) -> tuple[Hole, ...]:
    """Where stacks are missing."""
    return () if stackless is None else (_hole(stackless, "stacks"),)


def _hole(loss: Loss, cause: Any) -> Hole:
    thread = None if loss.thread_id < 0 else loss.thread_id
    end = FOREVER if loss.end_ns == FOREVER else near_ns(loss.end_ns)
    return Hole(thread, loss.count, near_ns(loss.start_ns), end, cause)


class Marks:
    """The holes of a trace, to be asked about many spans at once."""

    def __init__(self, holes: Sequence[Hole]) -> None:
        self._all = _Stretches(holes)
        by_thread: dict[int | None, list[Hole]] = {}
        for hole in holes:
            by_thread.setdefault(hole.thread_id, []).append(hole)
        self._nobody = _Stretches(by_thread.pop(None, []))
        self._threads = {thread: _Stretches(found) for thread, found in by_thread.items() if thread is not None}

    def __bool__(self) -> bool:
        return bool(self._all)

    def touched(self, starts: Ints, ends: Ints, threads: Sequence[NDArray[Any]] = ()) -> Mask:
        """Whether each span, both ends included, touches a hole: of one of its threads, or, without, of any."""
        if not threads:
            return self._all.touched(starts, ends)
        found = self._nobody.touched(starts, ends)
        if not self._threads:
            return found
        known = np.array(sorted(self._threads), dtype=np.uint64)
        for column in threads:
            numbers = column.astype(np.uint64)
            place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
            rows = np.flatnonzero(known[place] == numbers)
            # Each row is looked at for its own thread only, however many there are.
            for number, mine in groups(place, rows):
                found[mine] |= self._threads[int(known[number])].touched(starts[mine], ends[mine])
        return found


class _Stretches:
    """Stretches in order of their start, and how far those so far reach."""

    def __init__(self, holes: Sequence[Hole]) -> None:
        found = sorted((hole.start_ns, hole.end_ns) for hole in holes)
        self.starts = np.array([start for start, _ in found], dtype=np.int64)
        self.reach = np.maximum.accumulate(np.array([end for _, end in found], dtype=np.int64))

    def __bool__(self) -> bool:
        return len(self.starts) > 0

    def touched(self, starts: Ints, ends: Ints) -> Mask:
        if not len(self.starts):
            return np.zeros(len(starts), dtype=np.bool_)
        last = np.searchsorted(self.starts, ends, side="right") - 1
        return (last >= 0) & (self.reach[np.maximum(last, 0)] >= starts)
