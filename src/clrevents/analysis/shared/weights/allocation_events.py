"""The runtime's three ways to tell of allocations: which events each has, which is best, and the bytes they state.

They tell the same thing, so no two of them are ever added up. Knows fields; names no type and no stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.shared.weights.allocation_estimate import sample_weights
from clrevents.table.table import Table

Ints: TypeAlias = NDArray[np.int64]
Source: TypeAlias = Literal["objects", "samples", "ticks"]

ALLOC: Final = "alloc"
"""What users say for the bytes that were allocated, where they choose a weight."""
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
NEEDED: Final = Need("allocations", (_BARE[TICK], _BARE[SAMPLED], _BARE[HIGH], _BARE[LOW]), 0x1, 5, essential=True)
NEEDED_RARE: Final = Need("allocations of rare types", (_BARE[SAMPLED], _BARE[HIGH], _BARE[LOW]), 0x80000000000)
"""Ticks tell of types by chance; this tells of all of them."""

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
    """How many bytes each event stands for; none where it states an impossible size."""
    sizes, good = stated_bytes(event, table)
    return np.where(good, sample_weights(sizes).bytes, 0) if event == SAMPLED else sizes


def best_source(seen: Mapping[Source, int]) -> Source | None:
    """The best of those that have events."""
    return next((source for source in EVENTS if seen.get(source)), None)
