"""What the tests of the command share: running it as a process, and traces to run it on."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_runs import environment
from project_files import without_shared

ROOT = Path(__file__).resolve().parents[2]
PLACES = (ROOT / "fixtures", ROOT.parent / "shared" / "traces" / "own")


@pytest.fixture
def command() -> list[str]:
    """How to start the command as a process of its own."""
    return [sys.executable, "-W", "error", "-m", "clrevents"]


@pytest.fixture
def process(command: list[str]) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run the command as a process."""

    def process(*args: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*command, *map(str, args)], capture_output=True, env=environment(), timeout=60, **options
        )

    return process


@pytest.fixture(scope="session")
def trace_path() -> Callable[[str], Path]:
    """The path of a capture of ours: a fixture, or one of the larger ones; skips where those are missing."""

    def trace_path(name: str) -> Path:
        for place in PLACES:
            path = place / f"{name}.gz"
            if path.exists():
                return path
        pytest.skip(without_shared(name))

    return trace_path


@pytest.fixture(scope="session")
def trace_bytes(trace_path: Callable[[str], Path]) -> Callable[[str], bytes]:
    """The same, decompressed."""
    return lambda name: gzip.decompress(trace_path(name).read_bytes())


@pytest.fixture
def on_terminal(command: list[str]) -> Callable[..., tuple[int, str]]:
    """Run the command with a terminal of a given width: its exit code, and all that the terminal got."""
    pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

    def on_terminal(*args: object, columns: int = 100) -> tuple[int, str]:
        environment_there = environment(COLUMNS=str(columns), TERM="xterm")
        environment_there.pop("NO_COLOR", None)
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [*command, *map(str, args)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment_there
        )
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not data:
                break
            shown += data
        os.close(ours)
        return child.wait(timeout=60), shown.decode()

    return on_terminal
