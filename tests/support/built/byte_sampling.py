"""The runtime's random sampler, played with known allocations: which of them it reports, many times over.

Every allocated byte is drawn with the same chance, and an object of which bytes were drawn is reported once.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.shared.weights.allocations import SAMPLE_BYTES, interval, sample_weights

Ints: TypeAlias = NDArray[np.int64]


@attrs.frozen
class Estimates:
    """A row for each sampling, a column for each type: what the report would say."""

    samples: Ints
    bytes: Ints
    low: Ints
    high: Ints

    def covers(self, truth: Ints) -> NDArray[np.bool_]:
        """Whether the truth lies inside."""
        return (self.low <= truth) & (truth <= self.high)


def sampled(ends: Ints, rng: np.random.Generator) -> Ints:
    """The places of the objects that one sampling reports; `ends` are the bytes up to the end of each.

    The gaps between drawn bytes are geometric: the next whole numbers above exponential ones.
    """
    total = int(ends[-1])
    expected = total / SAMPLE_BYTES
    drawn = np.zeros(0, dtype=np.int64)
    while not len(drawn) or drawn[-1] <= total:
        number = int(expected + 5 * expected**0.5) + 10
        gaps = np.ceil(rng.standard_exponential(number) * SAMPLE_BYTES).astype(np.int64)
        drawn = np.concatenate((drawn, np.cumsum(gaps) + (drawn[-1] if len(drawn) else 0)))
    # The first byte is number 1, so an object's last is the number where it ends.
    found = np.searchsorted(ends, drawn[drawn <= total])
    return found[np.flatnonzero(np.diff(found, prepend=-1))]


def estimates(sizes: Ints, types: Ints, samplings: int, seed: int) -> Estimates:
    """What is estimated of each type, by the function that the report uses."""
    rng = np.random.default_rng(seed)
    count = int(types.max()) + 1
    rows, ends = [], np.cumsum(sizes)
    for _ in range(samplings):
        places = sampled(ends, rng)
        found, of = sample_weights(sizes[places]), types[places]
        columns = (np.ones(len(places)), found.bytes, found.variance, sizes[places])
        # Their sums are below 2**53, so nothing is rounded.
        rows.append([np.bincount(of, column, count).astype(np.int64) for column in columns])
    samples, total, variance, seen = np.moveaxis(np.array(rows), 1, 0)
    low, high = interval(samples, total, variance, seen)
    return Estimates(samples, total, low, high)
