"""The damaged copies of tests/decode/stream/test_salvage.py, of a larger trace that is not part of the project."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from shared_files import needs_shared

from damage import WAYS, Way, load
from salvaging import campaign, hold


@needs_shared
@pytest.mark.parametrize("way", WAYS)
def test_damaged_copies_of_a_large_trace(way: Way, record_property: Callable[[str, object], None]) -> None:
    data = load("net10-web.nettrace")
    assert data is not None
    hold(campaign(data, way), way, record_property, "net10-web")
