"""Everything against real runtimes: .NET 8, and .NET Core 3.1, which knows less and says so.

In the full tier only: it fetches the runtimes (see dotnet_runtimes). No request here is malformed: that would end them.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import clrevents
from clrevents.diagnostics import AsyncSession, DiagnosticsError, Listener, Process, Session, find_process, processes
from command_runs import environment
from dotnet_runtimes import NET8, NET31, Runtime, clrevents_command, clrevents_run, command_line, json_lines, running
from recorded_files import state_of

pytestmark = pytest.mark.full
BOTH = pytest.mark.parametrize("runtime", [NET8, NET31], ids=lambda runtime: runtime.name)


@BOTH
def test_a_running_process_is_found_and_says_who_it_is(runtime: Runtime) -> None:
    with running(runtime, "30") as started:
        found = {one.pid: one for one in processes()}[started.pid]
        assert (found.name, found.user, found.elsewhere, found.closed) == ("Busy", None, False, False)
        listed = clrevents_run("ps")
        assert str(started.pid) in listed.stdout
        if runtime is NET8:
            told = found.info()
            assert (told.pid, told.entry_assembly, told.runtime_version) == (started.pid, "Busy", "8.0.4")
            assert told.command_line is not None
            assert "Busy.dll 30" in told.command_line
            assert "8.0.4" in listed.stdout
        else:
            assert "3.x" in listed.stdout
        assert find_process(started.pid) == found


def test_net8_does_what_it_is_asked(tmp_path: Path) -> None:
    with running(NET8, "60", MINE="a=b") as started:
        process = find_process(started.pid)
        assert process.environment()["MINE"] == "a=b"
        process.set_environment("MINE", "other")
        assert process.environment()["MINE"] == "other"
        process.resume()
        map_file = Path(f"/tmp/perf-{started.pid}.map")
        try:
            process.enable_perf_map()
            until = time.monotonic() + 10
            while not map_file.exists() and time.monotonic() < until:
                time.sleep(0.05)
            process.disable_perf_map()
            assert "Busy::Main" in map_file.read_text().replace(".", "::") or map_file.stat().st_size > 1000
        finally:
            map_file.unlink(missing_ok=True)
        assert started.poll() is None


def test_net31_says_what_it_does_not_know() -> None:
    """Command set 4 came with .NET 5: said, not tried elsewhere, and the process lives on."""
    with running(NET31, "30") as started:
        process = find_process(started.pid)
        for ask in (
            *(process.info, process.environment, process.resume, process.enable_perf_map, process.disable_perf_map),
            lambda: process.set_environment("A", "b"),
        ):
            with pytest.raises(DiagnosticsError, match=r"its version does not have this command.* needs \.NET [568]"):
                ask()
        assert started.poll() is None


@BOTH
def test_a_dump(runtime: Runtime, tmp_path: Path) -> None:
    with running(runtime, "60") as started:
        path = tmp_path / "core"
        find_process(started.pid).write_dump(path, "mini")
        assert path.read_bytes()[:4] == b"\x7fELF"
        with pytest.raises(DiagnosticsError, match="may it write there"):
            find_process(started.pid).write_dump(tmp_path / "no" / "folder" / "core", "mini")
        assert started.poll() is None


@BOTH
def test_what_is_recorded_equals_what_came_live(runtime: Runtime, tmp_path: Path) -> None:
    """Event by event; the file is sound and complete, has names, and answers as live."""
    path = tmp_path / "a.nettrace"
    live: Counter[str] = Counter()
    names = ("gc", "exceptions", "locks", "top")
    with (
        running(runtime, "60") as started,
        Session(started.pid, profile="default,gc,exceptions,locks", record=path, duration=3, reports=names) as session,
    ):
        for batch in session:
            live += shown(batch)
    assert session.end == "stopped"
    with clrevents.open(path) as trace:
        assert shown(trace.events()) == live
        found = trace.check()
        assert found.complete
        assert not trace.problems or {p.severity for p in trace.problems} == {"note"}
        assert any("Busy.Fight" in str(f) for e in trace.events("ThreadSample") for f in e.frames)
        answers = trace.reports(*names)
    for name in names:
        assert answers[name].coverage == "full", name
        assert answers[name].metrics == session.report(name).metrics, name


def shown(events: Any) -> Counter[str]:
    return Counter(repr((e.key, e.time_ns, e.thread_id, e.stack, e.payload)) for e in events)


@BOTH
def test_collect_and_ask(runtime: Runtime, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    with running(runtime, "60") as started:
        done = clrevents_run("collect", "-p", started.pid, "--for", "gc,locks", "--duration", "2s", "-o", path)
        assert done.returncode == 0, done.stderr
        assert f"next: clrevents gc {path}" in done.stderr
    assert clrevents_run("check", path).returncode == 0
    told = clrevents_run("gc", path)
    assert "pause total" in told.stdout
    assert path.stat().st_mode & 0o777 == 0o600


@BOTH
def test_every_report_answers_as_from_a_capture(runtime: Runtime, tmp_path: Path) -> None:
    """The widest profile: no report fails on a trace that `collect` wrote."""
    path = tmp_path / "a.nettrace"
    with running(runtime, "60") as started:
        done = clrevents_run("collect", "-p", started.pid, "--profile", "default,threads,startup,counters,alloc",
                             "--duration", "3s", "-o", path)  # fmt: skip
        assert done.returncode == 0, done.stderr
    with clrevents.open(path) as trace, warnings.catch_warnings():
        warnings.simplefilter("ignore", clrevents.TraceWarning)
        answers = trace.reports()
    data = {name for name, answer in answers.items() if answer.coverage != "none"}
    assert data >= {"gc", "top", "callers", "exceptions", "threads", "locks", "pool", "counters", "alloc", "waits"}


@BOTH
def test_tail_prints_events_with_names_in_order(runtime: Runtime) -> None:
    with running(runtime, "60") as started:
        done = clrevents_run("tail", "-p", started.pid, "ExceptionThrown", "Clrevents-Busy/*", "--limit", 40, "--json")
    events = json_lines(done.stdout)
    assert len(events) == 40, done.stderr
    assert {event["name"] for event in events} == {"ExceptionThrown", "Tick"}
    times = [event["time_ns"] for event in events]
    assert times == sorted(times)


@BOTH
def test_tail_prints_what_a_quiet_program_writes_soon(runtime: Runtime) -> None:
    """The runtime hands events over every 0.1 s; after that it takes less than another 0.1 s."""
    with running(runtime, "60", "quiet") as started:
        late = latencies(started.pid, 30)
    assert len(late) >= 25
    assert sorted(late)[len(late) // 2] < 0.5
    assert max(late) < 10


def latencies(pid: int, count: int) -> list[float]:
    """Seconds from when an event was written until its line was read."""
    tail = subprocess.Popen(
        clrevents_command("tail", "-p", pid, "Clrevents-Busy/Tick", "--json", "--limit", count),
        stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    assert tail.stdout is not None
    found = []
    with tail:
        for line in tail.stdout:
            now = time.time()
            (event,) = json_lines(line)
            found.append(now - event["payload"]["unixMicroseconds"] / 1e6)
    return found[1:]


@BOTH
@pytest.mark.parametrize(
    ("report", "seen"), [("top", "Busy.Fight()"), ("gc", "Induced"), ("counters", "gen-0-gc-count"), ("locks", "Fight")]
)
def test_reports_on_a_live_process(runtime: Runtime, report: str, seen: str) -> None:
    with running(runtime, "60") as started:
        done = clrevents_run(report, "-p", started.pid, "--duration", "1.5s")
    assert done.returncode == 0, done.stderr
    assert seen in done.stdout


@BOTH
def test_a_table_renews_itself_until_ctrl_c(runtime: Runtime) -> None:
    pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
    with running(runtime, "60") as started:
        ours, theirs = pty.openpty()
        shown = subprocess.Popen(
            clrevents_command("gc", "-p", started.pid, "--limit", 3),
            stdin=theirs, stdout=theirs, stderr=theirs, env={**environment(), "COLUMNS": "120", "TERM": "xterm"},
        )  # fmt: skip
        os.close(theirs)
        text = read_until(ours, ("pause total",) * 3)
        shown.send_signal(signal.SIGINT)
        text += read_until(ours)
        os.close(ours)
        assert shown.wait(60) == 0
    assert text.count("pause total") >= 4
    assert started.poll() is not None


def read_until(descriptor: int, wanted: Sequence[str] = ()) -> str:
    """What a terminal gets until each of these texts was there; without any, until its end."""
    text, until = "", time.monotonic() + 60
    while time.monotonic() < until and not (wanted and text.count(wanted[0]) >= len(wanted)):
        try:
            more = os.read(descriptor, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not more:
            break
        text += more.decode()
    return text


def test_a_program_is_recorded_from_its_first_event(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    done = clrevents_run("collect", "--profile", "startup", "-o", path, "--", *command_line(NET8, "0.5", "exit"))
    assert done.returncode == 7, done.stderr
    assert done.stdout.strip().isdigit(), "what it prints is seen"
    with clrevents.open(path) as trace:
        names = [event.name for event in trace.events("RuntimeInformationStart", "MethodLoadVerbose")]
        assert names[0] == "RuntimeInformationStart"
        assert trace.check().complete


def test_net31_is_recorded_as_soon_as_it_can_be(tmp_path: Path) -> None:
    """It ignores the port that it should wait at; that is said."""
    path = tmp_path / "a.nettrace"
    done = clrevents_run("collect", "--profile", "default", "-o", path, "--", *command_line(NET31, "1.5", "exit"))
    assert done.returncode == 7, done.stderr
    assert "cannot be started suspended" in done.stderr
    assert state_of(path).events > 100


def test_a_program_that_is_not_there_and_one_that_is_not_net(tmp_path: Path) -> None:
    done = clrevents_run("collect", "-o", tmp_path / "a", "--", "/no/such/program")
    assert done.returncode == 2
    assert "cannot start /no/such/program" in done.stderr
    done = clrevents_run("collect", "-o", tmp_path / "a", "--", "sh", "-c", "exit 5")
    assert done.returncode == 2
    assert "ended with 5 before .NET started" in done.stderr


def test_programs_that_it_starts_are_not_held_up(tmp_path: Path) -> None:
    """They have the port in their environment, and would wait for us."""
    one = " ".join(command_line(NET8, "1"))
    path = tmp_path / "a.nettrace"
    done = clrevents_run("collect", "-o", path, "--", "sh", "-c", f"{one} & {one} & wait")
    assert done.returncode in (0, 3), done.stderr
    assert len(done.stdout.split()) == 2


def test_a_port_that_it_dials(tmp_path: Path) -> None:
    """Started suspended: nothing runs until it is resumed, and the session has its first event."""
    port = tmp_path / "port"
    with (
        Listener(str(port)) as listener,
        running(NET8, "1", ready=False, DOTNET_DiagnosticPorts=f"{port},suspend") as started,
    ):
        process = Process.dialled(listener, 20)
        assert process.pid == started.pid
        assert process.info().entry_assembly == "Busy"
        with Session(process, profile="startup", reports=()) as session:
            process.resume()
            names = [event.name for batch in session for event in batch]
        assert session.end == "ended"
    assert "RuntimeInformationStart" in names
    assert "MethodLoadVerbose" in names


def test_collect_at_a_port_that_it_dials(tmp_path: Path) -> None:
    port, path = tmp_path / "port", tmp_path / "a.nettrace"
    collect = subprocess.Popen(
        clrevents_command("collect", "--dport", port, "--profile", "startup", "-o", path),
        stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    with running(NET8, "1", ready=False, DOTNET_DiagnosticPorts=str(port)) as started:
        assert started.wait(60) == 0
    assert collect.stderr is not None
    assert "process ended" in collect.stderr.read()
    assert collect.wait(60) == 0
    collect.stderr.close()
    with clrevents.open(path) as trace:
        assert next(trace.events("RuntimeInformationStart"))
    assert not port.exists()


@BOTH
def test_a_crash_leaves_a_file_that_can_be_read(runtime: Runtime, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    with running(runtime, "6", "crash") as started:
        done = clrevents_run("collect", "-p", started.pid, "-o", path)
    assert done.returncode == 3
    assert "killed or crashed" in done.stderr
    found = state_of(path)
    assert found.readable
    assert found.events > 10
    assert not found.end


@BOTH
def test_an_exit_leaves_a_whole_file(runtime: Runtime, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    with running(runtime, "6") as started:
        done = clrevents_run("collect", "-p", started.pid, "-o", path)
    assert done.returncode == 0, done.stderr
    assert state_of(path).end


def test_a_ring_and_an_event_that_ends_it(tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    with running(NET8, "60") as started:
        done = clrevents_run("collect", "-p", started.pid, "--for", "gc", "--rotate", "1s", "--keep", 3,
                             "--until", "GCStart:Depth=2", "--after", "3s", "-o", ring)  # fmt: skip
        assert done.returncode == 0, done.stderr
    files = sorted(ring.iterdir())
    assert 2 <= len(files) <= 3
    for file in files:
        found = state_of(file)
        assert found.end
        assert found.events > 100
    assert "GCStart came" in done.stderr


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for it: what fitted is there, and can be read."""
    path = tmp_path / "a.nettrace"
    with running(NET8, "60") as started:
        done = subprocess.run(
            ["sh", "-c", 'ulimit -f 200; exec "$@"', "-", *clrevents_command("collect", "-p", started.pid, "-o", path)],
            capture_output=True, text=True, env=environment(), timeout=60,
        )  # fmt: skip
        assert started.poll() is None
    assert done.returncode == 2, done.stderr
    assert "could not be written further (File too large)" in done.stderr
    found = state_of(path)
    assert found.readable
    assert found.events > 100


def test_in_an_event_loop() -> None:
    async def watch(pid: int) -> int:
        count = 0
        async with AsyncSession(pid, "ExceptionThrown", duration=2) as session:
            async for batch in session:
                count += len(batch)
        assert session.end == "stopped"
        return count

    with running(NET8, "60") as started:
        assert asyncio.run(watch(started.pid)) > 20


STOPS = int(os.environ.get("CLREVENTS_STOPS", "5"))
"""One of each way; fifty take three minutes more, and are for a change of how recordings end."""
_WAYS = ("SIGINT", "SIGTERM", "SIGINT twice", "target killed", "collector killed")


def test_stops_at_random_moments(tmp_path: Path, record_property: Any) -> None:
    """Every file can be read, or is empty and said to be so; and what it lacks is said."""
    draw = random.Random(int(os.environ.get("CLREVENTS_STOPS_SEED", "40")))
    table = []
    for number in range(STOPS):
        way = _WAYS[number % len(_WAYS)]
        runtime = NET31 if number % 4 == 3 else NET8
        table.append(stopped(tmp_path / f"{number}.nettrace", runtime, way, draw.uniform(0.0, 1.6)))
    record_property("stops", "\n".join(table))
    print("\n".join(table))
    assert len(table) == STOPS


def stopped(path: Path, runtime: Runtime, way: str, moment: float) -> str:
    """One recording that is stopped in a way, after so long; a line about it."""
    with running(runtime, "60") as started:
        collect = subprocess.Popen(
            clrevents_command("collect", "-p", started.pid, "-o", path),
            stderr=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip
        assert collect.stderr is not None
        # Until it records: before that there is nothing to lose, and Python itself ends at a signal.
        assert "recording" in collect.stderr.readline()
        time.sleep(moment)
        match way:
            case "SIGINT" | "SIGTERM":
                collect.send_signal(getattr(signal, way))
            case "SIGINT twice":
                collect.send_signal(signal.SIGINT)
                collect.send_signal(signal.SIGINT)
            case "target killed":
                started.kill()
            case _:
                collect.kill()
        said = collect.stderr.read()
        code = collect.wait(60)
        collect.stderr.close()
        lives = started.poll() is None
    found = state_of(path)
    assert found.readable, (way, moment, found)
    assert lives or way == "target killed"
    match way:
        case "SIGINT" | "SIGTERM":
            assert (code, found.end) == (0, True), said
        case "SIGINT twice":
            assert code in (0, 130), said
            assert found.end == (code == 0), said
        case "target killed":
            assert code == 3, said
            assert "killed or crashed" in said or "connection broke" in said
        case _:
            assert code == -signal.SIGKILL
    if code in (3, 130):
        assert "missing" in said
    if not found.bytes and code >= 0:
        assert "empty: no event came" in said
    return (
        f"{path.stem:>3} {runtime.name:<6} {way:<17} after {moment:.2f} s: exit {code:>3}, {found.bytes:>9,} bytes, "
        f"{found.events:>6,} events, {'whole' if found.end else 'without its end'}"
    )
