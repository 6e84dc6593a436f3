"""Events that a runtime is to leave out, and a buffer that is full: on .NET 11, and on 8, which cannot and says so."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

import clrevents
from clrevents.diagnostics import find_process
from clrevents.diagnostics.channel import Channel
from clrevents.diagnostics.driving import run
from clrevents.diagnostics.providers import Provider
from clrevents.diagnostics.runtime_requests import SessionSettings
from dotnet_runtimes import NET8, NET11, Runtime, clrevents_run, running

pytestmark = [pytest.mark.full, pytest.mark.shared]
SOURCE = "Clrevents-Busy"
RUNTIME = "Microsoft-Windows-DotNETRuntime"


@pytest.mark.parametrize(
    ("options", "only", "never"),
    [
        (
            ["--events", f"GCStart,GCEnd,ExceptionThrown,{SOURCE}/1"],
            {"GCStart", "GCEnd", "ExceptionThrown", "Tick"},
            (),
        ),
        (["--for", "gc,exceptions", "--without", "GCHeapStats,Exception*"], set(), ("GCHeapStats", "ExceptionThrown")),
    ],
    ids=["only", "without"],
)
@pytest.mark.parametrize("runtime", [NET8, NET11], ids=lambda runtime: runtime.name)
def test_filters_are_exact(
    runtime: Runtime, options: list[str], only: set[str], never: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "a.nettrace"
    with running(runtime, "60") as program:
        done = clrevents_run("collect", "-p", program.pid, *options, "--duration", "3s", "-o", path)
    assert done.returncode == 0, done.stderr
    with clrevents.open(path) as trace:
        kinds = Counter(event.name for event in trace.events() if event.provider in (RUNTIME, SOURCE))
        marks = list(trace.events("clrevents/EventsFiltered"))
    assert kinds["GCStart"] > 5
    filtered = runtime is NET11
    assert ("cannot leave out single events" in done.stderr) != filtered
    assert bool(marks) == filtered
    if only:
        assert (set(kinds) == only) == filtered
    for name in never:
        assert (kinds[name] == 0) == filtered
    assert min(kinds[name] for name in only or {"GCEnd"}) > 5


def test_a_full_buffer_loses_nothing_if_threads_wait() -> None:
    """The same flood of numbered events, a buffer of 1 MB, and a reader that takes 3 MB a second. What a thread writes
    while the session ends may be lost, and is behind the last number."""
    gaps = {}
    for blocks in (True, False):
        with running(NET11, "60", "loud") as program:
            settings = SessionSettings((Provider(SOURCE),), 1, rundown=False, blocks=blocks)
            channel = run(Channel.opened(find_process(program.pid).endpoint, settings), "a recording")
            assert channel.unmet == []
            decoder, began, size = clrevents.Decoder(f"{SOURCE}/Loud", symbols=False), time.monotonic(), 0
            numbers: list[int] = []
            while data := channel.receive(5) or b"":
                size += len(data)
                numbers += [event.payload.number for batch in decoder.feed(data) for event in batch]
                if time.monotonic() - began < 3:
                    time.sleep(max(0.0, size / 3e6 - (time.monotonic() - began)))
                else:
                    run(channel.stop(), "the end")
            numbers += [event.payload.number for batch in decoder.close() for event in batch]
        assert len(numbers) > 10_000
        gaps[blocks] = numbers[-1] - numbers[0] + 1 - len(numbers)
    assert gaps[True] == 0
    assert gaps[False] > 1000
