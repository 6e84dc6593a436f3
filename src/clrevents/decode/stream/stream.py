"""The underlying push parser: bytes in, in any slicing; rows of events out, in order.

Sans-IO: no files, threads, warnings or logging. A composition: block reader → what each kind of block defines, ends or
releases → region, or a tally, with one error policy; a call that was interrupted makes the stream unusable. Events are
looked at in the order that the format requires: plausibility, ids, sequence numbers. Knows neither payloads nor what
rows are used for; of bytes it sees those of buffers and of lost events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from types import TracebackType
from typing import Final, TypeAlias

import attrs
import numpy as np

from clrevents._util.value_classes import define
from clrevents._util.words import counted
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
from clrevents.decode.kernels.engine import Ints
from clrevents.decode.kernels.header_scan import HeaderColumns, Tally
from clrevents.decode.kinds import EventKind, Kinds
from clrevents.decode.rows import Rows
from clrevents.decode.stream.async_buffers import AsyncBuffers
from clrevents.decode.stream.block_reader import BlockReader, InputBuffer
from clrevents.decode.stream.losses import Loss, LossLog
from clrevents.decode.stream.region import Region
from clrevents.decode.stream.resolver import LabelTable, ResolvedRows, Resolver, ThreadTable
from clrevents.decode.stream.salvage import PlausibilityCheck, span_differs
from clrevents.errors import (
    ERROR_MODES,
    DamageError,
    ErrorMode,
    Limits,
    PayloadError,
    Problem,
    Problems,
    TraceError,
    damage,
    raised,
)
from clrevents.schema.registry import DEFAULT, Registry

NEVER: Final = -(1 << 63)
"""Before every tick."""


@define(eq=False, repr=False, slots=False)
class EventIntake:
    """Takes the events of one stream. With a `tally` they are counted in file order, and none reaches the region."""

    _kinds: Kinds
    _limits: Limits
    _threads: ThreadTable
    _resolver: Resolver
    _losses: LossLog
    _rows: Region
    _errors: ErrorPolicy
    _tally: Tally | None
    pointer_size: int = 8
    """That of the traced process, once the trace's header was read."""
    # Sub-events of the rows of a block so far, which are added behind them.
    _opened: list[ResolvedRows] = attrs.field(factory=list, init=False)
    _latest: int = attrs.field(default=NEVER, init=False)
    sorted_tick: int = attrs.field(default=NEVER, init=False)
    """The last time of an event that is flagged as sorted: all events of all threads until then were read."""
    _indexes: Ints = attrs.field(factory=partial(np.arange, 0), init=False)

    @cached_property
    def _plausibility(self) -> PlausibilityCheck:
        return PlausibilityCheck(self._kinds, self._limits, self._losses.numbers.steps_back, self.pointer_size)

    @cached_property
    def _buffers(self) -> AsyncBuffers:
        return AsyncBuffers(self._kinds, self._threads)

    @property
    def latest(self) -> int:
        """The last tick of all events so far; only with a tally, or in NetTrace 6."""
        return self._latest if self._tally is None else self._tally.latest

    def take(self, block: Events, offset: int) -> None:
        """Take an event block; `offset` is where problems with its sequence numbers are reported."""
        salvage = self._errors.salvage
        check = salvage or block.broken
        wrong_span = salvage and span_differs(block)
        for index, piece in enumerate(block.columns):
            columns = piece
            if check:
                columns = self._plausibility.plausible(piece, block, self._rows.stacks.lookup, wrong_span)
            sound = len(columns)
            whole = sound == len(piece)
            if not whole:
                # What its sound rows seem to lack may be in its damaged bytes, or they are no rows.
                self._losses.damaged()
            if sound:
                self._note_sorted(columns)
                self._take_piece(columns, block, index == 0, offset)
            if not whole:
                self._add_opened(block)
                if not block.broken:
                    self._leave_out(piece, sound)
                break
            if self._errors.stopped:
                return
        self._add_opened(block)
        note = self._rows.bound_rows(offset)
        if note is not None:
            self._errors.report(note)

    def take_together(self, block: Events, together: Together) -> bool:
        """Take several small blocks in one piece; returns False, having done nothing, if one of them may be wrong."""
        (columns,) = block.columns
        doubtful = not self._rows.room_for(columns) or (
            self._errors.salvage and self._plausibility.doubtful(block, together)
        )
        if doubtful:
            return False
        self._note_sorted(columns)
        if self._tally is not None and not block.labelled:
            if not self._count(columns, columns.metadata_ids, self._kinds.table):
                return False
            self._note_missing(columns, block, 0)
            self._open(columns, None, block)
        elif self._resolver.all_known(columns, block):
            columns.marks = together.marks_and_ends(block.labelled)
            self._take_piece(columns, block, True, 0)
        else:
            return False
        self._add_opened(block)
        return True

    def _take_piece(self, columns: HeaderColumns, block: Events, first: bool, offset: int) -> None:
        """Count or collect one piece of a block; `first` says whether it is the block's first."""
        # Counted at once if every row has a known kind.
        if (
            self._tally is not None
            and not block.labelled
            and self._count(columns, columns.metadata_ids, self._kinds.table)
        ):
            self._note_missing(columns, block, offset)
            self._open(columns, None, block)
            return
        rows = self._resolver.resolve(columns, block, first)
        self._errors.report_all(rows.problems)
        if len(rows):
            self._note_missing(rows.columns, block, offset)
            self._add(rows, block, first)
            self._open(rows.columns, rows.thread_places, block)
        if rows.fault is not None:
            self._add_opened(block)
            self._errors.report_all((rows.fault,))

    def _open(self, columns: HeaderColumns, places: Ints | None, block: Events) -> None:
        """Read the buffers that these rows carry, if any."""
        if self._kinds.carriers:
            carried = [columns.metadata_ids == kind for kind in self._kinds.carriers]
            carriers = np.flatnonzero(np.logical_or.reduce(carried)).tolist()
            rows, problems = self._buffers.open(columns, carriers, places, block) if carriers else (None, [])
            if rows is not None:
                self._opened.append(rows)
            self._errors.report_all(problems)

    def _add_opened(self, block: Events) -> None:
        """Sub-events follow their block like one of their own: no ids carry over to them, nor from them."""
        opened, self._opened = self._opened, []
        for rows in opened:
            self._add(rows, block, True)

    def _add(self, rows: ResolvedRows, block: Events, first: bool) -> None:
        """Count or collect resolved rows."""
        if self._tally is None:
            self._gather(rows, block, first)
            return
        if len(self._kinds.all) > len(self._indexes):
            self._indexes = np.arange(2 * len(self._kinds.all))
        counted = self._count(rows.columns, rows.kind_indexes, self._indexes)
        assert counted, "these are kinds"

    def _gather(self, rows: ResolvedRows, block: Events, first: bool) -> None:
        if block.labelled:
            self._latest = max(self._latest, int(rows.columns.ticks.max()))
        self._rows.add(rows, block, first)

    def _count(self, columns: HeaderColumns, ids: Ints, kind_indexes: Ints) -> bool:
        """Count rows whose kinds are `kind_indexes[ids]`; returns False, without counting, if one has none."""
        assert self._tally is not None
        counted = self._tally.add(columns, ids, kind_indexes, len(self._kinds.all))
        if counted:
            self._rows.count(columns)
        return counted

    def _note_sorted(self, columns: HeaderColumns) -> None:
        if columns.sorted_tick is not None:
            self.sorted_tick = max(self.sorted_tick, columns.sorted_tick)

    def _note_missing(self, columns: HeaderColumns, block: Events, offset: int) -> None:
        """Take note of what these rows say of missing ones."""
        if self._kinds.lacked:
            for row in np.flatnonzero(np.isin(columns.metadata_ids, list(self._kinds.lacked))).tolist():
                start = int(columns.offsets[row]) - block.base
                problem, times = self._losses.lacked(block.window[start : start + int(columns.sizes[row])])
                # Not damage of this file, which is read on in every mode.
                self._errors.problems.add(problem, times)
        if block.counted:
            problems = self._losses.follow(columns, offset, block.together)
            if problems:
                self._errors.report_found(problems)

    def _leave_out(self, columns: HeaderColumns, row: int) -> None:
        """Drop the invalid rows of a block that ends at its declared size."""
        self._losses.damaged()
        at = int(columns.offsets[row])
        length = int(columns.offsets[-1] + columns.sizes[-1]) - at
        text = f"{counted(len(columns) - row, 'event is', 'events are')} invalid; skipped with the rest of their block"
        self._errors.report_all((damage("bad-event", text, at, length, "these events"),))


class ErrorPolicy:
    """Collects `problems`, and stops the reading if the mode requires it: `error` is then the exception to raise.

    Collected `rows` are released at that moment. Raises ValueError for an unknown mode.
    """

    def __init__(self, mode: ErrorMode, limits: Limits, rows: Region) -> None:
        if mode not in ERROR_MODES:
            raise ValueError(f"errors must be one of {', '.join(ERROR_MODES)}, not {mode!r}")
        self.mode: ErrorMode = mode
        self.problems = Problems(limits.problems)
        self.error: TraceError | None = None
        self.stopped = False
        self._rows = rows

    @property
    def salvage(self) -> bool:
        return self.mode == "salvage"

    def report(self, problem: Problem, times: int = 1) -> bool:
        """Record a problem found `times` times; returns False if it ends the reading."""
        self.problems.add(problem, times)
        if problem.severity == "note" or self.mode == "salvage":
            return True
        if problem.severity == "payload" and self.mode == "report":
            return True
        kind = PayloadError if problem.severity == "payload" else DamageError
        self.stop(raised(kind, problem))
        return False

    def report_all(self, problems: Iterable[Problem | None]) -> None:
        """Record problems until one ends the reading. All of them are computed, even after that."""
        for problem in problems:
            if problem is not None and not self.stopped:
                self.report(problem)

    def report_found(self, problems: Iterable[tuple[Problem, int]]) -> None:
        """As `report_all`, of problems with the number of times that each was found."""
        for problem, times in problems:
            if not self.stopped:
                self.report(problem, times)

    def stop(self, error: TraceError | None = None) -> None:
        """Read no further. Collected rows are released before the exception is raised."""
        if not self.stopped:
            self.stopped = True
            self.error = error
            self._rows.release()


_NUMBERED = 4
"""From this version on, a runtime numbers what its threads raise."""
_LINUX = "Universal."
"""How the providers of the Linux recorder begin."""


class Calls:
    """A context manager around each call, which may be nested. Once interrupted, entering it raises RuntimeError.

    A TraceError is an end of its own and interrupts nothing, nor does any exception before `begin`.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._begun = False
        self._interrupted_by: str | None = None

    def begin(self) -> None:
        """From here on the call changes the stream."""
        self._begun = True

    def __enter__(self) -> None:
        if self._interrupted_by is not None:
            raise RuntimeError(
                f"an earlier call was interrupted by {self._interrupted_by}, and events may be missing; "
                "start again with a new decoder"
            )
        if not self._depth:
            self._begun = False
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._depth -= 1
        if kind is not None and self._begun and not issubclass(kind, TraceError):
            self._interrupted_by = kind.__name__


Buffer: TypeAlias = bytes | bytearray | memoryview


class Stream:
    """One pass over one trace. `feed` and `close` return rows; after a fatal error each call raises it again.

    `walk_stacks` checks every stack block, which otherwise happens only if a stack is requested. With a `tally` no rows
    come out: every piece of a block is counted in it, in file order. `calls` is entered by every call, and by those
    who do more within the same one. `seen` are the kinds of an earlier pass over the same trace.
    """

    def __init__(
        self,
        *,
        errors: ErrorMode = "report",
        limits: Limits | None = None,
        registry: Registry | None = None,
        in_time_order: bool = True,
        walk_stacks: bool = False,
        tally: Tally | None = None,
        seen: Sequence[EventKind] = (),
    ) -> None:
        self.limits = limits = limits or Limits()
        self.threads = ThreadTable(limits)
        self._rows = Region(limits, self.threads, in_time_order, walk_stacks, tally is None)
        self._errors = ErrorPolicy(errors, limits, self._rows)
        self.errors = errors
        self.problems = self._errors.problems
        self._input = InputBuffer()
        self._reader = BlockReader(limits, self._errors.salvage, self.problems)
        self.info: TraceInfo | None = None
        """The contents of the trace's header; None until it was read."""
        self._clock: Clock | None = None
        self.kinds = Kinds(registry or DEFAULT, limits, seen)
        self._losses = LossLog(limits, self.threads)
        self._labels = LabelTable()
        self._sequence_point = NEVER
        resolver = Resolver(self.kinds, self.threads, self._labels, self._errors.salvage)
        self._events = EventIntake(
            self.kinds, limits, self.threads, resolver, self._losses, self._rows, self._errors, tally
        )
        self._closed = False
        self.calls = Calls()

    @property
    def clock(self) -> Clock:
        """The recording clock; available once the header was read."""
        assert self._clock is not None
        return self._clock

    @property
    def complete(self) -> bool:
        """Whether the end of the trace was read, and for a copy, of its original too."""
        return self._reader.complete and self._losses.unended_ns is None

    @property
    def unended(self) -> bool:
        """Whether it is over, and the end of the trace was not read."""
        return (self._closed or self._errors.stopped) and not self.complete

    @property
    def error(self) -> TraceError | None:
        """The exception that ended the reading; raised once the rows before it were delivered."""
        return self._errors.error

    @property
    def offset(self) -> int:
        """How many bytes have been parsed so far."""
        return self._input.offset

    @property
    def losses(self) -> list[Loss]:
        """Losses so far, at most `Limits.problems`."""
        return self._losses.losses

    @property
    def next_trace(self) -> int | None:
        """The offset at which another trace begins, of which nothing is read."""
        return self._reader.next_trace

    @property
    def losses_visible(self) -> bool:
        """Whether lost events would show. NetPerf does not number events, the Linux recorder only those it writes."""
        if self.info is None or self.info.version < _NUMBERED or self._losses.unnumbered:
            return False
        return not any(kind.row.provider.startswith(_LINUX) for kind in self.kinds.all)

    @property
    def lost(self) -> int:
        """How many events were lost so far."""
        return self._losses.lost

    @property
    def destroyed(self) -> list[Loss]:
        """The events that stood in damaged bytes, where sequence numbers show whose they were; bounded as `losses`."""
        return self._losses.destroyed

    @property
    def missing(self) -> int:
        """How many events are missing where the file is damaged."""
        return self._losses.missing

    @property
    def stackless(self) -> Loss | None:
        """The events whose stacks the trace does not have, as if these were lost; None if there are none."""
        if self._rows.stackless is None:
            return None
        count, first, last = self._rows.stackless
        return Loss(-1, count, self.clock.nearest_ns(first), self.clock.nearest_ns(last))

    def known_ns(self, latest: int) -> int:
        """Until when the events of all threads were read, if the last has this tick; of later ones some may be."""
        # No event behind these in the file is earlier.
        until = max(self._sequence_point, self._events.sorted_tick)
        known, copied = self.clock.nearest_ns(min(until, latest)), self._losses.unended_ns
        return known if copied is None else min(known, copied)

    @property
    def latest(self) -> int:
        """The last tick of all events so far; only with a tally, or in NetTrace 6."""
        return self._events.latest

    def feed(self, data: Buffer) -> list[Rows]:
        """Take more bytes (not kept); returns rows that became ready. Raises the TraceError that ended the stream.

        If any other exception leaves a call that has begun, such as KeyboardInterrupt, later ones raise RuntimeError.
        """
        with self.calls:
            if self.error is not None:
                raise self.error
            if self._closed:
                raise ValueError("this decoder is closed")
            own_bytes = data if isinstance(data, bytes) else bytes(memoryview(data))
            self.calls.begin()
            if len(own_bytes) and not self._errors.stopped:
                self._input.add(own_bytes)
                if self._input.enough:
                    self._parse(final=False)
            return self._ready()

    def flush(self) -> list[Rows]:
        """Release the rows waiting to be ordered; later rows may then be earlier in time."""
        with self.calls:
            if self.error is not None:
                raise self.error
            self.calls.begin()
            self._rows.release()
            return self._ready()

    def close(self) -> list[Rows]:
        """End the stream: parse the rest of a truncated block, release everything."""
        with self.calls:
            self.calls.begin()
            if not self._closed and self.error is None:
                self._closed = True
                self._parse(final=True)
                self._errors.report_all(self._rows.end_region())
            return self._ready()

    def end_in(self, fault: Problem) -> None:
        """The source itself is damaged where the stream ends: to be called before `close`.

        Intact events of the block truncated there still count, and the fault is the error, not the truncation.
        """
        self.problems.add(fault)
        if not self._errors.stopped:
            self._parse(final=True)
            self._errors.stop()
            if self.errors != "salvage":
                self._errors.error = DamageError(fault.message, offset=fault.offset)

    def report(self, problem: Problem) -> bool:
        """Record a problem; returns False if it ends the reading in this stream's error mode."""
        return self._errors.report(problem)

    def _ready(self) -> list[Rows]:
        rows = self._rows.take()
        if not rows and self.error is not None:
            raise self.error
        return rows

    def _parse(self, final: bool) -> None:
        """Parse the fed bytes: the complete blocks, or all of them if `final`."""
        while not self._errors.stopped and (final or self._input.enough):
            window = self._input.window(final)
            start = window.pos
            try:
                for block in self._reader.read(window):
                    self._take(block, window.offset)
                    # Memory that is free again is used for the next block.
                    del block
                    if self._errors.stopped:
                        break
            except TraceError as error:
                self._errors.stop(error)
            if self.error is not None:
                window.context(self.error)
            self._input.consume(window.pos - start, self._reader.needed)
            if self._errors.stopped:
                self._input.clear()
            if final:
                return

    def _take(self, block: Block, offset: int) -> None:
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
                self._errors.report_all(map(self.threads.define, block.rows))
            case RemovedThreads():
                self._remove_threads(block, offset)
            case Labels():
                self._bound_tables(offset)
                self._labels.add(block)
            case Header():
                self._take_header(block.info)
            case Fault():
                if block.problem.severity == "damage":
                    self._losses.damaged()
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
            self._take(each, offset)
            if self._errors.stopped:
                return

    def _take_header(self, info: TraceInfo) -> None:
        self.info = info
        self._clock = Clock(info.sync_qpc, info.frequency, info.start)
        self._losses.begin(self._clock, info.version)
        self._events.pointer_size = info.pointer_size
        if info.start is None:
            text = "the header has no valid date"
            self._errors.report(Problem("bad-date", "note", text, impact="dates; times since the start are known"))
        if info.format == "NetPerf":
            # Without sequence points, sorting would make the order depend on how the stream was sliced.
            self._rows.in_time_order = False

    def _take_sequence_point(self, point: SequencePoint, offset: int) -> None:
        self._sequence_point = max(self._sequence_point, point.time)
        self._errors.report_found(self._losses.sequence_point(point, offset))
        self._errors.report_all(self._rows.end_region())
        self._labels.clear()
        if point.forget_threads:
            self.threads.forget()
        if point.forget_metadata:
            self.kinds.forget()

    def _remove_threads(self, block: RemovedThreads, offset: int) -> None:
        for index, sequence in block.threads:
            place = self.threads.remove(index)
            if place is None:
                text = f"undefined thread index {index} is removed"
                self._errors.report_all((damage("undefined-thread", text, block.offset, None, "which threads exist"),))
            else:
                self._errors.report_found(self._losses.thread_ended(place, sequence, self._events.latest, offset))

    def _bound_tables(self, offset: int) -> None:
        """Stacks and labels are held until the next sequence point, but not without bound."""
        problems = self._rows.bound_tables(offset)
        if problems:
            self._labels.clear()
            self._errors.report_all(problems)
