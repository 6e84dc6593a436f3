"""NetTrace 4 with compressed headers, block by block, for tests only: it can also write what is wrong.

A few words for what the encoder does, which writes real traces again byte by byte.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from clrevents.encode import blocks, values
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.values import NO_GUID, EventRecord, TraceHeader

END: Final = b"\x06"
HEADER_BYTES: Final = 32 + 21 + 48 + 1
"""Magic, serializer name, the trace object's type, its content, its end."""
_BLOCK_HEADER: Final = 20


def varint(value: int) -> bytes:
    """LEB128 of a non-negative number."""
    return values.varuint(value, 64, "a number")


def utf16z(text: str) -> bytes:
    return values.utf16z(text, "a text")


@dataclass
class Blob:
    """One event of a block. What is None follows from the blobs before: capture from thread, sequence by counting."""

    metadata_id: int
    time: int
    payload: bytes = b""
    thread: int = 1
    capture: int | None = None
    sequence: int | None = None
    processor: int = -1
    stack: int = 0
    activity: UUID | None = None
    related: UUID | None = None

    def record(self) -> EventRecord:
        return EventRecord(
            self.metadata_id,
            self.time,
            self.thread,
            self.payload,
            self.capture,
            self.sequence,
            self.processor,
            self.stack,
            self.activity or NO_GUID,
            self.related or NO_GUID,
            is_sorted=False,
        )


def compressed(blobs: Iterable[Blob], counters: dict[int, int]) -> tuple[bytes, list[int]]:
    """The bytes of a block's blobs, each header as short as can be, and where each payload begins in them.

    `counters` has the last sequence number of each capture thread and is brought up to date.
    """
    records = [blob.record() for blob in blobs]
    short, numbers = blocks.CompressedHeaders(), blocks.Sequences()
    numbers.last.update(counters)
    out, starts = bytearray(), []
    for record in records:
        out += short.header(record, numbers.number(record))
        starts.append(len(out))
        out += record.payload
    numbers.keep()
    counters.update(numbers.last)
    return bytes(out), starts


class Writer:
    """Appends objects to `data`; the header is written at once. `payload_offsets` are of all event blobs so far."""

    start: Final = (2026, 1, 1, 5, 12, 30, 15, 250)

    def __init__(self, *, start: tuple[int, ...] = start, **header: Any) -> None:
        fields = {"sync_qpc": 0, "frequency": 10**9, "process_id": 42, "processors": 4, **header}
        self.pointer_size = header.get("pointer_size", 8)
        sink = io.BytesIO()
        NetTrace4Writer(sink, TraceHeader(start, sampling_interval_ns=1_000_000, **fields))  # type: ignore[arg-type]
        self.data = bytearray(sink.getvalue())
        self.payload_offsets: list[int] = []
        self.counters: dict[int, int] = {}

    def block(self, name: str, body: bytes, size: int | None = None, end: bytes = END) -> int:
        """An object with a size (`size`, when it is to lie); the offset of its body."""
        self.data += b"\x05\x05\x01" + struct.pack("<iii", 2, 2, len(name)) + name.encode() + END
        self.data += struct.pack("<i", len(body) if size is None else size)
        self.data += bytes(-len(self.data) % 4)
        at = len(self.data)
        self.data += body + end
        return at

    def blobs(self, name: str, body: bytes, first: int = 0, last: int = 0, extra: bytes = b"") -> int:
        """A block with a block header; the offset of its first blob."""
        header = struct.pack("<HHqq", _BLOCK_HEADER + len(extra), 1, first, last) + extra
        return self.block(name, header + body) + len(header)

    def metadata(
        self, metadata_id: int, provider: str, event_id: int, version: int = 0, name: str = "", rest: bytes = b"\0" * 4
    ) -> None:
        """A block with one event description; `rest` is its field list and what follows."""
        record = struct.pack("<i", metadata_id) + utf16z(provider) + struct.pack("<i", event_id) + utf16z(name)
        record += struct.pack("<qii", 0x10, version, 4) + rest
        body, _ = compressed([Blob(0, 0, record, thread=0, capture=0, sequence=0)], {})
        self.blobs("MetadataBlock", body)

    def events(self, *blobs: Blob, extra: bytes = b"") -> None:
        body, starts = compressed(blobs, self.counters)
        times = [blob.time for blob in blobs] or [0]
        at = self.blobs("EventBlock", body, min(times), max(times), extra)
        self.payload_offsets += [at + start for start in starts]

    def stacks(self, first: int, *stacks: Sequence[int]) -> None:
        self.block("StackBlock", blocks.stack_block(first, stacks, self.pointer_size))

    def sequence_point(self, time: int, threads: Mapping[int, int] | None = None) -> None:
        known = self.counters if threads is None else threads
        body = b"".join(struct.pack("<QI", thread, number & 0xFFFFFFFF) for thread, number in known.items())
        self.block("SPBlock", struct.pack("<qi", time, len(known)) + body)

    def end(self) -> bytes:
        """The end mark; everything written."""
        self.data += b"\x01"
        return bytes(self.data)

    def build(self) -> bytes:
        """Everything written so far, without an end mark."""
        return bytes(self.data)
