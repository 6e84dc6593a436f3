"""Every report on every shared trace: JSON that fits the published schema, a repr and HTML that fit a screen."""

from __future__ import annotations

import pytest
from shared_files import Shared, needs_shared, traces

from report_schemas import validate

pytestmark = needs_shared


@pytest.mark.parametrize("trace", traces("traces/own", "traces/perfview", "scenarios", "scenarios/lines"), ids=lambda trace: trace.name)
def test_answers_fit(trace: Shared) -> None:
    validate(trace.path)
