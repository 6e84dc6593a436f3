"""Reports about streams: names that only they explain, windows known from the start, memory that does not grow."""

from __future__ import annotations

import gc
import io
import tracemalloc
from typing import Any

import attrs
import pytest

import clrevents
import report_laws
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.run.asking import ReportFeed
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.events import AllocationSampled_V0
from clrevents.reference.codec import codec
from clrevents.testing.builder import Format, TraceBuilder
from report_slices import activities
from report_slices.activities import ActivityParameters

FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]


def jobs(count: int, format: Format = "nettrace4") -> bytes:
    """So many jobs of 1 µs, one after the other; the first one runs until the end, and the last one on."""
    builder = TraceBuilder(format).thread(5).activity(bytes([1] * 16)).described("My-App", "RunStart", {})
    for number in range(count):
        builder.activity((number + 7).to_bytes(16, "little"))
        builder.thread(6).described("My-App", "JobStart", {}, id=2).thread(7).described("My-App", "JobStop", {}, id=3)
        if number % 1000 == 0:
            builder.sequence_point()
    return builder.activity(bytes([1] * 16)).thread(8).described("My-App", "RunStop", {}, id=4).build()


def whole(data: bytes, **parameters: Any) -> Answer[Any]:
    return report_laws.whole_answer(activities.REPORT, ActivityParameters(**parameters), data)


@pytest.mark.parametrize("format", ["nettrace4", "netperf3"])
def test_events_that_only_a_trace_describes_are_found_by_patterns(format: Format) -> None:
    found = whole(jobs(3, format))
    rows = [(row.row, row.name, row.start_ns, row.end_ns, row.end_kind) for row in found.table("activities")]
    assert rows == [
        (0, "My-App/Run", 0, 7000, "stop"),
        (1, "My-App/Job", 1000, 2000, "stop"),
        (2, "My-App/Job", 3000, 4000, "stop"),
        (3, "My-App/Job", 5000, 6000, "stop"),
    ]
    assert [(row.start_thread_id, row.end_thread_id) for row in found.table("activities")] == [(5, 8), *[(6, 7)] * 3]
    assert (found.coverage, found.notes) == ("full", ())


@pytest.mark.parametrize("format", FORMATS)
def test_a_trace_without_any_such_event_has_an_answer_without_rows(format: Format) -> None:
    found = whole(TraceBuilder(format).thread(5).sample(1).build())
    assert (len(found.table("activities")), found.coverage) == (0, "none")
    assert [note.id for note in found.notes] == ["not-recorded"]


class Named(activities.Activities):
    """The same with names in place of patterns."""

    selectors = ("My-App/JobStart", "My-App/JobStop", "Nobody-[Has]/This*Start", "Nobody/Has?This")


@pytest.mark.parametrize("count", [0, 3])
def test_names_that_nobody_knows_are_missing_and_no_error(count: int) -> None:
    data = jobs(count) if count else TraceBuilder().sample(1).build()
    declaration = attrs.evolve(activities.REPORT, collector=Named)
    found = report_laws.whole_answer(declaration, ActivityParameters(), data)
    assert len(found.table("activities")) == count
    report_laws.a_decoder_gives_the_same(declaration, ActivityParameters(), data)


def fed(feed: ReportFeed, decoder: clrevents.Decoder, data: bytes, piece: int = 10_000) -> None:
    for at in range(0, len(data), piece):
        feed.take(decoder, decoder.feed(data[at : at + piece]))


class Unqualified(activities.Activities):
    """The same with names that providers may share."""

    selectors = ("JobStart", "JobStop")


def late_jobs(*providers: str) -> bytes:
    """An event alone between sequence points, several times, and then a job of each provider, described just there."""
    builder = TraceBuilder("nettrace4").thread(5).activity(bytes([1] * 16))
    for id in (4, 4, 5):
        builder.described("My-App", f"Other{id}", {}, id=id).sequence_point()
    for provider in providers:
        builder.described(provider, "JobStart", {}, id=2).sequence_point()
        builder.described(provider, "JobStop", {}, id=3).sequence_point()
    return builder.build()


def late(data: bytes, piece: int) -> tuple[Answer[Any], int]:
    """The answer of a stream fed in such pieces, and how many batches it came in."""
    declaration = attrs.evolve(activities.REPORT, collector=Unqualified)
    feed, decoder, batches = ReportFeed([Asked(declaration, ActivityParameters())]), clrevents.Decoder(), 0
    for at in range(0, len(data), piece):
        found = decoder.feed(data[at : at + piece])
        feed.take(decoder, found)
        batches += len(found)
    return feed.finish(decoder)[declaration.name], batches


@pytest.mark.parametrize("piece", [1, 100, 10_000])
def test_a_name_that_a_later_batch_explains_is_found_from_there_on(piece: int) -> None:
    found, batches = late(late_jobs("My-App"), piece)
    assert batches == 5
    rows = [(row.name, row.start_ns, row.end_ns, row.end_kind) for row in found.table("activities")]
    assert rows == [("/Job", 3000, 4000, "stop")]


def test_a_name_of_two_events_that_come_together_is_refused() -> None:
    with pytest.raises(clrevents.AmbiguousEventError, match="My-App/JobStart, Your-App/JobStart"):
        late(late_jobs("My-App", "Your-App"), 10_000)


def test_a_window_is_known_from_the_start() -> None:
    data = jobs(50)
    with report_laws.opened(data) as trace:
        wanted = report_laws.answered(activities.REPORT, ActivityParameters(), trace, start=10_500, end=20_500)
    feed = ReportFeed([Asked(activities.REPORT, ActivityParameters())], {"start": 10_500, "end": 20_500})
    decoder = clrevents.Decoder(*feed.selectors)
    fed(feed, decoder, data, 100)
    feed.take(decoder, decoder.close())
    (found,) = feed.finish(decoder).values()
    assert found == wanted
    assert {row.name: (row.count, row.spent_ns) for row in found.table("kinds")} == {
        "My-App/Run": (0, 10_000),
        "My-App/Job": (5, 5_000),
    }


def test_a_stream_has_no_percentages() -> None:
    feed = ReportFeed([Asked(activities.REPORT, ActivityParameters())], {"end": "50%"})
    decoder = clrevents.Decoder(*feed.selectors)
    with pytest.raises(ValueError, match="a percentage needs a trace"):
        fed(feed, decoder, jobs(50))


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'thread'; a report takes start, end, process_id"):
        ReportFeed([], {"thread": 3})  # type: ignore[typeddict-unknown-key]


def test_memory_does_not_grow_where_only_sums_are_held() -> None:
    assert _growth(rows=False) < 50_000
    # The same stream with a row for each activity: so the measure would notice.
    assert _growth(rows=True) > 500_000


def _growth(rows: bool) -> int:
    """How much more memory is held after 6,000 activities than after the first 1,500, in bytes."""
    data = jobs(6000)
    feed = ReportFeed([Asked(activities.REPORT, ActivityParameters(rows=rows))])
    decoder = clrevents.Decoder(*feed.selectors)
    tracemalloc.start()
    try:
        fed(feed, decoder, data[: len(data) // 4])
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        fed(feed, decoder, data[len(data) // 4 :])
        # Without the GIL, functions and what they hold wait for it.
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("writer_of", [NetTrace4Writer, NetTrace6Writer])
def test_stacks_that_end_inside_an_address(writer_of: type[NetTrace4Writer] | type[NetTrace6Writer]) -> None:
    """Of 20 bytes two addresses count, of 4 none, in a stream as in a trace."""
    sampled = {"AllocationKind": 0, "ClrInstanceID": 0, "TypeID": 1, "TypeName": "T", "Address": 2, "ObjectSize": 24}
    payload = codec(AllocationSampled_V0, 8).build(AllocationSampled_V0(**sampled, SampledByteOffset=0))
    sink = io.BytesIO()
    writer = writer_of(sink)
    writer.metadata([MetadataRecord(1, "Microsoft-Windows-DotNETRuntime", 303, 0, "AllocationSampled")])
    if isinstance(writer, NetTrace6Writer):
        writer.threads([ThreadRow(1, 100)])
    writer.stacks(1, [(10 << 64 | 11 << 72).to_bytes(20, "little"), bytes(4), (7, 8)])
    writer.events([EventRecord(1, time, 1, payload, stack_id=1 + time) for time in range(3)])
    writer.sequence_point(9)
    writer.end()
    declaration = find_report("alloc")
    with clrevents.open(sink.getvalue()) as trace:
        stacks = [trace.stacks[number] for number in (1, 2, 3)]
        wanted = report_laws.answered(declaration, declaration.parameters(), trace)
    assert stacks == [(0, 10 | 11 << 8), (), (7, 8)]
    feed, decoder = ReportFeed([Asked(declaration, declaration.parameters())]), clrevents.Decoder()
    fed(feed, decoder, sink.getvalue())
    feed.take(decoder, decoder.close())
    (found,) = feed.finish(decoder).values()
    assert [len(table) for table in map(found.table, ("types", "stacks"))] == [1, 3]
    assert found == wanted
