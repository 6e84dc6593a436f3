"""Parts shared by several generations: the clock header, stacks, object envelopes, event headers and event blocks.

Knows what an event inherits from the one before (docs/format.md, "Compressed event headers"), what a block declares
about its events ("Block header"), how objects are padded ("Objects"), and numbers the events of threads.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from clrevents.encode.values import (
    M32,
    M64,
    NO_GUID,
    SHORTEST,
    Choices,
    EventRecord,
    Sink,
    Stack,
    TraceHeader,
    checked,
    either,
    guid,
    signed,
    unsigned,
    varuint,
)
from clrevents.schema.codes import UNSORTED, BlockFlag, HeaderFlag, ObjectTag

# Plain numbers: operations on members of a flag class cost more than the rest of a header.
_METADATA, _CAPTURE, _THREAD, _STACK, _ACTIVITY, _RELATED, _SORTED, _SIZE = map(int, HeaderFlag)
_PARTS = int(HeaderFlag.PARTS)


class CompressedHeaders:
    """Writes the compressed headers of one block; create one per block, because nothing carries over.

    `labels`: NetTrace 6, with a label list id in place of the two activity ids.
    """

    def __init__(self, labels: bool = False) -> None:
        self._labels = labels
        self._metadata = 0
        self._sequence = 0
        self._capture = 0
        self._processor = 0
        self._thread = 0
        self._stack = 0
        self._time = 0
        self._activity = NO_GUID
        self._related = NO_GUID
        self._label = 0
        self._size = 0

    def header(
        self,
        event: EventRecord,
        sequence: int,
        force: HeaderFlag = HeaderFlag.NONE,
        avoid: HeaderFlag = HeaderFlag.NONE,
    ) -> bytes:
        """The header of `event`, whose payload follows. The state changes only when it is written.

        Raises ValueError for a value that does not fit, and for a part of `avoid` that is required.
        """
        forced, avoided = int(force), int(avoid)
        thread = event.thread_id
        capture = thread if event.capture_thread_id is None else event.capture_thread_id
        processor = checked(event.processor, -1, M32, "processor") & M32
        time = checked(event.time, -(1 << 63), M64, "time") & M64
        checked(sequence, 0, M32, "sequence")
        size = len(event.payload)
        activity, related = guid(event.activity_id, "activity_id"), guid(event.related_activity_id, "related id")
        if self._labels:
            if activity != NO_GUID or related != NO_GUID:
                raise ValueError("NetTrace 6 stores activity ids in label lists")
            if forced & _RELATED:
                raise ValueError("NetTrace 6 has no related activity id in its event headers")
        elif event.label_id:
            raise ValueError("label lists exist only in NetTrace 6")
        expected = (self._sequence + (1 if event.metadata_id else 0)) & M32
        needed = 0
        if event.metadata_id != self._metadata:
            needed |= _METADATA
        if sequence != expected or capture != self._capture or processor != self._processor:
            needed |= _CAPTURE
        if thread != self._thread:
            needed |= _THREAD
        if event.stack_id != self._stack:
            needed |= _STACK
        if event.label_id != self._label or activity != self._activity:
            needed |= _ACTIVITY
        if related != self._related:
            needed |= _RELATED
        if size != self._size:
            needed |= _SIZE
        if needed & avoided:
            raise ValueError(f"{HeaderFlag(needed & avoided)!r} cannot be avoided: it differs from the previous event")
        parts = (needed | forced) & ~avoided
        # What is not written equals what was written before, or zero: it was checked then.
        out = [bytes(((parts & _PARTS) | (_SORTED if event.is_sorted else 0),))]
        if parts & _METADATA:
            out.append(varuint(event.metadata_id, 32, "metadata_id"))
        if parts & _CAPTURE:
            step = (sequence - self._sequence - 1) & M32
            out += (
                varuint(step, 32, "sequence"),
                varuint(capture, 64, "capture_thread_id"),
                varuint(processor, 32, "processor"),
            )
        if parts & _THREAD:
            out.append(varuint(thread, 64, "thread_id"))
        if parts & _STACK:
            out.append(varuint(event.stack_id, 32, "stack_id"))
        out.append(varuint((time - self._time) & M64, 64, "time"))
        if parts & _ACTIVITY:
            out.append(varuint(event.label_id, 32, "label_id") if self._labels else activity)
        if parts & _RELATED:
            out.append(related)
        if parts & _SIZE:
            out.append(varuint(size, 32, "the payload's size"))
        self._metadata, self._sequence, self._capture = event.metadata_id, sequence, capture
        self._processor, self._thread, self._stack, self._time = processor, thread, event.stack_id, time
        self._activity, self._related, self._label, self._size = activity, related, event.label_id, size
        return b"".join(out)


def _full(event: EventRecord, sequence: int, padded: bool, labels: bool) -> bytes:
    """An event with a header of 80 bytes, or 52 with `labels`: header, payload and padding (docs/format.md, "Full event
    headers")."""
    extra = guid(event.activity_id, "activity_id") + guid(event.related_activity_id, "related_activity_id")
    if labels:
        if extra != 2 * NO_GUID:
            raise ValueError("NetTrace 6 stores activity ids in label lists")
        extra = unsigned(event.label_id, 4, "label_id")
    elif event.label_id:
        raise ValueError("label lists exist only in NetTrace 6")
    capture = event.thread_id if event.capture_thread_id is None else event.capture_thread_id
    metadata_id = checked(event.metadata_id, 0, UNSORTED - 1, "metadata_id")
    body = b"".join(
        (
            # The high bit is the inverse of the specification's name for it: set means "not sorted".
            (metadata_id | (0 if event.is_sorted else UNSORTED)).to_bytes(4, "little"),
            unsigned(sequence, 4, "sequence"),
            unsigned(event.thread_id, 8, "thread_id"),
            unsigned(capture, 8, "capture_thread_id"),
            (checked(event.processor, -1, M32, "processor") & M32).to_bytes(4, "little"),
            unsigned(event.stack_id, 4, "stack_id"),
            either(event.time, 8, "time"),
            extra,
            unsigned(len(event.payload), 4, "the payload's size"),
            bytes(event.payload),
        )
    )
    if padded:
        body += bytes(-(4 + len(body)) % 4)
    return unsigned(len(body), 4, "the event's size") + body


class StreamWriter:
    """Appends to a sink; each call writes once or, if it raises, not at all."""

    def __init__(self, sink: Sink) -> None:
        self.offset = 0
        """The current size of the stream in bytes."""
        self._sink = sink

    def raw(self, data: bytes) -> None:
        """Write arbitrary bytes, for deliberate damage."""
        self._sink.write(data)
        self.offset += len(data)


class ObjectWriter(StreamWriter):
    """Appends objects. `begin` is the tag that opens one in this generation."""

    def __init__(self, sink: Sink, begin: int) -> None:
        super().__init__(sink)
        self._begin = begin

    def end(self) -> None:
        """Write the end mark."""
        self.raw(bytes((ObjectTag.NULL,)))

    def type_header(self, name: str, version: int, minimum: int) -> bytes:
        """The bytes before an object's content."""
        encoded = name.encode()
        return b"".join(
            (
                bytes((self._begin, self._begin, ObjectTag.NULL)),
                signed(version, 4, "object version"),
                signed(minimum, 4, "minimum reader version"),
                signed(len(encoded), 4, "type name length"),
                encoded,
                bytes((ObjectTag.END,)),
            )
        )

    def unsized(self, name: str, version: int, minimum: int, content: bytes) -> None:
        """Write an object whose content is not preceded by its size: the trace object."""
        self.raw(self.type_header(name, version, minimum) + content + bytes((ObjectTag.END,)))

    def block(self, name: str, version: int, minimum: int, content: bytes) -> None:
        """Write an object with a size, padded so that its content starts at a multiple of four in the stream."""
        head = self.type_header(name, version, minimum) + signed(len(content), 4, f"the size of a {name}")
        padding = bytes(-(self.offset + len(head)) % 4)
        self.raw(b"".join((head, padding, content, bytes((ObjectTag.END,)))))


class BlockWriter(StreamWriter):
    """The blocks of NetTrace whose content is alike in all versions; a version says how it frames and numbers them."""

    kinds: ClassVar[tuple[Any, Any]]
    """Those of blocks of events and of stacks."""
    labelled: ClassVar[bool]

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self._sequences = Sequences()
        self._pointer_size = 8

    @abstractmethod
    def raw_block(self, kind: Any, content: bytes) -> None:
        """Write any block, given its kind and its content."""

    @property
    def sequences(self) -> dict[int, int]:
        """The last sequence number of each capture thread (NetTrace 6: by thread index)."""
        return dict(self._sequences.last)

    def stacks(self, first_id: int, stacks: Iterable[Stack]) -> None:
        """Write a block of stacks: ids from `first_id` to the next sequence point (docs/format.md, "Lifetimes of
        ids")."""
        self.raw_block(self.kinds[1], stack_block(first_id, stacks, self._pointer_size))

    def events(self, events: Sequence[EventRecord], choices: Choices = SHORTEST) -> None:
        """Write a block of events; in NetTrace 6 their thread ids are indexes of thread rows."""
        try:
            self.raw_block(self.kinds[0], event_block(events, self._sequences, choices, self.labelled))
        except BaseException:
            self._sequences.drop()
            raise
        self._sequences.keep()


_BLOCK_HEADER = 20
_COMPRESSED = int(BlockFlag.COMPRESSED)


def clock(header: TraceHeader) -> bytes:
    """The start time, its tick, the ticks per second: 32 bytes (docs/format.md, "Trace header")."""
    when = header.start
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise ValueError(f"start must have a time zone: {when!r}")
        utc = when.astimezone(UTC)
        weekday = utc.isoweekday() % 7
        when = (utc.year, utc.month, weekday, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond // 1000)
    if len(when) != 8:
        raise ValueError(f"start must have eight components: {when!r}")
    return b"".join(
        (
            *(signed(part, 2, "a component of start") for part in when),
            signed(header.sync_qpc, 8, "sync_qpc"),
            signed(header.frequency, 8, "frequency"),
        )
    )


def trace_object(header: TraceHeader) -> bytes:
    """The 48 bytes of NetPerf 3 and NetTrace 4/5."""
    return b"".join(
        (
            clock(header),
            signed(header.pointer_size, 4, "pointer_size"),
            either(header.process_id or 0, 4, "process_id"),
            signed(header.processors or 0, 4, "processors"),
            signed(header.sampling_interval_ns or 0, 4, "sampling_interval_ns"),
        )
    )


def stack_bytes(stack: Stack, pointer_size: int) -> bytes:
    """Address bytes as stored: words of the pointer size, innermost first (docs/format.md, "Stacks")."""
    if isinstance(stack, bytes):
        return stack
    return b"".join(unsigned(address, pointer_size, "an address of a stack") for address in stack)


def stack_block(first_id: int, listed: Iterable[Stack], pointer_size: int) -> bytes:
    """A stack block's content: first id, count, and stacks (docs/format.md, "Blocks of NetTrace 4", "NetTrace 6")."""
    encoded = [stack_bytes(stack, pointer_size) for stack in listed]
    return b"".join(
        (
            unsigned(first_id, 4, "first stack id"),
            checked(len(encoded), 0, (1 << 31) - 1, "the number of stacks").to_bytes(4, "little"),
            *(signed(len(stack), 4, "a stack's size") + stack for stack in encoded),
        )
    )


class Sequences:
    """Next numbers of capture threads (docs/format.md, "Sequence numbers and losses"); only `keep` consumes them."""

    def __init__(self) -> None:
        self.last: dict[int, int] = {}
        self._pending: dict[int, int] = {}

    def number(self, event: EventRecord) -> int:
        """The event's own number, or the one after its thread's last."""
        thread = event.thread_id if event.capture_thread_id is None else event.capture_thread_id
        number = event.sequence
        if number is None:
            number = (self._pending.get(thread, self.last.get(thread, 0)) + 1) & M32
        self._pending[thread] = number
        return number

    def keep(self) -> None:
        """The block with these events was written."""
        self.last.update(self._pending)
        self._pending.clear()

    def drop(self) -> None:
        """The block was not written."""
        self._pending.clear()


def event_block(
    listed: Sequence[EventRecord], sequences: Sequences, choices: Choices = SHORTEST, labels: bool = False
) -> bytes:
    """An event block's content: block header and events (docs/format.md, "Block header"). `labels`: of NetTrace 6.

    The caller calls `sequences.keep` or `sequences.drop`.
    """
    force, avoid = _each(choices.force, len(listed), "force"), _each(choices.avoid, len(listed), "avoid")
    short = CompressedHeaders(labels)
    out = [b""]
    for i, event in enumerate(listed):
        try:
            sequence = sequences.number(event)
            if choices.compressed:
                out += (short.header(event, sequence, force[i], avoid[i]), bytes(event.payload))
            else:
                out.append(_full(event, sequence, choices.padded, labels))
        except ValueError as error:
            raise ValueError(f"event {i} (metadata id {event.metadata_id}): {error}") from None
    out[0] = block_header(choices, [event.time for event in listed])
    return b"".join(out)


def block_header(choices: Choices, times: Sequence[int]) -> bytes:
    """Size, flags and time span, zero-padded to the header's size (docs/format.md, "Block header")."""
    checked(choices.header_size, _BLOCK_HEADER, 0xFFFF, "header_size")
    first, last = choices.span or ((min(times), max(times)) if times else (0, 0))
    return b"".join(
        (
            unsigned(choices.header_size, 2, "header_size"),
            unsigned(choices.flags & ~_COMPRESSED | (_COMPRESSED if choices.compressed else 0), 2, "flags"),
            either(first, 8, "the first time"),
            either(last, 8, "the last time"),
            bytes(choices.header_size - _BLOCK_HEADER),
        )
    )


def _each(parts: HeaderFlag | Sequence[HeaderFlag], count: int, what: str) -> Sequence[HeaderFlag]:
    if isinstance(parts, HeaderFlag):
        return [parts] * count
    if len(parts) != count:
        raise ValueError(f"{what} has {len(parts)} values for {count} events")
    return parts
