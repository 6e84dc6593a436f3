"""Resumptions of .NET 11 that a recording has, held against the program's own events, each of which follows one."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from pathlib import Path

import pytest

import clrevents
from clrevents.diagnostics import side_sessions
from clrevents.diagnostics.discovery import find_process
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.recorder import Recorder, RecordingPlan
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.schema.registry import ASYNC
from clrevents.trace import passes_of
from dotnet_runtimes import NET11, awaits, clrevents_run, hosted, started

pytestmark = [pytest.mark.full, pytest.mark.shared]
SOURCE = "Clrevents-Awaits"
SETTINGS = SessionSettings((Provider(ASYNC, keywords=0x42), Provider(SOURCE)), rundown=False)


def missing(path: Path) -> tuple[int, list[int]]:
    """How many resumptions the program told, and the times of those that are not there. What is missing on a thread is
    behind all that is there, and where it is stated to be unknown."""
    told, known = defaultdict(list), defaultdict(list)
    with clrevents.open(path) as trace:
        for event in trace.events(f"{SOURCE}/*", "ResumeRuntimeAsyncContext"):
            (told if event.provider == SOURCE else known)[event.thread_id].append(event.time_ns)
        stated, process = passes_of(trace).async_known, trace.info.process_id
    assert stated is not None
    found = []
    for thread, times in told.items():
        resumed, before, span = known[thread], 0, stated.span(process, thread)
        for time in times:
            place = bisect_right(resumed, time)
            if not place or resumed[place - 1] <= before:
                assert place == len(resumed)
                assert span is None or time > span[1]
                found.append(time)
            before = time
    return sum(map(len, told.values())), found


def recorded(path: Path, busy: float, seconds: float, end: str = "stopped") -> tuple[int, list[int]]:
    # It awaits from a line of input on, and then does nothing.
    with started(hosted(NET11, awaits(), busy, 60 if end == "stopped" else 0)) as program:
        recorder = Recorder(find_process(program.pid), SETTINGS, iter([path]), RecordingPlan(seconds))
        recorder.start()
        assert program.stdin is not None
        program.stdin.write("\n")
        program.stdin.flush()
        (file,) = recorder.run()
    assert (file.end, file.complete) == (end, True)
    return missing(path)


def test_of_a_busy_program_nothing_is_missing_from_before_the_stop(tmp_path: Path) -> None:
    told, late = recorded(tmp_path / "a", 30, 1.0)
    assert told > 200
    assert len(late) < 0.5 * told
    assert min(late, default=1e9) > 0.7e9


def test_of_one_that_idles_nothing_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, late = recorded(tmp_path / "a", 0.3, 0.5)
    assert told > 20
    assert late == []
    # Without waiting nothing comes at all.
    monkeypatch.setattr(side_sessions, "keeps_buffers", lambda providers: False)
    told, late = recorded(tmp_path / "b", 0.3, 0.5)
    assert len(late) == told > 20


def test_one_that_ends_by_itself_takes_what_it_did_in_the_last_second(tmp_path: Path) -> None:
    told, late = recorded(tmp_path / "a", 2.5, 30, "ended")
    assert told > 200
    assert len(late) < 0.6 * told
    assert min(late, default=3e9) > 1e9


def test_one_that_ends_by_itself_takes_little_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    providers = f"{ASYNC}:0x42,{SOURCE}"
    done = clrevents_run("collect", "--providers", providers, "-o", path, "--", *hosted(NET11, awaits(), 0.8, 0))
    assert done.returncode == 0, done.stderr
    told, late = missing(path)
    assert len(late) < 0.7 * told
