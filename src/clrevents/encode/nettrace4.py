"""Writes NetTrace 4 and "5": four kinds of block in the object envelope (docs/format.md, "Blocks of NetTrace 4").

Blocks are appended in the order of the calls, which is file order; the caller must write first what a reader needs
first (metadata, stacks). Knows no event's fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clrevents.encode import blocks
from clrevents.encode.blocks import ObjectWriter, full_nettrace4
from clrevents.encode.metadata import record
from clrevents.encode.values import (
    SHORTEST,
    Choices,
    EventRecord,
    MetadataRecord,
    Sink,
    Stack,
    TraceHeader,
    either,
    signed,
    unsigned,
)
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE, ObjectName, ObjectTag

_VERSION = 2


class NetTrace4Writer:
    """A NetTrace 4 stream, one block per call. Writes the header at once.

    A call that raises ValueError has written nothing. Without `end()` the stream is incomplete, which is legal.
    """

    def __init__(self, sink: Sink, header: TraceHeader | None = None, *, version: int = 4) -> None:
        header = header or TraceHeader()
        self._pointer_size = header.pointer_size
        self._sequences = blocks.Sequences()
        self._objects = ObjectWriter(sink, ObjectTag.BEGIN_PRIVATE)
        content = blocks.trace_object(header)
        self._objects.raw(NETTRACE + FAST_SERIALIZATION)
        self._objects.unsized(ObjectName.TRACE, version, 4, content)

    @property
    def offset(self) -> int:
        """The current size of the stream in bytes."""
        return self._objects.offset

    @property
    def sequences(self) -> dict[int, int]:
        """The last sequence number of each capture thread."""
        return dict(self._sequences.last)

    def metadata(self, records: Sequence[MetadataRecord], choices: Choices = SHORTEST) -> None:
        """Write a MetadataBlock: descriptions in blobs of metadata id 0 (docs/format.md, "Blocks of NetTrace 4")."""
        blobs = []
        for described in records:
            try:
                blobs.append(described_event(described))
            except ValueError as error:
                raise ValueError(f"description of {described.provider}/{described.name}: {error}") from None
        content = blocks.events(blobs, blocks.Sequences(), choices, full_nettrace4, False)
        self.raw_block(ObjectName.METADATA, content)

    def stacks(self, first_id: int, stacks: Iterable[Stack]) -> None:
        """Write a StackBlock: ids from `first_id` to the next sequence point (docs/format.md, "Lifetimes of ids")."""
        self.raw_block(ObjectName.STACKS, blocks.stacks(first_id, stacks, self._pointer_size))

    def events(self, events: Sequence[EventRecord], choices: Choices = SHORTEST) -> None:
        """Write an EventBlock."""
        try:
            self.raw_block(ObjectName.EVENTS, blocks.events(events, self._sequences, choices, full_nettrace4, False))
        except BaseException:
            self._sequences.drop()
            raise
        self._sequences.keep()

    def sequence_point(self, time: int, threads: Mapping[int, int] | None = None) -> None:
        """Write an SPBlock: `threads` are last sequence numbers by capture thread; None uses those written so far."""
        numbers = self._sequences.last if threads is None else threads
        content = [either(time, 8, "time"), signed(len(numbers), 4, "the number of threads")]
        for thread, number in numbers.items():
            content += (unsigned(thread, 8, "capture thread id"), unsigned(number, 4, "sequence"))
        self.raw_block(ObjectName.SEQUENCE_POINT, b"".join(content))

    def raw_block(self, name: str, content: bytes) -> None:
        """Write any block, given its name and its content after size and padding."""
        self._objects.block(name, _VERSION, _VERSION, content)

    def raw(self, data: bytes) -> None:
        """Write arbitrary bytes, for deliberate damage."""
        self._objects.raw(data)

    def end(self) -> None:
        """Write the end mark."""
        self._objects.raw(bytes((ObjectTag.NULL,)))


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
