"""A script without a main guard that asks many traces runs once, though processes import what they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_runs import printed
from project_files import fixture, unpacked

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
    assert printed(tmp_path / "script.py") == "runs\n4 0 True\n"
