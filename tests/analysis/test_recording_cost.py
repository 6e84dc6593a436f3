"""What the sample profiler cost: built traces for each rule, random ones against the long way round, real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.analysis.about.describing import about
from clrevents.analysis.framework.model.needs import Hole, Marks
from clrevents.analysis.gathering.groups import Gathered
from clrevents.analysis.shared.events.gc_suspensions import RecordingCost, recording_cost, recording_cost_of
from clrevents.events import (
    GCRestartEEBegin_V1,
    GCRestartEEEnd_V1,
    GCSuspendEEBegin_V0,
    GCSuspendEEBegin_V1,
    GCSuspendEEEnd_V1,
    GCSuspendEEReason,
)
from clrevents.table.table import ColumnType, Table, TableField, number_column
from clrevents.testing.builder import Format, TraceBuilder
from project_files import fixture, fixtures
from reading import opened
from slow_cost import ANY_COUNT, Lost, Sampled, Suspending, slow_cost

FORMATS: list[Format] = ["nettrace4", "nettrace6", "netperf3"]
PROFILER, MAIN, COLLECTOR = 90, 1, 2


def stop(
    builder: TraceBuilder,
    times: tuple[int, int, int, int],
    thread: int = PROFILER,
    reason: int = 0,
    count: int | None = ANY_COUNT,
    samples: tuple[tuple[int, int], ...] = (),
) -> TraceBuilder:
    """One suspension; `samples` are times and threads."""
    why = GCSuspendEEReason(reason)
    begin = GCSuspendEEBegin_V0(why) if count is None else GCSuspendEEBegin_V1(why, count, 0)
    events: list[Any] = [begin, GCSuspendEEEnd_V1(0), GCRestartEEBegin_V1(0), GCRestartEEEnd_V1(0)]
    for time, event in zip(times, events, strict=True):
        builder.thread(thread).at(time).event(event)
    for time, sampled in samples:
        builder.thread(sampled).at(time).sample(0x1000)
    return builder


def cost(builder: TraceBuilder) -> RecordingCost:
    with opened(builder) as trace:
        return recording_cost_of(trace)


def columns(events: list[Suspending]) -> list[Gathered]:
    """The rows of the four events."""
    names = {"time_ns": "time", "thread_id": "thread", "Reason": "reason", "Count": "count"}
    fields = tuple(TableField(name, ColumnType("int64")) for name in names)
    numbers = [np.array([getattr(e, name) for e in events], dtype=np.int64) for name in names.values()]
    whole = Gathered(None, Table(fields, (tuple(number_column("int64", n) for n in numbers),)), np.arange(len(events)))
    return [
        whole.only(np.array([p for p, e in enumerate(events) if e.kind == kind], dtype=np.int64)) for kind in range(4)
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_rounds_with_and_without_samples(format: Format) -> None:
    """The second round found nothing to sample; thread 1 stopped the program once itself, and once collected."""
    builder = TraceBuilder(format)
    stop(builder, (100, 110, 140, 150), samples=((120, MAIN), (125, 3)))
    stop(builder, (1100, 1101, 1102, 1103))
    stop(builder, (1500, 1510, 1590, 1600), thread=MAIN)
    stop(builder, (1700, 1710, 1790, 1800), thread=MAIN, reason=1, count=0)
    stop(builder, (2200, 2260, 2290, 2300), samples=((2270, MAIN),))
    assert cost(builder.at(10_000).sample(1)) == RecordingCost(
        samples=4,
        stops=3,
        stopped_ns=30 + 1 + 30,
        held_ns=50 + 3 + 100,
        share_low=61 / 10_000,
        share_high=153 / 10_000,
        longest_ns=100,
        p50_ns=50,
        p95_ns=100,
        period_ns=1000,
        period_from="stops",
        pause_ns=950,
        own_stops=1,
        other_stops=1,
        unmatched_begins=0,
        unmatched_ends=0,
        lossy=0,
        reason=None,
    )


@pytest.mark.parametrize(("reason", "count"), [(1, ANY_COUNT), (5, ANY_COUNT), (6, 3), (0, 7), (0, None)])
def test_other_suspensions_with_a_sample_in_them(reason: int, count: int | None) -> None:
    """Of another reason, or that count collections, or that tell no count."""
    builder = stop(TraceBuilder(), (100, 110, 140, 150), reason=reason, count=count, samples=((120, MAIN),))
    found = cost(builder)
    assert (found.stops, found.held_ns, found.share_high) == (0, None, None)
    assert (found.own_stops, found.other_stops) == ((1, 0) if reason == 0 else (0, 1))
    assert found.reason == "no complete suspension has a sample in it"


def lossy_trace(thread: int) -> TraceBuilder:
    """Two stops, of which the end of one and the beginning of the other look like one of 1,050 ns."""
    builder = TraceBuilder().thread(thread).at(1).event(GCRestartEEEnd_V1(0))
    builder.thread(PROFILER).at(100).event(GCSuspendEEBegin_V1(GCSuspendEEReason(0), ANY_COUNT, 0))
    builder.at(110).event(GCSuspendEEEnd_V1(0))
    builder.thread(thread).lose(4)
    builder.thread(PROFILER).at(1140).event(GCRestartEEBegin_V1(0)).at(1150).event(GCRestartEEEnd_V1(0))
    builder.thread(thread).at(1151).event(GCRestartEEEnd_V1(0))
    return stop(builder, (2100, 2110, 2140, 2150), samples=((2120, MAIN),))


def test_events_of_two_threads_are_no_suspension() -> None:
    events = [Suspending(10 * n, 1 if n < 2 else 2, n) for n in range(4)]
    found = recording_cost(columns(events), np.array([15]), np.array([1]), 100, Marks(()))
    assert (found.stops, found.unmatched_begins, found.unmatched_ends) == (0, 1, 1)


def test_samples_without_suspensions_tell_the_period() -> None:
    builder = TraceBuilder()
    for time, thread in ((100, 1), (101, 2), (1110, 1), (1111, 3), (2130, 2), (2131, 1), (3131, 1)):
        builder.thread(thread).at(time).sample(1)
    found = cost(builder)
    # 1010, 1021, 1000 of thread 1 and 2029 of thread 2: of four the second.
    assert (found.period_ns, found.period_from, found.samples) == (1010, "samples", 7)
    assert (found.stops, found.held_ns, found.reason) == (0, None, "suspensions were not recorded")


def test_without_samples_nobody_can_tell() -> None:
    found = cost(stop(TraceBuilder(), (100, 110, 140, 150)))
    assert (found.stops, found.own_stops, found.period_ns, found.period_from) == (0, 1, None, None)
    assert found.reason == "there are no samples"
    nothing = recording_cost(columns([]), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64), 0, Marks(()))
    assert nothing == slow_cost([], [], 0)


@st.composite
def recordings(draw: st.DrawFn) -> tuple[list[Suspending], list[Sampled], list[Lost]]:
    """Suspensions on three threads, at the same time or not; now and then with an event missing or in between."""
    events = []
    for thread in (1, 2, 3):
        time = draw(st.integers(0, 9))
        for _ in range(draw(st.integers(0, 4))):
            reason, count = draw(st.sampled_from([(0, ANY_COUNT), (0, ANY_COUNT), (1, 4), (0, 4)]))
            for kind in range(4):
                if draw(st.integers(0, 12)):
                    time += draw(st.integers(0, 6))
                    events.append(Suspending(time, thread, kind, reason, count))
                if not draw(st.integers(0, 20)):
                    events.append(Suspending(time, thread, draw(st.integers(0, 3)), 0, ANY_COUNT))
    events.sort(key=lambda event: event.time)
    time = events[-1].time if events else 0
    moments = sorted(draw(st.lists(st.integers(0, time), max_size=8)))
    samples = [Sampled(moment, draw(st.integers(1, 2))) for moment in moments]
    spans = draw(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, time), st.integers(0, 9)), max_size=2))
    return events, samples, [Lost(thread, start, start + length) for thread, start, length in spans if thread]


@given(recordings(), st.integers(0, 100))
def test_as_the_long_way_round(recording: tuple[list[Suspending], list[Sampled], list[Lost]], duration: int) -> None:
    events, samples, losses = recording
    times = np.array([s.time for s in samples], dtype=np.int64)
    threads = np.array([s.thread for s in samples], dtype=np.uint64)
    holes = [Hole(None if x.thread_id < 0 else x.thread_id, 1, x.start_ns, x.end_ns, "loss") for x in losses]
    found = recording_cost(columns(events), times, threads, duration, Marks(holes))
    assert found == slow_cost(events, samples, duration, losses)


@pytest.mark.parametrize("path", fixtures(), ids=lambda p: p.name.partition(".")[0])
def test_fixtures(path: Path) -> None:
    """Those that have events about suspensions, and those that have samples."""
    with clrevents.open(path) as trace:
        found = recording_cost_of(trace)
    stops, others = STOPS.get(path.name.partition(".")[0], (0, (0, 0)))
    assert (found.stops, (found.own_stops, found.other_stops)) == (stops, others)
    assert (found.held_ns is None) == (stops == 0)
    samples = {
        fixture("net8-rich"): (6293, 1_098_138, "samples"),
        fixture("net8-netperf3"): (1288, 1_117_437, "samples"),
        fixture("net10-convoy"): (2486, 1_104_438, "stops"),
        fixture("net10-exceptions"): (885, 1_085_420, "stops"),
        fixture("net10-garbage"): (868, 1_084_118, "stops"),
        fixture("net10-starvation"): (32_089, 1_124_368, "stops"),
    }
    assert (found.samples, found.period_ns, found.period_from) == samples.get(path, (0, None, None))


STOPS = {
    "net8-heap": (0, (0, 1)),
    "net10-convoy": (1246, (0, 0)),
    "net10-exceptions": (893, (0, 0)),
    "net10-garbage": (875, (1, 11)),
    "net10-servergc": (0, (1, 7)),
    "net10-starvation": (2462, (0, 0)),
}
"""Suspensions for samples; the program's own ones, and those of collections."""


@pytest.mark.parametrize(("every", "pause", "shown"), [(7_000, 500, True), (1_000_000, 993_500, False)])
def test_a_sampler_without_pauses_is_shown(every: int, pause: int, shown: bool) -> None:
    """A runtime is so that was given nanoseconds for milliseconds."""
    builder = TraceBuilder()
    for at in range(0, 10 * every, every):
        stop(builder, (at, at + 10, at + 6_000, at + 6_500), samples=((at + 20, MAIN),))
    with clrevents.open(builder.build()) as trace:
        found = about(trace)
        assert found.metrics["sampler_pause"].value == pause
        assert ("without pauses" in dict(found.lines())["sampler"]) is shown
