"""Sequence numbers, and the losses that gaps in them show (docs/format.md, "Sequence numbers and losses").

Counts by capture thread; refuses to guess: a step back is no loss, and behind damage a gap is the damage's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import SequencePoint
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.errors import Limits

_HALF = 1 << 31
# What stands for a thread that the trace does not describe.
_UNKNOWN_KEY = (1 << 64) - 1
_M32 = (1 << 32) - 1


@attrs.frozen
class Loss:
    """Events that a thread tried to write and that never reached the file, and when that was.

    `thread_id` is the thread that wrote them; the window is in nanoseconds since the session started.
    """

    thread_id: int
    """The thread that tried to write them."""
    count: int
    """The number of lost events."""
    start_ns: int
    """The start of the window, in nanoseconds since the session started."""
    end_ns: int
    """The end of the window, in nanoseconds since the session started."""


class SequenceNumbers:
    """Last numbers of capture threads; gaps become losses (docs/format.md, "Sequence numbers and losses").

    Behind damage the first gap of every thread is put down to the damage: `explained` gets it instead.
    """

    def __init__(
        self,
        limits: Limits,
        lost: Callable[[int, int, int, int], Any],
        explained: Callable[[int, int], Any],
        odd: Callable[[int], Any],
    ) -> None:
        self.starts_at_zero = False
        # Last number, its tick, and after how many damages it was seen, by thread.
        self._last: dict[int, tuple[int, int, int]] = {}
        self._damages = 0
        self._known = 0
        self._limits = limits
        self._lost = lost
        self._explained = explained
        self._odd = odd

    def damaged(self, known: int) -> None:
        """Events may be missing here for a reason that is no loss; also of those of the first `known` threads
        (NetTrace 6) that no event was seen of.
        """
        self._damages += 1
        self._known = known

    def _suspect(self, thread: int) -> bool:
        """Whether there was damage since this thread's last number."""
        last = self._last.get(thread)
        if last is None:
            return self._damages > 0 and not self._known <= thread < _UNKNOWN_KEY
        return last[2] != self._damages

    def events(self, columns: HeaderColumns) -> None:
        """Follow one block's runs."""
        times, last = columns.ticks, self._last
        for row, thread, sequence, end in _runs(columns):
            known = last.get(thread)
            if known is None and not self.starts_at_zero:
                if len(last) >= self._limits.threads:
                    continue
            else:
                number, tick, _ = known or (0, int(times[row]), 0)
                gap = (sequence - 1 - number) & _M32
                if gap and (number or self.starts_at_zero):
                    self._gap(thread, gap, tick, int(times[row]))
            last[thread] = (sequence + end - row - 1) & _M32, int(times[end - 1]), self._damages

    def steps_back(self, columns: HeaderColumns) -> Iterator[tuple[int, bool]]:
        """The rows at which a thread's number is not beyond its last, and whether that is one of these rows.

        Learns nothing from them. A last number from behind damage proves nothing.
        """
        last: dict[int, int] = {}
        for row, thread, sequence, end in _runs(columns):
            known = last.get(thread)
            inside = known is not None
            if known is None and thread in self._last and not self._suspect(thread):
                known = self._last[thread][0]
            if known and (sequence - 1 - known) & _M32 >= _HALF:
                yield row, inside
            last[thread] = (sequence + end - row - 1) & _M32

    def sequence_point(self, point: SequencePoint) -> None:
        """Compare with what the writer counted; this finds losses behind a thread's last event."""
        for thread, sequence in point.threads:
            self.check(thread, sequence, point.time)
        if point.forget_threads:
            self._last.clear()

    def check(self, thread: int, sequence: int, tick: int) -> None:
        """The writer says that this thread had reached this number by then."""
        known = self._last.get(thread)
        if known is None and not self.starts_at_zero:
            if len(self._last) < self._limits.threads:
                self._last[thread] = sequence, tick, self._damages
            return
        number, since, _ = known or (0, tick, 0)
        gap = (sequence - number) & _M32
        if gap >= _HALF:
            return
        if gap and (number or self.starts_at_zero):
            self._gap(thread, gap, since, tick)
        self._last[thread] = sequence, tick, self._damages

    def forget(self, thread: int) -> None:
        self._last.pop(thread, None)

    def _gap(self, thread: int, gap: int, start: int, end: int) -> None:
        if gap >= _HALF:
            self._odd(thread)
        elif self._suspect(thread):
            self._explained(thread, gap)
        else:
            self._lost(thread, gap, start, end)


def _runs(columns: HeaderColumns) -> list[tuple[int, int, int, int]]:
    """First row, capture thread and its number of each run, and the row behind it."""
    runs = columns.runs.tolist()
    ends = [*(run[0] for run in runs[1:]), len(columns)]
    return [(run[0], run[1], run[2], end) for run, end in zip(runs, ends, strict=True)]


def ticks_to_loss(clock: Clock, thread: int, count: int, start: int, end: int) -> Loss:
    """A loss with its window in nanoseconds."""
    return Loss(thread, count, clock.ns(start), clock.ns(end))
