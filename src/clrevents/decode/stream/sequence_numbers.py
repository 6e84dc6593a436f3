"""Sequence numbers of capture threads, and the gaps in them (docs/format.md, "Sequence numbers and losses").

Never guesses: a step back is not a loss, and after damage a thread's first gap is attributed to the damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.errors import Limits

_HALF = 1 << 31
# Stands for a thread that the trace does not describe.
_UNKNOWN_KEY = (1 << 64) - 1
_M32 = (1 << 32) - 1
# From this many runs on, numpy takes less time than one after the other.
_MANY = 1 << 8


@frozen
class Gap:
    """`count` sequence numbers of a capture thread that no event has, and the ticks of the events before and after.

    `after_damage`: damage follows the thread's events before the gap. `backwards`: the numbers step back. `row` is that
    of the event after it, in the columns where it was found. `times`: this one stands for so many that step back.
    """

    thread: int
    count: int
    start: int
    end: int
    after_damage: bool
    row: int = 0
    times: int = 1

    @property
    def backwards(self) -> bool:
        return self.count >= _HALF


class SequenceNumbers:
    """The last sequence number of each capture thread; a thread's first event has number 1.

    `born` says how many threads were defined before this one. Without `indexed` there are no definitions (NetTrace 4).
    """

    def __init__(self, limits: Limits, born: Callable[[int], int]) -> None:
        self.indexed = False
        self.since = 0
        """The tick of the last sequence point, or of the session's start: from then on a thread may be new."""
        # Last number, its tick, and the number of damages seen before it, by thread.
        self._last: dict[int, tuple[int, int, int]] = {}
        self._damages = 0
        self._known = 0
        self._limits = limits
        self._born = born

    def damaged(self, known: int) -> None:
        """Events may be missing here for a reason other than loss, including those of the first `known` threads
        defined (NetTrace 6) that have no event yet.
        """
        self._damages += 1
        self._known = known

    def _after_damage(self, thread: int) -> bool:
        """Whether there was damage since this thread's last number."""
        last = self._last.get(thread)
        if last is None:
            new = self.indexed and thread != _UNKNOWN_KEY and self._born(thread) >= self._known
            return self._damages > 0 and not new
        return last[2] != self._damages

    def follow(self, columns: HeaderColumns, wanted: int) -> Sequence[Gap]:
        """Take the numbers of a block's events; returns the gaps before and between them.

        Of those that step back at least `wanted` each, where there are so many; one may stand for all others.
        """
        if len(columns.runs) >= _MANY:
            return self._follow_many(columns, wanted)
        times, last = columns.ticks, self._last
        gaps: list[Gap] = []
        for row, thread, sequence, end in _runs(columns):
            known = last.get(thread)
            if known is None and len(last) >= self._limits.threads:
                continue
            number, tick, _ = known or (0, self._begin(int(times[row])), 0)
            count = (sequence - 1 - number) & _M32
            # A first number that is not one of the first 2³¹ counts nothing.
            if count and not (known is None and count >= _HALF):
                gaps.append(Gap(thread, count, tick, int(times[row]), self._after_damage(thread), row))
            last[thread] = (sequence + end - row - 1) & _M32, int(times[end - 1]), self._damages
        return gaps

    def _follow_many(self, columns: HeaderColumns, wanted: int) -> Sequence[Gap]:
        """As `follow`, thread by thread instead of run by run."""
        rows, threads = columns.runs[:, 0].astype(np.int64), columns.runs[:, 1]
        ends = np.append(rows[1:], len(columns))
        before = (columns.runs[:, 2].astype(np.int64) - 1) & _M32
        reached = (before + ends - rows) & _M32
        began, ended = columns.ticks[rows], columns.ticks[ends - 1]
        order = np.argsort(threads, kind="stable")
        # What is known before each run: what the thread's run before it reached, and when.
        number, since, after_damage = before.copy(), began.copy(), np.zeros(len(rows), dtype=np.bool_)
        number[order[1:]], since[order[1:]] = reached[order[:-1]], ended[order[:-1]]
        firsts = np.flatnonzero(np.append(True, np.diff(threads[order]) != 0))
        lasts = np.append(firsts[1:], len(rows))
        for first, last in sorted(zip(firsts.tolist(), lasts.tolist(), strict=True), key=lambda pair: order[pair[0]]):
            run, final = order[first], order[last - 1]
            thread = int(threads[run])
            known = self._last.get(thread)
            if known is None and len(self._last) >= self._limits.threads:
                every = order[first:last]
                number[every] = before[every]
                continue
            number[run], since[run], _ = known or (0, self._begin(int(began[run])), 0)
            if known is None and int(before[run]) >= _HALF:
                number[run] = before[run]
            after_damage[run] = self._after_damage(thread)
            self._last[thread] = int(reached[final]), int(ended[final]), self._damages
        counts = (before - number) & _M32
        gap = counts != 0
        back = np.flatnonzero(gap & (counts >= _HALF))
        gap[back[wanted + 1 :]] = False
        others = max(len(back) - wanted, 1)
        standing = int(back[wanted]) if len(back) > wanted else -1
        found = np.flatnonzero(gap)
        values = (column[found].tolist() for column in (threads, counts, since, began, after_damage, rows))
        return [
            Gap(thread, count, start, end, after, row, others if run == standing else 1)
            for run, thread, count, start, end, after, row in zip(found.tolist(), *values, strict=True)
        ]

    def reached(self, thread: int, sequence: int, tick: int) -> Sequence[Gap]:
        """The writer says that this thread had reached this number by then; returns the gap at its end, if any."""
        known = self._last.get(thread)
        if known is None and len(self._last) >= self._limits.threads:
            return ()
        number, since, _ = known or (0, self._begin(tick), 0)
        count = (sequence - number) & _M32
        if count >= _HALF:
            return ()
        gaps = (Gap(thread, count, since, tick, self._after_damage(thread)),) if count else ()
        self._last[thread] = sequence, tick, self._damages
        return gaps

    def _begin(self, tick: int) -> int:
        """From when on a thread whose first number is of this tick may have lost events."""
        return min(self.since, tick)

    def steps_back(self, columns: HeaderColumns) -> Iterator[tuple[int, bool]]:
        """The rows at which a thread's number is not beyond its last, and whether that is one of these rows.

        Does not record them. A last number from before damage proves nothing.
        """
        last: dict[int, int] = {}
        for row, thread, sequence, end in _runs(columns):
            known = last.get(thread)
            inside = known is not None
            if known is None and thread in self._last and not self._after_damage(thread):
                known = self._last[thread][0]
            if known and (sequence - 1 - known) & _M32 >= _HALF:
                yield row, inside
            last[thread] = (sequence + end - row - 1) & _M32

    def forget(self, thread: int) -> None:
        self._last.pop(thread, None)

    def forget_all(self) -> None:
        self._last.clear()


def _runs(columns: HeaderColumns) -> list[tuple[int, int, int, int]]:
    """First row, capture thread and its number of each run, and the row after it."""
    runs = columns.runs.tolist()
    ends = [*(run[0] for run in runs[1:]), len(columns)]
    return [(run[0], run[1], run[2], end) for run, end in zip(runs, ends, strict=True)]
