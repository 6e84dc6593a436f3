"""A report is added as docs/hacking.md says, with a module, a test and a page: nothing else is written by hand.

`tests/support/example_report` becomes a report in a copy of the project, where the laws, the tests of every report,
its own, its page's examples, the architecture and the site are tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from project_files import ROOT

pytestmark = pytest.mark.full

EXAMPLE: Final = ROOT / "tests" / "support" / "example_report"
PLACES: Final = {
    "report.py": "src/clrevents/analysis/reports/finalizers.py",
    "truth.py": "tests/analysis/test_finalizers.py",
    "page.md": "docs/finalizers.md",
}
TESTS: Final = (
    ("tests/analysis/test_finalizers.py", "tests/test_declarations.py", "tests/test_architecture.py"),
    ("tests/analysis/framework/test_report_laws.py", "-k", "test_a_report_obeys and finalizers"),
    ("tests/test_report_docs.py", "-k", "finalizers or site or schema"),
    ("--full", "tests/test_docs.py", "-k", "finalizers"),
)


STALE: Final = "stale.txt"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with one more report, after `tools/make.py`; what was stale before that is in a file."""
    folder = tmp_path_factory.mktemp("with") / "project"
    unwanted = shutil.ignore_patterns("__pycache__", ".*", "build", "dist", "fixtures", "*.egg-info")
    shutil.copytree(ROOT, folder, ignore=unwanted)
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    for name, place in PLACES.items():
        assert not (folder / place).exists()
        shutil.copy(EXAMPLE / name, folder / place)
    stale = make(folder, "--check")
    assert stale.returncode == 1
    (folder / STALE).write_text(stale.stdout + stale.stderr)
    assert make(folder, "index", "stubs").returncode == 0
    return folder


def make(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    command = [sys.executable, "tools/make.py", *arguments]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def run(project: Path, *command: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(project / "src"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("tests", TESTS, ids=lambda tests: tests[-1].replace("/", "-"))
def test_it_passes(project: Path, tests: tuple[str, ...]) -> None:
    run(project, "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests)


def test_only_made_files_become_stale_and_types_are_right(project: Path) -> None:
    stale = {line.partition(" is out of date")[0] for line in (project / STALE).read_text().splitlines()}
    framework = "src/clrevents/analysis/framework"
    assert stale == {
        f"{framework}/run/_report_index.py",
        "src/clrevents/trace/reported.pyi",
    }
    done = make(project, "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    run(project, "mypy", "--strict", "src/clrevents/analysis/reports/finalizers.py")


def test_the_site_has_it(project: Path, tmp_path: Path) -> None:
    run(project, "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path))
    assert "finalizers.html" in (tmp_path / "index.html").read_text("utf-8")
    assert "When did finalizers run" in (tmp_path / "questions.html").read_text("utf-8")
    assert (tmp_path / "schemas" / "finalizers.json").exists()
