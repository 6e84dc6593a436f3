"""Every kind of costly stream, read in every way, in a process that may take ten seconds for each and 600 MB.

The sizes are those that take a moment when all is well; `benchmarks/cost.py` measures larger ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import clrevents
from costly_families import FAMILIES, Family
from costly_uses import USES
from project_files import ROOT, SOURCE

SECONDS: Final = 10
BYTES: Final = 600_000_000
# Those that take most of some family; together they read everything that there is to read.
WORST: Final[dict[str, tuple[str, ...]]] = {
    "salvage": ("reports", "$ events --stacks", "$ export", "$ query stacks", "$ redact", "$ top E"),
    "report": ("counts", "tables", "$ info --json"),
}
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits count from what /proc says"),
    pytest.mark.skipif(clrevents.engine() != "compiled", reason="the interpreted engine's cost is counted elsewhere"),
]


@pytest.fixture(scope="module")
def uses() -> Iterator[subprocess.Popen[str]]:
    """A process that has imported everything, and forks one for each request."""
    script = ROOT / "tests" / "support" / "costs" / "costly_uses.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(SOURCE.parent), str(script.parent)))}
    streams: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, str(script)], env=environment, text=True, **streams) as process:
        yield process


def limited(
    uses: subprocess.Popen[str], path: Path, mode: str, *names: str, seconds: int = SECONDS, room: int = BYTES
) -> list[str]:
    """Those of these uses that a limited process came to the end of."""
    assert uses.stdin
    assert uses.stdout
    print(json.dumps([seconds, room, mode, str(path), *names]), file=uses.stdin, flush=True)
    found: list[str] = json.loads(uses.stdout.readline())
    return found


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_within_limits(uses: subprocess.Popen[str], family: Family, tmp_path: Path) -> None:
    path = tmp_path / f"trace{family.suffix}"
    path.write_bytes(family.make(family.small))
    for mode, names in WORST.items():
        assert limited(uses, path, mode, *names) == [*names], mode


def test_the_limits_are_limits(uses: subprocess.Popen[str], tmp_path: Path) -> None:
    path = tmp_path / "trace.nettrace"
    path.write_bytes(next(each for each in FAMILIES if each.name == "small-blocks").make(400_000))
    assert limited(uses, path, "report", "counts", seconds=10) == ["counts"]
    assert limited(uses, path, "report", "list", seconds=10, room=3_000_000) == []
    assert limited(uses, path, "report", *["list"] * 40, seconds=0) != ["list"] * 40
    assert {name for names in WORST.values() for name in names} <= set(USES)
