"""Writes NetTrace 4 and "5", and NetPerf 3: blocks in the object envelope (docs/format.md, "Objects").

Blocks are appended in the order of the calls, which is file order; the caller must write first what a reader needs
first (metadata, stacks). In NetPerf 3 descriptions are interleaved with events. Knows no event's fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clrevents.encode.blocks import BlockWriter, ObjectWriter, Sequences, event_block, stack_bytes, trace_object
from clrevents.encode.metadata import record
from clrevents.encode.values import (
    NO_GUID,
    SHORTEST,
    Choices,
    EventRecord,
    MetadataRecord,
    Sink,
    TraceHeader,
    either,
    guid,
    signed,
    unsigned,
)
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE, ObjectName, ObjectTag

_VERSION = 2


class NetTrace4Writer(ObjectWriter, BlockWriter):
    """A NetTrace 4 stream, one block per call. Writes the header at once.

    A call that raises ValueError has written nothing. Without `end()` the stream is incomplete, which is legal.
    """

    kinds = ObjectName.EVENTS, ObjectName.STACKS
    labelled = False

    def __init__(self, sink: Sink, header: TraceHeader | None = None, *, version: int = 4) -> None:
        super().__init__(sink, ObjectTag.BEGIN_PRIVATE)
        header = header or TraceHeader()
        self._pointer_size = header.pointer_size
        content = trace_object(header)
        self.raw(NETTRACE + FAST_SERIALIZATION)
        self.unsized(ObjectName.TRACE, version, 4, content)

    def metadata(self, records: Sequence[MetadataRecord], choices: Choices = SHORTEST) -> None:
        """Write a MetadataBlock: descriptions in blobs of metadata id 0 (docs/format.md, "Blocks of NetTrace 4")."""
        blobs = []
        for described in records:
            try:
                blobs.append(described_event(described))
            except ValueError as error:
                raise ValueError(f"description of {described.provider}/{described.name}: {error}") from None
        self.raw_block(ObjectName.METADATA, event_block(blobs, Sequences(), choices))

    def sequence_point(self, time: int, threads: Mapping[int, int] | None = None) -> None:
        """Write an SPBlock: `threads` are last sequence numbers by capture thread; None uses those written so far."""
        numbers = self._sequences.last if threads is None else threads
        content = [either(time, 8, "time"), signed(len(numbers), 4, "the number of threads")]
        for thread, number in numbers.items():
            content += (unsigned(thread, 8, "capture thread id"), unsigned(number, 4, "sequence"))
        self.raw_block(ObjectName.SEQUENCE_POINT, b"".join(content))

    def raw_block(self, name: str, content: bytes) -> None:
        """Write any block, given its name and its content after size and padding."""
        self.block(name, _VERSION, _VERSION, content)


def described_event(described: MetadataRecord) -> EventRecord:
    """The event that carries a description: without a capture thread and a number."""
    return EventRecord(
        0,
        described.time,
        described.thread_id,
        record(described),
        capture_thread_id=0,
        sequence=0,
        processor=described.processor,
    )


class NetPerf3Writer(ObjectWriter):
    """A NetPerf 3 stream, one block per call. Writes the header at once; a call that raises has written nothing."""

    def __init__(self, sink: Sink, header: TraceHeader | None = None) -> None:
        super().__init__(sink, ObjectTag.BEGIN)
        header = header or TraceHeader()
        self._pointer_size = header.pointer_size
        content = trace_object(header)
        self.raw(FAST_SERIALIZATION)
        self.unsized(ObjectName.TRACE, 3, 0, content)

    def events(self, items: Sequence[EventRecord | MetadataRecord], *, padded: bool = True) -> None:
        """Write an EventBlock of events and descriptions, in this order.

        `padded` rounds each record up to a multiple of four bytes within its size, as the runtime does.
        """
        out = []
        for i, item in enumerate(items):
            try:
                data = full_record(item, item.metadata_id, self._pointer_size)
            except ValueError as error:
                raise ValueError(f"item {i} (metadata id {item.metadata_id}): {error}") from None
            data += bytes(-(4 + len(data)) % 4 if padded else 0)
            out.append(signed(len(data), 4, "the record's size") + data)
        self.raw_block(ObjectName.EVENTS, b"".join(out))

    def metadata(self, records: Sequence[MetadataRecord]) -> None:
        """Write an EventBlock of event descriptions."""
        self.events(records)

    def raw_block(self, name: str, content: bytes) -> None:
        """Write any block, given its name and its content after size and padding."""
        self.block(name, 1, 0, content)


def full_record(
    item: EventRecord | MetadataRecord,
    metadata_id: int,
    pointer_size: int,
    describe: Callable[[MetadataRecord], bytes] = record,
) -> bytes:
    """Everything after the record's own size: header, payload, stack size, stack."""
    if isinstance(item, MetadataRecord):
        payload = describe(item)
        metadata_id, guids, stack = 0, 2 * NO_GUID, b""
    else:
        payload = bytes(item.payload)
        stack = stack_bytes(item.stack, pointer_size)
        guids = guid(item.activity_id, "activity_id") + guid(item.related_activity_id, "related_activity_id")
        _refuse_newer(item)
    return b"".join(
        (
            signed(metadata_id, 4, "metadata_id"),
            either(item.thread_id, 4, "thread_id"),
            signed(item.time, 8, "time"),
            guids,
            signed(len(payload), 4, "the payload's size"),
            payload,
            signed(len(stack), 4, "the stack's size"),
            stack,
        )
    )


def _refuse_newer(event: EventRecord) -> None:
    """What NetPerf cannot store must not be dropped silently."""
    if event.stack_id or event.label_id:
        raise ValueError("stack and label ids exist only in NetTrace; pass `stack` itself")
    if event.capture_thread_id not in (None, event.thread_id) or event.processor != -1:
        raise ValueError("capture thread and processor exist only in NetTrace")
