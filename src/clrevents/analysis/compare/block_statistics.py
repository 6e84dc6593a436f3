"""Amounts in blocks of time → how far two recordings, or two groups of them, can be told apart.

Neighbouring samples are alike, so neither they nor short blocks are independent: the correlation decides how many
blocks a recording is worth. Knows moments and amounts; no trace, no metric and no words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.shared.samples.samples import Samples

Floats: TypeAlias = NDArray[np.float64]

ENOUGH: Final = 30
"""With fewer independent blocks, nothing is said: intervals from them are too short."""
SURE: Final = 45
"""With fewer, the next recordings may have fewer than enough: what they could show is not known."""
ENOUGH_INTERVALS: Final = 8
"""The same of intervals between events, whose amounts are hardly correlated."""
SURE_INTERVALS: Final = 12
BATCHES: Final = 32
"""At most so many block means, because more do not make an interval shorter."""
POWER: Final = 0.8
"""How often the smallest change that could be seen would be seen."""
_IN_A_BATCH: Final = 3
_SPARSE: Final = 10
_FAR: Final = 5
_LARGE: Final = 1e6
_MANIFOLD: Final = 1e4
_TINY: Final = 1e-300
_ARRANGEMENTS: Final = 5000


def correlation_time(values: Floats) -> tuple[float, float]:
    """Over how many neighbours values are correlated: 1 if they are independent (the integrated autocorrelation time).
    And how much more it may be: its relative standard error.

    Correlations are added up to a distance of five such times; behind it there is only noise.
    """
    count = len(values)
    centred = values - values.mean() if count else values
    scale = float(np.abs(centred).max(initial=0.0))
    if count < 2 or scale <= 1e-12 * float(np.abs(values).max(initial=0.0)):
        return 1.0, 0.0
    spectrum = np.fft.rfft(centred / scale, 2 * count)
    correlation = np.fft.irfft(spectrum * spectrum.conjugate())[:count]
    # Deviations from their own mean hide some of the correlation, the more the further it is followed.
    steps = np.arange(count)
    times = (2 * np.cumsum(correlation / correlation[0]) - 1) * (1 + (2 * steps + 1) / count)
    far = np.flatnonzero(steps >= _FAR * times)
    last = int(far[0]) if len(far) else count - 1
    return float(max(1.0, times[last])), math.sqrt((4 * last + 2) / count)


def independent_of(values: Floats) -> float:
    """How many independent values these are worth at least, as far as so few tell how correlated they are.

    Where they are few, the correlation is as often underestimated as overestimated, and what seems enough by luck would
    be too few the next time. So it counts as one standard error longer than it seems.
    """
    time, error = correlation_time(values)
    return len(values) / (time * (1 + error))


@frozen
class Spread:
    """The ratio of two amounts that were counted in the same blocks, its standard error and degrees of freedom.

    `independent` is how many independent blocks they are worth.
    """

    ratio: float
    error: float
    freedom: float
    independent: float


def spread(amounts: Floats, per: Floats) -> Spread:
    """How many of `amounts` there are for one of `per`, by means of blocks that are long enough to be independent.

    Blocks of unequal weight count rightly, because what varies is the amount beyond the ratio's share of `per`.
    """
    whole = float(per.sum())
    ratio = float(amounts.sum()) / whole
    beyond = amounts - ratio * per
    independent = independent_of(beyond)
    count = min(max(int(independent / _IN_A_BATCH), 2), BATCHES, max(len(amounts), 1))
    edges = np.arange(count) * len(amounts) // count
    sums = np.add.reduceat(beyond, edges)
    error = math.sqrt(count) * float(sums.std(ddof=1)) / whole if count > 1 else math.inf
    return Spread(ratio, error, max(count - 1, 1), independent)


def intervals(amounts: Floats, per: Floats) -> tuple[Floats, Floats]:
    """Blocks put together from one that has an amount to the next: each amount over the time in which it came about.

    What is behind the last one belongs to it.
    """
    starts = np.concatenate(([0], np.flatnonzero(amounts)[:-1] + 1))
    return np.add.reduceat(amounts, starts), np.add.reduceat(per, starts)


def too_sparse(base: Floats, new: Floats) -> bool:
    """Whether too few blocks have anything for their means to be compared."""
    return int(np.count_nonzero(base)) + int(np.count_nonzero(new)) < _SPARSE


@frozen
class Contrast:
    """By how much one ratio exceeds another, the standard error of that, and its degrees of freedom (Welch's).

    Beside what blocks show, each ratio may vary from run to run: by a share of itself that is given.
    """

    change: float
    error: float
    freedom: float
    middle: float = 0.0
    """The mean of both ratios."""

    @classmethod
    def of(cls, base: Spread, new: Spread, runs: float = 0.0) -> Contrast:
        """New minus base, of runs that vary by the share `runs` (a standard deviation)."""
        squares = (base.error**2, new.error**2)
        whole = sum(squares) + runs**2 * (base.ratio**2 + new.ratio**2)
        below = squares[0] ** 2 / base.freedom + squares[1] ** 2 / new.freedom
        freedom = whole**2 / below if below else math.inf
        return cls(new.ratio - base.ratio, math.sqrt(whole), min(freedom, _LARGE), (base.ratio + new.ratio) / 2)

    @property
    def chance(self) -> float:
        """How often chance alone would give such a change, in either direction."""
        if not self.error:
            return 0.0 if self.change else 1.0
        return 2 * beyond_t(abs(self.change) / self.error, self.freedom)

    def margin(self, alpha: float) -> float:
        """Half the interval that misses the true change this often."""
        return t_of(alpha / 2, self.freedom) * self.error

    def smallest(self, alpha: float, floor: float, events: bool = False) -> float:
        """The smallest true change that would be told from chance, and exceed a floor, four times out of five.

        Infinite where none would; `events` as in `smallest_change`.
        """
        quantiles = t_of(alpha / 2, self.freedom), t_of(1 - POWER, self.freedom)
        return smallest_change(self.error, self.middle, *quantiles, floor, events)


def smallest_change(
    error: float, middle: float, threshold: float, power: float, floor: float, events: bool = False
) -> float:
    """The smallest change that exceeds a floor, and so many standard errors, with some power.

    What grows varies more, in proportion: what changes from `middle` by as much as itself has twice the error on one
    side. So there may be none, and it is infinite. Where `events` are counted, only their variance grows so.
    """
    change = 0.0
    for _ in range(200):
        if change > _MANIFOLD * middle > 0:
            break
        growth = change / middle if middle else 0.0
        grown = error * math.sqrt((1 + (1 + growth) ** (1 if events else 2)) / 2)
        before, change = change, max(threshold * grown, floor) + power * grown
        if change <= before * (1 + 1e-6):
            return change
    return math.inf


def adjusted(chances: Floats) -> Floats:
    """Benjamini and Hochberg's chances: of all that have at most q, a share of at most q is false, on average."""
    count = len(chances)
    order = np.argsort(chances, kind="stable")
    steps = chances[order] * count / np.arange(1, count + 1)
    adjusted_chances = np.empty(count)
    adjusted_chances[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted_chances


@frozen(eq=False)
class Groups:
    """Two groups of recordings, compared in many rows at once by exchanging their labels.

    `chances` are how often any row of exchanged groups would differ as much as this one; `limits` how much each row
    has to differ at a given level, and `errors` the standard errors of the changes.
    """

    change: Floats
    errors: Floats
    chances: Floats
    limits: Floats

    @classmethod
    def of(cls, base: Floats, new: Floats, alpha: float, floors: Floats) -> Groups:
        """Of a row for each recording and a column for each of what is compared; `floors` damp what hardly varies."""
        both = np.concatenate((base, new))
        picks = np.array([*_arrangements(len(base), len(both))])
        damping = floors / 2 + _TINY

        def differences(chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
            one, other = both[~chosen], both[chosen]
            error = np.sqrt(one.var(axis=0, ddof=1) / len(one) + other.var(axis=0, ddof=1) / len(other))
            return other.mean(axis=0) - one.mean(axis=0), error

        change, error = differences(picks[0])
        largest = np.empty(len(picks))
        for place, pick in enumerate(picks):
            difference, noise = differences(pick)
            largest[place] = np.max(np.abs(difference) / (noise + damping), initial=0.0)
        score = np.abs(change) / (error + damping)
        chances = np.array([np.mean(largest >= one * (1 - 1e-9)) for one in score.tolist()])
        ordered = np.sort(largest)
        # The first value that at most a share alpha of all arrangements reach.
        allowed = math.floor(alpha * len(ordered) + 1e-9)
        limit = ordered[len(ordered) - allowed] if allowed else math.inf
        limits = limit * (error + damping)
        return cls(change, error, chances, limits)


def suffices(base: int, new: int, alpha: float) -> bool:
    """Whether groups of these sizes can differ at a level, in either direction.

    At best no other arrangement differs as much, except in the other direction as many recordings from the other end.
    """
    return min(base, new) > 1 and alpha * math.comb(base + new, base) >= 2


def sufficient(base: int, new: int, alpha: float) -> list[tuple[int, int]]:
    """The sizes of groups that suffice with the fewest recordings more than these."""
    for more in range(math.ceil(2 / alpha)):
        sizes = [(base + one, new + more - one) for one in range(more + 1)]
        if enough := [pair for pair in sizes if suffices(*pair, alpha)]:
            return enough
    raise AssertionError("two against so many suffice")


def _arrangements(base: int, count: int) -> Iterator[NDArray[np.bool_]]:
    """Which recordings are called new: first those that are, then every other choice, or many at random."""

    def chosen(places: Any) -> NDArray[np.bool_]:
        chosen = np.zeros(count, dtype=np.bool_)
        chosen[list(places)] = True
        return chosen

    actual = tuple(range(base, count))
    yield chosen(actual)
    if math.comb(count, base) <= _ARRANGEMENTS:
        yield from (chosen(places) for places in combinations(range(count), count - base) if places != actual)
        return
    # Always the same ones, so that the same recordings always give the same answer.
    draw = np.random.default_rng(0)
    for _ in range(_ARRANGEMENTS - 1):
        yield chosen(draw.permutation(count)[: count - base])


def beyond_t(value: float, freedom: float) -> float:
    """How often Student's t is above a value that is not negative."""
    return 0.5 * _beta_part(freedom / (freedom + value * value), freedom / 2, 0.5)


@lru_cache(maxsize=4096)
def _quantile(above: float, freedom: int) -> float:
    return _falling(lambda value: beyond_t(value, freedom), above)


def t_of(above: float, freedom: float) -> float:
    """The value that Student's t exceeds this often, at most half of the time.

    Of whole degrees of freedom, which are few: the next smaller number, whose value is larger.
    """
    return _quantile(above, max(int(freedom), 1))


def _falling(function: Callable[[float], float], wanted: float) -> float:
    """Where a falling function has this value."""
    low, high = 0.0, 1.0
    while function(high) > wanted and high < 1e12:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > wanted else (low, middle)
    return high


def _beta_part(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_part(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    fraction = d
    for m in range(1, 300):
        for part in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + part * d or _TINY)
            c = 1 + part / c or _TINY
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * fraction / a


Ints = NDArray[np.int64]

MOST_BLOCKS: Final = 256
_SHORTEST_NS: Final = 5_000_000
_LONGEST_NS: Final = 2**63 - 1


@frozen
class TimeBlocks:
    """Time from `start` in `count` blocks of equal length."""

    start: int
    span: int
    count: int

    @classmethod
    def of(cls, duration_ns: int, samples: Samples, window: TimeWindow) -> TimeBlocks:
        """Those in which threads were sampled, or the whole window if they were not."""
        # A damaged clock can make a recording longer than any block's number can say.
        start, end = max(window.low, 0), min(max(min(duration_ns, window.high), 1), _LONGEST_NS)
        if len(samples):
            start = max(int(samples.time_ns[0]), 0)
            end = max(min(int((samples.time_ns + samples.weight.astype(np.int64)).max()), end), start + 1)
        end = max(end, start + 1)
        return cls(start, end - start, min(MOST_BLOCKS, max((end - start) // _SHORTEST_NS, 1)))

    @property
    def _edges(self) -> Floats:
        """Between the blocks."""
        return (self.start + np.arange(1, self.count) * (self.span / self.count)).astype(np.float64)

    def at(self, moments: Ints) -> Ints:
        """In which block each moment lies; what is outside counts as at the edge."""
        return np.searchsorted(self._edges, moments, side="right")

    def sums(self, moments: Ints, amounts: Floats) -> Floats:
        """What came about at these moments, in each block."""
        sums: Floats = np.bincount(self.at(moments), amounts, self.count).astype(np.float64)
        return sums

    def grouped(self, of: Ints, groups: int, moments: Ints, amounts: Floats) -> Floats:
        """The same of each group: a row for each, a column for each block."""
        sums = np.bincount(of * self.count + self.at(moments), amounts, groups * self.count).astype(np.float64)
        return sums.reshape(groups, self.count)

    def spread(self, starts: Ints, ends: Ints, amounts: Floats) -> Floats:
        """What took these times, in each block."""
        edges = self._edges
        sums = np.zeros(self.count)
        for start, end, amount in zip(starts.tolist(), ends.tolist(), amounts.tolist(), strict=True):
            first, last = np.searchsorted(edges, (start, end), side="right").tolist()
            if first == last or end <= start:
                sums[first] += amount
                continue
            cuts = np.concatenate(([start], edges[first:last], [end]))
            sums[first : last + 1] += np.diff(cuts) * (amount / (end - start))
        return sums
