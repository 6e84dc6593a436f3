"""Reports about streams: names that only they explain, windows known from the start, memory that does not grow."""

from __future__ import annotations

import gc
import gzip
import io
import tracemalloc
from itertools import chain
from typing import Any

import attrs
import pytest

import clrevents
import report_laws
import sample_pauses as pauses
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import NoParameters, ReportDeclaration
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.feeding import ReportFeed, feed_reports
from clrevents.analysis.framework.run.report_reading import Asked
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, MetadataRecord, ThreadRow
from clrevents.events import AllocationSampled_V0
from clrevents.reference import codec
from clrevents.testing.builder import Format, TraceBuilder
from project_files import fixture

FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]


class Jobs(pauses.Pauses):
    """A report about jobs, which only the trace describes, in place of pauses."""

    selectors = ("*/JobStart", "*/JobStop")


class Named(Jobs):
    """The same with names in place of patterns."""

    selectors = ("My-App/JobStart", "My-App/JobStop", "Nobody-[Has]/This*Start", "Nobody/Has?This")


class Unqualified(Jobs):
    """The same with names that providers may share."""

    selectors = ("JobStart", "JobStop")


class Forgotten(Jobs):
    """The same without a row for each job."""

    def close(self, end_ns: int | None, thread: int | None) -> None:
        self.open = None


def declared(collector: type[pauses.Pauses]) -> ReportDeclaration[Any, Any]:
    return attrs.evolve(pauses.REPORT, collector=collector)


def jobs(count: int, format: Format = "nettrace4") -> bytes:
    """So many jobs of 1 µs, one after the other, each begun by thread 6 and ended by thread 7."""
    builder = TraceBuilder(format)
    for number in range(count):
        builder.thread(6).described("My-App", "JobStart", {}, id=2).thread(7).described("My-App", "JobStop", {}, id=3)
        if number % 1000 == 0:
            builder.sequence_point()
    return builder.build()


def rows_of(found: Answer[Any]) -> list[tuple[Any, ...]]:
    return [(row.start_ns, row.end_ns, row.thread_id, row.end_thread_id) for row in found.table("pauses")]


@pytest.mark.parametrize("format", ["nettrace4", "netperf3"])
def test_events_that_only_a_trace_describes_are_found_by_patterns(format: Format) -> None:
    found = report_laws.whole_answer(declared(Jobs), NoParameters(), jobs(3, format))
    assert rows_of(found) == [(0, 1000, 6, 7), (2000, 3000, 6, 7), (4000, 5000, 6, 7)]


@pytest.mark.parametrize("format", FORMATS)
def test_a_trace_without_any_such_event_has_an_answer_without_rows(format: Format) -> None:
    data = TraceBuilder(format).thread(5).sample(1).build()
    found = report_laws.whole_answer(declared(Jobs), NoParameters(), data)
    assert (rows_of(found), found.coverage) == ([], "none")
    assert [note.id for note in found.notes] == ["not-recorded"]


@pytest.mark.parametrize("count", [0, 3])
def test_names_that_nobody_knows_are_missing_and_no_error(count: int) -> None:
    data = jobs(count) if count else TraceBuilder().sample(1).build()
    found = report_laws.whole_answer(declared(Named), NoParameters(), data)
    assert len(rows_of(found)) == count
    report_laws.a_decoder_gives_the_same(declared(Named), NoParameters(), data)


def fed(feed: ReportFeed, decoder: clrevents.Decoder, data: bytes, piece: int = 10_000) -> int:
    """How many batches it came in."""
    batches = 0
    for at in range(0, len(data), piece):
        found = decoder.feed(data[at : at + piece])
        feed.take(decoder, found)
        batches += len(found)
    return batches


def late_jobs(*providers: str) -> bytes:
    """An event alone between sequence points, several times, and then a job of each provider, described just there."""
    builder = TraceBuilder("nettrace4").thread(5)
    for id in (4, 4, 5):
        builder.described("My-App", f"Other{id}", {}, id=id).sequence_point()
    for provider in providers:
        builder.described(provider, "JobStart", {}, id=2).sequence_point()
        builder.described(provider, "JobStop", {}, id=3).sequence_point()
    return builder.build()


@pytest.mark.parametrize("piece", [1, 100, 10_000])
def test_a_name_that_a_later_batch_explains_is_found_from_there_on(piece: int) -> None:
    feed, decoder = ReportFeed([Asked(declared(Unqualified), NoParameters())]), clrevents.Decoder()
    assert fed(feed, decoder, late_jobs("My-App"), piece) == 5
    (found,) = feed.finish(decoder).values()
    assert rows_of(found) == [(3000, 4000, 5, 5)]


def test_a_name_of_two_events_that_come_together_is_refused() -> None:
    feed, decoder = ReportFeed([Asked(declared(Unqualified), NoParameters())]), clrevents.Decoder()
    with pytest.raises(clrevents.AmbiguousEventError, match="My-App/JobStart, Your-App/JobStart"):
        fed(feed, decoder, late_jobs("My-App", "Your-App"))


@pytest.mark.parametrize("report", ["gc", "threads"])
def test_a_feed_that_observes_a_decoder_gets_what_that_does_not_select(report: str) -> None:
    data = gzip.decompress(fixture("net10-convoy").read_bytes())
    fed_by_hand, observing = feed_reports(report), feed_reports(report)
    decoder, other = (
        clrevents.Decoder(*selectors, symbols=True) for selectors in (fed_by_hand.selectors, ["MethodLoadVerbose"])
    )
    observing.observe(other)
    fed(fed_by_hand, decoder, data, 100_000)
    fed_by_hand.take(decoder, decoder.close())
    batches = [
        *chain.from_iterable(other.feed(data[at : at + 1000]) for at in range(0, len(data), 1000)),
        *other.close(),
    ]
    assert {event.name for batch in batches for event in batch} == {"MethodLoadVerbose"}
    (wanted,), (found,) = fed_by_hand.finish(decoder).values(), observing.finish(other).values()
    assert found == wanted
    assert found.metrics


def test_a_window_is_known_from_the_start() -> None:
    data = jobs(50)
    with report_laws.opened(data) as trace:
        wanted = report_laws.answered(declared(Jobs), NoParameters(), trace, start=10_500, end=20_500)
    feed = ReportFeed([Asked(declared(Jobs), NoParameters())], {"start": 10_500, "end": 20_500})
    decoder = clrevents.Decoder(*feed.selectors)
    fed(feed, decoder, data, 100)
    feed.take(decoder, decoder.close())
    (found,) = feed.finish(decoder).values()
    assert found == wanted
    assert (found.metrics["count"].value, found.metrics["pause_total"].value) == (5, 5_000)


def test_a_stream_has_no_percentages() -> None:
    feed = ReportFeed([Asked(declared(Jobs), NoParameters())], {"end": "50%"})
    decoder = clrevents.Decoder(*feed.selectors)
    with pytest.raises(ValueError, match="a percentage needs a trace"):
        fed(feed, decoder, jobs(50))


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'thread'; a report takes start, end, process_id"):
        ReportFeed([], {"thread": 3})  # type: ignore[typeddict-unknown-key]


def test_memory_does_not_grow_where_no_rows_are_held() -> None:
    assert _growth(Forgotten) < 50_000
    # The same stream with a row for each job: so the measure would notice.
    assert _growth(Jobs) > 500_000


def _growth(collector: type[pauses.Pauses]) -> int:
    """How much more memory is held after 6,000 jobs than after the first 1,500, in bytes."""
    data = jobs(6000)
    feed = ReportFeed([Asked(declared(collector), NoParameters())])
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
