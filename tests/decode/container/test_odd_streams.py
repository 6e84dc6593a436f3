"""What no reader's own tests have. Every stream is written here; no file is needed."""

from __future__ import annotations

import io
import struct
from decimal import Decimal
from typing import Any

import pytest

import clrevents
from clrevents.encode.nettrace4 import NetPerf3Writer
from clrevents.encode.values import Choices, EventRecord, FieldDescription, MetadataRecord
from clrevents.schema.registry import Registry
from in_memory import ended
from oldest_writer import NetPerf12Writer
from small_streams import PROVIDER, Built4, Built6, Read, described, event, kept, sound

GUID = bytes(range(16))
M32 = (1 << 32) - 1


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("ending", ["footer", "closed", "cut", "cut inside an event"])
def test_netperf_1_and_2(version: int, ending: str) -> None:
    """The footer is told from events by its sizes; without it events are read until one does not fit."""
    sink = io.BytesIO()
    writer = NetPerf12Writer(sink, version)
    writer.events([described(provider_guid=GUID), *(event(i, i, stack=[i, 6]) for i in range(5))])
    if ending in ("footer", "closed"):
        writer.end(footer=ending == "footer")
    data = sink.getvalue()[: -30 if "inside" in ending else None]
    read = Read(data)
    assert read.values == [0, 1, 2, 3, 4][: 4 if "inside" in ending else 5]
    assert [e.stack for e in read.events] == [(i, 6) for i in range(len(read.events))]
    expected = {"cut": ["missing-end"], "cut inside an event": ["truncated"]}
    assert read.kinds == expected.get(ending, [])
    assert (read.error is not None) == ("inside" in ending)


def test_netperf_3_padding() -> None:
    """A record is padded inside its announced size to a multiple of four; the stack stands right behind the payload."""
    writer = NetPerf3Writer(io.BytesIO())
    text = (FieldDescription("Text", 18),)
    writer.metadata([described(fields=text), described(2)])
    payloads = [b"a\0" * length + b"\0\0" + bytes(length % 4) for length in range(8)]
    for length, payload in enumerate(payloads):
        blob = EventRecord(1, length, 7, payload, stack=[length + 1])
        writer.events([blob, event(length, length, metadata_id=2)])
    read = Read(ended(writer))
    assert [e.payload_bytes for e in read.events[::2]] == payloads
    assert [e.payload["Value"] for e in read.events[1::2]] == list(range(8))
    assert [e.stack for e in read.events[::2]] == [(n + 1,) for n in range(8)]
    assert set(read.kinds) == {"long-payload"}
    assert read.error is None


@pytest.mark.parametrize("built", [Built4, Built6])
@pytest.mark.parametrize("missing", [0, 2])
def test_sequence_numbers_wrap(built: Any, missing: int) -> None:
    stream = built()
    first = M32 - 2
    numbers = [first, first + 1, M32, missing, missing + 1]
    if built is Built6:
        # Threads of NetTrace 6 begin at 0, so the first number itself would be a loss: take it from a point.
        stream.writer.sequence_point(0, {7: 1 << 31})
        stream.writer.sequence_point(0, {7: first - 1})
    stream.writer.events([event(i + 1, i, sequence=n) for i, n in enumerate(numbers)])
    stream.writer.sequence_point(9, {7: missing + 1})
    read = Read(stream.build())
    assert read.error is None
    assert read.values == [0, 1, 2, 3, 4]
    lost = [loss.count for loss in read.losses if loss.start_ns]
    assert lost == ([missing] if missing else [])


def test_a_thread_whose_number_begins_anew() -> None:
    """The system used the id again: numbers step back, which is no loss; counting goes on from there."""
    built = Built4()
    built.writer.events([event(100 + n, n) for n in range(5)])
    built.writer.sequence_point(150, {7: 0})
    built.writer.events([event(200, 5, sequence=1), event(210, 6, sequence=2), event(220, 7, sequence=5)])
    read = Read(built.build())
    assert read.values == list(range(8))
    assert [loss.count for loss in read.losses] == [2]
    assert read.kinds == ["sequence-backwards"]
    assert read.error is None


def small_streams() -> dict[str, bytes]:
    """A small stream of each generation, with two regions where there are regions."""
    four, six, full = Built4(), Built6(), Built4()
    for built, choices in ((four, Choices()), (six, Choices()), (full, Choices(compressed=False, padded=True))):
        built.writer.stacks(1, [[1, 2], [3]])
        built.writer.events([event(1, 1, stack_id=1), event(2, 2, stack_id=2)], choices)
        built.writer.sequence_point(3)
        built.writer.stacks(1, [[5]])
        built.writer.events([event(4, 3, stack_id=1), event(5, 4)], choices)
        built.writer.sequence_point(6)
    old, oldest = io.BytesIO(), io.BytesIO()
    writer3, writer2 = NetPerf3Writer(old), NetPerf12Writer(oldest, 2)
    for writer in (writer3, writer2):
        writer.events([described(), event(1, 1, stack=[1, 2]), event(2, 2, stack=[3])])
        writer.events([event(4, 3, stack=[5]), event(5, 4)])
        writer.end()
    return {
        "NetTrace 4": four.build(),
        "NetTrace 4 full headers": full.build(),
        "NetTrace 6": six.build(),
        "NetPerf 3": old.getvalue(),
        "NetPerf 2": oldest.getvalue(),
    }


STREAMS = small_streams()


@pytest.mark.parametrize(
    ("errors", "step"), [("report", 1), ("strict", 3), ("salvage", 3)], ids=lambda value: f"{value}"
)
@pytest.mark.parametrize("name", STREAMS)
def test_a_cut_anywhere_gives_a_prefix(name: str, errors: Any, step: int) -> None:
    """Each event that comes out is one of the whole stream's, in its order, none left out between them. The other modes
    read as `report` does up to the end of a cut, and differ in what they do there: a third of all cuts is enough."""
    data = STREAMS[name]
    whole = kept(sound(data).events)
    assert len(whole) == 4
    longest = 0
    nothing_known = Registry(parent=None)
    for size in range(0, len(data), step):
        read = Read(data[:size], errors, nothing_known)
        found = kept(read.events)
        assert found == whole[: len(found)], f"cut at {size}"
        assert len(found) >= longest, f"cut at {size}"
        assert read.losses == ()
        # Only the footer of NetPerf 2 may be missing without a word.
        assert read.error is not None or read.problems or size > len(data) - 17
        longest = len(found)
    assert longest == 4


@pytest.mark.parametrize("generation", [3, 4, 6])
def test_a_block_of_unknown_kind_is_skipped_by_its_size(generation: int) -> None:
    for size in range(6):
        if generation == 3:
            writer = NetPerf3Writer(io.BytesIO())
            writer.metadata([described()])
            writer.raw_block("FutureBlock", b"\5" * size)
            writer.events([event(1, 1)])
            read = Read(ended(writer))
        else:
            built: Any = Built4() if generation == 4 else Built6()
            built.writer.raw_block("FutureBlock" if generation == 4 else 77, b"\5" * size)
            built.writer.events([event(1, 1)])
            read = Read(built.build())
        assert read.values == [1]
        assert read.kinds == ["unknown-block"]
        assert read.error is None


@pytest.mark.parametrize("built", [Built4, Built6])
@pytest.mark.parametrize("compressed", [True, False])
def test_blocks_without_anything_in_them(built: Any, compressed: bool) -> None:
    """Empty event, metadata, stack, thread and label blocks, and a point without threads, mean nothing: also to who
    looks for damage in each block and what follows it."""
    stream = built()
    for number in (1, 2):
        stream.writer.metadata([])
        stream.writer.stacks(1, [])
        stream.writer.events([], Choices(compressed))
        stream.writer.sequence_point(0, {})
        if built is Built6:
            stream.writer.threads([])
            stream.writer.remove_threads({})
            stream.writer.labels(1, [])
            stream.writer.threads([])
        stream.writer.events([event(number, number)], Choices(compressed))
    data = stream.build()
    assert sound(data).values == [1, 2]
    salvaged = Read(data, "salvage")
    assert (salvaged.values, salvaged.problems) == ([1, 2], ())


@pytest.mark.parametrize("built", [Built4, Built6])
def test_a_description_given_twice(built: Any) -> None:
    """The same again is nothing; another under the same id is damage, of which the last counts."""
    same = built()
    same.writer.metadata([described(), described()])
    same.writer.events([event(1, 1)])
    assert sound(same.build()).values == [1]
    other = built()
    other.writer.events([event(1, 1)])
    other.writer.metadata([MetadataRecord(1, PROVIDER, 55, name="Other", fields=(FieldDescription("Value", 10),))])
    other.writer.events([event(2, -1)])
    data = other.build()
    read = Read(data)
    assert isinstance(read.error, clrevents.DamageError)
    assert read.values == [1]
    read = Read(data, "salvage")
    assert [(e.name, e.payload["Value"]) for e in read.events] == [("Event1", 1), ("Other", M32)]
    assert [p.severity for p in read.problems] == ["damage"]


@pytest.mark.parametrize("built", [Built4, Built6])
def test_an_event_that_nothing_describes(built: Any) -> None:
    stream = built()
    stream.writer.events([event(1, 1), event(2, 2, metadata_id=9), event(3, 3)])
    data = stream.build()
    read = Read(data)
    assert isinstance(read.error, clrevents.DamageError)
    assert read.values == [1]
    read = Read(data, "salvage")
    assert [e.payload_bytes[0] for e in read.events] == [1, 2, 3]
    assert isinstance(read.events[1].payload, clrevents.RawPayload)
    assert "undefined-metadata" in read.kinds
    assert read.losses == ()


@pytest.mark.parametrize("built", [Built4, Built6])
def test_stack_ids_begin_anew_behind_a_sequence_point(built: Any) -> None:
    """An id is what it was when the event was read, also for events that are handed out behind the point."""
    stream = built()
    for region in range(3):
        stream.writer.stacks(1, [[100 + region], [200 + region]])
        stream.writer.events([event(10 * region + i, stack_id=i, is_sorted=False) for i in (1, 2)])
        stream.writer.sequence_point(10 * region + 5)
    stream.writer.events([event(99, stack_id=1)])
    read = Read(stream.build())
    assert [e.stack for e in read.events] == [(100,), (200,), (101,), (201,), (102,), (202,), ()]
    assert read.events[-1].stack_id == -1
    assert len({e.stack_id for e in read.events}) == 7
    assert read.kinds == ["missing-stack"]


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("small", [True, False])
def test_booleans_and_decimals_as_they_are_written(wrapped: bool, small: bool) -> None:
    """Described as 4 and 16 bytes, written as 1 and 8; only a reading that uses up the payload is believed."""
    fields: tuple[FieldDescription, ...] = (
        FieldDescription("Yes", 3),
        FieldDescription("Price", 15),
        FieldDescription("No", 3),
        FieldDescription("Number", 9),
    )
    if wrapped:
        fields = (FieldDescription("", 1, members=fields),)
    payload = struct.pack("<?d?i", True, 1.5, False, 77)
    if not small:
        payload = struct.pack("<iiIIIii", 1, 1 << 16, 0, 15, 0, 0, 77)
    built = Built4()
    built.writer.metadata([described(2, fields)])
    built.writer.events([EventRecord(2, 1, 7, payload)])
    (found,) = sound(built.build()).events
    record = found.payload
    price = 1.5 if small else Decimal("1.5")
    assert (record["Yes"], record["Price"], record["No"], record["Number"]) == (True, price, False, 77)


@pytest.mark.parametrize("provider", [PROVIDER, "Universal.System"])
@pytest.mark.parametrize("counted", [True, False])
def test_type_23_as_a_unit_and_as_a_counted_string(provider: str, counted: bool) -> None:
    """The format's code 23 is one byte; another writer means a counted string by it. The payload decides."""
    fields = (FieldDescription("Number", 9), FieldDescription("Text", 23), FieldDescription("Last", 6))
    built = Built6()
    built.writer.metadata([MetadataRecord(2, provider, 9, name="Some", fields=fields)])
    text = "h\u00e9llo".encode()
    middle = struct.pack("<H", len(text)) + text if counted else b"A"
    built.writer.events([EventRecord(2, 1, 7, struct.pack("<i", 5) + middle + b"\x07")])
    (found,) = sound(built.build()).events
    record = found.payload
    assert (record["Number"], record["Text"], record["Last"]) == (5, "h\u00e9llo" if counted else "A", 7)
