"""Damaged copies of a small trace: what salvage keeps of them, and that damage is never called loss."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from damage import WAYS, Way, load
from salvaging import campaign, hold


@pytest.mark.parametrize("way", WAYS)
def test_damaged_copies_of_a_small_trace(way: Way, record_property: Callable[[str, object], None]) -> None:
    data = load("net8-method-interop.nettrace")
    assert data is not None
    hold(campaign(data, way), way, record_property, "net8-method-interop")
