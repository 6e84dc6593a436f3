"""What all tests share: their two tiers, the profiles of hypothesis, and what is said at the end of what was not run.

`pytest` runs the fast tier; `pytest --full` that and every test with the mark `full`, `pytest --full -m full` those
alone. CONTRIBUTING.md says what belongs where. `HYPOTHESIS_PROFILE=long` draws many more examples than the usual `ci`.
"""

from __future__ import annotations

import functools
import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from project_files import NEEDS_SHARED

pytest_plugins = ["not_run"]

# pytest-xdist gives its workers a width of 80 columns: tests that ask for a width say so.
os.environ.pop("COLUMNS", None)

settings.register_profile(
    "ci",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("long", parent=settings.get_profile("ci"), max_examples=1000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

WHOLE_MODULE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.full\b", re.MULTILINE)
"""How a module says that all its tests are of the full tier. The fast one doesn't even import it: it may need packages
that only the extra `test-full` has."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the full tier too: every test with the mark `full`")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over modules that are of the full tier as a whole."""
    if config.getoption("--full"):
        return None
    if collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        return True if WHOLE_MODULE.search(collection_path.read_text(encoding="utf-8")) else None
    return True if collection_path == Path(__file__).parent / "shared" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs the shared material is of the full tier too, so that a mere checkout has the whole fast one."""
    full = [item for item in items if item.get_closest_marker("full") or _shared(item)]
    for item in full:
        item.add_marker(pytest.mark.full)
    if not config.getoption("--full"):
        items[:] = [item for item in items if not item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=full)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """In the full tier, tests of a module that share fixtures run in one process, which makes them once; all others
    wherever there is room."""
    if not config.getoption("--full"):
        return None
    from xdist.scheduler import LoadScopeScheduling

    @functools.cache
    def shares(module: str) -> bool:
        text = (config.rootpath / module).read_text(encoding="utf-8")
        return 'scope="module"' in text or "browser: Any" in text

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.partition("::")[0]
            return module if shares(module) else nodeid

    return Scheduling(config, log)


def _shared(item: pytest.Item) -> bool:
    """Whether a test has the mark, or is skipped where the shared material is missing."""
    skips = (mark for mark in item.iter_markers() if mark.name in ("skip", "skipif"))
    reasons = (str(mark.kwargs.get("reason", "")) for mark in skips)
    return item.get_closest_marker("shared") is not None or any(r.startswith(NEEDS_SHARED) for r in reasons)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running Chromium; `browser_page.opened` takes it."""
    from browser_page import chromium

    with chromium() as found:
        yield found


@pytest.fixture
def run() -> Any:
    """Run the command in this process: `command_runs.Run`."""
    from command_runs import run_command

    return run_command


def pytest_collection_finish() -> None:
    """What was collected stays to the end: no collection of garbage goes through it again, which some tests ask for."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--full"):
        terminalreporter.write_line("the fast tier; pytest --full runs the rest too")
