"""`mypy --strict` on a script whose types and mistakes are written down beside each line.

For the library itself it is a step of `.ci/run`, and has the same cache.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from project_files import ROOT, SOURCE

pytestmark = pytest.mark.full

SCRIPT = Path(__file__).with_name("public_calls.py")


def mypy(*arguments: str) -> str:
    """What a strict run says, by the project's own settings."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *arguments],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(SOURCE.parent), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not done.stderr
    return done.stdout


def test_public_calls_reveal_their_types() -> None:
    """Every `reveal_type` gives the type after it, every mistake its error, and nothing else is said."""
    expected: dict[int, str] = {}
    for number, line in enumerate(SCRIPT.read_text(encoding="utf-8").splitlines(), 1):
        if "  # -> " in line:
            expected[number] = line.partition("  # -> ")[2]
        elif "  # error: " in line:
            expected[number] = "error " + line.partition("  # error: ")[2]
        else:
            assert "reveal_type(" not in line
    found: dict[int, str] = {}
    for line in mypy(str(SCRIPT)).splitlines():
        match = re.fullmatch(r".*public_calls\.py:(\d+): (note|error): (.*)", line)
        assert match, line
        revealed = re.fullmatch(r'Revealed type is "(.*)"', match[3])
        if revealed:
            found[int(match[1])] = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", revealed[1])
        elif match[2] == "error":
            found[int(match[1])] = f"error {match[3].rpartition('[')[2].rstrip(']')}"
    assert found == expected
    assert len(expected) > 65


def test_the_package_says_that_it_is_typed() -> None:
    assert (SOURCE / "py.typed").exists()
