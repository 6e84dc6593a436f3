"""Timelines of whole programs: their sums are those of the reports, and a large trace is written without being held."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents
from perfetto_reading import arrows_of_events, calls_of_events, counters_of_events, exported, sums_of_events
from reading import opened
from tiers import drawn
from timeline_sums import sums_of_calls, sums_of_counters, sums_of_reports

pytestmark = needs_shared

_LARGEST = 2_500_000
TRACES = [
    trace
    for trace in traces("traces/own", "scenarios")
    if trace.path.stat().st_size < _LARGEST and drawn(5, "timelines", trace.name)
]
_MORE: int = 48 << 20
"""Bytes of memory that a timeline may take beside its reports."""

_WRITE = """
import resource, sys, warnings
import clrevents
from clrevents.export.look import Look
from clrevents.export.timeline.report_items import read_timeline
from clrevents.export.timeline.timeline_file import write_timeline

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

path, out, *names = sys.argv[1:]
with clrevents.open(path) as trace, open(out, "wb") as stream:
    read_timeline(trace, Look())
    before = most()
    write_timeline(trace, stream, Look(), "perfetto", names)
    print(before, most())
"""


@pytest.mark.parametrize("shared", TRACES, ids=lambda shared: shared.name)
def test_sums_are_those_of_the_reports(shared: Shared) -> None:
    with opened(shared.path) as trace:
        events = exported(trace)
        assert sums_of_events(events) == sums_of_reports(trace)
        assert calls_of_events(events) == sums_of_calls(trace)
        assert counters_of_events(events) == sums_of_counters(trace)


def test_arrows_between_requests() -> None:
    """Each request of this program is told by both sides, and the half of them is sent while another is served."""
    with clrevents.open(SHARED / "traces" / "own" / "net10-web.nettrace.gz") as trace:
        arrows = arrows_of_events(exported(trace))
        rows = {row.row: row for row in trace.report("requests").requests}
    found = Counter((begin.track.path[-1], end.track.path[-1]) for begin, end in arrows if end.category == "requests")
    served = [row for row in rows.values() if row.side == "server" and row.peer_row is not None]
    sent = [row for row in rows.values() if row.parent_row is not None]
    assert found == {
        ("requests sent", "requests served"): len(served),
        ("requests served", "requests sent"): len(sent),
    }
    assert min(len(served), len(sent)) > 100
    starts = {(rows[row.peer_row].start_ns, row.start_ns) for row in served if row.peer_row is not None}
    assert {(begin.start, end.start) for begin, end in arrows if end.track.path[-1] == "requests served"} == starts


def test_a_million_events_are_not_held(tmp_path: Path) -> None:
    out = tmp_path / "big.pftrace"
    big = SHARED / "traces" / "own" / "net10-big.nettrace.gz"
    arguments = [sys.executable, "-c", _WRITE, str(big), str(out), "GCSampledObjectAllocationHigh"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert out.stat().st_size > 60 << 20
    assert after - before < _MORE
