"""`trace.runs`: tables know which rows of all headers they are, also where a payload cannot be read."""

from __future__ import annotations

import warnings

import clrevents
from clrevents.events import GCStart_V1
from clrevents.testing.builder import TraceBuilder

START = GCStart_V1(7, 0, 0, 0, 0)
GC = ("Microsoft-Windows-DotNETRuntime", "GCStart")
SAMPLE = ("Microsoft-DotNETCore-SampleProfiler", "ThreadSample")


def test_places_of_rows() -> None:
    info = GCStart_V1.__event__
    builder = TraceBuilder().sample().event(START).raw(info.provider, info.id, 1, b"\1").sample().event(START)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        with clrevents.open(builder.bytes()) as trace:
            _, run = trace.runs()
    assert len(run.headers) == 5
    assert run.places[GC].tolist() == [1, 4]
    assert run.places[SAMPLE].tolist() == [0, 3]
    for event, places in run.places.items():
        assert run.headers["time_ns"][places].tolist() == run.tables[event]["time_ns"].tolist()


def test_versions_of_one_event_keep_their_order() -> None:
    from clrevents.events import GCStart_V2

    new = GCStart_V2(8, 0, 0, 0, 0, 0)
    with clrevents.open(TraceBuilder().event(new).sample().event(START).event(new).bytes()) as trace:
        _, run = trace.runs("GCStart", "ThreadSample")
    assert run.places[GC].tolist() == [0, 2, 3]
    assert run.tables[GC]["Count"].tolist() == [8, 7, 8]


def test_other_header_columns_and_no_stacks() -> None:
    with clrevents.open(TraceBuilder().sample(1, 2).bytes()) as trace:
        _, run = trace.runs(columns=["processor"], stacks=False)
        assert run.tables[SAMPLE].columns == ["processor", "Type"]
        assert len(run.stacks) == 0
        _, run = trace.runs(columns=["processor"])
        assert len(run.stacks) == 1
