"""Every report on every shared trace gives JSON that fits its published schema, and a repr and HTML within the limits."""

from __future__ import annotations

import pytest
from shared_files import Shared, needs_shared, traces

from report_schemas import validate

pytestmark = needs_shared


@pytest.mark.parametrize("trace", traces("traces", "traces/own", "scenarios"), ids=lambda trace: trace.name)
def test_json_fits_the_schemas(trace: Shared) -> None:
    validate(trace.path)
