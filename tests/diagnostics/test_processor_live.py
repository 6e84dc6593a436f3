"""Processor time of real programs: all of it is in the file, on their own threads, however they run and end; and what
the runtime wrote is read as without it, also by the official tools.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

import clrevents
from clrevents.diagnostics import Process, find_process
from clrevents.diagnostics.process_counts import ProcessCounts, Uncountable
from clrevents.diagnostics.profiles import joined_profiles
from clrevents.diagnostics.recorder import RecordedFile, Recorder, RecordingPlan
from clrevents.diagnostics.runtime_requests import SessionSettings
from clrevents.rewrite import cut, redact
from clrevents.schema.own_marks import OWN_THREAD
from clrevents.schema.registry import OWN
from damage import Blocks
from dotnet_runtimes import NET8, NET11, NEWER, Runtime, hosted, started
from official_reader import official_reading, official_stacks, shared_archive
from project_files import SHARED

pytestmark = [pytest.mark.full, pytest.mark.shared]
BOTH = pytest.mark.parametrize("runtime", [NET8, NET11], ids=lambda runtime: runtime.name)
BURN: Final = SHARED / "runtimes" / "apps" / "burn" / "Burn.dll"
SETTINGS: Final = SessionSettings(joined_profiles(["cpu"]).providers, 64)


def burning(
    runtime: Runtime, folder: Path, seconds: int, threads: int = 3, wait: int = 400, prefix: tuple[str, ...] = ()
) -> AbstractContextManager[subprocess.Popen[str]]:
    """The program that burns processor time, past its start."""
    command = [*prefix, *hosted(runtime, BURN, seconds, 7, folder / "truth.jsonl")]
    return started(command, "pid ", WAIT=str(wait), THREADS=str(threads))


def recorded(process: Process, path: Path, plan: RecordingPlan) -> RecordedFile:
    recorder = Recorder(process, SETTINGS, iter([path]), plan)
    recorder.start()
    (file,) = recorder.run()
    return file


def clock_ns(pid: int) -> int:
    return time.clock_gettime_ns((~pid << 3) | 2)


@attrs.frozen
class Counts:
    """What the events of a file add up to, in nanoseconds."""

    process: int
    threads: Counter[int]
    names: dict[int, str]
    ended: set[int]

    @classmethod
    def of(cls, path: Path, start: str | None = None, end: str | None = None) -> Counts:
        process, threads = 0, Counter[int]()
        names: dict[int, str] = {}
        ended: set[int] = set()
        with clrevents.open(path) as trace:
            assert OWN_THREAD not in {thread.thread_id for thread in trace.threads}
            for event in trace.events("clrevents/*", start=start, end=end):
                said: Any = event.payload
                match event.name:
                    case "ProcessorTime":
                        assert min(said.ProcessorNs, said.ReadyNs, said.Timeslices) >= 0
                        threads[said.OSThreadID] += said.ProcessorNs
                    case "ThreadName":
                        names[said.OSThreadID] = said.Name
                    case "ThreadEnd":
                        ended.add(said.OSThreadID)
                    case "ProcessProcessorTime":
                        process += said.ProcessorNs
        return cls(process, threads, names, ended)


@BOTH
def test_all_of_it_is_in_the_file(runtime: Runtime, tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    with burning(runtime, tmp_path, 2) as program:
        before = clock_ns(program.pid)
        file = recorded(find_process(program.pid), path, RecordingPlan(processor=0.05))
        _, code, used = os.wait4(program.pid, 0)
        program.returncode = code
    assert (file.complete, file.uncounted, code) == (True, None, 0)
    counts = Counts.of(path)
    whole = (used.ru_utime + used.ru_stime) * 1e9 - before
    # What it did between the two first readings, and after the end of the recording.
    assert counts.process == pytest.approx(whole, rel=0.01, abs=60e6)
    assert 0.8 * counts.process < counts.threads.total() <= counts.process
    workers = {thread for thread, name in counts.names.items() if name.startswith("Worker ")}
    assert len(workers) == 3
    assert workers <= counts.ended
    truth: Counter[int] = Counter()
    for thread, nanoseconds in re.findall(r'"thread":(\d+).*?"cpu_ns":(\d+)', (tmp_path / "truth.jsonl").read_text()):
        truth[int(thread)] += int(nanoseconds)
    assert truth.keys() == workers
    for thread, nanoseconds in truth.items():
        assert counts.threads[thread] == pytest.approx(nanoseconds, rel=0.05, abs=60e6)
    assert ".NET EventPipe" in counts.names.values()


@BOTH
def test_others_read_it_as_without(runtime: Runtime, tmp_path: Path) -> None:
    path, plain = tmp_path / "a.nettrace", tmp_path / "plain.nettrace"
    with burning(runtime, tmp_path, 1) as program:
        recorded(find_process(program.pid), path, RecordingPlan(processor=0.02))
    plain.write_bytes(without_ours(path.read_bytes()))
    with clrevents.open(path) as trace, clrevents.open(plain) as before:
        assert list(trace.problems) == list(before.problems) == []
        assert [row(e) for e in trace.events() if e.provider != OWN] == [row(e) for e in before.events()]
        ours = trace.event_counts()
    ours = sum(count for kind, count in ours.items() if kind.provider == OWN)
    assert ours > 100
    after, read = official_reading(path, tmp_path), official_reading(plain, tmp_path)
    assert (
        (after.error, after.lost, after.events)
        == (read.error, read.lost, read.events + ours)
        == (None, 0, after.events)
    )
    assert [row for row in after.rows if row["provider"] != OWN] == read.rows
    assert official_stacks(path, tmp_path) == official_stacks(plain, tmp_path)
    assert top(path) == top(plain)
    for layout in ("speedscope", "chromium") if runtime is NET11 else ():
        assert converted(path, layout) == converted(plain, layout)


def row(event: Any) -> tuple[Any, ...]:
    return event.name, event.time_ns, event.thread_id, event.payload_bytes, tuple(event.stack)


def top(path: Path) -> str:
    """What the official tool shows as the methods on top."""
    return official("report", path, "topN", "-n", "20")


def converted(path: Path, layout: str) -> dict[str, Any]:
    """What the official tool makes of a trace, but for the file's name."""
    out = path.with_suffix(".converted")
    official("convert", path, "--format", layout, "-o", out)
    (made,) = out.parent.glob(f"{out.stem}*.{layout}.json")
    found: dict[str, Any] = json.loads(made.read_text())
    made.unlink()
    found.get("otherData", found).pop("name")
    return found


def official(*words: Any) -> str:
    """What the official tool prints."""
    tool = shared_archive("tools") / "dotnet-trace" / "dotnet-trace.dll"
    command = [shared_archive("net11") / "dotnet", tool, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **NEWER})
    assert not done.returncode, done.stderr
    return done.stdout


def without_ours(data: bytes) -> bytes:
    """The stream as it came from the runtime: without the blocks whose first event, or description, is ours."""
    kept = []
    for block in Blocks(data).all:
        body = data[block.start : block.end]
        at = 20 + len(block.name) + -(block.start + 20 + len(block.name)) % 4
        size = struct.unpack_from("<H", body, at)[0] if block.name in ("EventBlock", "MetadataBlock") else 0
        first = body[at + size + 1 : at + size + 6]
        ours = block.name == "EventBlock" and first[4:] == b"\7" and first[3] == 0xF8
        if not ours and not (block.name == "MetadataBlock" and "ProcessorCounting".encode("utf-16-le") in body):
            kept.append(body)
    return b"".join(kept)


def test_a_program_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    with burning(NET11, tmp_path, 30, wait=100) as program:
        before = clock_ns(program.pid)
        process = find_process(program.pid)
        recorder = Recorder(process, SETTINGS, iter([path]), RecordingPlan(processor=0.05))
        recorder.start()
        threading.Timer(1.5, program.kill).start()
        (file,) = recorder.run()
        # Nobody has waited for it yet, so its clock has everything, also the time that it took to end.
        whole = clock_ns(program.pid) - before
    assert (file.complete, file.end) == (False, "ended")
    assert Counts.of(path).process == pytest.approx(whole, rel=0.02, abs=200e6)


def test_a_program_that_ends_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    command = [sys.executable, "-m", "clrevents", "collect", "--profile", "cpu", "-o", str(path), "--"]
    program = hosted(NET11, BURN, 0, 7, tmp_path / "truth.jsonl")
    done = subprocess.run([*command, *program], env={**os.environ, **NEWER, "WAIT": "0"}, timeout=120, check=False)
    assert done.returncode == 0
    counts = Counts.of(path)
    assert 10e6 < counts.threads.total() <= counts.process < 10e9
    assert counts.names


def test_many_threads_and_short_ones(tmp_path: Path) -> None:
    """Ended threads take their last counts with them; the process's clock has them."""
    path = tmp_path / "a.nettrace"
    clock: list[tuple[int, int]] = []
    with burning(NET11, tmp_path, 2, threads=300, wait=300) as program:
        process = find_process(program.pid)
        enough = threading.Event()

        def read() -> None:
            with suppress(OSError):
                while not enough.wait(0.002):
                    clock.append((time.monotonic_ns(), clock_ns(program.pid)))

        reader = threading.Thread(target=read)
        reader.start()
        recorded(process, path, RecordingPlan(processor=0.05))
        enough.set()
        reader.join()
    counts = Counts.of(path)
    with clrevents.open(path) as trace:
        rows = trace.table("clrevents/ProcessProcessorTime")
        times = rows["time_ns"].astype("int64") + trace.info.sync_qpc
        first, last = int(times[0] - rows["IntervalNs"][0]), int(times[-1])
        threads, top = trace.report("threads"), trace.report("top")
    near = [min(clock, key=lambda read: abs(read[0] - moment))[1] for moment in (first, last)]
    # The clock of a process moves in ticks, of 4 ms here, and is read by others at another moment.
    assert counts.process == pytest.approx(near[1] - near[0], rel=0.01, abs=20e6)
    assert threads.metrics["processor_total"].value == counts.process
    workers = {thread for thread, name in counts.names.items() if name.startswith("Worker ")}
    assert len(workers) > 20
    assert counts.threads.total() < counts.process
    (unassigned,) = [note.numbers["unassigned_ns"] for note in top.notes if note.id == "unassigned"]
    assert sum(row.processor_ns for row in top.methods) + unassigned == counts.process


def test_parts_of_a_recording_add_up(tmp_path: Path) -> None:
    path = tmp_path / "a.nettrace"
    with burning(NET11, tmp_path, 1) as program:
        recorded(find_process(program.pid), path, RecordingPlan(processor=0.02))
    whole = Counts.of(path)
    with clrevents.open(path) as trace:
        cut(trace, tmp_path / "first", end="40%")
        cut(trace, tmp_path / "second", start="40%")
        redact(trace, tmp_path / "redacted")
    first, second, redacted = (Counts.of(tmp_path / name) for name in ("first", "second", "redacted"))
    assert first.process + second.process == whole.process == redacted.process
    assert first.threads + second.threads == whole.threads == redacted.threads
    assert second.names.items() <= whole.names.items()
    assert second.threads.keys() <= second.names.keys()
    kept = {name for thread, name in redacted.names.items() if name == whole.names[thread]}
    assert kept <= {"dotnet", *(name for name in whole.names.values() if name.startswith(".NET "))}
    assert ".NET EventPipe" in kept


def test_the_first_process_of_a_namespace(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "-pf", "true"], check=False).returncode:
        pytest.skip("needs the right to make a namespace of processes")
    # The path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="clr") as folder:
        prefix = ("env", f"TMPDIR={folder}", "unshare", "-pf", "--kill-child", "--mount-proc")
        with burning(NET11, tmp_path, 2, prefix=prefix):
            (socket,) = Path(folder).glob("dotnet-diagnostic-1-*-socket")
            path = tmp_path / "a.nettrace"
            file = recorded(Process.at(str(socket)), path, RecordingPlan(processor=0.05))
    assert (file.complete, file.uncounted) == (True, None)
    counts = Counts.of(path)
    with clrevents.open(path) as trace:
        assert trace.info.process_id == 1
        sampled = {event.thread_id for event in trace.events("ThreadSample")}
    assert sampled & counts.threads.keys() == sampled
    assert max(counts.threads) < 200


def test_a_limit_stops_the_program(tmp_path: Path) -> None:
    group = Path(f"/sys/fs/cgroup/cpu/clrevents-{os.getpid()}")
    try:
        group.mkdir()
        (group / "cpu.cfs_quota_us").write_text("40000")
    except OSError:
        pytest.skip("needs the right to make a control group (version 1)")
    path = tmp_path / "a.nettrace"
    try:
        prefix = ("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh")
        with burning(NET11, tmp_path, 2, prefix=prefix) as program:
            recorded(find_process(program.pid), path, RecordingPlan(processor=0.05))
            program.wait(30)
    finally:
        group.rmdir()
    with clrevents.open(path) as trace:
        table = trace.table("clrevents/ProcessLimits")
    assert set(table["QuotaNs"]) == {40_000_000}
    assert set(table["PeriodNs"]) == {100_000_000}
    # On a busy machine others stop it before the limit does.
    assert 0 < sum(table["ThrottledPeriods"]) <= sum(table["Periods"])
    assert sum(table["ThrottledNs"]) > 0


def test_a_proc_that_hides_the_process_is_said(tmp_path: Path) -> None:
    """With `hidepid`, who may not trace a process does not see it; its port may still be open."""
    mount = "mount -t proc -o hidepid=2 proc /proc"
    hidden = f'{mount} && exec setpriv --regid=12 --clear-groups --bounding-set=-sys_ptrace "$@"'
    inside = ("unshare", "-m", "sh", "-c", hidden, "sh")
    if (
        shutil.which("setpriv") is None
        or subprocess.run([*inside, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("needs the right to mount /proc")
    path = tmp_path / "a.nettrace"
    folder = tempfile.TemporaryDirectory(prefix="clr")
    with folder, burning(NET11, tmp_path, 1, wait=1500, prefix=("env", f"TMPDIR={folder.name}")) as program:
        (socket,) = Path(folder.name).glob("dotnet-diagnostic-*-socket")
        command = [*inside, sys.executable, "-m", "clrevents", "collect", "--dport", f"{socket},connect"]
        command += ["--profile", "cpu", "-o", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert f"processor time was not recorded: /proc does not show process {program.pid}\n" in done.stderr
    with clrevents.open(path) as trace:
        assert {kind.provider for kind in trace.event_counts()} & {OWN} == set()
        assert trace.report("top").methods[0].processor_ns is None
        assert list(trace.problems) == []


def test_what_cannot_be_seen_is_said() -> None:
    with pytest.raises(Uncountable, match="does not show process"):
        ProcessCounts(1 << 30)
