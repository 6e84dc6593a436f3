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
# Those that take most of any family, and one for each other way of reading.
WORST: Final = (
    "counts", "frames", "tables", "reports", "facts", "decoder", "$ info --json", "$ events", "$ events --stacks",
    "$ check", "$ export", "$ export jsonl", "$ query stacks", "$ cut", "$ redact", "$ flame E", "$ top E",
)  # fmt: skip
pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits count from what /proc says"),
    pytest.mark.skipif(clrevents.engine() != "compiled", reason="the interpreted engine's cost is counted elsewhere"),
]


def limited(path: Path, mode: str, *names: str, seconds: int = SECONDS, room: int = BYTES) -> list[str]:
    """Those of these uses that a limited process came to the end of."""
    script = ROOT / "tests" / "support" / "costly_uses.py"
    command = [sys.executable, str(script), str(seconds), str(room), mode, str(path), *names]
    search = os.pathsep.join((str(SOURCE.parent), str(script.parent)))
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("mode", ["report", "salvage"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_within_limits(family: Family, mode: str, tmp_path: Path) -> None:
    path = tmp_path / f"trace{family.suffix}"
    path.write_bytes(family.make(family.small))
    names = WORST if mode == "salvage" else ("events", "reports", "$ info", "$ events --json")
    assert limited(path, mode, *names) == [*names]


def test_the_limits_are_limits(tmp_path: Path) -> None:
    path = tmp_path / "trace.nettrace"
    path.write_bytes(next(each for each in FAMILIES if each.name == "wide-kinds").make(20))
    assert limited(path, "salvage", "list", "list", seconds=10, room=20_000_000) == []
    assert len(limited(path, "salvage", *["tables"] * 40, seconds=0)) < 40
    assert set(WORST) <= set(USES)
