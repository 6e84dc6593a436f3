"""Small streams that once cost far more than their size: searches after damage, tables that grow, things defined again.

Each takes its size in pieces, so that a test can compare several sizes. Knows no reader.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Final

from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import (
    Choices,
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    ThreadRow,
    TraceHeader,
)
from clrevents.schema.codes import BlockKind, Forget, LabelKind, TypeCode
from oldest_writer import NetPerf12Writer

EMPTY_UNKNOWN_BLOCK: Final = b"\0\0\0\x09"
"""Four bytes that NetTrace 6 skips as a block of a kind it does not know, and that no search takes for a block."""
_FIELDS: Final = (FieldDescription("x", TypeCode.INT32),)


def six(header: TraceHeader | None = None) -> tuple[io.BytesIO, NetTrace6Writer]:
    """A NetTrace 6 stream to append to."""
    sink = io.BytesIO()
    return sink, NetTrace6Writer(sink, header)


def unchained_stacks(pieces: int) -> bytes:
    """Stack blocks, each followed by four bytes that no known block starts with: a fault after every block."""
    sink, writer = six()
    for number in range(pieces):
        writer.stacks(1 + number, [(7,)])
        writer.raw(EMPTY_UNKNOWN_BLOCK)
    return sink.getvalue()


def distant_ends(pieces: int) -> bytes:
    """End blocks that are none, since a few blocks follow each; all declare to end where nothing follows for long."""
    sink, writer = six()
    whole = 60 * pieces
    for at in range(0, whole, 60):
        writer.raw((whole - at - 4).to_bytes(3, "little") + bytes(1))
        _chain(writer)
        writer.raw(b"\xff" * 20)
    writer.raw(b"\xff" * whole)
    _chain(writer)
    return sink.getvalue()


def _chain(writer: NetTrace6Writer) -> None:
    for _ in range(3):
        writer.raw_block(BlockKind.STACKS, struct.pack("<II", 1, 0))


def doubtful_events(pieces: int) -> bytes:
    """Stack blocks whose ids do not follow each other, and after each an event outside its block's span."""
    sink, writer = six()
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    writer.threads([ThreadRow(1, 1)])
    for number in range(pieces):
        writer.stacks(1 + 2 * number, [(7,)])
        writer.events([EventRecord(1, 5, 1, stack_id=1)], Choices(span=(6, 7)))
    return sink.getvalue()


def unsound_blocks(pieces: int) -> bytes:
    """Small event blocks that follow each other, each with a sound header and an event whose numbers never end."""
    sink, writer = six()
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    writer.threads([ThreadRow(1, 1)])
    for _ in range(pieces):
        writer.raw_block(BlockKind.EVENTS, struct.pack("<HHqq", 20, 1, 5, 5) + b"\x01" + b"\xff" * 6)
    return sink.getvalue()


def broken_records(pieces: int) -> bytes:
    """NetPerf 2: four sound records and a byte that belongs to none, again and again."""
    sink = io.BytesIO()
    writer = NetPerf12Writer(sink, 2)
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    for number in range(pieces):
        writer.events([EventRecord(1, number, 1) for _ in range(4)])
        writer.raw(b"\xff")
    return sink.getvalue()


def endless(points: int) -> Iterator[bytes]:
    """A service recorded for long: kinds, threads, stacks and labels are defined anew after each sequence point.

    The same ones each time, with other ids. Piece by piece, without an end mark.
    """
    sink, writer = six()
    for point in range(points):
        turn = point % 3
        ids = [1 + (place + turn) % 3 for place in range(3)]
        writer.metadata(
            [MetadataRecord(id, "P", 10 + place, 0, f"E{place}", fields=_FIELDS) for place, id in enumerate(ids)]
        )
        writer.threads([ThreadRow(id, 100 + place, 7, f"worker {place}") for place, id in enumerate(ids)])
        writer.stacks(1, [(7, 8), (9,)])
        writer.labels(1, [[Label(LabelKind.TEXT, "value", "key"), Label(LabelKind.LEVEL, 3)]])
        writer.events(
            [
                EventRecord(id, 10 * point, id, bytes(4), stack_id=1 + point % 2, label_id=place % 2)
                for place, id in enumerate(ids)
            ]
        )
        writer.sequence_point(10 * point + 9, flags=Forget.THREADS | Forget.METADATA)
        yield sink.getvalue()
        sink.seek(0)
        sink.truncate()


def many_kinds(kinds: int, points: int) -> tuple[bytes, bytes]:
    """So many descriptions, and after them so many sequence points that forget all of them, each with one event."""
    sink, writer = six()
    described = [MetadataRecord(1 + number, "P", number % 1000, 0, f"E{number}") for number in range(kinds)]
    for at in range(0, kinds, 1000):
        writer.metadata(described[at : at + 1000])
    writer.threads([ThreadRow(1, 1)])
    first = sink.getvalue()
    for point in range(points):
        writer.metadata(described[-1:])
        writer.events([EventRecord(kinds, point, 1)])
        writer.sequence_point(point, {}, flags=Forget.METADATA)
    return first, sink.getvalue()[len(first) :]


def many_threads(threads: int, points: int) -> tuple[bytes, bytes]:
    """So many threads, and after them so many sequence points, each after one event."""
    sink, writer = six()
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    for at in range(0, threads, 1000):
        writer.threads([ThreadRow(1 + number, number, 7) for number in range(at, at + 1000)])
    first = sink.getvalue()
    for point in range(points):
        writer.events([EventRecord(1, point, 1 + point)])
        writer.sequence_point(point, {})
    return first, sink.getvalue()[len(first) :]


def far(times: list[int], sync_qpc: int = 0, frequency: int = 10**9, process_id: int = 5) -> bytes:
    """An event and the load of a method at each of these ticks, all with stacks, and a loss after them."""
    sink, writer = six(TraceHeader(sync_qpc=sync_qpc, frequency=frequency))
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E"), MetadataRecord(2, "Microsoft-Windows-DotNETRuntime", 143, 2)])
    writer.stacks(1, [(5, 6)])
    writer.threads([ThreadRow(1, 1, process_id)])
    texts = "".join(text + "\0" for text in ("n", "m", "void ()")).encode("utf-16-le")
    load = struct.pack("<QQQIII", 9, 7, 5, 16, 1, 1) + texts + bytes(2) + bytes(8)
    for time in times:
        writer.events([EventRecord(1, time, 1, stack_id=1), EventRecord(2, time, 1, load, stack_id=1)])
    writer.sequence_point(times[-1], {1: 2 * len(times) + 3})
    return sink.getvalue()
