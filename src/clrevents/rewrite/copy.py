"""Writes events that were read to a new trace: their descriptions, stacks, threads, labels, and losses.

Keeps each event's own data; renumbers sequences, so that the result shows exactly the losses it is given. NetTrace 6
stays NetTrace 6; everything older becomes NetTrace 4. Events come in time order, so each is flagged as sorted: only at
such events do other readers look for another capture thread. What came in a buffer of the async profiler, and late, is
written as an event of its own. What its original lacked is marked. Has no rules about what to keep.
"""

from __future__ import annotations

import dataclasses
import gzip
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TypeVar

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.outputs import whole_file
from clrevents._util.value_classes import frozen
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import MOST_BLOCK_BYTES, NetTrace6Writer
from clrevents.encode.values import NO_GUID, EventRecord, Label, MetadataRecord, Sink, ThreadRow, TraceHeader
from clrevents.errors import TraceError
from clrevents.schema.async_forms import CARRIER_ID
from clrevents.schema.codes import ARRAYS, LabelKind, TypeCode
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.own_marks import LACKED, MOST, PROVIDER, Lack, Lacking, Mark
from clrevents.schema.registry import ASYNC
from clrevents.trace import DecodedRows, EventRows, Loss, Trace, TraceInfo, passes_of

_REGION_EVENTS: Final = 20_000
_BLOCK_BYTES: Final = 100_000
_BLOCK_ROWS: Final = 100
# What is not counted one by one: a block's own header, and at most so much before the payload of an event.
_BLOCK_HEADER: Final = 64
_EVENT_HEADER: Final = 64
_LARGEST_ID: Final = (1 << 31) - 1
_M32: Final = (1 << 32) - 1
_M64: Final = (1 << 64) - 1
_HALF: Final = 1 << 63
_LOSERS: Final = 1 << 50
_ORIGINS: Final = 1 << 40
"""Where the threads of one more trace begin."""
_NO_MEANING: Final = 0
_Item = TypeVar("_Item")
_OVERRIDES: Final = {
    "opcode": LabelKind.OPCODE,
    "keywords": LabelKind.KEYWORDS,
    "level": LabelKind.LEVEL,
    "version": LabelKind.VERSION,
}


@frozen
class Copied(Value):
    """What was written to the new trace."""

    events: int
    """The number of events in it."""
    lost: int
    """The number of lost events it shows."""
    undescribed: int
    """The number of events left out because the trace does not describe them."""
    bytes: int
    """The size of the new trace in bytes, before compression."""


@frozen
class _Point:
    """Where a loss window starts (`count` 0) or ends."""

    tick: int
    thread: int
    count: int


class Origin:
    """A trace whose events are copied: what its kinds, stacks and threads are in the new one.

    `first_thread` is the index of its first thread there, which leaves room for those of other traces.
    """

    def __init__(self, first_thread: int = 1) -> None:
        self.first_thread = first_thread
        self.thread_rows: Sequence[Any] = ()
        self.kinds: dict[int, int] = {}
        self.stacks: dict[int, int] = {}


class Part:
    """Rows of one trace, to be copied one by one; `payloads` replaces their payload bytes."""

    def __init__(self, rows: DecodedRows, origin: Origin, payloads: list[bytes] | None = None) -> None:
        self.rows = rows
        self.origin = origin
        self.payloads = rows.payload_bytes if payloads is None else payloads
        self.events = EventRows(rows, None, 0, len(rows))
        self.threads: list[int] = rows.thread_ids.tolist()
        self.captures: list[int] = rows.capture_threads.tolist()
        self.ticks: list[int] = rows.ticks.tolist()

    def __len__(self) -> int:
        return len(self.ticks)


class Copier:
    """Appends rows to a new trace, in time order. `losses` are those that the result shows.

    `marks` are such events and their payloads, which are written beside the first one. Unless `packed`, events that
    carry buffers are left out, because what these hold is copied.
    """

    def __init__(
        self,
        sink: Sink,
        info: TraceInfo,
        losses: Iterable[Loss] = (),
        marks: Iterable[tuple[Mark, bytes]] = (),
        packed: bool = False,
    ) -> None:
        self._marks = [*marks]
        self._packed = packed
        self._info = info
        self._labelled = info.version >= 6
        self._origins = [Origin()]
        # NetTrace 4 has no other bound than the sign of a size.
        self._room = (MOST_BLOCK_BYTES if self._labelled else _LARGEST_ID) - _BLOCK_HEADER
        writer = NetTrace6Writer if self._labelled else NetTrace4Writer
        self._writer: Any = _written("the header", writer, sink, _header(info))
        # Stable: of two adjacent losses of a thread, the first ends before the second starts.
        self._points = deque(sorted(self._loss_points(losses), key=lambda point: point.tick))
        self._numbers: dict[int, int] = {}
        self._used: set[int] = set()
        self._next_id = 1
        self._threads: set[int] = set()
        self._losers: dict[int, int] = {}
        # The first place of each thread id in the first trace, of as many places as were looked at.
        self._places: dict[int | None, int] = {}
        self._placed = 0
        self._new: list[MetadataRecord] = []
        self._events: list[EventRecord] = []
        self._bytes = 0
        self._stacks = 0
        self._new_stacks: list[bytes] = []
        self._labels: dict[int, tuple[int, Any]] = {}
        self._new_labels: list[tuple[Label, ...]] = []
        self._in_region = 0
        self._latest = info.sync_qpc
        self._written = 0
        self._lost = 0
        self._undescribed = 0

    @property
    def first(self) -> Origin:
        """The trace that the header is of."""
        return self._origins[0]

    def another(self) -> Origin:
        """One more trace that events come from."""
        origin = Origin(_ORIGINS * len(self._origins))
        self._origins.append(origin)
        return origin

    def add(self, rows: DecodedRows, payloads: list[bytes] | None = None) -> None:
        """Append rows; `payloads` replaces their payload bytes."""
        part = Part(rows, self.first, payloads)
        for row in range(len(part)):
            self.copy(part, row)

    def copy(self, part: Part, row: int) -> None:
        """Append one row."""
        kind, tick = part.events.kinds[row], part.ticks[row]
        if kind.undefined:
            self._undescribed += 1
            return
        if (kind.row.provider, kind.row.name) == LACKED.event:
            # What the original lacked is known of its copy, and said again.
            return
        if (kind.row.provider, kind.row.id) == (ASYNC, CARRIER_ID) and not self._packed:
            return
        part.origin.thread_rows = part.rows.thread_rows
        while self._points and self._points[0].tick <= tick:
            point = self._points.popleft()
            # The numbers of its own events show a loss, too: that they go on then.
            own = not self._labelled and point.thread == part.captures[row] and point.tick == tick
            self._pass(point, shown=own and point.count > 0)
        self._event(part, row, tick)

    def finish(self) -> Copied:
        """Write the losses after the last event, the last sequence point and the end mark."""
        if self._marks:
            nobody = self._thread(self.first, -1) if self._labelled else 0
            self._write_marks(EventRecord(0, self._latest, nobody, capture_thread_id=nobody))
        for point in self._points:
            self._pass(point)
        self._sequence_point(self._latest, dict(self._numbers))
        self._writer.end()
        return Copied(self._written, self._lost, self._undescribed, self._writer.offset)

    def _write_marks(self, beside: EventRecord) -> None:
        """The events that say what this trace is, at the time and on the threads of its first one."""
        for mark, payload in self._marks:
            wanted = self._unused(mark.metadata_id)
            self._new.append(MetadataRecord(wanted, PROVIDER, mark.id, name=mark.name, fields=mark.fields))
            number = self._number(beside.capture_thread_id or 0)
            self._events.append(dataclasses.replace(beside, metadata_id=wanted, payload=payload, sequence=number))
        self._marks = []

    def _number(self, capture: int) -> int:
        """The number of the next event that this thread writes."""
        number = self._numbers[capture] = self._numbers.get(capture, 0) + 1 & _M32
        return number

    def _event(self, part: Part, row: int, tick: int) -> None:
        events, rows, origin = part.events, part.rows, part.origin
        thread, capture, payload = part.threads[row], part.captures[row], part.payloads[row]
        if self._labelled:
            assert rows.thread_places is not None
            thread, capture = self._thread(origin, int(rows.thread_places[row])), self._thread(origin, capture)
        elif not rows.sequenced:
            capture = thread
        if self._marks:
            self._write_marks(EventRecord(0, tick, thread, capture_thread_id=capture, processor=events.processors[row]))
        activity = rows.activities.get(row) if rows.activities is not None else None
        related = rows.related_activities.get(row) if rows.related_activities is not None else None
        self._events.append(
            EventRecord(
                self._metadata(origin, events.kinds[row]),
                tick,
                thread,
                payload,
                capture_thread_id=capture,
                sequence=self._number(capture),
                processor=events.processors[row],
                stack_id=self._stack(part, events.stack_ids[row]),
                activity_id=activity or NO_GUID,
                related_activity_id=related or NO_GUID,
                label_id=self._label(rows, row) if self._labelled else 0,
            )
        )
        self._written += 1
        self._bytes += len(payload)
        self._in_region += 1
        self._latest = max(self._latest, tick)
        if self._bytes >= _BLOCK_BYTES or len(self._new) >= _BLOCK_ROWS:
            self._flush()
        if self._in_region >= _REGION_EVENTS:
            self._sequence_point(tick, {})

    def _metadata(self, origin: Origin, kind: Any) -> int:
        kind = kind.base or kind
        known = origin.kinds.get(kind.index)
        if known is not None:
            return known
        described = kind.row
        wanted = self._unused(described.metadata_id)
        origin.kinds[kind.index] = wanted
        fields = described.fields if self._labelled else tuple(map(_plain, described.fields))
        values = attrs.asdict(described) | {"metadata_id": wanted, "fields": fields}
        del values["offset"]
        self._new.append(MetadataRecord(**values))
        return wanted

    def _unused(self, wanted: int) -> int:
        """This id if it is free, or else another one: NetPerf 1 and 2 have file offsets, damaged traces reuse ids."""
        if not 0 < wanted <= _LARGEST_ID or wanted in self._used:
            while self._next_id in self._used:
                self._next_id += 1
            wanted = self._next_id
        self._used.add(wanted)
        return wanted

    def _thread(self, origin: Origin, place: int) -> int:
        """The index of a NetTrace 6 thread, given its place in the original; described before its first event.

        Index 0 is for events of threads that the original does not describe.
        """
        known = 0 <= place < len(origin.thread_rows)
        index = place + origin.first_thread if known else 0
        if index not in self._threads:
            self._threads.add(index)
            row = origin.thread_rows[place] if known else ThreadRow(0)
            described = ThreadRow(index, row.thread_id, row.process_id, row.name, row.attributes)
            _written("a thread", self._writer.threads, [described])
        return index

    def _stack(self, part: Part, number: int) -> int:
        data = part.rows.stack_bytes.get(number)
        if data is None:
            return 0
        stacks = part.origin.stacks
        known = stacks.get(number)
        if known is None:
            self._stacks += 1
            known = stacks[number] = self._stacks
            self._new_stacks.append(data)
            self._bytes += len(data) + 4
        return known

    def _label(self, rows: DecodedRows, row: int) -> int:
        labels = rows.labels[row] if rows.labels is not None else None
        if labels is None:
            return 0
        known = self._labels.get(id(labels))
        if known is None:
            written = _labels(labels)
            if not written:
                return 0
            # Keep the list itself, so that its identity is not reused.
            known = self._labels[id(labels)] = len(self._labels) + 1, labels
            self._new_labels.append(written)
            self._bytes += sum(_label_size(label) for label in written)
        return known[0]

    def _flush(self) -> None:
        if self._new:
            _written("a description", self._writer.metadata, self._new)
            self._new = []
        first = self._stacks - len(self._new_stacks) + 1
        for stacks in _blocks(self._new_stacks, lambda stack: 4 + len(stack), self._room):
            _written("a stack", self._writer.stacks, first, stacks)
            first += len(stacks)
        self._new_stacks = []
        first = len(self._labels) - len(self._new_labels) + 1
        for lists in _blocks(self._new_labels, lambda labels: sum(map(_label_size, labels)), self._room):
            _written("a label list", self._writer.labels, first, lists)
            first += len(lists)
        self._new_labels = []
        for events in _blocks(self._events, lambda event: _EVENT_HEADER + len(event.payload), self._room):
            _written("an event", self._writer.events, events)
        self._events = []
        self._bytes = 0

    def _sequence_point(self, tick: int, numbers: dict[int, int]) -> None:
        """End a region. A thread with a number here is known to have reached it by now."""
        self._flush()
        _written("a sequence point", self._writer.sequence_point, tick, numbers)
        self._stacks = 0
        for origin in self._origins:
            origin.stacks.clear()
        self._labels.clear()
        self._in_region = 0

    def _loss_points(self, losses: Iterable[Loss]) -> Iterator[_Point]:
        """Each loss becomes two sequence points: one that fixes the thread's number, one that reveals the gap."""
        for loss in losses:
            yield _Point(self._tick(loss.start_ns), loss.thread_id, 0)
            yield _Point(self._tick(loss.end_ns), loss.thread_id, loss.count)

    def _tick(self, ns: int) -> int:
        tick = -(-ns * self._info.frequency // 1_000_000_000) + self._info.sync_qpc
        # Beyond 64 bits times wrap around, as they do when they are read.
        return tick if -_HALF <= tick <= _M64 else (tick + _HALF & _M64) - _HALF

    def _pass(self, point: _Point, shown: bool = False) -> None:
        thread = self._loser(point.thread) if self._labelled else point.thread
        self._numbers[thread] = self._numbers.get(thread, 0) + point.count & _M32
        self._lost += point.count
        if not shown:
            self._sequence_point(point.tick, {thread: self._numbers[thread]})

    def _loser(self, thread_id: int) -> int:
        """The index of a thread known only by the operating system's id, or (-1) not even by that."""
        first = self.first
        for place in range(self._placed, len(first.thread_rows)):
            self._places.setdefault(first.thread_rows[place].thread_id, place)
        self._placed = max(self._placed, len(first.thread_rows))
        known = self._places.get(thread_id)
        if known is not None:
            return self._thread(first, known)
        index = self._losers.get(thread_id)
        if index is None:
            # Far beyond all places, which later threads may still take.
            index = self._losers[thread_id] = _LOSERS + len(self._losers)
            _written("a thread", self._writer.threads, [ThreadRow(index, thread_id if thread_id >= 0 else None)])
        return index


def _blocks(items: list[_Item], size: Callable[[_Item], int], room: int) -> Iterator[list[_Item]]:
    """The items, in as many blocks as they need; one that is too large for any stands alone."""
    block: list[_Item] = []
    used = 0
    for item in items:
        needed = size(item)
        if block and used + needed > room:
            yield block
            block, used = [], 0
        block.append(item)
        used += needed
    if block:
        yield block


def _written(what: str, write: Callable[..., _Item], *given: Any) -> _Item:
    """Write something. Raises TraceError for what the new trace's container cannot hold."""
    try:
        return write(*given)
    except ValueError as error:
        raise TraceError(f"{what} does not fit into the new trace: {error}") from None


def _plain(field: FieldDescription) -> FieldDescription:
    """The field as NetTrace 4 can describe it; types that it lacks have no meaning in the original either."""
    # NetTrace 4 has only plain arrays.
    if field.code in ARRAYS and (field.code != TypeCode.ARRAY or field.element is None):
        return FieldDescription(field.name, _NO_MEANING)
    element = None if field.element is None else _plain(field.element)
    return attrs.evolve(field, element=element, members=tuple(map(_plain, field.members)))


def _header(info: TraceInfo) -> TraceHeader:
    no_date = (0, 0, 0, 0, 0, 0, 0, 0)
    return TraceHeader(
        info.start or no_date,
        info.sync_qpc,
        info.frequency,
        info.pointer_size,
        info.process_id,
        info.recorded_processors,
        info.sampling_interval_ns,
        info.key_values,
    )


def _labels(labels: Any) -> tuple[Label, ...]:
    labels_written = []
    for kind, value in (
        (LabelKind.ACTIVITY_ID, labels.activity_id),
        (LabelKind.RELATED_ACTIVITY_ID, labels.related_activity_id),
        (LabelKind.TRACE_ID, labels.trace_id),
        (LabelKind.SPAN_ID, labels.span_id),
    ):
        if value is not None:
            labels_written.append(Label(kind, value))
    for key, value in labels.pairs:
        labels_written.append(Label(LabelKind.NUMBER if isinstance(value, int) else LabelKind.TEXT, value, key))
    labels_written += [Label(_OVERRIDES[name], value) for name, value in labels.overrides]
    return tuple(labels_written)


def _label_size(label: Label) -> int:
    """At least as many bytes as the label takes."""
    return 32 + 4 * len(label.key) + (4 * len(label.value) if isinstance(label.value, str) else 0)


@contextmanager
def new_trace(out: str | os.PathLike[str] | BinaryIO, *inputs: str | None) -> Iterator[Sink]:
    """The file `out`, which appears only when complete and is compressed if its name ends in `.gz`; or an open file.

    Equal traces make equal files. Raises what `whole_file` raises.
    """
    if not isinstance(out, str | os.PathLike):
        yield out
        return
    with whole_file(out, *inputs) as file:
        if not os.fspath(out).lower().endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield packed


def lacks(trace: Trace, destroyed: Iterable[Loss]) -> Iterator[tuple[Mark, bytes]]:
    """Marks of what a trace lacks and sequence numbers cannot show; `destroyed` are those of its destroyed events that
    concern the copy.
    """
    scan = passes_of(trace).scan(raising=False)
    if not scan.complete:
        yield LACKED, Lack(Lacking.END, start_ns=scan.known_ns).payload()
    if not scan.losses_visible:
        yield LACKED, Lack(Lacking.NUMBERS).payload()
    places = scan.problems.severities["damage"] - scan.problems.counts["missing-events"]
    if places:
        yield LACKED, Lack(Lacking.DAMAGE, places).payload()
    for loss in destroyed:
        yield LACKED, Lack(Lacking.EVENTS, loss.count, loss.thread_id, loss.start_ns, loss.end_ns).payload()


def every_destroyed(trace: Trace) -> list[Loss]:
    """All of its events that were in damaged bytes, also those beyond the limit of what is listed."""
    scan = passes_of(trace).scan(raising=False)
    rest = scan.missing - sum(loss.count for loss in scan.destroyed)
    last = [Loss(-1, rest, scan.destroyed[-1].start_ns, MOST)] if scan.destroyed and rest > 0 else []
    return [*scan.destroyed, *last]
