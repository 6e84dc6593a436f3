"""The laws of reports that cost little, on every shared trace: real losses, several versions, older formats."""

from __future__ import annotations

import gzip

import pytest
from shared_files import Shared, needs_shared, traces

import report_laws
from report_cases import every_report

pytestmark = needs_shared

_LARGEST = 3_000_000
"""Larger files, compressed, take minutes and hold nothing else."""

TRACES = [
    shared for shared in traces("traces/own", "traces/perfview", "scenarios") if shared.path.stat().st_size < _LARGEST
]


@pytest.mark.parametrize("shared", TRACES, ids=lambda shared: shared.name)
def test_reports_obey(shared: Shared) -> None:
    """Read twice for all of them, and not for each."""
    data = gzip.decompress(shared.path.read_bytes())
    report_laws.obey_together([*every_report().values()], data, report_laws.TWO_READINGS)
