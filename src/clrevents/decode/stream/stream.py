"""The push parser under everything: bytes in, in any slicing; rows of events out, in order.

Sans-IO: no files, threads, warnings or logging. Knows lifetimes, order, losses and which faults end the
reading; knows neither payloads nor what anyone wants of them.
"""

from __future__ import annotations

import weakref
from typing import TypeAlias

import attrs
import numpy as np

from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import (
    Block,
    Boundary,
    End,
    Events,
    Fault,
    Header,
    InlineStacks,
    LabelList,
    Labels,
    Metadata,
    RemovedThreads,
    SequencePoint,
    Stacks,
    Threads,
    TraceInfo,
)
from clrevents.decode.container.container import Container, cut, incomplete
from clrevents.decode.container.detect import detect
from clrevents.decode.container.window import NeedMore, Window
from clrevents.decode.kernels.header_scan import PADDING, HeaderColumns
from clrevents.decode.kernels.tally import Tally
from clrevents.decode.kinds import Kinds
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.rows import Ints, Rows
from clrevents.decode.stream.losses import Loss, SequenceNumbers, ticks_to_loss
from clrevents.decode.stream.region import Region
from clrevents.decode.stream.salvage import Doubt, head, odd_times
from clrevents.decode.stream.thread_table import ThreadTable
from clrevents.errors import (
    ERROR_MODES,
    DamageError,
    ErrorMode,
    Limits,
    PayloadError,
    Problem,
    Problems,
    TraceError,
    UnreadableError,
    damage,
    raised,
)
from clrevents.schema.registry import DEFAULT, Registry

Buffer: TypeAlias = bytes | bytearray | memoryview

_PADDING = bytes(PADDING)
_NEVER = -(1 << 63)


class Stream:
    """One pass over one trace. `feed` and `close` return rows; after a fatal error each call raises it again.

    `walk_stacks` looks into every stack block, which otherwise happens only where a stack is asked for. With a
    `tally` no rows come out: every piece is counted in it as it stands in the file.
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
    ) -> None:
        if errors not in ERROR_MODES:
            raise ValueError(f"errors must be one of {', '.join(ERROR_MODES)}, not {errors!r}")
        self.errors = errors
        self.limits = limits or Limits()
        self.kinds = Kinds(registry or DEFAULT, self.limits)
        self.problems = Problems(self.limits.problems)
        self.losses: list[Loss] = []
        self.lost = 0
        self.missing = 0
        self.threads = ThreadTable(self.limits)
        self.info: TraceInfo | None = None
        self.complete = False
        self._clock: Clock | None = None
        self._in_time_order = in_time_order
        self._walk_stacks = walk_stacks
        self._tally = tally
        self._container: Container | None = None
        # Weakly, so that a decoder that is dropped gives its memory back at once.
        me = weakref.proxy(self)
        self._numbers = SequenceNumbers(
            self.limits, lambda *gap: me._lost(*gap), lambda *gap: me._explained(*gap), lambda key: me._odd(key)
        )
        self._labels: dict[int, LabelList] = {}
        self._carried: LabelList | None = None
        self._doubts: Doubt | None = None
        # Only told where somebody asks: of what is counted, and where threads are described.
        self.latest = _NEVER
        self._region = Region()
        self._chunks: list[bytes] = []
        self._held = 0
        self._start = 0
        self._need = 1
        self._offset = 0
        self._place = 0
        self._began = -1
        self._trailing = 0
        self._told: set[int] = set()
        self._out: list[Rows] = []
        self._error: TraceError | None = None
        self._stopped = False
        self._closed = False

    @property
    def clock(self) -> Clock:
        """The recording clock; only after the header was read."""
        assert self._clock is not None
        return self._clock

    @property
    def error(self) -> TraceError | None:
        """What ended the reading; raised once the rows before it were handed out."""
        return self._error

    @property
    def offset(self) -> int:
        """How many bytes were parsed so far."""
        return self._offset

    def feed(self, data: Buffer) -> list[Rows]:
        """Take more bytes (they are not kept); the rows that became ready. Raises the TraceError that ended it."""
        if self._error is not None:
            raise self._error
        if self._closed:
            raise ValueError("this decoder is closed")
        if self._stopped or not len(data):
            return self._ready()
        self._chunks.append(data if isinstance(data, bytes) else bytes(data))
        self._held += len(data)
        if self._held >= self._need:
            self._parse(final=False)
        return self._ready()

    def flush(self) -> list[Rows]:
        """Release what waits for its order; later rows may then be earlier in time."""
        if self._error is not None:
            raise self._error
        self._release()
        return self._ready()

    def close(self) -> list[Rows]:
        """The stream has ended: parse what is there of a cut block, release everything."""
        if not self._closed and self._error is None:
            self._closed = True
            if not self._stopped:
                self._parse(final=True)
            self._end_region()
        return self._ready()

    def end_in(self, fault: Problem) -> None:
        """The source itself is damaged where the stream ends: to be said before `close`.

        The sound events of the block that is cut there still count, and the fault is the error, not the cut.
        """
        self.problems.add(fault)
        if not self._stopped:
            self._parse(final=True)
            self._stop()
            if self.errors != "salvage":
                self._error = DamageError(fault.message, offset=fault.offset)

    def report(self, problem: Problem) -> bool:
        """Note a problem; False when it ends the reading in this stream's error mode."""
        self.problems.add(problem)
        if problem.severity == "note" or self.errors == "salvage":
            return True
        if problem.severity == "payload" and self.errors == "report":
            return True
        kind = PayloadError if problem.severity == "payload" else DamageError
        self._stop(raised(kind, problem))
        return False

    def _stop(self, error: TraceError | None = None) -> None:
        """Parse no further. What was gathered is released before the error is raised."""
        if not self._stopped:
            self._stopped = True
            self._error = error
            self._release()

    def _ready(self) -> list[Rows]:
        out, self._out = self._out, []
        if not out and self._error is not None:
            raise self._error
        return out

    def _parse(self, final: bool) -> None:
        """Parse what is held while it is enough. What was fed is not copied, but for blocks that lie across pieces."""
        while not self._stopped and (final or self._held >= self._need):
            piece = self._chunks[0] if self._chunks else b""
            if not final and len(piece) - self._start - PADDING >= self._need:
                window = Window(piece, len(piece) - PADDING, self._offset - self._start, False, self._start)
            else:
                # With what stands in front of it, for errors to show.
                front = min(self._start, 32 + (self._offset & 15))
                data = self._take_bytes(front, self._held if final else self._need)
                window = Window(data, len(data) - PADDING, self._offset - front, final, front)
            before = window.pos
            try:
                self._need = self._blocks(window)
            except TraceError as error:
                window.context(error)
                self._stop(error)
            if self._error is not None:
                window.context(self._error)
            self._drop(window.pos - before)
            if final:
                return

    def _take_bytes(self, front: int, count: int) -> bytes:
        """The next bytes that are held, with some in front and padding behind them; they stay held."""
        parts, at, count = [], self._start - front, count + front
        for chunk in self._chunks:
            part = chunk[at : at + count]
            parts.append(part)
            count -= len(part)
            at = 0
            if not count:
                break
        return b"".join((*parts, _PADDING))

    def _drop(self, count: int) -> None:
        """So many bytes were parsed."""
        self._offset += count
        self._held -= count
        self._start += count
        while self._chunks and self._start >= len(self._chunks[0]):
            self._start -= len(self._chunks.pop(0))
        if self._stopped:
            self._chunks.clear()

    def _blocks(self, window: Window) -> int:
        """Parse while there are whole blocks; how many bytes the next one needs from here."""
        try:
            if self._container is None:
                self._container = detect(window, self.limits, self.errors == "salvage")
            while window.pos < window.end and not self._stopped:
                if self.complete:
                    self._trailing += window.available
                    window.pos = window.end
                    break
                for block in self._container.read(window):
                    self._take(block, window)
                    if self._stopped:
                        return 1
        except NeedMore as more:
            if not window.final:
                # More than was there, whatever a container says: else nothing would ever change.
                return max(more.needed, window.available + 1)
            if self.info is None:
                raise UnreadableError(
                    "the file ends inside its header",
                    offset=window.offset,
                    needed=more.needed,
                    available=window.available,
                ) from None
            self.report(cut("the beginning of a block", window.offset, more.needed, window.available))
            self._stop()
            return 1
        if window.final and self._trailing and not self._stopped:
            # Only here is it known how many there are, however the stream was cut.
            text = f"{self._trailing} bytes follow the end of the trace and are ignored"
            self.report(Problem("trailing-data", "note", text, window.offset - self._trailing, self._trailing))
        if window.final and not self._stopped and not self.complete:
            if self.info is None:
                raise self._headless(window.offset)
            self.report(incomplete(window.offset))
        return 1

    def _headless(self, offset: int) -> UnreadableError:
        """For a stream that ended before its header: because of damage, if there was any."""
        for problem in self.problems:
            if problem.severity == "damage":
                return UnreadableError(f"there is no trace header: {problem.message}", offset=problem.offset)
        return UnreadableError("the file ends before the trace's own header", offset=offset)

    def _take(self, block: Block, window: Window) -> None:
        self._place = window.offset
        match block:
            case Events():
                self._events(block)
            case Stacks() | InlineStacks():
                self._bound_region()
                self._region.add_stacks(block)
            case Metadata():
                for row in block.rows:
                    self._try(self.kinds.define(row))
            case SequencePoint():
                self._sequence_point(block)
            case Boundary():
                self._end_region()
            case Threads():
                for thread in block.rows:
                    self._try(self.threads.define(thread))
            case RemovedThreads():
                self._remove_threads(block)
            case Labels():
                self._bound_region()
                self._labels.update(enumerate(block.lists, block.first_id))
            case Header():
                self._take_header(block.info)
            case Fault():
                if block.problem.severity == "damage":
                    self._numbers.damaged(len(self.threads.all))
                if self.report(block.problem) and block.fatal:
                    self._stop()
            case End():
                self.complete = True

    def _try(self, problem: Problem | None) -> None:
        """Report a problem if there is one and reading still goes on."""
        if problem is not None and not self._stopped:
            self.report(problem)

    def _take_header(self, info: TraceInfo) -> None:
        self.info = info
        self._clock = Clock(info.sync_qpc, info.frequency, info.start)
        self._numbers.starts_at_zero = info.version >= 6
        if info.format == "NetPerf":
            # Without sequence points, sorting what is there would make the order depend on how the stream was cut.
            self._in_time_order = False

    def _sequence_point(self, point: SequencePoint) -> None:
        assert self.info is not None
        if self.info.version >= 6:
            found = ((self.threads.find(index), sequence) for index, sequence in point.threads)
            places = tuple((place, sequence) for place, sequence in found if place is not None)
            point = attrs.evolve(point, threads=places)
        self._numbers.sequence_point(point)
        self._end_region()
        self._labels.clear()
        if point.forget_threads:
            self.threads.forget()
        if point.forget_metadata:
            self.kinds.forget()

    def _remove_threads(self, block: RemovedThreads) -> None:
        for index, sequence in block.threads:
            place = self.threads.remove(index)
            if place is None:
                text = f"thread index {index} is removed but was not there"
                self._try(damage("undefined-thread", text, block.offset, None, "which threads live"))
                continue
            self._numbers.check(place, sequence, self.latest)
            self._numbers.forget(place)

    def _events(self, block: Events) -> None:
        doubtful = self.errors == "salvage" and odd_times(block)
        for index, piece in enumerate(block.columns):
            columns = piece
            if block.broken or self.errors == "salvage":
                columns = self._doubt.believable(piece, block, self._region.stacks.lookup, doubtful)
            if len(columns):
                self._piece(columns, block, index == 0)
            if len(columns) < len(piece):
                if not block.broken:
                    self._distrust(piece, len(columns))
                break
            if self._stopped:
                return
        limits = self.limits
        if self._region.events > limits.region_events or self._region.bytes > limits.region_bytes:
            self.report(
                Problem(
                    "region-too-long",
                    "note",
                    f"{self._region.events} events without a sequence point; they are given in file order",
                    self._place,
                    impact="the time order of these events",
                )
            )
            self._release(in_time_order=False)

    def _piece(self, columns: HeaderColumns, block: Events, first: bool) -> None:
        """Join rows with their kinds, threads, stacks and labels as these mean now, and put them to the others."""
        problem = None
        tally, every = self._tally, self.kinds.all
        if tally is not None and not block.labelled:
            # At once, where every row has a kind that is known.
            counted = tally.add(columns, columns.metadata_ids, self.kinds.table, len(every))
            if counted:
                self._counted(columns, block, tally)
                return
        kinds, missing = self.kinds.indexes(columns.metadata_ids)
        if missing:
            row = self._undefined(columns, kinds)
            if self.errors != "salvage":
                problem = self._undefined_kind(columns, row)
                columns, kinds = head(columns, row), kinds[:row]
        if block.labelled and len(columns):
            columns, kinds, odd = self._labelled(columns, kinds, first)
            problem = problem or odd
        if len(columns):
            if tally is not None:
                counted = tally.add(columns, kinds, np.arange(len(every)), len(every))
                assert counted, "these are kinds"
                self._counted(columns, block, tally)
            else:
                if block.counted:
                    self._numbers.events(columns)
                if block.labelled:
                    self.latest = max(self.latest, int(columns.ticks.max()))
                self._region.add(columns, kinds, block, first)
        self._try(problem)

    def _counted(self, columns: HeaderColumns, block: Events, tally: Tally) -> None:
        """Follow rows that were counted instead of gathered."""
        if block.counted:
            self._numbers.events(columns)
        self.latest = tally.latest
        self._region.count(columns)

    def _labelled(self, columns: HeaderColumns, kinds: Ints, first: bool) -> tuple[HeaderColumns, Ints, Problem | None]:
        """NetTrace 6: thread indexes to threads, label ids to labels; and the first thing that is not there."""
        problem = None
        places, missing = self.threads.places(columns.thread_ids)
        if missing is not None:
            text = f"an event is about thread index {columns.thread_ids[missing]}, which nothing defines"
            at, size = int(columns.offsets[missing]), int(columns.sizes[missing])
            problem = damage("undefined-thread", text, at, size, "which thread this event is about")
            if self.errors != "salvage":
                columns, kinds, places = head(columns, missing), kinds[:missing], places[:missing]
        captures, _ = self.threads.places(columns.runs[:, 1])
        runs = columns.runs.copy()
        runs[:, 1] = captures.astype(np.uint64)
        marks: list[tuple[int, LabelList | None]] = []
        for row, flags, label in columns.marks.tolist():
            if flags & 16:
                marks.append((row, self._labels.get(label)))
                if label and label not in self._labels:
                    text = f"an event has label list {label}, which the trace has not given"
                    at = int(columns.offsets[row])
                    self._try(Problem("missing-labels", "note", text, at, impact="the labels of these events"))
        # A block of many events comes in pieces: what the piece before ended with goes on.
        carried = None if first else self._carried
        self._carried = marks[-1][1] if marks else carried
        kinds = self._override(kinds, [(0, carried), *marks])
        self._region.add_owners(places)
        self._region.add_labels(marks, first)
        thread_ids = self.threads.thread_ids(places)
        return attrs.evolve(columns, thread_ids=thread_ids, runs=runs, place=None), kinds, problem

    def _override(self, kinds: Ints, marks: list[tuple[int, LabelList | None]]) -> Ints:
        """Labels may say another opcode, level, version or keywords than the event's description."""
        if not any(labels is not None and labels.overrides for _, labels in marks):
            return kinds
        changed = kinds.copy()
        ends = [row for row, _ in marks[1:]]
        for (row, labels), end in zip(marks, [*ends, len(kinds)], strict=True):
            if labels is not None and labels.overrides:
                for at in range(row, end):
                    changed[at] = self.kinds.overridden(int(kinds[at]), labels.overrides)
        return changed

    @property
    def _doubt(self) -> Doubt:
        """Made when it is first needed: a sound trace never asks."""
        if self._doubts is None:
            assert self.info is not None
            reader = PayloadDecoder(self.info.pointer_size, self.limits)
            self._doubts = Doubt(self.kinds, reader, self._numbers.steps_back)
        return self._doubts

    def _distrust(self, columns: HeaderColumns, row: int) -> None:
        """A block that ends where it says holds rows that cannot be true: they are left out."""
        self._numbers.damaged(len(self.threads.all))
        at = int(columns.offsets[row])
        length = int(columns.offsets[-1] + columns.sizes[-1]) - at
        text = f"{len(columns) - row} events make no sense and are left out, with what follows in their block"
        self._try(damage("bad-event", text, at, length, "these events"))

    def _undefined(self, columns: HeaderColumns, kinds: Ints) -> int:
        """The first row whose description is missing; in salvage mode each of these is told once."""
        uniques, rows = np.unique(kinds, return_index=True)
        found = [(row, kind) for row, kind in zip(rows.tolist(), uniques.tolist(), strict=True) if self._strange(kind)]
        if self.errors == "salvage":
            for row, kind in sorted(found):
                if kind not in self._told:
                    self._told.add(kind)
                    self._try(self._undefined_kind(columns, row))
        first: int = min(found)[0]
        return first

    def _strange(self, kind: int) -> bool:
        return self.kinds.all[kind].undefined

    def _undefined_kind(self, columns: HeaderColumns, first: int) -> Problem:
        metadata_id = int(columns.metadata_ids[first])
        return damage(
            "undefined-metadata",
            f"an event refers to description {metadata_id}, which the trace has not given",
            int(columns.offsets[first]),
            int(columns.sizes[first]),
            "what this event is",
        )

    def _thread(self, key: int) -> int:
        """What a key of the sequence numbers is to a user: the operating system's thread id."""
        assert self.info is not None
        return self.threads.thread_id(key) if self.info.version >= 6 and key < len(self.threads.all) else key

    def _lost(self, key: int, count: int, start: int, end: int) -> None:
        self.lost += count
        if len(self.losses) < self.limits.problems:
            self.losses.append(ticks_to_loss(self.clock, self._thread(key), count, start, end))

    def _explained(self, key: int, count: int) -> None:
        self.missing += count
        text = f"{count} events of thread {self._thread(key)} are missing behind damaged bytes"
        self._try(damage("missing-events", text, self._place, None, "these events"))

    def _odd(self, key: int) -> None:
        self._try(
            Problem(
                "sequence-backwards",
                "note",
                f"thread {self._thread(key)}'s event numbers step back: its id was used again, or events are doubled",
                self._place,
                impact="the count of lost events of this thread",
            )
        )

    def _bound_region(self) -> None:
        """Stacks and labels are held until the next sequence point, but not without end."""
        if self._began < 0:
            self._began = self._place
        length = self._place - self._began
        if length > self.limits.region_bytes:
            text = f"stacks and labels of {length} bytes without a sequence point; the older ones are dropped"
            broken = "the time order of these events, and stacks and labels of later ones"
            self.report(Problem("region-too-long", "note", text, self._place, impact=broken))
            self._labels.clear()
            self._end_region(in_time_order=False)

    def _end_region(self, in_time_order: bool | None = None) -> None:
        """Release all rows; stack ids mean nothing from here on."""
        self._began = -1
        self._release(in_time_order)
        if self._walk_stacks:
            for problem in self._region.stacks.problems():
                self._try(problem)
        self._region.end()

    def _release(self, in_time_order: bool | None = None) -> None:
        ordered = self._in_time_order if in_time_order is None else in_time_order
        rows = self._region.release(ordered, self.threads.all)
        if rows is not None:
            self._out.append(rows)
