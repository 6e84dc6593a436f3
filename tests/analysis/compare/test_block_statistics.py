"""Statistics by what must hold of them, by numbers from tables, and by simulations of which the truth is known."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from built.built_measured import chain
from clrevents.analysis.compare.block_statistics import (
    SURE,
    Contrast,
    Groups,
    Spread,
    adjusted,
    beyond_t,
    correlation_time,
    independent_of,
    smallest_change,
    spread,
    t_of,
)

AMOUNTS: Final = arrays(np.float64, st.integers(2, 80), elements=st.floats(0, 1e9, allow_subnormal=False))


@pytest.mark.parametrize(
    ("above", "freedom", "value"),
    [(0.025, 1, 12.706), (0.025, 10, 2.228), (0.005, 10, 3.169), (0.05, 30, 1.697), (0.025, 1e6, 1.960)],
)
def test_students_t_is_that_of_the_tables(above: float, freedom: float, value: float) -> None:
    assert t_of(above, freedom) == pytest.approx(value, abs=1e-3)
    assert beyond_t(t_of(above, freedom), freedom) == pytest.approx(above)


@given(AMOUNTS)
def test_a_spread_adds_up_and_does_not_depend_on_units(amounts: np.ndarray) -> None:
    per = np.ones(len(amounts))
    found, scaled = spread(amounts, per), spread(amounts * 1024, per)
    assert found.ratio == pytest.approx(amounts.sum() / len(amounts))
    assert scaled.ratio == pytest.approx(found.ratio * 1024)
    assert scaled.error == pytest.approx(found.error * 1024, rel=1e-6, abs=1e-6 * found.ratio)
    assert 0 < found.independent <= len(amounts)


def test_blocks_of_unequal_weight_count_rightly() -> None:
    """What is exactly proportional does not vary, however unequal the blocks are."""
    per = np.arange(1, 101, dtype=np.float64)
    assert spread(3 * per, per) == Spread(3.0, 0.0, 31, 100.0)


@pytest.mark.parametrize("length", [1, 4, 16])
def test_correlated_blocks_are_worth_fewer(length: int) -> None:
    draw = np.random.default_rng(length)
    found = [correlation_time(chain(draw, 4096, 0.3, length))[0] for _ in range(40)]
    assert np.mean(found) == pytest.approx(length, rel=0.15)


@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1)))
def test_adjusted_chances_are_larger_and_in_the_same_order(chances: np.ndarray) -> None:
    found = adjusted(chances)
    assert (found >= chances - 1e-12).all()
    assert (found <= np.minimum(chances * len(chances), 1) + 1e-12).all()
    order = np.argsort(chances)
    assert (np.diff(found[order]) >= -1e-12).all()


def test_adjusted_chances_of_the_paper() -> None:
    """The 15 chances in section 3.2 of Benjamini and Hochberg (1995): four are discoveries at 5 %."""
    chances = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    found = adjusted(np.array([*chances, 0.7590, 1.0]))
    assert (found <= 0.05).sum() == 4


@given(AMOUNTS, AMOUNTS)
def test_a_contrast_mirrors(base: np.ndarray, new: np.ndarray) -> None:
    sides = [spread(side, np.ones(len(side))) for side in (base, new)]
    one, other = Contrast.of(*sides), Contrast.of(*reversed(sides))
    assert one.change == -other.change
    assert one.chance == pytest.approx(other.chance)
    assert one.smallest(0.05, 1.0) >= one.margin(0.05)


def test_groups_by_every_arrangement() -> None:
    """Against the definition, for one row: the share of arrangements that differ at least as much."""
    base, new = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([[5.0], [6.0], [7.5], [3.5]])
    held = np.concatenate((base, new))[:, 0]

    def score(picked: tuple[int, ...]) -> float:
        mine = np.isin(np.arange(8), picked)
        one, other = held[~mine], held[mine]
        return float(abs(other.mean() - one.mean()) / np.sqrt(one.var(ddof=1) / 4 + other.var(ddof=1) / 4))

    scores = np.array([score(picked) for picked in combinations(range(8), 4)])
    expected = np.mean(scores >= score((4, 5, 6, 7)) * (1 - 1e-9))
    found = Groups.of(base, new, 0.05, np.zeros(1))
    assert found.chances[0] == pytest.approx(expected)


def test_groups_without_any_overlap_are_told_apart() -> None:
    base, new = (
        np.array([[1.0, 5.0], [1.1, 4.0], [0.9, 6.0], [1.05, 5.5]]),
        np.array([[2.0, 5.2], [2.1, 4.1], [1.9, 5.9], [2.05, 5.4]]),
    )
    found = Groups.of(base, new, 0.03, np.full(2, 0.05))
    assert found.chances[0] == pytest.approx(2 / 70)
    assert found.chances[1] > 0.5
    assert abs(found.change[0]) >= found.limits[0]
    mirrored = Groups.of(new, base, 0.03, np.full(2, 0.05))
    assert (mirrored.change == -found.change).all()
    assert mirrored.chances == pytest.approx(found.chances)
    assert mirrored.limits == pytest.approx(found.limits)


@pytest.mark.full
def test_what_grows_varies_more() -> None:
    """Where only a large change could be seen: without that, hardly more than half of these would be found."""
    draw = np.random.default_rng(9)

    def side(mean: float) -> Spread:
        return spread(mean * draw.exponential(size=256), np.ones(256))

    planted = float(np.median([Contrast.of(side(1), side(1)).smallest(0.001, 0) for _ in range(50)]))
    assert planted > 0.4
    found = np.mean([Contrast.of(side(1), side(1 + planted)).chance <= 0.001 for _ in range(400)])
    assert 0.7 < found < 0.9


def test_what_varies_too_much_shows_nothing_of_any_size() -> None:
    assert smallest_change(1.0, 1.0, 2.0, 0.8, 0.0) == np.inf
    assert smallest_change(1.0, 0.0, 2.0, 0.8, 0.0) == pytest.approx(2.8)
    assert smallest_change(0.0, 1.0, 2.0, 0.8, 0.05) == 0.05


@pytest.mark.parametrize(("worth", "at_least", "at_most"), [(10, 0, 0.02), (20, 0, 0.1), (100, 0.7, 1), (200, 0.98, 1)])
def test_what_seems_sure_by_luck_is_not(worth: float, at_least: float, at_most: float) -> None:
    """256 blocks that are worth so many: how often they count as enough for saying what they could show."""
    draw = np.random.default_rng(int(worth))
    found = [independent_of(chain(draw, 256, 0.3, 256 / worth) - 0.3) >= SURE for _ in range(150)]
    assert at_least <= np.mean(found) <= at_most
