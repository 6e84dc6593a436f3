"""Every report on a sample of the shared traces: JSON fits the published schema, a repr and HTML fit a screen."""

from __future__ import annotations

import pytest
from shared_files import Shared, needs_shared, traces

from report_schemas import validate
from tiers import drawn

pytestmark = needs_shared

FOLDERS = ("traces/own", "traces/perfview", "scenarios", "scenarios/lines")
TRACES = [trace for trace in traces(*FOLDERS) if drawn(6, "schemas", trace.name)]


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.name)
def test_answers_fit(trace: Shared) -> None:
    validate(trace.path)
