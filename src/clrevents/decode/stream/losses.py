"""Lost and missing events of one stream: gaps in the sequence numbers of capture threads, and what they mean.

A gap is a loss by the runtime or, after damage, events in the damaged bytes. Never guesses: a step back is not a loss,
and after damage a thread's first gap is attributed to the damage (docs/format.md, "Sequence numbers and losses").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TypeAlias

import attrs
import numpy as np

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import SequencePoint, Together
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.stream.resolver import ThreadTable
from clrevents.errors import Limits, Problem, damage
from clrevents.schema.own_marks import Lacking, lack_of

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
        gap_rows = np.flatnonzero(gap)
        values = (column[gap_rows].tolist() for column in (threads, counts, since, began, after_damage, rows))
        return [
            Gap(thread, count, start, end, after, row, others if run == standing else 1)
            for run, thread, count, start, end, after, row in zip(gap_rows.tolist(), *values, strict=True)
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


@frozen
class Loss(Value):
    """Events that a thread tried to write but that never reached the file, and when.

    `thread_id` is the thread that wrote them; the window is in nanoseconds since the session started, where 64 bits
    cannot hold a time the nearest number that they can. An event of more than 64 KB, which the runtime drops whatever
    the buffer's size, may be missing before the window: since the last sequence point.
    """

    thread_id: int
    """The thread that tried to write them."""
    count: int
    """The number of lost events."""
    start_ns: int
    """The start of the window, in nanoseconds since the session started."""
    end_ns: int
    """The end of the window, in nanoseconds since the session started."""
    followed: bool = attrs.field(default=True, eq=False, repr=False)
    """Whether the window ends with the thread's next event; if not, what began in it may have gone on."""


PlacedProblem: TypeAlias = tuple[Problem, int]
"""A problem, and how often it was found."""


class LossLog:
    """Losses so far: `Limits.problems` of them individually, `lost` events in all.

    Events in damaged bytes are not losses: `destroyed` lists them in the same way, `missing` counts them.

    Its methods return the problems to report, and how often each; `offset` is that of the block that reveals them.
    """

    def __init__(self, limits: Limits, threads: ThreadTable) -> None:
        self.losses: list[Loss] = []
        self.lost = 0
        self.destroyed: list[Loss] = []
        self.missing = 0
        self.unended_ns: int | None = None
        """Until when the events of all threads are there in a copy of a trace without an end; None of any other."""
        self.unnumbered = False
        """Whether this is a copy of a trace that does not show losses."""
        self.numbers = SequenceNumbers(limits, threads.born)
        self._limits = limits
        self._threads = threads
        self._clock: Clock | None = None
        self._indexed = False
        self._notes = 0
        self._note: Problem | None = None

    def begin(self, clock: Clock, version: int) -> None:
        """The trace's header was read."""
        self._clock = clock
        # NetTrace 6 has thread indexes where the others have thread ids.
        self._indexed = self.numbers.indexed = version >= 6
        self.numbers.since = clock.sync_qpc

    def damaged(self) -> None:
        """Events may be missing from here on for a reason other than loss."""
        self.numbers.damaged(self._threads.definitions)

    def follow(self, columns: HeaderColumns, offset: int, together: Together | None = None) -> Sequence[PlacedProblem]:
        """Look for gaps in the numbers of these events; those of several blocks are at the offsets of these."""
        gaps = self.numbers.follow(columns, self._limits.problems - self._notes)
        if not gaps:
            return ()
        if together is None:
            return self._meaning(gaps, repeat(offset))
        rows = np.array([gap.row for gap in gaps], dtype=np.int64)
        return self._meaning(gaps, together.offsets[np.searchsorted(together.ends[:, 0], rows, "right")].tolist())

    def sequence_point(self, point: SequencePoint, offset: int) -> Iterator[PlacedProblem]:
        """Compare with the writer's counts, which reveals losses after a thread's last event."""
        for threads, sequences in point.threads.pieces():
            places = self._threads.places(threads)[0] if self._indexed else threads
            known = places >= 0
            for thread, sequence in zip(places[known].tolist(), sequences[known].tolist(), strict=True):
                yield from self._meaning(self.numbers.reached(thread, sequence, point.time), (offset,), followed=False)
        self.numbers.since = point.time
        if point.forget_threads:
            self.numbers.forget_all()

    def thread_ended(self, place: int, sequence: int, tick: int, offset: int) -> Sequence[PlacedProblem]:
        """A thread is removed: how many events it wrote in total (NetTrace 6)."""
        problems = self._meaning(self.numbers.reached(place, sequence, tick), (offset,))
        self.numbers.forget(place)
        return problems

    def lacked(self, payload: bytes) -> PlacedProblem:
        """The original of this copy lacked something."""
        lack = lack_of(payload)
        if lack is None:
            text = "the mark of what the original of this copy lacked cannot be read"
            return Problem("original-damaged", "damage", text, impact="what the mark says"), 1
        if lack.what == Lacking.END:
            self.unended_ns = lack.start_ns
            text = "the trace that this was copied from has no end mark"
            return Problem("missing-end", "note", text, impact="what the original did not hold any more"), 1
        if lack.what == Lacking.NUMBERS:
            self.unnumbered = True
            text = "the trace that this was copied from did not number events: no loss can be seen"
            return Problem("unseen-losses", "note", text, impact="whether events were lost"), 1
        if lack.what == Lacking.DAMAGE:
            text = f"the trace that this was copied from was damaged in {counted(lack.count, 'place')}"
            return Problem("original-damaged", "damage", text, impact="the events that stood there"), lack.count
        self.missing += lack.count
        if len(self.destroyed) < self._limits.problems:
            self.destroyed.append(Loss(lack.thread_id, lack.count, lack.start_ns, lack.end_ns))
        missing = counted(lack.count, "event is", "events are")
        text = f"{missing} missing where the trace that this was copied from was damaged"
        return Problem("missing-events", "damage", text, impact="these events"), 1

    def _meaning(self, gaps: Sequence[Gap], offsets: Iterable[int], followed: bool = True) -> list[PlacedProblem]:
        problems: list[PlacedProblem] = []
        for gap, offset in zip(gaps, offsets, strict=False):
            if gap.backwards:
                # Beyond the limit they are only counted: it does not matter which.
                if self._note is None or self._notes < self._limits.problems:
                    self._notes += 1
                    self._note = _backwards(self._thread_id(gap), offset)
                problems.append((self._note, gap.times))
            elif gap.after_damage:
                self.missing += gap.count
                self._keep(gap, self.destroyed, followed)
                text = f"thread {self._thread_id(gap)} lacks {counted(gap.count, 'event')} after damage"
                problems.append((damage("missing-events", text, offset, None, "these events"), 1))
            else:
                self.lost += gap.count
                self._keep(gap, self.losses, followed)
        return problems

    def _keep(self, gap: Gap, where: list[Loss], followed: bool) -> None:
        if len(where) < self._limits.problems:
            clock = self._clock
            assert clock is not None
            start, end = clock.nearest_ns(gap.start), clock.nearest_ns(gap.end)
            where.append(Loss(self._thread_id(gap), gap.count, start, end, followed))

    def _thread_id(self, gap: Gap) -> int:
        """The operating system's id of the thread whose numbers have this gap."""
        known = self._indexed and gap.thread < len(self._threads.all)
        return self._threads.thread_id(gap.thread) if known else gap.thread


def _backwards(thread_id: int, offset: int) -> Problem:
    return Problem(
        "sequence-backwards",
        "note",
        f"thread {thread_id}'s sequence numbers step back: its id was reused, or events are duplicated",
        offset,
        impact="the count of lost events of this thread",
    )
