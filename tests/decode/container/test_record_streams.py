"""Streams that nobody has, written here: old NetPerf, more than 4 GB, bad stacks."""

from __future__ import annotations

import io
import struct
from bisect import bisect_right
from typing import Any

import pytest

import clrevents
from clrevents.decode.stream.stream import Stream
from clrevents.encode.nettrace4 import NetPerf3Writer, NetTrace4Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord
from in_memory import ended
from small_streams import Built4, Read, described, event

RUNTIME = "Microsoft-Windows-DotNETRuntime"


@pytest.mark.parametrize("length", [-1, 0, 1 << 30, -(1 << 31)])
def test_type_name_of_impossible_length(length: int) -> None:
    built = Built4()
    data = bytearray(built.build())
    data[32 + 3 + 8 : 32 + 3 + 12] = length.to_bytes(4, "little", signed=True)
    for errors in ("report", "strict", "salvage"):
        with pytest.raises(clrevents.TraceError):
            clrevents.open(bytes(data), errors=errors)


class Feeding:
    """A sink that hands every block to a stream and keeps nothing."""

    def __init__(self) -> None:
        self.stream = Stream()
        self.events = self.wrong = 0
        self.last = 0

    def write(self, data: bytes) -> None:
        self.take(self.stream.feed(data))

    def take(self, released: list[Any]) -> None:
        for rows in released:
            bases = rows.release.bases.tolist()
            for offset, size in zip(rows.offsets.tolist(), rows.sizes.tolist(), strict=True):
                which = bisect_right(bases, offset) - 1
                at = offset - bases[which]
                number = int.from_bytes(rows.release.windows[which][at : at + 8], "little")
                self.wrong += number != self.events or size != _SIZE - self.events % 4
                self.events += 1
                self.last = offset


_SIZE = 60_000


@pytest.mark.full
def test_a_stream_of_more_than_4_gb() -> None:
    """71,600 events of 60,000 bytes: offsets beyond 2^32, and each alignment of a block on both sides of it."""
    sink = Feeding()
    writer = NetTrace4Writer(sink)
    writer.metadata([MetadataRecord(1, "P", 1, name="Big", fields=(FieldDescription("Number", 11),))])
    rest = bytes(_SIZE)
    for number in range(71_600):
        # Blocks differ by 0 to 3 bytes, or all would be aligned alike.
        payload = number.to_bytes(8, "little") + rest[: _SIZE - 8 - number % 4]
        writer.events([EventRecord(1, number, 7, payload)])
        if number % 50 == 49:
            writer.sequence_point(number)
    writer.end()
    sink.take(sink.stream.close())
    assert (sink.events, sink.wrong) == (71_600, 0)
    assert writer.offset > sink.last > 1 << 32
    assert sink.stream.complete
    assert not sink.stream.problems.total
    assert sink.stream.lost == 0


STACK = [0x1111, 0x2222]


def one_record(changes: dict[int, int], stack: bytes = bytes(8), behind: bytes = b"") -> bytes:
    """A NetPerf 3 stream: an event with a stack, then one of payload 4 and `stack`, int32s of it changed.

    Offsets (docs/format.md, "NetPerf 1 and 2"): 0 the event's size, 52 the payload's, 60 the stack's; `behind` follows.
    """
    writer = NetPerf3Writer(io.BytesIO())
    writer.events([described(), event(1, 1, stack=STACK)])
    patched = struct.pack("<iiiq32si", 56 + 4 + len(stack), 1, 7, 2, bytes(32), 4)
    record = bytearray(patched + (2).to_bytes(4, "little") + len(stack).to_bytes(4, "little") + stack)
    assert len(record) == 56 + 4 + 4 + len(stack)
    for at, value in changes.items():
        struct.pack_into("<i", record, at, value)
    writer.raw_block("EventBlock", bytes(record) + behind)
    return ended(writer)


def test_stack_inside_the_event() -> None:
    read = Read(one_record({}, (0x3333).to_bytes(8, "little")), "strict")
    assert read.error is None
    assert read.values == [1, 2]
    assert [e.stack for e in read.events] == [(0x1111, 0x2222), (0x3333,)]


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        pytest.param({60: 12}, 8, id="case 70 stack past the event"),
        pytest.param({52: -1}, 8, id="case 71 payload size -1"),
        pytest.param({60: -1}, 8, id="case 72 stack size -1"),
        pytest.param({}, 65_528, id="case 73 stack size 65528"),
        pytest.param({0: (1 << 31) - 1}, 8, id="case 75 event size overflows"),
        pytest.param({0: -1}, 8, id="event size -1"),
        pytest.param({0: 59}, 8, id="no room for a stack size"),
    ],
)
@pytest.mark.parametrize("errors", ["report", "strict", "salvage"])
def test_a_record_that_cannot_be_true(changes: dict[int, int], size: int, errors: Any) -> None:
    """The record is rejected, the one before it is delivered with its own stack, and nothing is made of the bad one."""
    read = Read(one_record(changes, bytes(size), behind=bytes(16)), errors)
    assert read.values == [1]
    assert read.events[0].stack == tuple(STACK)
    assert [p.severity for p in read.problems] == ["damage"]
    assert isinstance(read.error, clrevents.DamageError) == (errors != "salvage")


def test_the_longest_stack() -> None:
    read = Read(one_record({}, bytes(65_527)), "strict")
    assert read.error is None
    # What is left of a word at its end is no address.
    assert read.events[1].stack == (0,) * (65_527 // 8)
