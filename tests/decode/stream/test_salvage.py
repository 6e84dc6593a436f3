"""Damaged copies of a small trace: what salvage keeps of them, and that damage is never called loss."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from damage import WAYS, Way, load
from generations import GENERATIONS, written
from salvaging import LEAST, campaign, hold

Record = Callable[[str, object], None]


@pytest.mark.parametrize("way", WAYS)
def test_damaged_copies_of_a_small_trace(way: Way, record_property: Record) -> None:
    data = load("net8-method-interop.nettrace")
    assert data is not None
    hold(campaign(data, way, part=2), way, record_property, "net8-method-interop")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("generation", GENERATIONS)
def test_damaged_copies_of_other_generations(generation: str, way: Way, record_property: Record) -> None:
    figures = campaign(written(generation), way, part=5)
    # An event of NetPerf 2 names its description by a file offset: wrong for all behind bytes that came or went.
    shifted = generation == "NetPerf 2" and way in ("drop", "insert")
    # Of so few copies one whose description was hit weighs much.
    hold(figures, way, record_property, generation, 0.7 if shifted else min(LEAST[way], 0.97))
