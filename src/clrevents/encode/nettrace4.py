"""Writes NetTrace 4 and "5": four kinds of block in the object envelope (docs/format.md, "Blocks of NetTrace 4").

Blocks are appended in the order of the calls, which is file order; the caller must write first what a reader needs
first (metadata, stacks). Knows no event's fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clrevents.encode.blocks import BlockWriter, ObjectWriter, Sequences, event_block, trace_object
from clrevents.encode.metadata import record
from clrevents.encode.values import (
    SHORTEST,
    Choices,
    EventRecord,
    MetadataRecord,
    Sink,
    TraceHeader,
    either,
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
