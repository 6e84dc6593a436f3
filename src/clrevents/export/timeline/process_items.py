"""What processes did → their tracks: pauses and collections of the GC, requests, activities, counters.

Lengths are those of the reports' tables. A row without a beginning has no place in time and is left out. Knows no
format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from clrevents.export.timeline.lanes import placed
from clrevents.export.timeline.table_rows import grouped
from clrevents.export.timeline.thread_items import details, track_of
from clrevents.export.timeline.timeline_items import Group, Placed, Stretch

_PAUSE: Final = ("number", "suspend_ns", "held_up_ns", "thread_id", "lossy")
_COLLECTION: Final = (
    "number", "generation", "kind", "reason", "pause_ns", "suspend_ns", "heap_before_bytes", "heap_after_bytes",
    "promoted_bytes", "mechanisms", "lossy",
)  # fmt: skip


def pauses(answer: Any) -> Iterator[Placed]:
    """When all managed threads were stopped, for collections or otherwise, by the report `gc`."""
    tables: dict[Group, Any] = {"pauses": answer.suspensions, "suspensions": answer.other_suspensions}
    for group, table in tables.items():
        for (process,), rows in grouped(table, ("process_id",), "start_ns", "end_ns"):
            items = (Stretch(r.start_ns, r.end_ns, r.reason or "unknown", details(r, _PAUSE)) for _, r in rows)
            yield from placed(track_of(group, process), items)


def collections(answer: Any) -> Iterator[Placed]:
    """From where to where collections went, which is not how long they stopped the program, by the report `gc`."""
    for (process,), rows in grouped(answer.collections, ("process_id",), "start_ns", "end_ns"):
        items = (Stretch(r.start_ns, r.end_ns, _collection(r), details(r, _COLLECTION)) for _, r in rows)
        yield from placed(track_of("collections", process), items)


def _collection(row: Any) -> str:
    return f"generation {row.generation}, {row.kind}"
