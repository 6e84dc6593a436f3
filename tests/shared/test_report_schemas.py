"""Every report on every shared trace: JSON that fits the published schema, a repr and HTML that fit a screen."""

from __future__ import annotations

import pytest
from shared_files import Shared, needs_shared, traces

from report_schemas import validate

pytestmark = needs_shared


TRACES = traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines")


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.name)
def test_answers_fit(trace: Shared) -> None:
    validate(trace.path)
