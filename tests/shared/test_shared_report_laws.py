"""The laws of reports that cost little, on every shared trace: real losses, several versions, older formats."""

from __future__ import annotations

import gzip

import pytest
from shared_files import Shared, needs_shared, traces

import report_laws
from report_cases import every_report

pytestmark = needs_shared

REPORTS = every_report()
LAWS = (
    report_laws.the_whole_window_changes_nothing,
    report_laws.json_reads_back_equal,
    report_laws.shows_itself_safely,
    report_laws.marks_what_holes_touch,
)
_LARGEST = 3_000_000
"""Larger files, compressed, take minutes and hold nothing else."""

TRACES = [
    shared for shared in traces("traces/own", "traces/perfview", "scenarios") if shared.path.stat().st_size < _LARGEST
]


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("shared", TRACES, ids=lambda shared: shared.name)
def test_a_report_obeys(shared: Shared, name: str) -> None:
    declaration = REPORTS[name]
    data = gzip.decompress(shared.path.read_bytes())
    for law in LAWS:
        law(declaration, declaration.parameters(), data)
