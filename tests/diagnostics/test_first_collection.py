"""A session of a moment in which a process collects its metrics for the first time, before those are recorded."""

from __future__ import annotations

import struct
import time
from itertools import count
from pathlib import Path

import pytest

from built.built_counters import collected, meter
from clrevents.diagnostics import Process, Provider
from clrevents.diagnostics.profiles import METERS, counter_providers
from clrevents.diagnostics.recorder import Recorder, RecordingPlan
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.transports import endpoint_at
from clrevents.testing.builder import TraceBuilder
from recorded_files import watch
from scripted_runtime import NumberedSessions, text

PUBLISHED = meter(TraceBuilder(), "BeginInstrumentReporting", sessionId="SHARED", meterName="A").build()
COLLECTED = collected(TraceBuilder(), 1, end=True).build()


def sessions(heard: bytes = b"") -> NumberedSessions:
    """Those of metrics alone get what is `heard`. How many providers follows the buffer, the format, and whether there
    is a rundown."""
    return NumberedSessions(lambda asked: heard if struct.unpack_from("<I", asked, 9) == (1,) else COLLECTED)


def process_of(runtime: NumberedSessions) -> Process:
    return Process(4711, endpoint_at(runtime.address))


@pytest.mark.parametrize("how", ["blocking", "async"])
def test_it_is_over_before_the_session_begins(how: str) -> None:
    with sessions(COLLECTED) as runtime:
        watch(process_of(runtime), how, *counter_providers(["My.Meter"]))
    assert runtime.done == ["begin 1", "stop 1", "begin 2", "stop 2"]
    first, second = runtime.asked
    assert text(METERS) in first
    assert text("SessionId=SHARED;RefreshInterval=0.1") in first
    assert text("SessionId=SHARED;Metrics=My.Meter;MaxHistograms=10") in second


@pytest.mark.parametrize(
    ("heard", "end"),
    # One that is closed is noticed when a collection is written; where there is no source of metrics none ever is.
    [(PUBLISHED, "closed"), (b"", "stop")],
    ids=["no collection", "no source"],
)
def test_where_none_comes_it_is_not_waited_for(heard: bytes, end: str) -> None:
    with sessions(heard) as runtime:
        began = time.monotonic()
        watch(process_of(runtime), "blocking", *counter_providers())
        took = time.monotonic() - began
        while len(runtime.done) < 4 and time.monotonic() < began + 20:
            time.sleep(0.01)
    assert sorted(runtime.done) == sorted(["begin 1", f"{end} 1", "begin 2", "stop 2"])
    assert 2 < took < 10


@pytest.mark.parametrize("how", ["blocking", "async"])
def test_other_sessions_have_none(how: str) -> None:
    with sessions() as runtime:
        watch(process_of(runtime), how, Provider("runtime", keywords=1), Provider("A"))
    assert runtime.done == ["begin 1", "stop 1"]


def test_a_ring_has_one_before_its_first_file(tmp_path: Path) -> None:
    with sessions(COLLECTED) as runtime:
        paths = (tmp_path / str(number) for number in count())
        recorder = Recorder(
            process_of(runtime), SessionSettings(counter_providers()), paths, RecordingPlan(1, rotate=0.2)
        )
        recorder.start()
        recorder.run()
    last = int(runtime.done[-1].split()[1])
    assert last > 2
    rotated = [step for number in range(3, last + 1) for step in (f"begin {number}", f"stop {number - 1}")]
    assert runtime.done == ["begin 1", "stop 1", "begin 2", *rotated, f"stop {last}"]
