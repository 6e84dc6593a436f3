"""Blocks → the state of a stream: what each kind of block defines, ends or releases.

Passes every block to the parts concerned, in the order that the format requires. Sees no bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import (
    Block,
    Boundary,
    End,
    Events,
    Fault,
    Header,
    InlineStacks,
    Labels,
    Metadata,
    RemovedThreads,
    SequencePoint,
    Stacks,
    Threads,
    Together,
    TraceInfo,
)
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.kinds import EventKind, Kinds
from clrevents.decode.stream.async_buffers import AsyncBuffers
from clrevents.decode.stream.error_policy import ErrorPolicy
from clrevents.decode.stream.event_intake import NEVER, EventIntake
from clrevents.decode.stream.losses import LossLog
from clrevents.decode.stream.region import RowQueue
from clrevents.decode.stream.resolver import LabelTable, Resolver, ThreadTable
from clrevents.decode.stream.salvage import PlausibilityCheck
from clrevents.errors import Limits, Problem, damage
from clrevents.schema.registry import Registry


class BlockHandler:
    """Takes the blocks of one stream in file order; `info` and `clock` are None until the trace's header is read."""

    def __init__(
        self,
        registry: Registry,
        limits: Limits,
        threads: ThreadTable,
        rows: RowQueue,
        errors: ErrorPolicy,
        tally: Tally | None,
        seen: Sequence[EventKind],
    ) -> None:
        self.info: TraceInfo | None = None
        self.clock: Clock | None = None
        self.kinds = Kinds(registry, limits, seen)
        self.losses = LossLog(limits, threads)
        self._sequence_point = NEVER
        self._threads = threads
        self._labels = LabelTable()
        self._rows = rows
        self._errors = errors
        self._plausibility = PlausibilityCheck(self.kinds, limits, self.losses.numbers.steps_back)
        resolver = Resolver(self.kinds, threads, self._labels, errors.salvage)
        buffers = AsyncBuffers(self.kinds, threads)
        self._events = EventIntake(self.kinds, resolver, self.losses, rows, errors, self._plausibility, buffers, tally)

    @property
    def known_until(self) -> int:
        """The last tick until which the events of all threads were read: no later one in the file is earlier."""
        return max(self._sequence_point, self._events.sorted_tick)

    @property
    def latest(self) -> int:
        """The last tick of all events so far; only with a tally, or in NetTrace 6."""
        return self._events.latest

    def take(self, block: Block, offset: int) -> None:
        """Take a block; `offset` is the block reader's position, used for some problems."""
        match block:
            case Events():
                if block.together is None:
                    self._events.take(block, offset)
                else:
                    self._take_together(block, block.together)
            case Stacks() | InlineStacks():
                self._bound_tables(offset)
                self._rows.add_stacks(block)
            case Metadata():
                self._errors.report_all(map(self.kinds.define, block.rows))
            case SequencePoint():
                self._take_sequence_point(block, offset)
            case Boundary():
                self._errors.report_all(self._rows.end_region())
            case Threads():
                self._errors.report_all(map(self._threads.define, block.rows))
            case RemovedThreads():
                self._remove_threads(block, offset)
            case Labels():
                self._bound_tables(offset)
                self._labels.add(block)
            case Header():
                self._take_header(block.info)
            case Fault():
                if block.problem.severity == "damage":
                    self.losses.damaged()
                if self._errors.report(block.problem) and block.fatal:
                    self._errors.stop()
            case End():
                # The block reader knows: `complete`.
                pass

    def _take_together(self, block: Events, together: Together) -> None:
        """Take several small blocks in one piece, if nothing is wrong with any of them; otherwise one by one.

        Where ids of stacks do not restart, it does not matter which events come before a block of them.
        """
        whole = self._rows.room_for_stacks(together.stacks) and self._events.take_together(block, together)
        for each, offset in together.stacks if whole else block.apart():
            self.take(each, offset)
            if self._errors.stopped:
                return

    def _take_header(self, info: TraceInfo) -> None:
        self.info = info
        self.clock = Clock(info.sync_qpc, info.frequency, info.start)
        self.losses.begin(self.clock, info.version)
        self._plausibility.pointer_size = info.pointer_size
        if info.start is None:
            text = "the header has no valid date"
            self._errors.report(Problem("bad-date", "note", text, impact="dates; times since the start are known"))
        if info.format == "NetPerf":
            # Without sequence points, sorting would make the order depend on how the stream was sliced.
            self._rows.in_time_order = False

    def _take_sequence_point(self, point: SequencePoint, offset: int) -> None:
        self._sequence_point = max(self._sequence_point, point.time)
        self._errors.report_found(self.losses.sequence_point(point, offset))
        self._errors.report_all(self._rows.end_region())
        self._labels.clear()
        if point.forget_threads:
            self._threads.forget()
        if point.forget_metadata:
            self.kinds.forget()

    def _remove_threads(self, block: RemovedThreads, offset: int) -> None:
        for index, sequence in block.threads:
            place = self._threads.remove(index)
            if place is None:
                text = f"undefined thread index {index} is removed"
                self._errors.report_all((damage("undefined-thread", text, block.offset, None, "which threads exist"),))
            else:
                self._errors.report_found(self.losses.thread_ended(place, sequence, self._events.latest, offset))

    def _bound_tables(self, offset: int) -> None:
        """Stacks and labels are held until the next sequence point, but not without bound."""
        problems = self._rows.bound_tables(offset)
        if problems:
            self._labels.clear()
            self._errors.report_all(problems)
