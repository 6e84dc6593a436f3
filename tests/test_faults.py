"""Writers that fail: a few injections of each fault, at moments that a seed chooses; tools/faults.py makes hundreds."""

from __future__ import annotations

import sys
from typing import Final

import pytest

from project_files import tool

PARTS: Final = {
    "fleet": ("SIGINT", "SIGKILL", "worker killed", "full disk"),
    "shares": ("SIGINT", "worker killed", "full disk", "trace grows"),
    "report": ("full disk", "trace shrinks"),
    "cut": ("SIGKILL", "folder vanishes", "read-only", "trace replaced"),
}


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="needs signals, limits and /proc")
@pytest.mark.parametrize("writer", PARTS)
def test_nothing_is_lost_and_nothing_half_written(writer: str) -> None:
    lines: list[str] = []
    assert tool("faults").run([writer], PARTS[writer], 1, 1, lines.append) == []
    assert lines
