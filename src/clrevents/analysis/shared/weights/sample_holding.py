"""How long a sample of the profiler holds: the one rule for states, weights and pictures.

A sample holds until the next one of its thread. Where none follows within three periods, each of the two holds for one
and a half towards the other, and the time between is nobody's. Where the stops that the sampler makes show that it was
late, that separates no samples; after ten periods that is no delay any more. Knows threads and times, no stacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen

Ints: TypeAlias = NDArray[np.int64]

HELD: Final = 3
"""For how many periods of the profiler a sample may be followed by none before it is unknown what its thread did."""
FIRST: Final = 1 << 14
"""So many samples tell the period, so that it does not matter how many follow."""
_LATE: Final = 2
"""A sampler that stays away for more periods is late,"""
TOLERATED: Final = 10
"""and for this many, a thread is assumed to have kept doing the same."""
_NONE: Final = np.zeros(0, dtype=np.int64)


def period_of(thread: NDArray[np.uint64] | Ints, time: Ints) -> int:
    """The median time between two samples of a thread, of an even number the lower one; 0 where no thread has two."""
    thread, time = thread[:FIRST], time[:FIRST]
    order = np.lexsort((time, thread))
    gaps = np.diff(time[order])[thread[order][1:] == thread[order][:-1]]
    gaps = np.sort(gaps[gaps > 0])
    return int(gaps[(len(gaps) - 1) // 2]) if len(gaps) else 0


def late_spans(stops: Ints, period_ns: int) -> tuple[Ints, Ints]:
    """From when to when the sampler was late, by the times of its stops in order."""
    gaps = np.diff(stops)
    late = (gaps > _LATE * period_ns) & (gaps <= TOLERATED * period_ns)
    return stops[:-1][late], stops[1:][late]


@frozen(eq=False)
class Sampling:
    """The period, and from when to when the sampler was late: in order, without overlap."""

    period_ns: int = 0
    late_from: Ints = _NONE
    late_until: Ints = _NONE

    @classmethod
    def of(cls, thread: Ints, time: Ints, stops: Ints) -> Sampling:
        """Of all samples and stops of a process, in order of time."""
        period = period_of(thread, time)
        return cls(period, *late_spans(stops, period))

    @property
    def half_ns(self) -> int:
        """How long a sample holds to a side on which no other is near."""
        return HELD * self.period_ns // 2

    def late(self) -> Sequence[tuple[int, int]]:
        """When the sampler was late."""
        return list(zip(self.late_from.tolist(), self.late_until.tolist(), strict=True))

    def near(self, last: Ints, first: Ints) -> NDArray[np.bool_]:
        """Whether a thread with no sample from `last` to `first` went on with what it did."""
        apart = first - last - (self._late_before(first) - self._late_before(last))
        found: NDArray[np.bool_] = apart <= HELD * self.period_ns
        return found

    def sides(self, last: Ints, first: Ints) -> tuple[Ints, Ints]:
        """Until when the earlier of two samples of a thread holds, and from when on the later one; equal if near."""
        near = self.near(last, first)
        until = np.where(near, first, np.minimum(last + self.half_ns, first))
        return until, np.where(near, first, np.maximum(first - self.half_ns, until))

    def _late_before(self, times: Ints) -> Ints:
        """For how long the sampler had been late until each moment."""
        if not len(self.late_from):
            return np.zeros(len(times), dtype=np.int64)
        before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.late_until - self.late_from)))
        place = np.searchsorted(self.late_from, times, side="right")
        last = np.maximum(place - 1, 0)
        inside = np.minimum(times, self.late_until[last]) - self.late_from[last]
        found: Ints = np.where(place > 0, before[last] + inside, 0)
        return found
