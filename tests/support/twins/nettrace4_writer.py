"""A minimal writer of NetTrace 4 with compressed headers, for tests only: it can also write what is wrong.

Built from the format's description alone; imports nothing of the library, so that agreement means something.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

UNKNOWN_CPU: Final = 0xFFFFFFFF
NO_GUID: Final = bytes(16)
END: Final = b"\x06"
HEADER_BYTES: Final = 32 + 21 + 48 + 1
"""Magic, serializer name, the trace object's type, its content, its end."""


def varint(value: int) -> bytes:
    """LEB128 of a non-negative number."""
    out = bytearray()
    while True:
        value, low = value >> 7, value & 127
        out.append(low | (128 if value else 0))
        if not value:
            return bytes(out)


def utf16z(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass") + b"\0\0"


@dataclass
class Blob:
    """One event of a block. What is None follows from the blobs before: capture from thread, sequence by counting."""

    metadata_id: int
    time: int
    payload: bytes = b""
    thread: int = 1
    capture: int | None = None
    sequence: int | None = None
    processor: int = UNKNOWN_CPU
    stack: int = 0
    activity: UUID | None = None
    related: UUID | None = None
    sorted: bool = False


def compressed(blobs: Iterable[Blob], counters: dict[int, int]) -> tuple[bytes, list[int]]:
    """The bytes of a block's blobs, each header as short as can be, and where each payload begins in them.

    `counters` has the last sequence number of each capture thread and is brought up to date.
    """
    out = bytearray()
    starts = []
    last = Blob(0, 0, thread=0, capture=0, sequence=0, processor=0)
    activity = related = NO_GUID
    for blob in blobs:
        capture = blob.thread if blob.capture is None else blob.capture
        sequence = counters.get(capture, 0) + 1 if blob.sequence is None else blob.sequence
        counters[capture] = sequence
        flags, parts = 0, b""
        if blob.metadata_id != last.metadata_id:
            flags |= 0x01
            parts += varint(blob.metadata_id)
        implied = (last.sequence or 0) + 1 if blob.metadata_id else last.sequence
        if (capture, blob.processor) != (last.capture, last.processor) or sequence != implied:
            flags |= 0x02
            delta = (sequence - (last.sequence or 0) - 1) & 0xFFFFFFFF
            parts += varint(delta) + varint(capture) + varint(blob.processor)
        if blob.thread != last.thread:
            flags |= 0x04
            parts += varint(blob.thread)
        if blob.stack != last.stack:
            flags |= 0x08
            parts += varint(blob.stack)
        parts += varint((blob.time - last.time) & (1 << 64) - 1)
        wanted = blob.activity.bytes_le if blob.activity else NO_GUID
        if wanted != activity:
            flags |= 0x10
            parts += wanted
            activity = wanted
        wanted = blob.related.bytes_le if blob.related else NO_GUID
        if wanted != related:
            flags |= 0x20
            parts += wanted
            related = wanted
        if blob.sorted:
            flags |= 0x40
        if len(blob.payload) != len(last.payload):
            flags |= 0x80
            parts += varint(len(blob.payload))
        out.append(flags)
        out += parts
        starts.append(len(out))
        out += blob.payload
        last = Blob(
            blob.metadata_id, blob.time, blob.payload, blob.thread, capture, sequence, blob.processor, blob.stack
        )
    return bytes(out), starts


@dataclass
class Writer:
    """Appends objects to `data`; the header is written at once. `payload_offsets` are of all event blobs so far."""

    pointer_size: int = 8
    frequency: int = 10**9
    sync_qpc: int = 0
    process_id: int = 42
    processors: int = 4
    start: tuple[int, ...] = (2026, 1, 1, 5, 12, 30, 15, 250)
    data: bytearray = field(default_factory=bytearray)
    payload_offsets: list[int] = field(default_factory=list)
    counters: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.data += b"Nettrace" + struct.pack("<i", 20) + b"!FastSerialization.1"
        self._type("Trace", 4)
        self.data += struct.pack(
            "<8hqqiiii",
            *self.start,
            self.sync_qpc,
            self.frequency,
            self.pointer_size,
            self.process_id,
            self.processors,
            1_000_000,
        )
        self.data += END

    def _type(self, name: str, version: int) -> None:
        self.data += b"\x05\x05\x01" + struct.pack("<iii", version, version, len(name)) + name.encode() + END

    def block(self, name: str, body: bytes, size: int | None = None, end: bytes = END) -> int:
        """An object with a size (`size`, when it is to lie); the offset of its body."""
        self._type(name, 2)
        self.data += struct.pack("<i", len(body) if size is None else size)
        self.data += bytes(-len(self.data) % 4)
        at = len(self.data)
        self.data += body + end
        return at

    def blobs(self, name: str, body: bytes, first: int = 0, last: int = 0, extra: bytes = b"") -> int:
        """A block with a block header; the offset of its first blob."""
        header = struct.pack("<HHqq", 20 + len(extra), 1, first, last) + extra
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
        word = "Q" if self.pointer_size == 8 else "I"
        body = struct.pack("<ii", first, len(stacks))
        for stack in stacks:
            body += struct.pack(f"<i{len(stack)}{word}", len(stack) * self.pointer_size, *stack)
        self.block("StackBlock", body)

    def sequence_point(self, time: int, threads: Mapping[int, int] | None = None) -> None:
        known = self.counters if threads is None else threads
        body = struct.pack("<qi", time, len(known))
        for thread, number in known.items():
            body += struct.pack("<QI", thread, number & 0xFFFFFFFF)
        self.block("SPBlock", body)

    def end(self) -> bytes:
        """The end mark; everything written."""
        self.data += b"\x01"
        return bytes(self.data)

    def build(self) -> bytes:
        """Everything written so far, without an end mark."""
        return bytes(self.data)
