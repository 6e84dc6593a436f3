"""The runtime's three ways of recording allocations: which events each has, which is best, the bytes they state; and
its rows as weighted stacks, from which flame graphs of allocations are drawn.

They record the same thing, so no two of them are ever added up: sources are kept separate, and each process has its
best one. Knows fields; names no type and no stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.shared.weights.allocation_estimate import sample_weights
from clrevents.analysis.shared.weights.weighing import SampleColumns
from clrevents.table.table import Table

Ints: TypeAlias = NDArray[np.int64]
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
        held = {name: SampleColumns.joined(parts) for name, parts in self._parts.items()}
        # Not twice: there may be millions.
        self._parts = {name: [rows] for name, rows in held.items()}
        found: dict[str, list[SampleColumns]] = {}
        processes = np.unique(np.concatenate([_NONE, *(rows.process for rows in held.values())])).tolist()
        for process in processes:
            mine = held
            if len(processes) > 1:
                mine = {name: rows.take(np.flatnonzero(rows.process == process)) for name, rows in held.items()}
            seen = {source: sum(len(mine.get(name, ())) for name in names) for source, names in EVENTS.items()}
            source = best_source(seen)
            for name in () if source is None else EVENTS[source]:
                if name in mine:
                    found.setdefault(name, []).append(mine[name])
        event = max(found, key=lambda name: sum(map(len, found[name])), default="")
        return event.partition("/")[2], SampleColumns.joined([part for parts in found.values() for part in parts])


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
