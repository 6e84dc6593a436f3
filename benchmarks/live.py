"""What recording a running process costs: us beside a bare loop, our memory, and the program that is recorded.

    python benchmarks/live.py relay [TRACE] [--size 1G] [--times 5]
    python benchmarks/live.py memory [TRACE] [--size 1G]
    python benchmarks/live.py slowdown --dotnet DOTNET --program Busy.dll [--seconds 10]

`relay` has another process send a stream as fast as it goes, and compares `collect` with a loop that only receives and
writes. `memory` records the same stream and decodes all its events live, and tells the peak of both. `slowdown` runs a
program that counts what it does, with each profile and without one.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TypeAlias

from memory import SEED, SOURCE, Repeated, _bytes, load, peak

BUFFER = 1 << 20
Cost: TypeAlias = tuple[float, float]
"""Seconds on the clock, and of the processor."""


def serve(path: str, trace: str) -> None:
    """A process of its own: answers a request for a session, sends a file, and goes on to the next one."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(4)
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                request = connection.recv(BUFFER)
                answer = struct.pack("<Q", 7)
                connection.sendall(b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 28, 0xFF, 0, 0) + answer)
                if request[16:18] != b"\2\1":
                    with open(trace, "rb") as file:
                        connection.sendfile(file)


class Sender:
    """That process, with a stream of this size."""

    def __init__(self, trace: Path, size: int) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.socket = f"{self._folder.name}/socket"
        self.stream = Path(self._folder.name) / "stream"
        self.out = Path(self._folder.name) / "out.nettrace"
        with self.stream.open("wb") as file:
            file.writelines(Repeated(load(trace)).stream(size))
        command = [sys.executable, __file__, "serve", self.socket, str(self.stream)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def bare(sender: Sender) -> Cost:
    """Receive and write, and nothing else."""
    began = time.perf_counter(), time.process_time()
    buffer = memoryview(bytearray(BUFFER))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sender.socket)
        connection.sendall(b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20, 2, 3, 0))
        file = os.open(sender.out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        connection.recv(28)
        while size := connection.recv_into(buffer):
            os.write(file, buffer[:size])
        os.fsync(file)
        os.close(file)
    return time.perf_counter() - began[0], time.process_time() - began[1]


def collect(sender: Sender) -> Cost:
    """What `clrevents collect` does, counting included."""
    from clrevents.diagnostics import Process, Provider
    from clrevents.diagnostics.recorder import Recorder, RecordingPlan
    from clrevents.diagnostics.runtime_requests import SessionSettings
    from clrevents.diagnostics.transports import endpoint_at

    began = time.perf_counter(), time.process_time()
    process = Process(1, endpoint_at(sender.socket))
    recorder = Recorder(process, SessionSettings((Provider("runtime"),)), iter([sender.out]), RecordingPlan())
    recorder.start()
    (file,) = recorder.run()
    took = time.perf_counter() - began[0], time.process_time() - began[1]
    assert file.bytes == sender.stream.stat().st_size, file
    assert file.complete
    return took


def relay(trace: Path, size: int, times: int) -> None:
    with Sender(trace, size) as sender:
        bare(sender)
        pairs = []
        for _ in range(times):
            sender.out.unlink()
            first = bare(sender)
            sender.out.unlink()
            pairs.append((first, collect(sender)))
        print(f"{sender.stream.stat().st_size / 1e6:,.0f} MB, median of {times} pairs:")
        for name, which in (("on the clock", 0), ("of the processor", 1)):
            loop, ours = (statistics.median(cost[which] for cost in costs) for costs in zip(*pairs, strict=True))
            ratios = sorted(b[which] / a[which] for a, b in pairs)
            shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(
                f"    {name}: loop {loop:.2f} s, collect {ours:.2f} s, {statistics.median(ratios):.2f} times ({shown})"
            )


def memory(trace: Path, size: int) -> None:
    with Sender(trace, size) as sender:
        for what in ("collect", "session"):
            command = [sys.executable, __file__, what, sender.socket, str(sender.out)]
            subprocess.run(command, check=True)


def one_collect(path: str, out: str) -> None:
    from clrevents.diagnostics import Process, Provider
    from clrevents.diagnostics.recorder import Progress, Recorder, RecordingPlan
    from clrevents.diagnostics.runtime_requests import SessionSettings
    from clrevents.diagnostics.transports import endpoint_at

    recorder = Recorder(
        Process(1, endpoint_at(path)), SessionSettings((Provider("runtime"),)), iter([Path(out)]), RecordingPlan()
    )
    recorder.start()
    steps = Steps("collect")

    def tell(progress: Progress) -> None:
        steps.tell(progress.bytes)

    (file,) = recorder.run(tell)
    print(f"collect: {file.bytes / 1e6:,.0f} MB, {file.events:,} events, peak {peak() / 1e6:.1f} MB")


class Steps:
    """The peak after each quarter of a gigabyte."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._told = 0

    def tell(self, done: int) -> None:
        if done - self._told >= 1 << 28:
            self._told = done
            print(f"    {self._what} after {done / 1e6:,.0f} MB: peak {peak() / 1e6:.1f} MB", flush=True)


def one_session(path: str, out: str) -> None:
    from clrevents.diagnostics import Process, Session
    from clrevents.diagnostics.transports import endpoint_at

    events, steps = 0, Steps("session")
    began = time.perf_counter()
    with Session(Process(1, endpoint_at(path)), providers=["runtime"], record=out, symbols=False) as session:
        for batch in session:
            events += len(batch)
            steps.tell(session.bytes)
    took = time.perf_counter() - began
    print(f"session: {session.bytes / 1e6:,.0f} MB, {events:,} events in {took:.1f} s, peak {peak() / 1e6:.1f} MB")


def slowdown(dotnet: str, program: str, seconds: float, times: int) -> None:
    """What a turn of a program costs, with each profile and without; alternating, the median of each.

    In processor time of the thread that does the work: others on the machine matter little.
    """
    from clrevents.diagnostics import PROFILES

    names = [profile.name for profile in PROFILES if profile.name not in ("heap", "database")]
    done: dict[str | None, list[float]] = {}
    for name in [*[None, *names] * times]:
        done.setdefault(name, []).append(per_turn(dotnet, program, seconds, name))
    without = statistics.median(done[None])
    spread = [f"{cost / without - 1:+.1%}" for cost in sorted(done[None])]
    print(f"{without * 1e6:.2f} us of the processor for a turn without a recording ({', '.join(spread)})")
    for name in names:
        print(f"    {name:<28} {statistics.median(done[name]) / without - 1:+7.1%}", flush=True)


def per_turn(dotnet: str, program: str, seconds: float, profile: str | None) -> float:
    """Seconds of the processor that the program's one thread takes for a turn, by how many it says it made.

    The recording ends a moment before the program does: what is listed at its end costs once, however long it was.
    """
    from clrevents.diagnostics import Session

    started = subprocess.Popen([dotnet, program, str(seconds), "work"], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    if profile is not None:
        time.sleep(0.5)
        with Session(started.pid, profile=profile, reports=(), rundown=False, duration=seconds - 1) as session:
            for _ in session:
                pass
    turns = int(started.stdout.read().split()[-1])
    # It has ended and was not waited for: until then this can be asked.
    used = int(Path(f"/proc/{started.pid}/task/{started.pid}/schedstat").read_text().split()[0])
    started.wait()
    return used / 1e9 / turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    for name in ("relay", "memory"):
        found: Any = commands.add_parser(name)
        found.add_argument("trace", type=Path, nargs="?", default=SEED)
        found.add_argument("--size", default="1G")
        found.add_argument("--times", type=int, default=5)
    for name in ("serve", "collect", "session"):
        found = commands.add_parser(name)
        found.add_argument("socket")
        found.add_argument("file")
    found = commands.add_parser("slowdown")
    found.add_argument("--dotnet", required=True)
    found.add_argument("--program", required=True)
    found.add_argument("--seconds", type=float, default=10)
    found.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    sys.path.insert(0, str(SOURCE))
    match options.what:
        case "relay":
            relay(options.trace, _bytes(options.size), options.times)
        case "memory":
            memory(options.trace, _bytes(options.size))
        case "serve":
            serve(options.socket, options.file)
        case "collect":
            one_collect(options.socket, options.file)
        case "session":
            one_session(options.socket, options.file)
        case "slowdown":
            slowdown(options.dotnet, options.program, options.seconds, options.times)


if __name__ == "__main__":
    main()
