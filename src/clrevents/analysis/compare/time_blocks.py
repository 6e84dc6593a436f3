"""A stretch of time in blocks of equal length, and what came about in each. Knows moments and amounts, and no trace."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.compare.block_statistics import Floats
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.shared.samples.samples import Samples

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
        found: Floats = np.bincount(self.at(moments), amounts, self.count).astype(np.float64)
        return found

    def grouped(self, of: Ints, groups: int, moments: Ints, amounts: Floats) -> Floats:
        """The same of each group: a row for each, a column for each block."""
        found = np.bincount(of * self.count + self.at(moments), amounts, groups * self.count).astype(np.float64)
        return found.reshape(groups, self.count)

    def spread(self, starts: Ints, ends: Ints, amounts: Floats) -> Floats:
        """What took these times, in each block."""
        edges = self._edges
        found = np.zeros(self.count)
        for start, end, amount in zip(starts.tolist(), ends.tolist(), amounts.tolist(), strict=True):
            first, last = np.searchsorted(edges, (start, end), side="right").tolist()
            if first == last or end <= start:
                found[first] += amount
                continue
            cuts = np.concatenate(([start], edges[first:last], [end]))
            found[first : last + 1] += np.diff(cuts) * (amount / (end - start))
        return found
