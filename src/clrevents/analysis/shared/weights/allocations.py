"""The runtime's three ways of recording allocations: which events each has, which is best, the bytes, how certain they
are.

They record the same thing, so no two of them are ever added up: each process has its best one. The runtime's random
samples draw every byte with the same probability and report an object once, so each is weighted by the inverse of its
probability. Knows fields; names no type and no stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.gathering.groups import Ints
from clrevents.analysis.shared.weights.weighing import SampleColumns
from clrevents.table.table import Table

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


Source: TypeAlias = Literal["objects", "samples", "ticks"]

ALLOC: Final = "alloc"
"""The word for allocated bytes as a weight."""
HIGH, LOW = "runtime/GCSampledObjectAllocationHigh", "runtime/GCSampledObjectAllocationLow"
SAMPLED, TICK = "runtime/AllocationSampled", "runtime/GCAllocationTick"
EVENTS: Final[Mapping[Source, tuple[str, ...]]] = {"objects": (HIGH, LOW), "samples": (SAMPLED,), "ticks": (TICK,)}
"""Every object, random samples of bytes, and ticks about every 100 KB: the best source is first."""
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    HIGH: ("TotalSizeForTypeSample",),
    LOW: ("TotalSizeForTypeSample",),
    SAMPLED: ("ObjectSize",),
    TICK: ("AllocationAmount", "AllocationAmount64"),
}
"""The fields that `stated_bytes` reads."""

_BARE: Final = {name: name.partition("/")[2] for name in FIELDS}
NEEDED: Final = Need(
    "allocations", (_BARE[TICK], _BARE[SAMPLED], _BARE[HIGH], _BARE[LOW]), 0x1, 5, essential=True, proof=0
)
NEEDED_RARE: Final = Need("allocations of rare types", (_BARE[SAMPLED], _BARE[HIGH], _BARE[LOW]), 0x80000000000)
"""Ticks record types by chance; this records all of them."""

_LARGEST: Final = 1 << 43


def stated_bytes(event: str, table: Table) -> tuple[Ints, NDArray[np.bool_]]:
    """The bytes that each event states, and whether they are possible: 8 TB is more than any machine has.

    Those of a sample are its object's size and not what it stands for.
    """
    values = table.column(FIELDS[event][-1])
    sizes = values.filled(0)
    if event == TICK and not values.known.all():
        # The first versions have the amount in 32 bits only.
        sizes = np.where(values.known, sizes, table.column(FIELDS[event][0]).filled(0))
    good = sizes <= _LARGEST
    return np.where(good, sizes, 0).astype(np.int64), good


def allocated_bytes(event: str, table: Table) -> Ints:
    """How many bytes each event represents; none if it states an impossible size."""
    sizes, good = stated_bytes(event, table)
    return np.where(good, sample_weights(sizes).bytes, 0) if event == SAMPLED else sizes


def best_source(seen: Mapping[Source, int]) -> Source | None:
    """The best of those that have events."""
    return next((source for source in EVENTS if seen.get(source)), None)


SELECTORS: Final = tuple(FIELDS)
BYTES: Final = "bytes"
"""The weight's name, which says its unit."""

_NONE: Final = np.zeros(0, dtype=np.int64)


class AllocationRows:
    """The allocations that came so far, four numbers and the bytes of each."""

    def __init__(self) -> None:
        self._parts: dict[str, list[SampleColumns]] = {}

    def take(self, event: str, table: Table, process_id: int | None = None) -> None:
        """Keep events, which are of this process if one is given. `event` is one of `SELECTORS`."""
        rows = SampleColumns.of(table, None, process_id, allocated_bytes(event, table))
        self._parts.setdefault(event, []).append(rows)

    def best(self) -> tuple[str, SampleColumns]:
        """The rows of each process's best source in order of time, and the name of the event that most of them are.

        Empty without a source.
        """
        by_event = {name: SampleColumns.joined(parts) for name, parts in self._parts.items()}
        # Not twice: there may be millions.
        self._parts = {name: [rows] for name, rows in by_event.items()}
        chosen: dict[str, list[SampleColumns]] = {}
        processes = np.unique(np.concatenate([_NONE, *(rows.process for rows in by_event.values())])).tolist()
        for process in processes:
            own = by_event
            if len(processes) > 1:
                own = {name: rows.take(np.flatnonzero(rows.process == process)) for name, rows in by_event.items()}
            seen = {source: sum(len(own.get(name, ())) for name in names) for source, names in EVENTS.items()}
            source = best_source(seen)
            for name in () if source is None else EVENTS[source]:
                if name in own:
                    chosen.setdefault(name, []).append(own[name])
        event = max(chosen, key=lambda name: sum(map(len, chosen[name])), default="")
        return event.partition("/")[2], SampleColumns.joined([part for parts in chosen.values() for part in parts])


def certainty(event: str) -> str | None:
    """The caveat about the bytes that events of this name represent; None if they are exact."""
    source = next((source for source, names in EVENTS.items() if f"runtime/{event}" in names), None)
    if source == "samples":
        return "the bytes are estimated from random samples; `clrevents alloc` gives their confidence intervals"
    if source == "ticks":
        return (
            "the bytes are those between two ticks, all counted for the stack of the object that crossed the "
            "threshold: stacks with few ticks may be far off"
        )
    return None
