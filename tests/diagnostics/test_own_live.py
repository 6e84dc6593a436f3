"""A program with meters and event sources of its own, watched while it runs on .NET 8 and 11, and held against what it
does: a round in 0.1 s, with one order, one cart and one duration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dotnet_runtimes import NET8, NET11, NEWER, RUNTIMES, Runtime, clrevents_run, installed, json_lines, wait_for_socket
from project_files import without_shared

OWN = RUNTIMES / "apps" / "own" / "Own.dll"

pytestmark = [
    pytest.mark.full,
    pytest.mark.shared,
    pytest.mark.skipif(not OWN.exists(), reason=without_shared("a program of its own sources")),
]
BOTH = pytest.mark.parametrize("runtime", [NET8, NET11], ids=lambda runtime: runtime.name)


@contextmanager
def own(runtime: Runtime, seconds: float = 30) -> Iterator[subprocess.Popen[str]]:
    """The program while it runs; killed in the end."""
    started = subprocess.Popen(
        [str(installed(runtime).dotnet), str(OWN), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **NEWER},
    )
    try:
        wait_for_socket(started)
        yield started
    finally:
        started.kill()
        started.communicate()


@BOTH
def test_tail_says_why_a_source_writes_nothing(runtime: Runtime) -> None:
    with own(runtime) as program:
        narrow = clrevents_run("tail", "-p", program.pid, "Own-SameId/A", "Own-Orders/Order", "--json", "--duration=2s")
        whole = clrevents_run("tail", "-p", program.pid, "Own-SameId", "--json", "--duration=1s")
    reason = "clrevents: Own-SameId could not be recorded: Event B has ID 1 which is already in use."
    assert whole.stderr.splitlines() == [reason]
    # At the end it says besides that the event which was asked for never came.
    assert narrow.stderr.splitlines()[0] == reason
    assert {event["name"] for event in json_lines(narrow.stdout)} == {"Order"}
    assert [event["name"] for event in json_lines(whole.stdout)] == ["EventSourceMessage"]
