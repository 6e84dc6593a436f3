"""What a run of the tests left out: in one line what needs the shared material, in one a reason all else.

`CLREVENTS_REQUIRE_ALL=1` makes a skip a failure unless ALLOWED has its reason, or it needs the shared material and
that is not there. Judges skips only, not what was deselected.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, Final

import pytest

from project_files import NEEDS_SHARED, SHARED

ALLOWED: Final[dict[str, str]] = {
    "too large for every": "a law is checked one record or one sample at a time, and smaller traces hold it to account",
    "needs npm, node and npm's registry": "they have programs of others that only these tests open our files with",
}
"""Beginnings of reasons for which a test may be skipped even so: to why that is right."""


def reason(report: Any) -> str:
    """Why a test or a module was skipped."""
    longrepr = report.longrepr
    return str(longrepr[2] if isinstance(longrepr, tuple) else longrepr).removeprefix("Skipped: ")


def forbidden(reports: list[Any]) -> list[Any]:
    """The skips that must not be where everything is required."""
    allowed = (*ALLOWED, *([] if SHARED.is_dir() else [NEEDS_SHARED]))
    return [report for report in reports if not reason(report).startswith(allowed)]


def lines(reports: list[Any]) -> list[str]:
    """What is said of these skips."""
    shared = [report for report in reports if reason(report).startswith(NEEDS_SHARED)]
    found = []
    if shared:
        places = Counter(_place(report) for report in shared)
        text = f"not run: {_tests(len(shared))} ({', '.join(f'{n} {p}' for p, n in places.most_common())})"
        text += " on traces and dumps that are not part of the project"
        found.append(f"{text}; docs/hacking.md says what to put at ../shared")
    others = Counter(reason(report) for report in reports if report not in shared)
    found += [f"not run: {_tests(count)}: {why}" for why, count in sorted(others.items())]
    return found


def _tests(count: int) -> str:
    return f"{count:,} test{'s' * (count != 1)}"


def _place(report: Any) -> str:
    """The folder of `tests/` that a test is in; its module where it is in none."""
    parts = report.nodeid.partition("::")[0].removeprefix("tests/").split("/")
    return str(parts[0]).removesuffix(".py")


def _skips(config: pytest.Config) -> list[Any]:
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    return [] if reporter is None else list(reporter.stats.get("skipped", ()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Everything is required: fail even if all that ran has passed. Of several processes only the first judges."""
    if not os.environ.get("CLREVENTS_REQUIRE_ALL") or hasattr(session.config, "workerinput"):
        return
    if forbidden(_skips(session.config)) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skips = _skips(terminalreporter.config)
    for line in lines(skips):
        terminalreporter.write_line(line)
    if os.environ.get("CLREVENTS_REQUIRE_ALL"):
        for report in forbidden(skips):
            terminalreporter.write_line(f"SKIPPED, but everything is required: {report.nodeid}: {reason(report)}")
