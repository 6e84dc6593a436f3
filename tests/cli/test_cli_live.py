"""The commands about running processes, with a scripted runtime: what they print, what they leave, how they end."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import clrevents
from command_runs import Run, environment
from project_files import fixture, unpacked
from recorded_files import state_of
from scripted_runtime import COLLECT, STOP, ScriptedRuntime, ok, pieces, refusal, text

SAMPLE = unpacked(fixture("net8-sample"))
GARBAGE = unpacked(fixture("net10-garbage"))
CONVOY = unpacked(fixture("net10-convoy"))
WHO = struct.pack("<IQ", 1, 4711) + bytes(16) + text("dotnet App.dll") + text("Linux") + text("x64")
WHO += text("App") + text("8.0.4") + text("linux-x64")


def runtime_at(path: Path, data: bytes, **options: Any) -> ScriptedRuntime:
    half = len(data) // 2
    return ScriptedRuntime(
        path, live=pieces(data[:half], 20_000), rest=[data[half:]], answers={(4, 8): ok(WHO)}, **options
    )


def port(runtime: ScriptedRuntime) -> tuple[str, str]:
    return "--diagnostic-port", f"{runtime.address},connect"


def test_collect_writes_a_file_and_says_what_to_type_next(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "a.nettrace"
    with runtime_at(tmp_path / "a", SAMPLE) as runtime:
        done = run("collect", *port(runtime), "--for", "gc,locks", "--duration", "0.5s", "-o", out)
    assert done.exit_code == 0, done.stderr
    assert out.read_bytes() == SAMPLE
    assert done.stderr.splitlines() == [
        "clrevents: recording process 4711 for 0.5 s; Ctrl-C stops",
        f"clrevents: {out}: {len(SAMPLE) / 1e6:.1f} MB, {state_of(out).events:,} events",
        # The runtime is this very process, and the trace is another's.
        "clrevents: processor time was not recorded: another process answers for process 5966",
        "clrevents: the recording ended: the time was up",
        f"clrevents: next: clrevents gc {out}",
    ]
    with runtime_at(tmp_path / "b", SAMPLE) as runtime:
        again = run("collect", *port(runtime), "--for", "doctor", "--duration", "0.1s", "-o", out)
        assert (again.exit_code, f"{out} exists: give another name" in again.stderr) == (1, True)
        assert runtime.requests == []
        again = run("collect", *port(runtime), "--for", "doctor", "--duration", "0.1s", "-o", out, "--force")
    assert (again.exit_code, again.stderr.splitlines()[-1]) == (0, f"clrevents: next: clrevents doctor {out}")
    (request,) = (payload for code, payload in runtime.requests if code == (2, 3))
    assert struct.unpack_from("<IIB", request) == (256, 1, 1)
    assert text("Microsoft-Windows-DotNETRuntime") in request
    assert text("Microsoft-DotNETCore-SampleProfiler") in request


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--profile", "gc"], [("Microsoft-Windows-DotNETRuntime", 1, 4)]),
        (
            ["--clrevents", "gc+exception", "--clreventlevel", "verbose"],
            [("Microsoft-Windows-DotNETRuntime", 0x8001, 5)],
        ),
        (["--providers", "A:1:5,B"], [("A", 1, 5), ("B", (1 << 64) - 1, 4)]),
        (["--providers", "runtime:4:4", "--clrevents", "gc"], [("Microsoft-Windows-DotNETRuntime", 4, 4)]),
        (["--providers", "runtime:4:4", "--profile", "gc"], [("Microsoft-Windows-DotNETRuntime", 4, 4)]),
        (
            ["--profile", "gc", "--until", "ExceptionThrown"],
            [("Microsoft-Windows-DotNETRuntime", 0x200008001, 4)],
        ),
    ],
    ids=str,
)
def test_options_say_what_is_recorded(run: Run, tmp_path: Path, options: list[str], wanted: list[Any]) -> None:
    with runtime_at(tmp_path / "a", SAMPLE) as runtime:
        done = run("collect", *port(runtime), *options, "--duration", "0.1", "-o", tmp_path / "a.nettrace")
    assert done.exit_code == 0, done.stderr
    (request,) = (payload for code, payload in runtime.requests if code == (2, 3))
    expected = struct.pack("<I", len(wanted))
    for name, keywords, level in wanted:
        expected += struct.pack("<QI", keywords, level) + text(name) + text(None)
    assert request[9:] == expected


@pytest.mark.parametrize(
    ("options", "only", "ids"),
    [(["--events", "GCStart,GCEnd"], 1, (1, 2)), (["--profile", "gc", "--without", "GCJoin"], 0, (203,))],
    ids=["only", "without"],
)
@pytest.mark.parametrize("processor", ["off", "50ms"])
@pytest.mark.parametrize(("known", "sent"), [(7, [7]), (6, [7, 6]), (5, [7, 6, 3])])
def test_a_runtime_that_can_leaves_out_events_and_the_file_says_so(
    run: Run,
    tmp_path: Path,
    options: list[str],
    only: int,
    ids: tuple[int, ...],
    processor: str,
    known: int,
    sent: list[int],
) -> None:
    """Runtimes that know the requests up to a number; what an older one does not do is said."""
    out = tmp_path / "a.nettrace"
    with runtime_at(tmp_path / "a", SAMPLE) as runtime:
        runtime.answers |= {(2, code): refusal(0x80131385) for code in range(known + 1, 8)}
        options = [*options, "--buffering", "block", "--processor", processor, "--duration", "0.1", "-o", str(out)]
        done = run("collect", *port(runtime), *options)
    assert done.exit_code == 0, done.stderr
    requests = [(code[1], payload) for code, payload in runtime.requests if code in COLLECT]
    assert [number for number, _ in requests] == sent
    filters = struct.pack(f"<BI{len(ids)}I", only, len(ids), *ids)
    assert requests[0][1].endswith(filters + struct.pack("<I", 1))
    assert requests[-1][1].endswith(filters) == (known == 6)
    assert ("cannot leave out single events" in done.stderr) == (known < 6)
    assert ("cannot wait while its buffer is full" in done.stderr) == (known < 7)
    if known < 6:
        assert out.read_bytes() == SAMPLE
        return
    with clrevents.open(out) as trace, clrevents.open(SAMPLE) as whole:
        events = [(event.time_ns, event.name, event.payload_bytes) for event in trace.events()]
        marks = [event.payload for event in trace.events("clrevents/EventsFiltered")]
        assert [(mark.OnlyThese, mark.FilteredEvents) for mark in marks] == [
            (only, f"Microsoft-Windows-DotNETRuntime:{','.join(map(str, ids))}")
        ]
        assert [one for one in events if one[1] != "EventsFiltered"] == [
            (event.time_ns, event.name, event.payload_bytes) for event in whole.events()
        ]
        assert trace.losses == whole.losses


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["collect", "-p", "1", "--events", "GCStart", "--without", "GCEnd"], "either the events to record or those"),
        (["collect", "-p", "1", "--profile", "gc", "--without", "A-Source/3"], "nothing of A-Source is recorded"),
        (["collect", "-p", "1", "--events", "MethodDCEndVerbose"], "at the end cannot be chosen one by one"),
        (["collect"], "give a process"),
        (["collect", "-p", "1", "--name", "x"], "give a process"),
        (["collect", "-p", "1", "--keep", "3"], "--keep requires --rotate"),
        (["collect", "-p", "1", "--for", "nonsense"], "no report 'nonsense'"),
        (["collect", "-p", "1", "--profile", "nonsense"], "there is no profile 'nonsense'"),
        (["collect", "-p", "1", "--providers", "A:x"], "not a hexadecimal"),
        (["collect", "-p", "1", "--clrevents", "x"], "not a keyword of the runtime"),
        (["collect", "-p", "1", "--duration", "soon"], "is not a duration"),
        (["collect", "-p", "1", "--until", "GCStart:Depth"], "FIELD=VALUE"),
        (["collect", "-p", "1", "--", "dotnet", "x.dll"], "either a program to start"),
        (["gc"], "give either a trace, or a running process"),
        (["gc", "x.nettrace", "-p", "1"], "give either a trace"),
        (["gc", "x.nettrace", "--duration", "1s"], "require a running process"),
        (["gc", "x.nettrace", "--providers", "A"], "require a running process"),
        (["gc", "-p", "1", "--duration", "1s"], "no .NET process with the id 1"),
    ],
    ids=str,
)
def test_bad_options_are_said(run: Run, options: list[str], said: str) -> None:
    done = run(*options)
    assert done.exit_code in (1, 2)
    assert said in done.stderr


def test_profiles_are_listed_with_their_cost(run: Run) -> None:
    done = run("collect", "--list-profiles")
    assert "gc-collect  (as in dotnet-trace)" in done.stdout
    assert done.stdout.count("cost: ") == done.stdout.count("reports: ") > 10


@pytest.mark.parametrize(("asked", "sought"), [("1", "the id 1"), ("Nobody", "the name 'Nobody'")])
@pytest.mark.parametrize("command", [("collect", "-o", "a"), ("tail",), ("doctor", "-o", "a"), ("top",)])
def test_nobody_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], asked: str, sought: str
) -> None:
    """Every command takes a process by its id or by its name."""
    monkeypatch.chdir(tmp_path)
    done = run(*command, "-p", asked)
    assert (done.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert f"no .NET process with {sought}" in done.stderr


def test_a_refusal_is_a_sentence_and_leaves_no_file(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "a.nettrace"
    with runtime_at(tmp_path / "a", SAMPLE) as runtime:
        runtime.answers[2, 3] = refusal(0x80004005)
        done = run("collect", *port(runtime), "-o", out)
    assert done.exit_code == 2
    assert "at most 64 sessions" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_in_order(command: list[str], tmp_path: Path, way: signal.Signals) -> None:
    out = tmp_path / "a.nettrace"
    with runtime_at(tmp_path / "a", SAMPLE) as runtime:
        started = subprocess.Popen(
            [*command, "collect", *port(runtime), "-o", out], stderr=subprocess.PIPE, text=True, env=environment()
        )
        assert started.stderr is not None
        assert "recording" in started.stderr.readline()
        started.send_signal(way)
        said = started.stderr.read()
        assert started.wait(30) == 0, said
        started.stderr.close()
    assert out.read_bytes() == SAMPLE


def test_a_second_signal_does_not_wait(command: list[str], tmp_path: Path) -> None:
    out = tmp_path / "a.nettrace"
    with runtime_at(tmp_path / "a", SAMPLE) as runtime:
        runtime.answers[STOP] = ok(bytes(8))
        started = subprocess.Popen(
            [*command, "collect", *port(runtime), "-o", out], stderr=subprocess.PIPE, text=True, env=environment()
        )
        assert started.stderr is not None
        started.stderr.readline()
        until = time.monotonic() + 20
        while out.stat().st_size < len(SAMPLE) // 2 and time.monotonic() < until:
            time.sleep(0.02)
        started.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert started.poll() is None, "it waits for the end"
        started.send_signal(signal.SIGINT)
        said = started.stderr.read()
        assert started.wait(30) == 130
        started.stderr.close()
    assert "the end was not waited for" in said
    assert "names of methods compiled before the recording are missing" in said
    assert out.read_bytes() == SAMPLE[: len(SAMPLE) // 2]


def test_tail_ends_after_so_many(run: Run, tmp_path: Path) -> None:
    with runtime_at(tmp_path / "a", GARBAGE) as runtime:
        done = run("tail", *port(runtime), "GC*", "--limit", 2)
    assert len(done.stdout.splitlines()) == 2
    assert "runtime/GC" in done.stdout


@pytest.mark.parametrize(("selectors", "count"), [((), 0), (("YieldProcessorMeasurement",), 8)])
def test_tail_leaves_out_noise_unless_asked(run: Run, tmp_path: Path, selectors: tuple[str, ...], count: int) -> None:
    with runtime_at(tmp_path / "a", CONVOY) as runtime:
        done = run("tail", *port(runtime), *selectors, "--duration", "0.5")
    assert done.stdout.count("YieldProcessorMeasurement") == count
    assert len(done.stdout.splitlines()) > count or selectors


@pytest.mark.parametrize(
    ("command", "options", "code", "said"),
    [("tail", ["GCStrat"], 1, "GCStart"), ("gc", ["--duration", "0.5s", "--assert", "count<1"], 4, "count")],
)
def test_how_a_question_ends(run: Run, tmp_path: Path, command: str, options: list[str], code: int, said: str) -> None:
    with runtime_at(tmp_path / "a", GARBAGE) as runtime:
        done = run(command, *port(runtime), *options)
    assert done.exit_code == code
    assert said in done.stderr


def test_a_report_on_a_process_is_that_on_its_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "whole.nettrace").write_bytes(GARBAGE)
    with runtime_at(tmp_path / "a", GARBAGE) as runtime:
        live = run("gc", *port(runtime), "--duration", "0.5s")
        table = run("gc", *port(runtime), "--duration", "0.5s", "--csv")
    whole = run("gc", tmp_path / "whole.nettrace")
    assert live.exit_code == 0, live.stderr
    assert live.stdout == whole.stdout
    assert table.stdout == run("gc", tmp_path / "whole.nettrace", "--csv").stdout


def test_ps_lists_processes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with runtime_at(tmp_path / "dotnet-diagnostic-4194305-7-socket", SAMPLE):
        listed = run("ps")
        found = json.loads(run("ps", "--json").stdout)
    assert "4194305" in listed.stdout
    assert "in another namespace" in listed.stdout
    assert found["schema"] == "clrevents.ps/1"
    (one,) = (row for row in found["processes"] if row["pid"] == 4194305)
    assert (one["name"], one["version"], one["elsewhere"]) == ("App", "8.0.4", True)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("3s", "--", "x"), "must be whole milliseconds, 1ms to 2147ms"),
        (("1.5ms", "--", "x"), "must be whole milliseconds, 1ms to 2147ms"),
        (("10ms", "-p", "1"), "requires a program to start: a running process keeps its pace"),
    ],
)
def test_a_pace_that_no_sampler_has_is_refused(run: Run, arguments: tuple[str, ...], reason: str) -> None:
    done = run("collect", "--sample-interval", *arguments)
    assert done.exit_code == 1
    assert f"--sample-interval {reason}" in done.stderr
