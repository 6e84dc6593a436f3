"""What leads from one place to another → tracks with arrows: tasks, requests; and activities and counters.

Lengths are those of the reports' tables. A row without a beginning has no place in time and is left out. Knows no
format.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from clrevents.export.timeline.lanes import placed
from clrevents.export.timeline.table_rows import grouped
from clrevents.export.timeline.thread_items import details, track_of
from clrevents.export.timeline.timeline_items import Arrows, Instant, Level, Placed, Stretch, Track

_TASK: Final = ("kind", "task_id", "parent_task_id", "latency_ns", "exceptional", "ambiguous", "lossy")
_REQUEST: Final = (
    "method", "host", "url_path", "status", "failed", "queue_ns", "headers_ns", "exceptions", "connection", "ambiguous",
    "lossy",
)  # fmt: skip
_ACTIVITY: Final = (
    "provider", "detail", "activity_id", "activity_path", "end_kind", "start_thread_id", "ambiguous", "lossy",
)  # fmt: skip
_SIDES: Final = {"client": "requests sent", "server": "requests served"}
_Key: TypeAlias = tuple[Any, int | None]


def task_runs(answer: Any, arrows: Arrows) -> Iterator[Placed]:
    """Tasks where they ran, and an arrow to each from where it was created, by the report `tasks`."""
    table = answer.tasks
    for (process, thread), rows in grouped(table, ("process_id", "thread_id"), "started_ns", "completed_ns"):
        runs = (
            Stretch(
                *(row.started_ns, row.completed_ns, row.method or row.kind, details(row, _TASK)),
                reaches=arrows("task", place) if _ran_later(row) else (),
            )
            for place, row in rows
        )
        yield from placed(track_of("tasks", process, thread), runs, nesting=True)
    for (process, thread), rows in grouped(table, ("process_id", "created_thread_id"), "created_ns"):
        track = track_of("created", process, thread)
        for place, row in rows:
            leaves = arrows("task", place) if _ran_later(row) else ()
            yield track, Instant(row.created_ns, row.kind, details(row, _TASK), leaves)


def _ran_later(row: Any) -> bool:
    return row.created_ns is not None and row.started_ns is not None and row.created_ns <= row.started_ns


def requests(answer: Any, arrows: Arrows) -> Iterator[Placed]:
    """Requests of clients and of servers, by the report `requests`; arrows lead from a client's to the server's, and
    from the one that is served to those that are sent meanwhile."""
    ties = _Ties(answer.requests, arrows)
    sides = np.array(answer.requests.column("side").tolist(), dtype=object)
    for side, name in _SIDES.items():
        table = answer.requests.take(np.flatnonzero(sides == side))
        for (process,), rows in grouped(table, ("process_id",), "start_ns", "end_ns"):
            items = (
                Stretch(
                    *(row.start_ns, row.end_ns, _request_name(row), details(row, _REQUEST)),
                    leaves=tuple(ties.leaves[row.process_id, row.row]),
                    reaches=tuple(ties.reaches[row.process_id, row.row]),
                )
                for _, row in rows
            )
            yield from placed(Track("requests", name, process), items)


def _request_name(row: Any) -> str:
    return " ".join(filter(None, (row.method, row.route))) or "a request"


class _Ties:
    """The arrows of each request, by its process and row."""

    def __init__(self, table: Any, arrows: Arrows) -> None:
        self.leaves: dict[_Key, list[int]] = defaultdict(list)
        self.reaches: dict[_Key, list[int]] = defaultdict(list)
        names = ("process_id", "row", "start_ns", "peer_row", "parent_row")
        columns = [table.column(name).tolist() for name in names]
        starts = {(process, row): start for process, row, start, *_ in zip(*columns, strict=True)}
        sides = table.column("side").tolist()
        for place, (process, row, start, peer, parent) in enumerate(zip(*columns, strict=True)):
            for kind, other in (("call", parent), ("peer", peer if sides[place] == "server" else None)):
                if other is not None and starts.get((process, other), start + 1) <= start:
                    self.leaves[process, other] += arrows(kind, place)
                    self.reaches[process, row] += arrows(kind, place)


def activities(answer: Any) -> Iterator[Placed]:
    """Activities from start to stop, by the report `activities`."""
    for (process,), rows in grouped(answer.activities, ("process_id",), "start_ns", "end_ns"):
        items = (Stretch(r.start_ns, r.end_ns, r.name, details(r, _ACTIVITY)) for _, r in rows)
        yield from placed(track_of("activities", process), items)


def counters(answer: Any) -> Iterator[Placed]:
    """The values of each series, by the report `counters`; those that have none are left out."""
    for (process, series), rows in grouped(answer.values, ("process_id", "series_row"), "time_ns"):
        for _, row in rows:
            if row.value is not None:
                track = Track("counters", f"{row.provider}/{row.label}", process, unit=row.unit, lane=series)
                yield track, Level(row.time_ns, row.value)
