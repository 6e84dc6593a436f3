"""Prints how much the damaged copies gave back: the mean over all copies of each way of damage."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Also when the tests ran in several processes."""
    lines = [
        value
        for report in (*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ()))
        for what, value in report.user_properties
        if what == "salvage"
    ]
    if lines:
        terminalreporter.section("events that came out of damaged copies unchanged")
        for name, way, line in sorted(lines):
            terminalreporter.write_line(f"{name:<22}{way:<8}{line}")
