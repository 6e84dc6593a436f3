"""Random samples of allocated bytes → how many bytes there were, and how certain that is.

The runtime draws every allocated byte with the same probability and reports an object once if any of its bytes was
drawn. So large objects are reported more often, and each report is weighted by the inverse of its probability. Numbers
in, numbers out; knows no events.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen

Ints: TypeAlias = NDArray[np.int64]

SAMPLE_BYTES: Final = 102_400
"""The mean number of bytes from one drawn byte to the next."""
PARTS: Final = 1 << 20
"""Numbers of objects are added up in parts, so that sums do not depend on their order."""
NORMAL: Final = 1.96
"""Half of a 95 % interval, in standard deviations."""
FEW: Final = 10
"""From this number of samples on, the interval is that of the normal distribution."""

# The 95 % limits of a Poisson distribution's mean, when this many were seen (Garwood's).
_LOW: Final = np.array([0, 0.02532, 0.24221, 0.61867, 1.08987, 1.62349, 2.20189, 2.81436, 3.45383, 4.11537])
_HIGH: Final = np.array(
    [3.68888, 5.57164, 7.22469, 8.76727, 10.24159, 11.66833, 13.05947, 14.42268, 15.76319, 17.08480]
)


@frozen(eq=False)
class SampleWeights:
    """What each sample represents: bytes, objects (in `PARTS`), and the variance of its bytes."""

    bytes: Ints
    object_parts: Ints
    variance: Ints


def sample_weights(sizes: Ints) -> SampleWeights:
    """What samples of objects of these sizes represent.

    An object of s bytes is sampled with the probability q = 1 - exp(-s / 102,400), so it represents s / q bytes and 1 /
    q objects, and its bytes have the variance s² (1 - q) / q². A sample without a size represents the limit, 102,400
    bytes, and no object.
    """
    known = np.maximum(sizes, 1).astype(np.float64)
    chance = -np.expm1(-known / SAMPLE_BYTES)
    weight = np.where(sizes > 0, known / chance, SAMPLE_BYTES)
    parts = np.where(sizes > 0, PARTS / chance, 0)
    # Of objects that are sampled almost for certain, rounding a float would lose bytes.
    whole = np.where(chance < 1, np.rint(weight).astype(np.int64), sizes)
    return SampleWeights(
        whole, np.rint(parts).astype(np.int64), np.rint(weight * weight * (1 - chance)).astype(np.int64)
    )


def interval(samples: Any, total: Any, variance: Any, seen: Any) -> tuple[Ints, Ints]:
    """The 95 % confidence interval of the bytes, for each sum of samples.

    `samples` is their number, `total` the bytes that they stand for, `variance` the sum of theirs, `seen` the sizes of
    the sampled objects themselves, below which the truth cannot lie. Few samples are as uneven as their number: there
    the limits of a Poisson distribution replace the normal one's.
    """
    number = np.asarray(samples, dtype=np.int64)
    # Where nothing was sampled, there may have been what a sample stands for.
    deviation = np.where(number == 0, SAMPLE_BYTES, np.sqrt(np.asarray(variance, dtype=np.float64)))
    few = np.minimum(number, FEW - 1)
    root = np.sqrt(np.maximum(few, 1))
    below = np.where(number < FEW, (few - _LOW[few]) / root, NORMAL) * deviation
    above = np.where(number < FEW, (_HIGH[few] - few) / root, NORMAL) * deviation
    middle = np.asarray(total, dtype=np.int64)
    # The two parts apart: a sum may need more digits than a float has.
    low = middle - np.rint(np.minimum(below, middle)).astype(np.int64)
    high = middle + np.rint(above).astype(np.int64)
    return np.maximum(low, np.asarray(seen, dtype=np.int64)), high
