"""Marks everything here as needing the `shared` folder, and prints what the comparisons covered."""

from __future__ import annotations

from collections import Counter

import pytest

_COMPARED = ("events", "fields", "from bytes")
_TABLES = {
    "compared": ("event by event", _COMPARED),
    "summed": ("by checksums", _COMPARED),
    "described": ("self-described, event by event", _COMPARED),
    "described sums": ("self-described, by checksums", _COMPARED),
    "accounted": ("payloads", ("events", "in fields", "bytes only")),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = __file__.rpartition("conftest")[0]
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.shared)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what the tests recorded: also when they ran in several processes."""
    figures: dict[str, Counter[tuple[str, int]]] = {what: Counter() for what in _TABLES}
    stacks = 0
    for report in terminalreporter.stats.get("passed", ()):
        for what, value in report.user_properties:
            if what == "stacks":
                stacks += value
            elif what in figures:
                for provider, numbers in value.items():
                    figures[what].update({(provider, i): n for i, n in enumerate(numbers)})
    if not (stacks or any(figures.values())):
        return
    terminalreporter.section("compared with the official decoder")
    for what, (title, heads) in _TABLES.items():
        numbers = figures[what]
        if not numbers:
            continue
        terminalreporter.write_line(f"{title:<56}" + "".join(f"{head:>12}" for head in heads))
        providers = sorted({provider for provider, _ in numbers})
        for provider in providers:
            columns = "".join(f"{numbers[provider, i]:>12,}" for i in range(3))
            terminalreporter.write_line(f"{provider:<56}{columns}")
        columns = "".join(f"{sum(numbers[p, i] for p in providers):>12,}" for i in range(3))
        terminalreporter.write_line(f"{'in all':<56}{columns}")
    terminalreporter.write_line(f"stacks{stacks:>62,}")
