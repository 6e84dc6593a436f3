"""What the sampler's stops cost, as the report on threads says it: the same as `info` does, and null where unsure."""

from __future__ import annotations

import warnings
from pathlib import Path

import clrevents
from analysis.test_recording_cost import MAIN, PROFILER, lossy_trace, stop
from clrevents.analysis.framework.recording.recording_cost import recording_cost_of
from clrevents.analysis.reports.threads.thread_rows import ThreadFacts
from clrevents.testing.builder import TraceBuilder
from tiers import each_fixture


def facts(builder: TraceBuilder) -> ThreadFacts:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        with clrevents.open(builder.build()) as trace:
            return trace.report("threads").facts


@each_fixture("net8-netperf3", "net10-exceptions", "net8-counters")
def test_fixtures_say_what_info_does(path: Path) -> None:
    with clrevents.open(path) as trace:
        report, cost = trace.report("threads"), recording_cost_of(trace)
    assert (report.facts.sampler_held_ns, report.facts.sampler_share) == (cost.held_ns, cost.share_high)
    assert [note.id for note in report.notes].count("sampler-cost") == (cost.held_ns is not None)
    # The first of these stops itself for each sum of allocations, and has no sampler.
    assert [row.role for row in report.threads].count("sampler") == (cost.held_ns is not None)


def test_a_note_says_how_much() -> None:
    builder = stop(TraceBuilder(), (100, 110, 140, 150), samples=((120, MAIN),))
    stop(builder, (900, 910, 940, 1000), samples=((920, MAIN),))
    found = facts(builder)
    assert (found.sampler_held_ns, found.sampler_share) == (150, 0.15)


def test_other_suspensions_of_the_same_thread_are_not_the_samplers() -> None:
    builder = stop(TraceBuilder(), (100, 110, 140, 150), samples=((120, MAIN),))
    stop(builder, (200, 210, 340, 350), reason=1, count=3)
    builder.thread(PROFILER)
    assert facts(stop(builder, (400, 410, 440, 460), samples=((420, MAIN),))).sampler_held_ns == 110


def test_where_events_of_the_sampler_were_lost_nothing_is_said() -> None:
    assert facts(lossy_trace(PROFILER)).sampler_held_ns is None
    assert facts(lossy_trace(MAIN)).sampler_held_ns == 1050 + 50


def test_without_a_sample_nobody_is_the_sampler() -> None:
    found = facts(stop(TraceBuilder(), (100, 110, 140, 150)))
    assert (found.sampler_held_ns, found.sampler_share) == (None, None)
