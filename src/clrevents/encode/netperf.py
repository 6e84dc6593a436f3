"""Writes NetPerf 3, and 1 and 2 for tests (docs/format.md, "NetPerf 1 and 2" and "NetPerf 3").

Descriptions are interleaved with events. In NetPerf 1 and 2 an event refers to its description by the file offset of
that record, so the writer remembers these offsets; the `metadata_id` of the values is only a name for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from clrevents.encode import blocks
from clrevents.encode.blocks import ObjectWriter
from clrevents.encode.metadata import record, record_netperf12
from clrevents.encode.values import NO_GUID, EventRecord, MetadataRecord, Sink, TraceHeader, either, guid, signed
from clrevents.schema.codes import FAST_SERIALIZATION, ObjectName, ObjectTag

_FORWARD_REFERENCES = bytes(4)


class NetPerf3Writer(ObjectWriter):
    """A NetPerf 3 stream, one block per call. Writes the header at once; a call that raises has written nothing."""

    def __init__(self, sink: Sink, header: TraceHeader | None = None) -> None:
        super().__init__(sink, ObjectTag.BEGIN)
        header = header or TraceHeader()
        self._pointer_size = header.pointer_size
        content = blocks.trace_object(header)
        self.raw(FAST_SERIALIZATION)
        self.unsized(ObjectName.TRACE, 3, 0, content)

    def events(self, items: Sequence[EventRecord | MetadataRecord], *, padded: bool = True) -> None:
        """Write an EventBlock of events and descriptions, in this order.

        `padded` rounds each record up to a multiple of four bytes within its size, as the runtime does.
        """
        out = []
        for i, item in enumerate(items):
            try:
                data = _record(item, item.metadata_id, self._pointer_size, 3)
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


class NetPerf12Writer(ObjectWriter):
    """A NetPerf 1 or 2 stream: one object that holds every record, unpadded. For tests: nothing writes it today."""

    def __init__(self, sink: Sink, version: int, header: TraceHeader | None = None) -> None:
        if version not in (1, 2):
            raise ValueError(f"version must be 1 or 2, not {version}")
        self._version = version
        self._places: dict[int, int] = {}
        super().__init__(sink, ObjectTag.BEGIN)
        clock = blocks.clock(header or TraceHeader())
        self.raw(FAST_SERIALIZATION)
        self.raw(self.type_header(ObjectName.NETPERF12, version, 0) + _FORWARD_REFERENCES + clock)

    @property
    def places(self) -> dict[int, int]:
        """The offset of each description by its `metadata_id`, which is what its events carry in the file."""
        return dict(self._places)

    def metadata(self, records: Sequence[MetadataRecord]) -> None:
        """Write descriptions, in this order."""
        self.events(records)

    def events(self, items: Sequence[EventRecord | MetadataRecord]) -> None:
        """Write events and descriptions, in this order. Raises ValueError for an event not yet described."""
        out, at, places = [], self.offset, dict(self._places)
        for i, item in enumerate(items):
            try:
                if isinstance(item, MetadataRecord):
                    places[item.metadata_id] = at
                elif item.metadata_id not in places:
                    raise ValueError("no description with this id was written")
                data = _record(item, places[item.metadata_id], 8, self._version)
            except ValueError as error:
                raise ValueError(f"item {i} (metadata id {item.metadata_id}): {error}") from None
            out.append(signed(len(data), 4, "the record's size") + data)
            at += len(out[-1])
        self.raw(b"".join(out))
        self._places = places

    def end(self, *, footer: bool = True) -> None:
        """Close the object; `footer` adds 16 bytes (docs/format.md, "Footer of NetPerf 1 and 2")."""
        close = self.offset
        data = bytes((ObjectTag.END,))
        if footer:
            table = close + 1
            data += (1).to_bytes(4, "little") + signed(close, 4, "the object's end")
            data += signed(table, 4, "the table's offset") + signed(table + 8, 4, "the last field's offset")
        self.raw(data)


def _record(item: EventRecord | MetadataRecord, metadata_id: int, pointer_size: int, version: int) -> bytes:
    """Everything after the record's own size: header, payload, stack size, stack."""
    if isinstance(item, MetadataRecord):
        payload = record(item) if version == 3 else record_netperf12(item, version)
        metadata_id, guids, stack = 0, 2 * NO_GUID, b""
    else:
        payload = bytes(item.payload)
        stack = blocks.stack_bytes(item.stack, pointer_size)
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
