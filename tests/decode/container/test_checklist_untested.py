"""Checklist: cases that no reader's tests have. Every stream is written here; no file is needed."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

import clrevents
from checklist_cases import PROVIDER, Built4, Built6, Read, case, described, event, kept, sound
from clrevents.encode.netperf import NetPerf3Writer, NetPerf12Writer
from clrevents.encode.values import (
    Choices,
    EventRecord,
    FieldDescription,
    Label,
    MetadataRecord,
    ThreadRow,
)
from clrevents.schema.codes import HeaderFlag, LabelKind
from clrevents.schema.registry import Registry

GUID = bytes(range(16))
M32 = (1 << 32) - 1


@case("NetPerf 1/2 with and without footer")
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


@case("NetPerf 3 padding 0-3")
def test_netperf_3_padding() -> None:
    """A record is padded inside its announced size to a multiple of four; the stack stands right behind the payload."""
    sink = io.BytesIO()
    writer = NetPerf3Writer(sink)
    text = (FieldDescription("Text", 18),)
    writer.metadata([described(fields=text), described(2)])
    payloads = [b"a\0" * length + b"\0\0" + bytes(length % 4) for length in range(8)]
    for length, payload in enumerate(payloads):
        blob = EventRecord(1, length, 7, payload, stack=[length + 1])
        writer.events([blob, event(length, length, metadata_id=2)])
    writer.end()
    read = Read(sink.getvalue())
    assert [e.payload_bytes for e in read.events[::2]] == payloads
    assert [e.payload["Value"] for e in read.events[1::2]] == list(range(8))
    assert [e.stack for e in read.events[::2]] == [(n + 1,) for n in range(8)]
    assert set(read.kinds) == {"long-payload"}
    assert read.error is None


@case("full headers with padding inside the event's size")
@pytest.mark.parametrize("padded", [True, False])
def test_full_headers_with_padding(padded: bool) -> None:
    """The runtime's writer rounds EventSize up; the reference's tests write none. Both are read."""
    built = Built4()
    kinds = [described(2 + n, tuple(FieldDescription(f"F{i}", 6) for i in range(n))) for n in range(6)]
    built.writer.metadata(kinds, Choices(compressed=False, padded=padded))
    listed = [EventRecord(2 + n, n, 7, bytes(range(n))) for n in (5, 1, 2, 3, 4, 1)]
    built.writer.events(listed, Choices(compressed=False, padded=padded))
    read = Read(built.build(), "strict")
    assert read.error is None
    assert [e.payload_bytes for e in sorted(read.events, key=lambda e: e.time_ns)] == sorted(r.payload for r in listed)


@case("metadata blob with bit 0x02")
@pytest.mark.parametrize("force", [HeaderFlag.NONE, HeaderFlag.CAPTURE, HeaderFlag.PARTS])
def test_metadata_blobs_with_the_capture_part(force: HeaderFlag) -> None:
    """Real files have it on a block's first blob, against the document; it is decoded like any other."""
    built = Built4()
    built.writer.metadata([described(2), described(3)], Choices(force=force))
    built.writer.events([event(1, 5, metadata_id=3), event(2, 6, metadata_id=2)])
    assert sound(built.build()).values == [5, 6]


@case("every flag byte")
def test_every_flag_byte() -> None:
    """Each optional part alone and with every other; the event behind it shows that no byte was miscounted."""
    for bits in range(256):
        try:
            _flag_byte(bits)
        except BaseException as error:
            error.add_note(f"this is about the flags {bits:#x}")
            raise


def _flag_byte(bits: int) -> None:
    built = Built4()
    built.writer.stacks(1, [[1, 2]])
    parts = HeaderFlag(bits & ~0x40)
    listed = [
        event(1, 10, activity_id=GUID, related_activity_id=GUID[::-1], stack_id=1, processor=3),
        event(2, 11, activity_id=GUID, related_activity_id=GUID[::-1], stack_id=1, processor=3),
        event(3, 12, 9, activity_id=GUID[::-1]),
    ]
    listed[1] = replace(listed[1], is_sorted=bool(bits & 0x40))
    built.writer.events(
        listed,
        Choices(force=[HeaderFlag.NONE, parts, HeaderFlag.NONE], avoid=[HeaderFlag.NONE, ~parts, HeaderFlag.NONE]),
    )
    read = sound(built.build())
    assert read.values == [10, 11, 12]
    first, second, third = read.events
    for repeated in (first, second):
        assert (repeated.thread_id, repeated.stack, repeated.processor) == (7, (1, 2), 3)
        assert repeated.activity_id == UUID(bytes_le=GUID)
        assert repeated.related_activity_id == UUID(bytes_le=GUID[::-1])
    assert (third.thread_id, third.stack, third.processor) == (9, (), None)


@case("sequence wrap at 2^32")
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


@case("loss seen only at a sequence point")
def test_a_loss_that_only_a_sequence_point_shows() -> None:
    """All later events of the thread were dropped: the writer's count at the point says how many, and since when."""
    built = Built4()
    built.writer.events([event(100, 1), event(200, 2), event(250, 3, thread=8)])
    built.writer.sequence_point(1000, {7: 12, 8: 1})
    built.writer.events([event(2000, 4, sequence=13)])
    read = Read(built.build())
    (loss,) = read.losses
    assert (loss.thread_id, loss.count, loss.start_ns, loss.end_ns) == (7, 10, 200, 1000)
    assert read.values == [1, 2, 3, 4]


@case("recycled thread")
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


@case("truncation at every byte")
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


@case("unknown object name")
@pytest.mark.parametrize("generation", [3, 4, 6])
def test_a_block_of_unknown_kind_is_skipped_by_its_size(generation: int) -> None:
    for size in range(6):
        if generation == 3:
            sink = io.BytesIO()
            writer = NetPerf3Writer(sink)
            writer.metadata([described()])
            writer.raw_block("FutureBlock", b"\5" * size)
            writer.events([event(1, 1)])
            writer.end()
            read = Read(sink.getvalue())
        else:
            built: Any = Built4() if generation == 4 else Built6()
            built.writer.raw_block("FutureBlock" if generation == 4 else 77, b"\5" * size)
            built.writer.events([event(1, 1)])
            read = Read(built.build())
        assert read.values == [1]
        assert read.kinds == ["unknown-block"]
        assert read.error is None


@case("header-only blocks")
@pytest.mark.parametrize("built", [Built4, Built6])
@pytest.mark.parametrize("compressed", [True, False])
def test_blocks_without_anything_in_them(built: Any, compressed: bool) -> None:
    """Empty event, metadata, stack, thread and label blocks, and a point without threads, mean nothing."""
    stream = built()
    stream.writer.metadata([])
    stream.writer.stacks(1, [])
    stream.writer.events([], Choices(compressed))
    stream.writer.sequence_point(0, {})
    if built is Built6:
        stream.writer.threads([])
        stream.writer.remove_threads({})
        stream.writer.labels(1, [])
    stream.writer.events([event(1, 1)], Choices(compressed))
    assert sound(stream.build()).values == [1]


@case("duplicate metadata")
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


@case("undefined metadata id")
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


@case("stack ids reused after a sequence point")
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


@case("equal timestamps across threads")
@pytest.mark.parametrize("is_sorted", [True, False])
def test_equal_times_stay_in_file_order(is_sorted: bool) -> None:
    built = Built4()
    built.writer.events([event(5, 1, 8), event(9, 2, 8), event(9, 3, 8)])
    built.writer.events([event(5, 4, 7, is_sorted=False), event(9, 5, 7, is_sorted=is_sorted)])
    built.writer.events([event(5, 6, 9, is_sorted=False)])
    built.writer.sequence_point(9)
    built.writer.events([event(9, 7, 7)])
    assert sound(built.build()).values == [1, 4, 6, 2, 3, 5, 7]


@case("nested V1 struct name order")
def test_a_structs_own_name_comes_behind_its_members() -> None:
    """Three levels in the older field list, where the name of an object follows everything in it."""
    inner = FieldDescription("Inner", 1, members=(FieldDescription("C", 5), FieldDescription("D", 18)))
    outer = FieldDescription("Outer", 1, members=(FieldDescription("B", 9), inner, FieldDescription("E", 6)))
    built = Built4()
    built.writer.metadata([described(2, (FieldDescription("A", 8), outer, FieldDescription("F", 9)))])
    payload = struct.pack("<Hib", 1, 2, -3) + "x".encode("utf-16-le") + b"\0\0" + struct.pack("<Bi", 4, 5)
    built.writer.events([EventRecord(2, 1, 7, payload)])
    (found,) = sound(built.build()).events
    record = found.payload
    assert (record["A"], record["F"], record["Outer"]["B"], record["Outer"]["E"]) == (1, 5, 2, 4)
    assert (record["Outer"]["Inner"]["C"], record["Outer"]["Inner"]["D"]) == (-3, "x")


@case("TraceLogging boolean/decimal retry")
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


@case("one-collect type 23")
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


@case("label kind 6")
def test_number_labels() -> None:
    """Zigzag, as the format says: a writer that leaves it out is not corrected silently."""
    built = Built6()
    numbers = [0, 1, -1, 300, -300, (1 << 63) - 1, -(1 << 63)]
    built.writer.labels(1, [[Label(LabelKind.NUMBER, n, "Key")] for n in numbers])
    plain = struct.pack("<II", 50, 1) + b"\x86\x03Key\x0a"
    built.writer.raw_block(8, plain)
    ids = [*range(1, len(numbers) + 1), 50]
    built.writer.events([event(i, i, label_id=number) for i, number in enumerate(ids)])
    assert [e.labels for e in sound(built.build()).events] == [{"Key": n} for n in [*numbers, 5]]


@case("64-bit thread ids")
@pytest.mark.parametrize("thread", [1 << 32, (1 << 47) + 5, (1 << 63) + 1, (1 << 64) - 2])
@pytest.mark.parametrize("compressed", [True, False])
def test_thread_ids_of_64_bits(thread: int, compressed: bool) -> None:
    four, six = Built4(), Built6()
    six.writer.threads([ThreadRow(thread, thread, thread - 1)])
    for built in (four, six):
        built.writer.events([event(1, 1, thread), event(2, 2, thread, sequence=5)], Choices(compressed))
        read = Read(built.build())
        assert [e.thread_id for e in read.events] == [thread, thread]
        assert [(loss.thread_id, loss.count) for loss in read.losses] == [(thread, 3)]
    # Process ids are kept as signed numbers of 64 bits.
    process = thread - 1
    assert read.events[0].process_id == (process if process < 1 << 63 else process - (1 << 64))


@case("pointer size 4 in NetTrace")
def test_pointers_of_four_bytes() -> None:
    """Addresses of stacks and pointers of the runtime's own events have four bytes."""
    built = Built4(pointer_size=4)
    built.writer.stacks(1, [[0x11, 0xFFFFFFFF]])
    unload = MetadataRecord(2, "Microsoft-Windows-DotNETRuntime", 145, 0)
    built.writer.metadata([unload])
    built.writer.events([event(1, 1, stack_id=1)])
    read = sound(built.build())
    assert read.events[0].stack == (0x11, 0xFFFFFFFF)
    assert read.info is not None
    assert read.info.pointer_size == 4


@case("resynchronisation after damage")
@pytest.mark.parametrize("change", ["overwritten", "dropped", "inserted"])
def test_reading_goes_on_behind_damage(change: str) -> None:
    """Salvage finds the next sound block, also where the bytes behind are shifted by any number (alignment)."""
    for amount in range(1, 9):
        built = Built4()
        built.writer.events([event(1, 1)])
        start = built.writer.offset
        built.writer.events([event(n + 2, 50 + n) for n in range(40)])
        end = built.writer.offset
        for number in range(4):
            built.writer.events([event(100 + number, 2 + number)])
        data = built.build()
        at = (start + end) // 2
        if change == "overwritten":
            # Not with zeros: in events as short as these they read as events, and nothing could tell.
            data = data[:at] + b"\xff" * (8 * amount) + data[at + 8 * amount :]
        elif change == "dropped":
            data = data[:at] + data[at + amount :]
        else:
            data = data[:at] + b"\xaa" * amount + data[at:]
        assert Read(data).error is not None
        read = Read(data, "salvage")
        assert read.error is None
        values = [e.payload["Value"] for e in read.events if e.time_ns in (1, 100, 101, 102, 103)]
        assert values == [1, 2, 3, 4, 5], f"{change} {amount}"
        assert "damage" in {p.severity for p in read.problems}
        assert read.losses == ()
