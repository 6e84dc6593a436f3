"""What a run says of tests that were skipped, and that it fails where nothing may be."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from project_files import ROOT

TESTS = """
import pytest
from project_files import without_shared

@pytest.mark.skip(reason=without_shared("traces"))
@pytest.mark.parametrize("n", range(3))
def test_on_a_trace(n): ...

def test_on_a_dump():
    pytest.skip(without_shared("a dump"))

def test_here(): ...
"""
BROWSER = """
import pytest

@pytest.mark.skipif(True, reason="needs a browser")
def test_in_a_browser(): ...

def test_without(): ...
"""
WITHOUT_SHARED = (
    "not run: 4 tests (4 decode) on traces and dumps that are not part of the project; docs/hacking.md says what to put"
    " at ../shared"
)
REFUSED = "SKIPPED, but everything is required:"
ONE_BROWSER = "not run: 1 test: needs a browser"


def outcome(folder: Path, *arguments: str, files: dict[str, str], require: bool = False) -> tuple[int, list[str]]:
    """Run these files with our conftest: the exit status, and the lines said of what was not run."""
    tests = folder / "tests"
    for name in ("conftest.py", "support/not_run.py", "support/project_files.py"):
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / name, tests / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, text in files.items():
        (tests / name).parent.mkdir(exist_ok=True)
        (tests / name).write_text(text, encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CLREVENTS_", "PYTEST_"))}
    environment["PYTHONPATH"] = os.fspath(ROOT / "src")
    if require:
        environment["CLREVENTS_REQUIRE_ALL"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "--full", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert re.search(r"\d+ passed, \d+ skipped", done.stdout), done.stdout
    said = [line for line in done.stdout.splitlines() if re.search("not run|skip", line, re.IGNORECASE)]
    return done.returncode, said[:-1]


@pytest.mark.parametrize("processes", [(), pytest.param(("-n", "2"), marks=pytest.mark.full)], ids=["one", "two"])
def test_one_line_says_what_needs_the_shared_material(tmp_path: Path, processes: tuple[str, ...]) -> None:
    """It is right that these are not run where it is missing, though everything is required; the test below has a run
    that requires nothing."""
    files = {"decode/test_a.py": TESTS}
    alone = tmp_path / "alone"
    assert outcome(alone, *processes, files=files, require=True) == (0, [WITHOUT_SHARED])
    (tmp_path / "shared").mkdir()
    status, said = outcome(alone, *processes, files=files, require=True)
    assert status == 1
    assert said[0] == WITHOUT_SHARED
    assert sorted(said[1:]) == [
        f"{REFUSED} tests/decode/test_a.py::test_on_a_dump: needs ../shared: a dump",
        *(f"{REFUSED} tests/decode/test_a.py::test_on_a_trace[{n}]: needs ../shared: traces" for n in range(3)),
    ]


@pytest.mark.full
@pytest.mark.parametrize("processes", [(), pytest.param(("-n", "2"), marks=pytest.mark.full)], ids=["one", "two"])
def test_any_other_skip_is_said_and_may_be_refused(tmp_path: Path, processes: tuple[str, ...]) -> None:
    files = {"decode/test_a.py": TESTS, "test_b.py": BROWSER}
    assert outcome(tmp_path / "alone", *processes, files=files) == (0, [WITHOUT_SHARED, ONE_BROWSER])
    assert outcome(tmp_path / "alone", *processes, files=files, require=True) == (
        1,
        [
            WITHOUT_SHARED,
            ONE_BROWSER,
            f"{REFUSED} tests/test_b.py::test_in_a_browser: needs a browser",
        ],
    )
