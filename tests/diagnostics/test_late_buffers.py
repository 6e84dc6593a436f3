"""Buffers of the async profiler are written before a session ends; which runtime is asked for them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from clrevents.cli.live_process import needed_for
from clrevents.diagnostics import Process, Provider, Session, find_profile, side_sessions
from clrevents.diagnostics.providers import AwaitEvents, united
from clrevents.diagnostics.recorder import Recorder, RecordingPlan
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.transports import endpoint_at
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import ASYNC, RUNTIME, TPL
from clrevents.testing.builder import TraceBuilder
from recorded_files import watch
from scripted_runtime import NumberedSessions, ok, text

INFO = (4, 4)
TRACE = TraceBuilder().build()
LATE = ["begin 2", "stop 2", "begin 3", "stop 3"]
WALKS = Provider(RUNTIME, keywords=RuntimeKeyword.ManagedHeapCollect)


class Numbered(NumberedSessions):
    """Says its version."""

    def __init__(self, version: str = "11.0.0") -> None:
        told = struct.pack("<Q", 4711) + bytes(16)
        told += b"".join(map(text, ("", "", "", "", version)))
        super().__init__(lambda payload: TRACE, answers={INFO: ok(told)})

    @property
    def process(self) -> Process:
        return Process(4711, endpoint_at(self.address))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_sessions, "_IDLE_SECONDS", 0.1)


@pytest.mark.parametrize("how", ["blocking", "async"])
def test_sessions_of_a_moment_come_before_the_end(how: str) -> None:
    for providers, late in (([Provider(ASYNC)], LATE), ([Provider(ASYNC), WALKS], []), ([Provider(TPL)], [])):
        with Numbered() as runtime:
            watch(runtime.process, how, *providers)
        assert runtime.done == ["begin 1", *late, "stop 1"]


@pytest.mark.parametrize("how", ["blocking", "async"])
def test_so_they_do_again_and_again_before(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_sessions, "_EVERY_SECONDS", 0.1)
    for providers, most in (([Provider(ASYNC)], 12), ([Provider(TPL)], 2)):
        with Numbered() as runtime:
            watch(runtime.process, how, *providers, duration=0.6)
        assert runtime.done == [
            "begin 1",
            *[f"{what} {n}" for n in range(2, len(runtime.done) // 2 + 1) for what in ("begin", "stop")],
            "stop 1",
        ]
        assert (len(runtime.done) > len(LATE) + 4) == (most > 2)
        assert len(runtime.done) <= most + len(LATE) + 2


def test_so_they_do_where_a_file_of_a_ring_ends(tmp_path: Path) -> None:
    with Numbered() as runtime:
        plan = RecordingPlan(duration=0.6, rotate=0.5)
        paths = iter([tmp_path / "a", tmp_path / "b"])
        recorder = Recorder(runtime.process, SessionSettings((Provider(ASYNC),), rundown=False), paths, plan)
        recorder.start()
        recorder.run()
    # Those before the end of one file may lie between those of the other.
    assert runtime.done[:2] == ["begin 1", "begin 2"]
    assert runtime.done.index("stop 1") >= 2 + len(LATE)
    assert len(runtime.done) == 2 * (2 + len(LATE))


def test_a_process_that_is_gone_is_not_waited_for() -> None:
    with Numbered() as runtime, Session(runtime.process, providers=[Provider(ASYNC)]) as session:
        session.stop()
        runtime.end(1)
        for _ in session:
            pass
    assert session.end == "ended"
    assert "stop 1" not in runtime.done


@pytest.mark.parametrize(
    ("version", "how", "asks_async"),
    [("8.0.4", "blocking", False), ("10.0.1", "async", False), ("11.0.0", "blocking", True), ("11.0.0", "async", True)],
)
def test_awaits_are_asked_for_as_the_runtime_has_them(version: str, how: str, asks_async: bool) -> None:
    with Numbered(version) as runtime:
        watch(runtime.process, how, AwaitEvents(keywords=0x43, level=5), Provider(RUNTIME, keywords=1))
    assert (text(ASYNC) in runtime.asked[0], text(TPL) in runtime.asked[0]) == (asks_async, not asks_async)
    assert text(RUNTIME) in runtime.asked[0]


def test_what_is_wanted_for_more_than_awaits_stays() -> None:
    awaits = AwaitEvents(keywords=0x43, level=5)
    for pair in ((awaits, Provider(TPL, keywords=0x82)), (Provider(TPL, keywords=0x82), awaits)):
        (both,) = united(pair)
        assert isinstance(both, AwaitEvents)
        assert [str(one) for one in both.for_runtime(10)] == [f"{TPL}:0xc3:5"]
        assert [str(one) for one in both.for_runtime(11)] == [f"{TPL}:0x82:5", f"{ASYNC}:0x3f75d:4"]
    requests = SessionSettings(find_profile("requests").providers)
    for major, wanted in ((10, [f"{TPL}:0xc3:5"]), (11, [f"{TPL}:0x83:5", f"{ASYNC}:0x3f75d:4"])):
        assert [str(one) for one in requests.for_runtime(major).providers if one.name in (TPL, ASYNC)] == wanted
    assert [str(one) for one in needed_for(["tasks"]).providers if one.name == TPL] == [f"{TPL}:0x43:5"]
