"""NetTrace 4 containers, sound and broken, made by the tests' own writer: what comes out, and what is said about it."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import attrs
import pytest

import clrevents
from clrevents import DamageError, LimitError, Limits, Loss, Problem, RawPayload, Trace, TraceError, UnreadableError
from nettrace4_writer import HEADER_BYTES, Blob, Writer, compressed, utf16z, varint

# Damage and losses are told of in tests of their own.
pytestmark = pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")

ONE, TWO = UUID(int=1), UUID(int=2 << 96)


def writer(**options: int) -> Writer:
    """A writer that has described event 1 of `P` as metadata 1 and event 2 as metadata 2."""
    made = Writer(**options)  # type: ignore[arg-type]
    made.metadata(1, "P", 1, name="One")
    made.metadata(2, "P", 2, name="Two")
    return made


def times(trace: Trace) -> list[int]:
    return [e.time_ns for e in trace.events()]


def kinds(trace: Trace) -> list[str]:
    return [p.kind for p in trace.problems]


def damaged(data: bytes, events: int) -> tuple[Problem, DamageError]:
    """The one problem of a damaged trace, and the error behind its first `events` events. Checks every mode."""
    trace = clrevents.open(data)
    seen: list[clrevents.Event[Any]] = []
    with pytest.raises(DamageError) as caught:
        seen.extend(trace.events())
    assert len(seen) == events
    strict: list[clrevents.Event[Any]] = []
    with pytest.raises(DamageError):
        strict.extend(clrevents.open(data, errors="strict").events())
    assert strict == seen
    error = caught.value
    with pytest.raises(DamageError) as asked:
        trace.event_counts()
    assert str(asked.value) == str(error)
    salvaged = list(clrevents.open(data, errors="salvage").events())
    assert salvaged[: len(seen)] == seen
    found = [p for p in trace.problems if p.severity == "damage"]
    (problem,) = found
    assert (error.offset, error.reason) == (problem.offset, problem.message)
    return problem, error


# The header.


def test_header() -> None:
    made = writer(sync_qpc=1_000_000, frequency=10_000_000, pointer_size=4)
    made.events(Blob(1, 1_000_000 + 12_345_678, thread=7))
    trace = clrevents.open(made.end())
    info = trace.info
    assert (info.format, info.version, info.pointer_size) == ("NetTrace", 4, 4)
    assert (info.sync_qpc, info.frequency) == (1_000_000, 10_000_000)
    assert (info.process_id, info.processors, info.sampling_interval_ns) == (42, 4, 1_000_000)
    assert info.start == datetime(2026, 1, 5, 12, 30, 15, 250_000, tzinfo=UTC)
    (e,) = trace.events()
    assert e.time_ns == 1_234_567_800
    assert e.time == datetime(2026, 1, 5, 12, 30, 16, 484_567, tzinfo=UTC)
    assert trace.duration_ns == 1_234_567_800
    assert kinds(trace) == []


def test_time_is_exact_at_odd_frequencies_and_late_ticks() -> None:
    made = writer(sync_qpc=5, frequency=2_533_315)
    ticks = [5, 6, 2_533_320, (1 << 62) + 17]
    made.events(*(Blob(1, tick) for tick in ticks))
    assert times(clrevents.open(made.end())) == [(t - 5) * 10**9 // 2_533_315 for t in ticks]


def test_impossible_date_is_none() -> None:
    made = writer()
    made.events(Blob(1, 1))
    data = made.end().replace(struct.pack("<8h", *made.start), bytes(16))
    trace = clrevents.open(data)
    assert trace.info.start is None
    with pytest.raises(ValueError, match="no start time"):
        list(clrevents.open(data).events(start=datetime(2026, 1, 1, tzinfo=UTC)))


def test_day_of_the_week_is_not_believed() -> None:
    made = Writer(start=(2026, 1, 99, 5, 12, 30, 15, 250))
    assert clrevents.open(made.end()).info.start == datetime(2026, 1, 5, 12, 30, 15, 250_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frequency": 0}, "frequency of 0 Hz"),
        ({"frequency": -5}, "frequency of -5 Hz"),
        ({"pointer_size": 3}, "pointer size of 3"),
    ],
)
def test_impossible_headers(options: dict[str, int], message: str) -> None:
    data = Writer(**options).end()  # type: ignore[arg-type]
    for errors in ("report", "salvage"):
        with pytest.raises(UnreadableError, match=message) as caught:
            clrevents.open(data, errors=errors)
        assert caught.value.offset is not None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"hello, this is text and no trace", "not a .NET trace"),
        (b"PK\x03\x04" + bytes(60), "zip archive"),
        (b"Nettrace", "ends inside its header"),
        (b"Nettrace" + struct.pack("<iii", 0, 7, 0) + bytes(40), "NetTrace version 7"),
        (Writer().build()[: HEADER_BYTES - 1], "ends inside its header"),
        (Writer().build().replace(b"Trace\x06", b"Other\x06"), "first object is 'Other'"),
    ],
)
def test_what_is_no_trace(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableError, match=message):
        clrevents.open(data)


def test_every_short_header_is_refused() -> None:
    data = Writer().build()
    assert len(data) == HEADER_BYTES
    for length in range(len(data)):
        with pytest.raises(UnreadableError) as caught:
            clrevents.open(data[:length])
        assert caught.value.reason
    trace = clrevents.open(data)
    assert (list(trace.events()), kinds(trace)) == ([], ["missing-end"])


# What a blob's header carries over.


def test_headers_carry_over_within_a_block_only() -> None:
    made = writer()
    made.stacks(1, [10, 11], [])
    made.events(
        Blob(1, 100, b"ab", thread=7, stack=1, processor=3, activity=ONE, related=TWO),
        Blob(1, 101, b"cd", thread=7, stack=1, processor=3, activity=ONE, related=TWO),
        Blob(2, 102, b"", thread=7, stack=2, processor=3, related=TWO),
        Blob(2, 103, b"e", thread=7, stack=0, processor=0, activity=TWO),
        Blob(2, 104, b"e", thread=7),
    )
    made.events(Blob(1, 105, thread=7))
    events = list(clrevents.open(made.end()).events())
    assert [e.payload_bytes for e in events] == [b"ab", b"cd", b"", b"e", b"e", b""]
    assert [e.name for e in events] == ["One", "One", "Two", "Two", "Two", "One"]
    assert [e.activity_id for e in events] == [ONE, ONE, None, TWO, None, None]
    assert [e.related_activity_id for e in events] == [TWO, TWO, TWO, None, None, None]
    assert [e.processor for e in events] == [3, 3, 3, 0, None, None]
    assert [e.stack for e in events] == [(10, 11), (10, 11), (), (), (), ()]
    assert [e.stack_id for e in events] == [1, 1, 2, 0, 0, 0]
    assert {e.thread_id for e in events} == {7}
    assert {e.process_id for e in events} == {42}


def test_processor_is_the_writing_threads() -> None:
    """For a sample the event is about another thread, whose processor nobody noted."""
    made = writer()
    made.events(
        Blob(1, 1, thread=5, capture=9, processor=2),
        Blob(1, 2, thread=9, capture=9, processor=2),
        Blob(1, 3, thread=9, capture=9, processor=255),
    )
    assert [(e.thread_id, e.processor) for e in clrevents.open(made.end()).events()] == [(5, None), (9, 2), (9, 255)]


def test_times_may_go_back_inside_a_block() -> None:
    """Where the capture thread changes the difference wraps: a number of ten bytes."""
    made = writer()
    blobs = [Blob(1, 1 << 40, thread=1), Blob(1, 5, thread=2), Blob(1, (1 << 40) + 1, thread=2), Blob(1, 6, thread=3)]
    body, _ = compressed(blobs, {})
    assert varint((5 - (1 << 40)) & (1 << 64) - 1) in body
    assert len(varint((5 - (1 << 40)) & (1 << 64) - 1)) == 10
    made.events(*blobs)
    trace = clrevents.open(made.end())
    assert times(trace) == [5, 6, 1 << 40, (1 << 40) + 1]
    assert [e.time_ns for e in trace.events(order="file")] == [1 << 40, 5, (1 << 40) + 1, 6]
    assert [(t.thread_id, t.first_ns, t.last_ns) for t in trace.threads] == [
        (2, 5, (1 << 40) + 1),
        (1, 1 << 40, 1 << 40),
        (3, 6, 6),
    ]


def test_block_header_may_be_longer() -> None:
    made = writer()
    made.events(Blob(1, 1, b"x"), extra=b"something new")
    (e,) = clrevents.open(made.end()).events()
    assert e.payload_bytes == b"x"


# Descriptions of events.


def test_redefined_description_is_damage() -> None:
    made = writer()
    made.events(Blob(1, 1))
    made.metadata(1, "P", 9, name="Nine")
    made.events(Blob(1, 2))
    data = made.end()
    problem, _ = damaged(data, events=1)
    assert problem.kind == "redefined-metadata"
    assert "redefined as P/Nine (id 9, version 0); it was P/One (id 1, version 0)" in problem.message
    assert problem.offset == data.index(struct.pack("<i", 1) + utf16z("P") + struct.pack("<i", 9))
    salvaged = list(clrevents.open(data, errors="salvage").events())
    assert [e.name for e in salvaged] == ["One", "Nine"], "the newer one is believed from there on"


def test_description_of_an_impossible_id() -> None:
    made = writer()
    made.metadata(-3, "P", 1)
    problem, _ = damaged(made.end(), events=0)
    assert problem.kind == "bad-metadata"


def test_description_that_ends_early() -> None:
    made = Writer()
    record = struct.pack("<i", 1) + utf16z("P") + b"\1\0"
    body, _ = compressed([Blob(0, 0, record, thread=0, sequence=0)], {})
    at = made.blobs("MetadataBlock", body)
    problem, _ = damaged(made.end(), events=0)
    assert problem.kind == "bad-metadata"
    assert problem.offset == at + len(body) - len(record)
    assert "event id" in problem.message


def test_unusable_field_list_is_a_note() -> None:
    made = Writer()
    made.metadata(1, "P", 1, name="Odd", rest=struct.pack("<i", 1 << 20))
    made.events(Blob(1, 1, b""), Blob(1, 2, b"xy"))
    trace = clrevents.open(made.end())
    first, second = trace.events()
    assert clrevents.asdict(first.payload) == {}
    assert isinstance(second.payload, RawPayload)
    problem = trace.problems[0]
    assert (problem.kind, problem.severity, problem.event) == ("bad-fields", "note", "P/Odd")
    assert "1,048,576 fields" in problem.message


# Stacks.


def test_stack_longer_than_its_block() -> None:
    """Found only by who looks: by `check`."""
    made = writer()
    made.block("StackBlock", struct.pack("<iii", 1, 2, 8) + struct.pack("<Q", 5) + struct.pack("<i", 800))
    made.events(Blob(1, 1, stack=1), Blob(1, 2, stack=2))
    trace = clrevents.open(made.end())
    assert [e.stack for e in trace.events()] == [(5,), ()]
    assert trace.check().problem_counts["bad-stacks"] == 1


# Order.


def test_order_across_threads_with_ties() -> None:
    """By time, and where times are equal as they stand in the file; runs of one thread keep their order."""
    made = writer()
    made.events(Blob(1, 5, b"a", thread=1), Blob(1, 7, b"b", thread=1), Blob(1, 7, b"c", thread=1))
    made.events(Blob(1, 5, b"d", thread=2), Blob(1, 6, b"e", thread=2), Blob(1, 7, b"f", thread=2))
    made.events(Blob(1, 4, b"g", thread=3))
    data = made.end()
    trace = clrevents.open(data)
    assert b"".join(e.payload_bytes for e in trace.events()) == b"gadebcf"
    assert b"".join(e.payload_bytes for e in trace.events(order="file")) == b"abcdefg"
    decoder = clrevents.Decoder(order="file")
    batches = [*decoder.feed(data), *decoder.close()]
    assert b"".join(e.payload_bytes for batch in batches for e in batch) == b"abcdefg"


def test_region_longer_than_the_limit() -> None:
    made = writer()
    made.events(*(Blob(1, n, thread=1) for n in range(10, 20)))
    made.events(*(Blob(1, n, thread=2) for n in range(10)))
    trace = clrevents.open(made.end(), limits=Limits(region_events=9))
    assert times(trace) == [*range(10, 20), *range(10)]
    assert set(kinds(trace)) == {"region-too-long"}


# Losses.


def test_gaps_are_losses_with_thread_and_window() -> None:
    made = writer(sync_qpc=100)
    made.events(Blob(1, 110, thread=1, sequence=1), Blob(1, 120, thread=1, sequence=5))
    made.events(Blob(1, 111, thread=2, sequence=7), Blob(1, 131, thread=2, sequence=8))
    made.sequence_point(150, {1: 5, 2: 10, 3: 4})
    made.events(Blob(1, 160, thread=1, sequence=6), Blob(1, 170, thread=3, sequence=6))
    made.sequence_point(200, {1: 6, 3: 6})
    data = made.end()
    expected = (Loss(1, 3, 10, 20), Loss(2, 6, 0, 11), Loss(2, 2, 31, 50), Loss(3, 4, 0, 50), Loss(3, 1, 50, 70))
    trace = clrevents.open(data)
    assert trace.losses == expected
    assert trace.lost == 16
    assert kinds(trace) == []
    assert [(x.thread_id, x.count, x.start_ns, x.end_ns) for x in trace.check().losses] == [
        *(attrs.astuple(loss)[:4] for loss in expected)
    ]
    decoder = clrevents.Decoder()
    batches = [*decoder.feed(data), *decoder.close()]
    assert decoder.losses == expected
    assert tuple(loss for batch in batches for loss in batch.losses) == expected
    # Fed in pieces, each batch brings what came to light in its region.
    made_of = clrevents.Decoder()
    middle = data.index(b"SPBlock") + 80
    assert [batch.losses for batch in made_of.feed(data[:middle])] == [expected[:4]]
    assert [batch.losses for batch in made_of.feed(data[middle:])] == [expected[4:]]


def test_a_thread_that_does_not_begin_at_1_has_lost_events() -> None:
    """Since the last sequence point, which knows no such thread, or since the session's start."""
    made = writer(sync_qpc=1)
    made.events(Blob(1, 5, thread=1, sequence=500), Blob(1, 6, thread=1, sequence=501))
    made.sequence_point(8, {1: 501, 9: 44})
    made.events(Blob(1, 9, thread=2, sequence=3))
    trace = clrevents.open(made.end())
    assert trace.losses == (Loss(1, 499, 0, 4), Loss(9, 44, 0, 7), Loss(2, 2, 7, 8))


def test_a_first_number_below_1_is_no_loss() -> None:
    """As of writers that do not count."""
    made = writer()
    made.events(Blob(1, 1, thread=1, sequence=0), Blob(1, 2, thread=2, sequence=0xFFFFFFF0))
    assert clrevents.open(made.end()).losses == ()


def test_exact_number_of_losses_beyond_the_limit() -> None:
    made = writer()
    made.events(*(Blob(1, n, sequence=1 + 3 * n) for n in range(20)))
    trace = clrevents.open(made.end(), limits=Limits(problems=5))
    assert (len(trace.losses), trace.lost) == (5, 19 * 2)


# The end, and what is broken.


def test_missing_end_is_a_note() -> None:
    made = writer()
    made.events(Blob(1, 3, thread=1))
    made.events(Blob(1, 1, thread=2))
    trace = clrevents.open(made.build(), errors="strict")
    assert times(trace) == [1, 3]
    (problem,) = trace.problems
    assert (problem.kind, problem.severity, problem.offset) == ("missing-end", "note", len(made.build()))
    assert not trace.check().complete


@pytest.mark.parametrize("tail", [b"\0", b"\0\0\0", b"anything at all"])
def test_bytes_behind_the_end_are_a_note(tail: bytes) -> None:
    made = writer()
    made.events(Blob(1, 1))
    data = made.end()
    trace = clrevents.open(data + tail, errors="strict")
    assert times(trace) == [1]
    (problem,) = trace.problems
    assert (problem.kind, problem.severity) == ("trailing-data", "note")
    assert (problem.offset, problem.length) == (len(data), len(tail))


@pytest.mark.parametrize(
    ("kind", "body", "size", "message"),
    [
        *(("EventBlock", struct.pack("<HHqq", 20, 1, 0, 0), size, f"{size}") for size in (-1, -(1 << 31))),
        *(("EventBlock", struct.pack("<Hxxqq", n, 0, 0), None, f"a header of {n}") for n in (0, 19, 60_000)),
        *(("SPBlock", struct.pack("<qi", 5, count) + bytes(12), None, "") for count in (-1, 2, 1 << 30)),
        ("StackBlock", struct.pack("<ii", 1, 1000) + bytes(8), None, ""),
    ],
)
def test_a_block_whose_numbers_do_not_fit(kind: str, body: bytes, size: int | None, message: str) -> None:
    made = writer()
    made.events(Blob(1, 1))
    made.block(kind, body, size=size)
    made.events(Blob(1, 3))
    problem, _ = damaged(made.end(), events=1)
    assert problem.kind == "bad-block"
    assert message in problem.message


def test_block_size_beyond_the_file_and_the_limit() -> None:
    made = writer()
    made.events(Blob(1, 1))
    made.block("EventBlock", struct.pack("<HHqq", 20, 1, 0, 0), size=100_000)
    data = made.end()
    problem, error = damaged(data, events=1)
    assert (problem.kind, problem.needed) == ("truncated", 100_001)
    assert (error.needed, error.available) == (100_001, problem.length)
    assert str(error).count("100001") == 1, "the sentence says it once"
    with pytest.raises((DamageError, LimitError), match="100000 bytes"):
        list(clrevents.open(data, limits=Limits(block_bytes=1000)).events())


@pytest.mark.parametrize("error", [-3, -1, 1, 2, 7])
def test_block_size_that_is_a_little_off(error: int) -> None:
    """The block does not end where it says: damage, behind what came before."""
    made = writer()
    made.events(Blob(1, 1))
    body, _ = compressed([Blob(1, n, b"abc") for n in range(2, 6)], {})
    header = struct.pack("<HHqq", 20, 1, 0, 0)
    made.block("EventBlock", header + body, size=len(header + body) + error)
    made.events(Blob(1, 9))
    data = made.end()
    trace = clrevents.open(data)
    seen: list[int] = []
    with pytest.raises(DamageError, match="does not end at its declared size"):
        seen.extend(e.time_ns for e in trace.events())
    assert seen[0] == 1
    assert 9 not in seen
    assert times(clrevents.open(data, errors="salvage"))[-1] == 9, "salvage goes on behind it"


def test_number_of_too_many_bytes() -> None:
    """A header whose numbers do not end: what came before it in its block comes out."""
    good, _ = compressed([Blob(1, 1, b"x"), Blob(1, 2, b"x")], {})
    broken = {
        "metadata id": b"\x01" + b"\xff" * 6,
        "sequence": b"\x02" + b"\xff" * 6,
        "capture thread": b"\x02\x00" + b"\xff" * 11,
        "processor": b"\x02\x00\x01" + b"\xff" * 6,
        "thread": b"\x04" + b"\xff" * 11,
        "stack": b"\x08" + b"\xff" * 6,
        "time": b"\x00" + b"\xff" * 11,
        "payload size": b"\x80\x00" + b"\xff" * 6,
    }
    for what, header in broken.items():
        made = writer()
        at = made.blobs("EventBlock", good + header + bytes(100))
        problem, _ = damaged(made.end(), events=2)
        assert problem.kind == "bad-event", what
        assert "overlong varint" in problem.message, what
        assert problem.offset == at + len(good), what


def test_numbers_of_the_most_bytes_are_sound() -> None:
    """Five bytes hold 32 bits and ten hold 64; what is beyond is cut off, as the format says."""
    made = writer()
    header = b"\xcf" + b"\x81\x80\x80\x80\x70" + b"\x80\x80\x80\x80\x70" + b"\x85\x80\x80\x80\x80\x80\x80\x80\x80\x7e"
    header += b"\xff\xff\xff\xff\x7f" + b"\x86\x80\x80\x80\x80\x80\x80\x80\x80\x02" + b"\x80\x80\x80\x80\x70"
    header += b"\x87\x80\x80\x80\x80\x80\x80\x80\x80\x02" + b"\x82\x80\x80\x80\x70"
    made.blobs("EventBlock", header + b"ok")
    (e,) = clrevents.open(made.end(), errors="strict").events()
    assert (e.name, e.thread_id, e.time_ns, e.payload_bytes, e.processor) == ("One", 6, 7, b"ok", None)


def test_numbers_of_several_bytes_are_what_was_written() -> None:
    numbers = [127, 128, 300, 127 << 7, (1 << 14) - 1, 1 << 14, 127 << 14]
    made = writer()
    made.events(*(Blob(1, number, bytes(number), number, processor=number) for number in numbers))
    found = clrevents.open(made.end(), errors="strict").events()
    assert [(e.time_ns, len(e.payload_bytes), e.thread_id, e.processor) for e in found] == [(n,) * 4 for n in numbers]


def test_payload_beyond_its_block() -> None:
    good, _ = compressed([Blob(1, 1, b"x")], {})
    made = writer()
    at = made.blobs("EventBlock", good + b"\x80\x01" + varint(5) + b"abc")
    problem, _ = damaged(made.end(), events=1)
    assert (problem.kind, problem.offset) == ("bad-event", at + len(good))


def test_something_else_where_a_block_should_begin() -> None:
    made = writer()
    made.events(Blob(1, 1))
    at = len(made.data)
    made.data += b"garbage between the blocks"
    made.events(Blob(1, 2))
    data = made.end()
    problem, _ = damaged(data, events=1)
    assert (problem.kind, problem.offset) == ("bad-object", at)
    trace = clrevents.open(data, errors="salvage")
    assert times(trace) == [1, 2]
    (problem,) = trace.problems
    assert problem.offset is not None
    assert problem.length is not None
    assert problem.offset <= at, "the block in front of it may be doubted as well"
    assert problem.offset + problem.length == at + 26


def test_uncompressed_headers() -> None:
    """Eighty bytes each; the high bit of the id says "not sorted" and is no part of it; padding is skipped."""
    made = writer()
    made.stacks(1, [8, 9])
    out = b""
    for n, (id_, payload) in enumerate(((1, b"ab"), (0x80000002, b"c"))):
        padding = -len(payload) % 4
        out += struct.pack("<III", 76 + len(payload) + padding, id_, n + 1)
        out += struct.pack("<QQiiq", 7, 7, 3 if n else -1, 1, 50 - n)
        out += ONE.bytes_le + (bytes(16) if n else TWO.bytes_le)
        out += struct.pack("<I", len(payload)) + payload + bytes(padding)
    made.block("EventBlock", struct.pack("<HHqq", 20, 0, 0, 0) + out)
    trace = clrevents.open(made.end(), errors="strict")
    two, one = trace.events()
    assert [(e.name, e.time_ns, e.payload_bytes, e.stack) for e in (one, two)] == [
        ("One", 50, b"ab", (8, 9)),
        ("Two", 49, b"c", (8, 9)),
    ]
    assert (one.activity_id, one.related_activity_id, one.processor) == (ONE, TWO, None)
    assert (two.activity_id, two.related_activity_id, two.processor) == (ONE, None, 3)
    assert trace.losses == ()


def test_after_an_error_each_call_raises_the_same() -> None:
    made = writer()
    made.events(Blob(1, 1))
    made.data += b"garbage"
    decoder = clrevents.Decoder()
    batches = decoder.feed(made.end() + bytes(100))
    assert [e.time_ns for batch in batches for e in batch] == [1]
    errors = []
    calls: tuple[Callable[[], Any], ...] = (
        lambda: decoder.feed(b"x"),
        decoder.flush,
        lambda: list(decoder.close()),
        lambda: decoder.feed(b""),
    )
    for call in calls:
        with pytest.raises(TraceError) as caught:
            call()
        errors.append(caught.value)
    assert len({id(e) for e in errors}) == 1


def test_an_error_shows_the_bytes_around_it() -> None:
    made = writer()
    at = len(made.data)
    made.data += b"GARBAGE"
    with pytest.raises(DamageError) as caught:
        clrevents.Decoder().feed(bytes(made.data) + bytes(64))
    error = caught.value
    assert error.offset == at
    (line,) = [line for line in error.hexdump().splitlines() if line.startswith(">")]
    assert int(line.split()[1], 16) == at & ~15
    assert "GARBAGE"[: 16 - at % 16] in error.hexdump()


def test_an_error_says_where_unless_its_reason_does() -> None:
    where: dict[str, Any] = {"path": "p", "offset": 16, "block": "B", "event": "E", "field": "F"}
    sizes = {"needed": 2, "available": 1}
    text = str(clrevents.DamageError("odd", **where, **sizes))
    assert text == "p at offset 0x10 in B event E field F: odd (needs 2 bytes, 1 available)"
    assert str(clrevents.DamageError("F of E: 2 bytes", **where)) == "p at offset 0x10 in B: F of E: 2 bytes"


def test_the_bytes_are_printed_where_they_are_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    error = clrevents.DamageError("odd", offset=16, window=bytes(range(48)), window_offset=0)
    sink = io.StringIO()
    error.print_bytes(sink)
    assert capsys.readouterr().out == ""
    assert sink.getvalue() == error.hexdump() + "\n"
    assert [line[0] for line in sink.getvalue().splitlines()] == [" ", ">", " "]
    clrevents.DamageError("odd").print_bytes()
    assert capsys.readouterr().out == "no bytes were kept for this error\n"
