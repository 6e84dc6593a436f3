"""What the sampler's stops cost, as the report on threads says it: the same as `info` does, and null where unsure."""

from __future__ import annotations

from analysis.test_recording_cost import MAIN, PROFILER, lossy_trace, stop
from clrevents.analysis.reports.threads.thread_rows import ThreadFacts
from clrevents.testing.builder import TraceBuilder
from reading import opened


def facts(builder: TraceBuilder) -> ThreadFacts:
    with opened(builder) as trace:
        return trace.report("threads").facts


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
