"""Every kind of costly stream, read in every way, in a process that may take ten seconds for each and 600 MB.

The sizes are those that take a moment when all is well; `benchmarks/cost.py` measures larger ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

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


def limited(path: Path, mode: str, *names: str, seconds: int = SECONDS, room: int = BYTES) -> list[str]:
    """Those of these uses that a limited process came to the end of."""
    script = ROOT / "tests" / "support" / "costs" / "costly_uses.py"
    command = [sys.executable, str(script), str(seconds), str(room), mode, str(path), *names]
    search = os.pathsep.join((str(SOURCE.parent), str(script.parent)))
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("mode", WORST)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_within_limits(family: Family, mode: str, tmp_path: Path) -> None:
    path = tmp_path / f"trace{family.suffix}"
    path.write_bytes(family.make(family.small))
    assert limited(path, mode, *WORST[mode]) == [*WORST[mode]]


def test_the_limits_are_limits(tmp_path: Path) -> None:
    path = tmp_path / "trace.nettrace"
    path.write_bytes(next(each for each in FAMILIES if each.name == "small-blocks").make(400_000))
    assert limited(path, "report", "counts", seconds=10) == ["counts"]
    assert limited(path, "report", "list", seconds=10, room=3_000_000) == []
    assert limited(path, "report", *["list"] * 40, seconds=0) != ["list"] * 40
    assert {name for names in WORST.values() for name in names} <= set(USES)
