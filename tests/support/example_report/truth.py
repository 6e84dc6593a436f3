"""The report on finalizers, against a loop over the events and a trace that begins and ends inside a run."""

from __future__ import annotations

import clrevents
from clrevents.events import GCFinalizersBegin_V1, GCFinalizersEnd_V1
from clrevents.testing.builder import TraceBuilder
from project_files import fixture


def test_runs_are_those_of_the_events() -> None:
    with clrevents.open(fixture("net10-garbage")) as trace:
        events = list(trace.events("GCFinalizersBegin", "GCFinalizersEnd"))
        found = trace.report("finalizers")
    begins, ends = events[::2], events[1::2]
    assert [(run.start_ns, run.end_ns) for run in found.runs] == [
        (begin.time_ns, end.time_ns) for begin, end in zip(begins, ends, strict=True)
    ]
    assert found.metrics["finalized"].value == sum(end.payload.Count for end in ends) == 32
    assert found.metrics["finalize_total"].value == sum(run.duration_ns for run in found.runs)
    assert (found.coverage, found.facts.running) == ("full", False)


def test_what_is_cut_off_is_null() -> None:
    end, begin = GCFinalizersEnd_V1(Count=3, ClrInstanceID=0), GCFinalizersBegin_V1(ClrInstanceID=0)
    data = TraceBuilder().thread(7).at(1_000).event(end).at(5_000).event(begin).build()
    with clrevents.open(data) as trace:
        found = trace.report("finalizers")
    assert [(run.start_ns, run.end_ns, run.finalized) for run in found.runs] == [(None, 1_000, 3), (5_000, None, None)]
    assert (found.metrics["count"].value, found.metrics["finalize_total"].value) == (2, 0)
    assert found.facts.running
