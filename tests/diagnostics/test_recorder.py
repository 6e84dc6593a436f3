"""Recordings with a scripted runtime: one file, rings, events that are waited for, and everything that can go wrong."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.diagnostics import DiagnosticsError, Process, Provider
from clrevents.diagnostics.recorder import Progress, RecordedFile, Recorder, RecordingPlan, Watch
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.diagnostics.transports import endpoint_at
from clrevents.testing.builder import TraceBuilder
from project_files import fixture, unpacked
from recorded_files import state_of
from scripted_runtime import COLLECT, SESSION, STOP, NumberedSessions, ScriptedRuntime, ok, pieces, refusal

SAMPLE = unpacked(fixture("net8-sample"))
SETTINGS = SessionSettings((Provider("runtime", keywords=1),))


def ring(folder: Path) -> Iterator[Path]:
    return (folder / f"{number}.nettrace" for number in count(1))


def record(
    runtime: ScriptedRuntime, folder: Path, plan: RecordingPlan, **options: Any
) -> tuple[Recorder, list[RecordedFile]]:
    process = Process(4711, endpoint_at(runtime.address))
    recorder = Recorder(process, SETTINGS, ring(folder), plan, **options)
    recorder.start()
    return recorder, recorder.run()


def stopped_after(seconds: float, times: int = 1) -> Any:
    began = time.monotonic()
    return lambda: times if time.monotonic() - began > seconds else 0


def test_a_file_gets_every_byte_and_is_counted(tmp_path: Path) -> None:
    half = len(SAMPLE) // 2
    with ScriptedRuntime(tmp_path / "a", live=pieces(SAMPLE[:half], 3000), rest=pieces(SAMPLE[half:], 3000)) as runtime:
        recorder, (file,) = record(runtime, tmp_path, RecordingPlan(duration=0.3))
    assert file.path.read_bytes() == SAMPLE
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert (file.bytes, file.events, file.lost) == (len(SAMPLE), state_of(file.path).events, 0)
    assert (file.counted, file.complete, file.end, file.failure) == (True, True, "stopped", None)
    assert recorder.why == "the time was up"


def test_the_user_stops(tmp_path: Path) -> None:
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE[:5000]], rest=[SAMPLE[5000:]]) as runtime:
        recorder, (file,) = record(runtime, tmp_path, RecordingPlan(), interrupted=stopped_after(0.2))
    assert recorder.why == "stopped"
    assert file.complete
    assert file.path.read_bytes() == SAMPLE


def test_a_second_stop_gives_up_what_is_to_come(tmp_path: Path) -> None:
    answers: dict[tuple[int, int], Any] = {STOP: ok(struct.pack("<Q", SESSION))}
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE[:200_000]], answers=answers) as runtime:
        began = time.monotonic()
        _, (file,) = record(runtime, tmp_path, RecordingPlan(), interrupted=stopped_after(0.2, 2))
        assert time.monotonic() - began < 20
    assert (file.end, file.complete) == ("abandoned", False)
    assert file.path.read_bytes() == SAMPLE[:200_000]
    assert state_of(file.path).readable


@pytest.mark.parametrize("cut", [0, 1, 7, 100, 5000, len(SAMPLE) - 1])
@pytest.mark.parametrize("breaks", [False, True], ids=["closed", "reset"])
def test_a_process_that_dies_leaves_what_came(tmp_path: Path, cut: int, breaks: bool) -> None:
    """Readable, or nothing; and it says that the end is missing."""
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE[:cut]], ends=True, breaks=breaks) as runtime:
        recorder, (file,) = record(runtime, tmp_path, RecordingPlan())
    found = state_of(file.path)
    assert SAMPLE[:cut].startswith(file.path.read_bytes())
    assert found.readable or file.bytes < 1000
    assert not file.complete
    assert "process ended" in recorder.why or "broke" in recorder.why
    if found.readable:
        assert file.events == found.events


def test_a_ring_keeps_the_last_files_each_whole(tmp_path: Path) -> None:
    """Sessions overlap: the next one begins before the last one stops, so that nothing falls between them."""
    ringed = tmp_path / "ring"
    ringed.mkdir()
    with NumberedSessions(lambda payload: SAMPLE[:10_000], SAMPLE[10_000:], tmp_path / "a") as runtime:
        _, files = record(runtime, ringed, RecordingPlan(duration=2.5, rotate=0.4, keep=3))
    assert [file.path for file in files] == sorted(ringed.iterdir(), key=lambda path: int(path.stem))
    assert len(files) == 3
    assert int(files[-1].path.stem) >= 5
    for file in files:
        assert file.complete
        assert file.path.read_bytes() == SAMPLE
        assert file.events == state_of(file.path).events


def test_an_event_that_is_waited_for_ends_it_some_time_later(tmp_path: Path) -> None:
    data = unpacked(fixture("net10-garbage"))
    with ScriptedRuntime(tmp_path / "a", live=pieces(data, 50_000)) as runtime:
        began = time.monotonic()
        recorder, (file,) = record(runtime, tmp_path, RecordingPlan(until=Watch.parse("GCStart:Depth=2"), after=0.3))
        took = time.monotonic() - began
    assert recorder.found
    assert recorder.why == "GCStart came"
    assert 0.3 <= took < 20
    assert file.path.read_bytes() == data


def test_an_event_that_does_not_come_ends_nothing(tmp_path: Path) -> None:
    data = unpacked(fixture("net10-garbage"))
    with ScriptedRuntime(tmp_path / "a", live=[data]) as runtime:
        watch = Watch.parse("GCStart:Depth=2,Count=123456")
        recorder, _ = record(runtime, tmp_path, RecordingPlan(duration=0.5, until=watch, after=0.1))
    assert not recorder.found
    assert recorder.why == "the time was up"


@pytest.mark.parametrize("text", ["", ":Depth=2", "GCStart:Depth", "GCStart:=2"])
def test_what_is_no_event_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="as in --until"):
        Watch.parse(text)


def test_a_full_disk_ends_the_session_in_order(tmp_path: Path) -> None:
    """The process is asked to stop and read to its end, so that nothing of the session stays in it."""

    def paths() -> Iterator[Path]:
        yield Path("/dev/full")

    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE[:5000]], rest=[SAMPLE[5000:]]) as runtime:
        recorder = Recorder(Process(1, endpoint_at(runtime.address)), SETTINGS, paths(), RecordingPlan())
        recorder.start()
        (file,) = recorder.run()
        assert STOP in [code for code, _ in runtime.requests]
    assert file.failure is not None
    assert not file.complete
    assert "No space left" in recorder.why


def test_a_process_that_refuses_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "1.nettrace").write_bytes(SAMPLE)
    answers: dict[tuple[int, int], Any] = dict.fromkeys(COLLECT, refusal(0x80004005))
    with ScriptedRuntime(tmp_path / "a", answers=answers) as runtime:
        with pytest.raises(DiagnosticsError, match="64 sessions"):
            record(runtime, tmp_path, RecordingPlan())
        assert (tmp_path / "1.nettrace").read_bytes() == SAMPLE
        (tmp_path / "1.nettrace").unlink()
        with pytest.raises(DiagnosticsError, match="64 sessions"):
            record(runtime, tmp_path, RecordingPlan())
        assert not (tmp_path / "1.nettrace").exists()


def test_where_there_can_be_no_file_nobody_is_asked(tmp_path: Path) -> None:
    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE]) as runtime:
        with pytest.raises(FileNotFoundError):
            record(runtime, tmp_path / "none", RecordingPlan())
        assert not runtime.requests


def test_a_stream_that_is_no_trace_is_kept_and_said_to_be_none(tmp_path: Path) -> None:
    with ScriptedRuntime(tmp_path / "a", live=[b"hostile " * 5000], ends=True) as runtime:
        _, (file,) = record(runtime, tmp_path, RecordingPlan(until=Watch.parse("GCStart")))
    assert file.bytes == 40_000
    assert (file.events, file.complete) == (0, False)


def test_progress_is_told_with_bytes_events_and_losses(tmp_path: Path) -> None:
    told: list[Progress] = []
    data = unpacked(fixture("net10-garbage"))
    with ScriptedRuntime(tmp_path / "a", live=pieces(data, 100_000), pause=0.02) as runtime:
        process = Process(4711, endpoint_at(runtime.address))
        recorder = Recorder(process, SETTINGS, ring(tmp_path), RecordingPlan(duration=1))
        recorder.start()
        recorder.run(told.append)
    assert [one.bytes for one in told] == sorted(one.bytes for one in told)
    assert told[-1].bytes == len(data)
    assert told[-1].events > 1000
    assert told[-1].seconds >= 0.9
    assert len(told) <= 15


def test_an_error_in_who_is_told_keeps_what_came(tmp_path: Path) -> None:
    def fail(progress: Progress) -> None:
        if progress.bytes:
            raise KeyError("mine")

    with ScriptedRuntime(tmp_path / "a", live=[SAMPLE]) as runtime:
        process = Process(4711, endpoint_at(runtime.address))
        recorder = Recorder(process, SETTINGS, ring(tmp_path), RecordingPlan())
        recorder.start()
        with pytest.raises(KeyError):
            recorder.run(fail)
    assert SAMPLE.startswith((tmp_path / "1.nettrace").read_bytes())
    assert state_of(tmp_path / "1.nettrace").events > 0


def test_a_file_without_its_end_has_the_names_of_its_beginning(tmp_path: Path) -> None:
    """They are beside it until the list at its end is there, which a killed recorder or process never writes."""
    begun = TraceBuilder().sample(0x1010).sample(0x9000)
    code = TraceBuilder().sample(1).method_load("Program", "Main", address=0x1000).rundown().build()

    def names(path: Path) -> list[str | None]:
        with clrevents.open(path) as trace:
            assert not trace.methods.complete
            return [event.frames[0].label if event.frames[0].resolved else None for event in trace.events()]

    broken = begun.build(complete=False)
    with ScriptedRuntime(tmp_path / "a", live=[broken], ends=True, listed=code) as runtime:
        _, (file,) = record(runtime, tmp_path, RecordingPlan())
    assert file.names == tmp_path / "1.nettrace.names"
    assert file.names.read_bytes() == code
    assert file.names.stat().st_mode & 0o777 == 0o600
    assert names(file.path) == ["Program.Main()", None]
    assert clrevents.open_many(tmp_path).paths == (str(file.path),)

    (tmp_path / "other.nettrace").write_bytes(TraceBuilder(process_id=99).sample(0x1010).build(complete=False))
    (tmp_path / "other.nettrace.names").write_bytes(code)
    assert names(tmp_path / "other.nettrace") == [None]

    with ScriptedRuntime(tmp_path / "b", live=[SAMPLE], ends=True, listed=code) as runtime:
        _, (file,) = record(runtime, tmp_path, RecordingPlan())
    assert (file.complete, file.names) == (True, None)
    assert not (tmp_path / "1.nettrace.names").exists()
