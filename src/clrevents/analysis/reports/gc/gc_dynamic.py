"""Events that the GC defines by itself: its committed memory, and how it adapts its heaps (DATAS).

Each is a name and packed little-endian numbers. One that is shorter than its layout, or of another version, is left out
and counted; what follows the known part is ignored.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from clrevents._util.value_classes import define
from clrevents.analysis.gathering.gather import Gathered

DYNAMIC: Final = "runtime/GCDynamicEvent"

_LAYOUTS: Final[Mapping[str, struct.Struct]] = {
    "CommittedUsage": struct.Struct("<H5Q"),
    "SizeAdaptationSample": struct.Struct("<HQ4IQI"),
    "SizeAdaptationTuning": struct.Struct("<4HQQ3fHfIB4HB"),
    "SizeAdaptationFullGCTuning": struct.Struct("<HHQfI" + "If" * 3),
}
_VERSION: Final = 1
_US: Final = 1000


@define(eq=False)
class DynamicTables:
    """Rows of the three tables, each as values by column, in order; `unread` are events that do not fit."""

    committed: list[dict[str, Any]] = attrs.field(factory=list)
    samples: list[dict[str, Any]] = attrs.field(factory=list)
    tunings: list[dict[str, Any]] = attrs.field(factory=list)
    unread: int = 0

    @property
    def adapts(self) -> bool:
        """Whether there is anything that only server GC writes."""
        return bool(self.samples or self.tunings)


def dynamic_tables(rows: Gathered, running: Iterable[int | None]) -> DynamicTables:
    """Of the rows of the event; `running` is the number of the collection that each was told in."""
    found = DynamicTables()
    names = ("time_ns", "thread_id", "Name", "Data")
    values = (rows.column(name).tolist() for name in names)
    for number, time, thread, name, data in zip(running, *values, strict=True):
        layout = _LAYOUTS.get(name)
        if layout is None:
            continue
        if len(data) < layout.size or int.from_bytes(data[:2], "little") != _VERSION:
            found.unread += 1
            continue
        numbers = layout.unpack_from(data)[1:]
        about = {"time_ns": time, "thread_id": thread}
        if name == "CommittedUsage":
            found.committed.append({**about, "number": number, **_committed(*numbers)})
        elif name == "SizeAdaptationSample":
            found.samples.append({**about, **_sample(*numbers)})
        elif name == "SizeAdaptationTuning":
            found.tunings.append({**about, **_tuning(*numbers)})
        else:
            found.tunings.append({**about, **_full_tuning(*numbers)})
    for table in (found.committed, found.samples, found.tunings):
        # A crafted event may say more than a column holds.
        kept = [row for row in table if all(abs(v) < 1 << 63 for v in row.values() if type(v) is int)]
        kept = [row for row in kept if all(v == v and abs(v) < float("inf") for v in row.values() if type(v) is float)]
        found.unread += len(table) - len(kept)
        table[:] = kept
    return found


def _committed(in_use: int, decommit: int, free: int, global_free: int, bookkeeping: int) -> dict[str, int]:
    return {
        "committed_bytes": in_use + decommit + free + global_free + bookkeeping,
        "in_use_bytes": in_use,
        "free_bytes": free,
        "global_free_bytes": global_free,
        "decommit_bytes": decommit,
        "bookkeeping_bytes": bookkeeping,
    }


def _sample(
    index: int, between: int, pause: int, small_wait: int, large_wait: int, stable: int, budget: int
) -> dict[str, int]:
    return {
        "gc_index": index,
        "between_ns": between * _US,
        "pause_ns": pause * _US,
        "small_wait_ns": small_wait * _US,
        "large_wait_ns": large_wait * _US,
        "stable_bytes": stable,
        "budget_bytes": budget,
    }


def _tuning(*numbers: Any) -> dict[str, Any]:
    heaps, most, least, index, stable, median, cost, _, _, _, since, *_ = numbers
    return {
        "gc_index": index,
        "full": False,
        "heaps": heaps,
        "least_heaps": least,
        "most_heaps": most,
        "median_cost": median,
        "cost": cost,
        "stable_bytes": stable,
        "since_change": since,
    }


def _full_tuning(*numbers: Any) -> dict[str, Any]:
    heaps, index, median, since = numbers[:4]
    return {
        "gc_index": index,
        "full": True,
        "heaps": heaps,
        "least_heaps": None,
        "most_heaps": None,
        "median_cost": median,
        "cost": None,
        "stable_bytes": None,
        "since_change": since,
    }
