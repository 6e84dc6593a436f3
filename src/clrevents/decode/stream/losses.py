"""Lost and missing events of one stream: the meaning of gaps in sequence numbers, and the threads concerned.

A gap is a loss by the runtime or, after damage, events in the damaged bytes. Sees no payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TypeAlias

import numpy as np

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import SequencePoint, Together
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.stream.resolver import ThreadTable
from clrevents.decode.stream.sequence_numbers import Gap, SequenceNumbers
from clrevents.errors import Limits, Problem, damage
from clrevents.schema.own_marks import Lacking, lack_of


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


Found: TypeAlias = tuple[Problem, int]
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

    def follow(self, columns: HeaderColumns, offset: int, together: Together | None = None) -> Sequence[Found]:
        """Look for gaps in the numbers of these events; those of several blocks are at the offsets of these."""
        gaps = self.numbers.follow(columns, self._limits.problems - self._notes)
        if not gaps:
            return ()
        if together is None:
            return self._meaning(gaps, repeat(offset))
        rows = np.array([gap.row for gap in gaps], dtype=np.int64)
        return self._meaning(gaps, together.offsets[np.searchsorted(together.ends[:, 0], rows, "right")].tolist())

    def sequence_point(self, point: SequencePoint, offset: int) -> Iterator[Found]:
        """Compare with the writer's counts, which reveals losses after a thread's last event."""
        for threads, sequences in point.threads.pieces():
            places = self._threads.places(threads)[0] if self._indexed else threads
            known = places >= 0
            for thread, sequence in zip(places[known].tolist(), sequences[known].tolist(), strict=True):
                yield from self._meaning(self.numbers.reached(thread, sequence, point.time), (offset,))
        self.numbers.since = point.time
        if point.forget_threads:
            self.numbers.forget_all()

    def thread_ended(self, place: int, sequence: int, tick: int, offset: int) -> Sequence[Found]:
        """A thread is removed: how many events it wrote in total (NetTrace 6)."""
        problems = self._meaning(self.numbers.reached(place, sequence, tick), (offset,))
        self.numbers.forget(place)
        return problems

    def lacked(self, payload: bytes) -> Found:
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

    def _meaning(self, gaps: Sequence[Gap], offsets: Iterable[int]) -> list[Found]:
        problems: list[Found] = []
        for gap, offset in zip(gaps, offsets, strict=False):
            if gap.backwards:
                # Beyond the limit they are only counted: it does not matter which.
                if self._note is None or self._notes < self._limits.problems:
                    self._notes += 1
                    self._note = _backwards(self._thread_id(gap), offset)
                problems.append((self._note, gap.times))
            elif gap.after_damage:
                self.missing += gap.count
                self._keep(gap, self.destroyed)
                text = f"thread {self._thread_id(gap)} lacks {counted(gap.count, 'event')} after damage"
                problems.append((damage("missing-events", text, offset, None, "these events"), 1))
            else:
                self.lost += gap.count
                self._keep(gap, self.losses)
        return problems

    def _keep(self, gap: Gap, where: list[Loss]) -> None:
        if len(where) < self._limits.problems:
            clock = self._clock
            assert clock is not None
            where.append(Loss(self._thread_id(gap), gap.count, clock.nearest_ns(gap.start), clock.nearest_ns(gap.end)))

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
