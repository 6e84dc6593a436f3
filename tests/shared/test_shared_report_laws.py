"""The laws of reports that cost little, on shared traces: real losses, several versions, older formats."""

from __future__ import annotations

import gzip

import pytest
from shared_files import Shared, needs_shared, traces

import report_laws
from report_cases import every_report
from tiers import drawn

pytestmark = needs_shared

_LARGEST = 2_000_000
"""Larger files, compressed, take minutes and hold nothing else."""

FOUND = [*traces("traces/own", "traces/perfview"), *(t for t in traces("scenarios") if drawn(3, "laws", t.name))]
"""Scenarios are a few programs, each on several runtimes."""
TRACES = [shared for shared in FOUND if shared.path.stat().st_size < _LARGEST]


@pytest.mark.parametrize("shared", TRACES, ids=lambda shared: shared.name)
def test_reports_obey(shared: Shared) -> None:
    """Read twice for all of them, and not for each."""
    data = gzip.decompress(shared.path.read_bytes())
    report_laws.obey_together([*every_report().values()], data, report_laws.TWO_READINGS)
