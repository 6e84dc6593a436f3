"""`trace.runs`: tables know which rows of all headers they are, also where a payload cannot be read."""

from __future__ import annotations

import clrevents
from clrevents.events import GCStart_V1
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import passes_of
from reading import opened

START = GCStart_V1(7, 0, 0, 0, 0)
GC = ("Microsoft-Windows-DotNETRuntime", "GCStart")
SAMPLE = ("Microsoft-DotNETCore-SampleProfiler", "ThreadSample")


def test_places_of_rows() -> None:
    info = GCStart_V1.__event__
    builder = TraceBuilder().sample().event(START).raw(info.provider, info.id, 1, b"\1").sample().event(START)
    with opened(builder) as trace:
        _, chunk = passes_of(trace).table_chunks()
    assert len(chunk.headers) == 5
    assert chunk.places[GC].tolist() == [1, 4]
    assert chunk.places[SAMPLE].tolist() == [0, 3]
    for event, places in chunk.places.items():
        assert chunk.headers["time_ns"][places].tolist() == chunk.tables[event]["time_ns"].tolist()


def test_versions_of_one_event_keep_their_order() -> None:
    from clrevents.events import GCStart_V2

    new = GCStart_V2(8, 0, 0, 0, 0, 0)
    with clrevents.open(TraceBuilder().event(new).sample().event(START).event(new).build()) as trace:
        _, chunk = passes_of(trace).table_chunks("GCStart", "ThreadSample")
    assert chunk.places[GC].tolist() == [0, 2, 3]
    assert chunk.tables[GC]["Count"].tolist() == [8, 7, 8]
