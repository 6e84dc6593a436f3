"""Allocations as weighted stacks: when, on which thread, with which stack, and how many bytes each event stands for.

What flame graphs of allocations are drawn from. Keeps the sources apart, and gives the best one.
"""

from __future__ import annotations

from typing import Final

from clrevents.analysis.allocation_events import EVENTS, FIELDS, Source, allocated_bytes, best_source
from clrevents.analysis.weighing import SampleColumns
from clrevents.table.table import Table

SELECTORS: Final = tuple(FIELDS)
BYTES: Final = "bytes"
"""The weight's name, which says its unit."""


class AllocationRows:
    """The allocations that came so far, four numbers and the bytes of each."""

    def __init__(self) -> None:
        self._parts: dict[str, list[SampleColumns]] = {}

    def take(self, event: str, table: Table, process_id: int | None = None) -> None:
        """Keep events, which are of this process if one is given. `event` is one of `SELECTORS`."""
        rows = SampleColumns.of(table, None, process_id, allocated_bytes(event, table))
        self._parts.setdefault(event, []).append(rows)

    def best(self) -> tuple[Source | None, str, SampleColumns]:
        """The best source, the name of its event, and its rows in order of time; no rows where there is none."""
        counts = {name: sum(map(len, parts)) for name, parts in self._parts.items()}
        seen = {source: sum(counts.get(name, 0) for name in names) for source, names in EVENTS.items()}
        source = best_source(seen)
        if source is None:
            return None, "", SampleColumns.joined(())
        names = [name for name in EVENTS[source] if name in self._parts]
        event = max(names, key=counts.__getitem__)
        return source, event.partition("/")[2], SampleColumns.joined([p for name in names for p in self._parts[name]])


def certainty(source: Source | None) -> str | None:
    """What to know of the bytes; None where they are exact."""
    if source == "samples":
        return "the bytes are estimated from random samples; `clrevents alloc` says between which bounds they lie"
    if source == "ticks":
        return (
            "the bytes are those between two ticks, and all of them count for the stack of the object that crossed the "
            "line: stacks with few ticks may be far off"
        )
    return None
