"""docs/security.md has every limit with its default, and links lead to it."""

from __future__ import annotations

import dataclasses
import re

import pytest

from clrevents import Limits
from clrevents.analysis.framework.run.report_reading import PROCESSES
from costly_uses import PROMISED_BYTES, PROMISED_MEGABYTES, PROMISED_MICROSECONDS, PROMISED_SECONDS
from project_files import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")


def test_every_limit_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|(.+)\|(.+)\|(.+)\|$", PAGE, re.MULTILINE)
    found = {name: int(default.replace(",", "")) for name, default, *_ in rows}
    assert found == {field.name: field.default for field in dataclasses.fields(Limits)}
    assert all(cell.strip() for row in rows for cell in row)


def test_the_promised_cost_is_what_benchmarks_and_tests_go_by() -> None:
    time, memory = re.findall(r"^\* (\d+) (?:s|MB) \+ (\d+) (?:µs|bytes) · n of", PAGE, re.MULTILINE)
    assert tuple(map(int, time)) == (PROMISED_SECONDS, PROMISED_MICROSECONDS)
    assert tuple(map(int, memory)) == (PROMISED_MEGABYTES, PROMISED_BYTES)
    lines = re.search(r"at most (\d+) lines of Python for a byte,\s+and ([\d,]+)\.", PAGE)
    assert lines is not None
    counted = (ROOT / "tests" / "cost" / "test_interpreted.py").read_text("utf-8")
    assert f"LINES_A_BYTE: Final = {lines[1]}\n" in counted
    assert f"LINES: Final = {lines[2].replace(',', '_')}\n" in counted
    assert f"{PROCESSES} busiest processes" in PAGE


def test_the_cost_of_each_limit_adds_up() -> None:
    """What the whole limit takes is its default times what each takes."""
    for name, default, whole, unit in re.findall(r"^\| `(\w+)` \| ([\d,]+) \|.*, (\d+) (MB|GB)", PAGE, re.MULTILINE):
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
        each = re.search(r": ([\d.]+) (bytes|kB)", row)
        assert each is not None, name
        took = float(each[1]) * {"bytes": 1, "kB": 1000}[each[2]] * int(default.replace(",", ""))
        assert took == pytest.approx(int(whole) * {"MB": 1e6, "GB": 1e9}[unit], rel=0.05), name


def test_every_promise_has_a_test_that_is_there() -> None:
    table = PAGE.partition("## Which test holds it")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|`]+) \| (`.+`) \|$", table, re.MULTILINE)
    assert len(rows) == table.count("\n|") - 2
    for promise, tests in rows:
        for path, name in re.findall(r"`([\w/.]+)::(\w+)`", tests):
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{promise}: {path}::{name}"
    promises = PAGE.partition("## What we promise")[2].partition("\n## ")[0]
    promised = {name.rstrip(".") for name in re.findall(r"^\*\*(.+?)\*\*", promises, re.MULTILINE)}
    held = {promise.partition(":")[0] for promise, _ in rows}
    assert promised <= held, sorted(promised - held)


def test_links_lead_to_the_page() -> None:
    assert "blob/main/docs/security.md" in (ROOT / "README.md").read_text("utf-8")
    assert "](docs/security.md)" in (ROOT / "SECURITY.md").read_text("utf-8")
