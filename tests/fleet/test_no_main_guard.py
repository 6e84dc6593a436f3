"""A script without a main guard that asks many traces runs once, though processes import what they need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from project_files import ROOT, fixture, unpacked

SCRIPT = """
import multiprocessing, operator, threading
print("runs")
import clrevents
threading.Thread(target=threading.Event().wait, daemon=True).start()
with clrevents.open_many({folder!r}, jobs=2) as traces:
    found = list(traces.each(operator.attrgetter("info.processors")))
    print(len(found), len(traces.problems), bool(multiprocessing.active_children()))
"""


@pytest.mark.full
def test_it_runs_once(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    data = unpacked(fixture("net10-convoy"))
    for number in range(4):
        (folder / f"{number}.nettrace").write_bytes(data)
    (tmp_path / "script.py").write_text(SCRIPT.format(folder=str(folder)))
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert (done.returncode, done.stdout) == (0, "runs\n4 0 True\n"), done.stderr
