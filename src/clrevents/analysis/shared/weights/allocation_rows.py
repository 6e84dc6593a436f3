"""Allocations as weighted stacks: when, on which thread, with which stack, and how many bytes each event stands for.

What flame graphs of allocations are drawn from. Keeps the sources apart, and gives the best one of each process.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents.analysis.shared.weights.allocation_events import EVENTS, FIELDS, allocated_bytes, best_source
from clrevents.analysis.shared.weights.weighing import SampleColumns
from clrevents.table.table import Table

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

        Nothing where there is no source.
        """
        held = {name: SampleColumns.joined(parts) for name, parts in self._parts.items()}
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
    """What to know of the bytes that events of this name stand for; None where they are exact."""
    source = next((source for source, names in EVENTS.items() if f"runtime/{event}" in names), None)
    if source == "samples":
        return "the bytes are estimated from random samples; `clrevents alloc` says between which bounds they lie"
    if source == "ticks":
        return (
            "the bytes are those between two ticks, and all of them count for the stack of the object that crossed the "
            "line: stacks with few ticks may be far off"
        )
    return None
