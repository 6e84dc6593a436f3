"""The official reader, TraceEvent 4.0 on .NET 11, as a program: what it makes of a trace.

Both are unpacked once from `../shared/runtimes` into the cache of runtimes; tests that need them are skipped elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest

from dotnet_runtimes import PLACE
from project_files import SHARED, without_shared


@attrs.frozen
class OfficialReading:
    """Its counts of events and lost ones, the error that ended it, and all events as it delivers them."""

    events: int
    lost: int
    error: str | None
    rows: list[dict[str, Any]]


@cache
def shared_archive(name: str) -> Path:
    """The folder with the content of an archive of `../shared/runtimes`."""
    archive = SHARED / "runtimes" / f"{name}.tar.xz"
    if not archive.exists():
        pytest.skip(without_shared(f"runtimes/{name}.tar.xz"))
    import fcntl

    folder = PLACE / f"shared-{name}"
    PLACE.mkdir(parents=True, exist_ok=True)
    with open(PLACE / "lock", "w") as lock:
        # Tests of several processes want it at once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            with tarfile.open(archive) as content:
                content.extractall(folder, filter="data")
            (folder / "ready").touch()
    return folder


def _run(*arguments: str | Path) -> str:
    command = [shared_archive("net11") / "dotnet", shared_archive("tools") / "oracle" / "oracle.dll", *arguments]
    environment = {**os.environ, "DOTNET_ROLL_FORWARD": "Major", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    environment.pop("DOTNET_ROOT", None)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert not done.returncode, done.stderr
    return done.stdout


def official_reading(path: Path, folder: Path) -> OfficialReading:
    """What it reads of a trace; `folder` is for its output."""
    said = json.loads(_run("dump", path, folder / "dump.jsonl"))
    with open(folder / "dump.jsonl", encoding="utf-8") as lines:
        return OfficialReading(said["events"], said["lost"], said["error"], [json.loads(line) for line in lines])


def official_stacks(path: Path, folder: Path) -> list[tuple[Any, ...]]:
    """Provider, id, milliseconds, thread and addresses of each event that has a stack, in order."""
    _run("stacks", path, folder / "stacks.jsonl")
    stacks: dict[int, tuple[str, ...]] = {}
    rows: list[tuple[Any, ...]] = []
    with open(folder / "stacks.jsonl", encoding="utf-8") as lines:
        for value in map(json.loads, lines):
            if isinstance(value, dict):
                stacks[value["stack"]] = tuple(frame[0] for frame in value["frames"])
            else:
                rows.append((*value[:4], stacks.get(value[4], ())))
    return rows
