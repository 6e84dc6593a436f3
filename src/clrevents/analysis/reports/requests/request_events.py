"""The events about requests, and which of their columns are kept, matched to rows of the forest of activities.

The n-th start event of a name is the n-th activity of that name. Any other event belongs to the activity that has its
id at its time; if two have it, to none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

import attrs

from clrevents._util.value_classes import define
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.shared.forest.activity_forest import ActivityForest
from clrevents.analysis.shared.forest.activity_signals import ActivitySource

T = TypeVar("T")

HTTP: Final = "System.Net.Http"
HOSTING: Final = "Microsoft.AspNetCore.Hosting"
KESTREL: Final = "Microsoft-AspNetCore-Server-Kestrel"
CLIENT: Final = ActivitySource(HTTP, "Request")
SERVER: Final = ActivitySource(HOSTING, "Request")
CONNECTED: Final = ActivitySource(KESTREL, "Request")
SENDING: Final = ActivitySource(HTTP, "RequestHeaders")
RECEIVING: Final = ActivitySource(HTTP, "ResponseHeaders")

LEFT_QUEUE: Final = f"{HTTP}/RequestLeftQueue"
ESTABLISHED: Final = f"{HTTP}/ConnectionEstablished"
UNHANDLED: Final = f"{HOSTING}/UnhandledException"
THROWN: Final = "runtime/ExceptionThrown"
_WHEN: Final = ("time_ns", "activity_id")
REQUEST_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    f"{HTTP}/RequestStart": ("host", "port", "pathAndQuery"),
    f"{HTTP}/RequestStop": (*_WHEN, "statusCode"),
    f"{HTTP}/RequestFailed": _WHEN,
    f"{HTTP}/RequestContentStop": (*_WHEN, "contentLength"),
    f"{HTTP}/RequestHeadersStart": ("connectionId",),
    f"{HTTP}/ResponseHeadersStop": (*_WHEN, "statusCode"),
    LEFT_QUEUE: (*_WHEN, "timeOnQueueMilliseconds"),
    ESTABLISHED: ("connectionId",),
    f"{HOSTING}/RequestStart": ("method", "path"),
    UNHANDLED: _WHEN,
    f"{KESTREL}/RequestStart": ("connectionId", "method", "path", "httpVersion"),
}
"""What is kept of each event."""


def typed(cells: Iterable[object], of: type[T]) -> list[T | None]:
    """The values of this type. Traces describe these events, and a crafted one may describe others by their names."""
    return [cell if isinstance(cell, of) else None for cell in cells]


@define(eq=False)
class ActivityIndex:
    """The rows of each source, and of each id, of a forest."""

    forest: ActivityForest
    by_source: dict[ActivitySource, list[int]] = attrs.field(init=False, factory=dict)
    _by_id: dict[bytes, tuple[list[int], list[int]]] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        for row, (source, id) in enumerate(zip(self.forest.source, self.forest.activity, strict=True)):
            self.by_source.setdefault(source, []).append(row)
            if id is not None and not self.forest.catching[row]:
                starts, rows = self._by_id.setdefault(id, ([], []))
                starts.append(self.forest.start[row])
                rows.append(row)

    def started(
        self, events: Gathered, source: ActivitySource, name: str, of: type[T]
    ) -> Iterator[tuple[int, T | None]]:
        """Each row of a source, with what its start event has in a column, if that is `of` this type."""
        return zip(self.by_source.get(source, ()), typed(events.cells(name), of), strict=False)

    def owners(self, events: Gathered) -> Iterator[tuple[int, int]]:
        """The row in which each event lies, and its time; those in none are left out."""
        return ((row, time) for row, time, _ in self.told(events, "time_ns", int))

    def told(self, events: Gathered, name: str, of: type[T]) -> Iterator[tuple[int, int, T | None]]:
        """The same, with what each event has in a column, if that is `of` this type."""
        cells = typed(events.cells(name), of)
        for time, id, cell in zip(events.cells("time_ns"), events.cells("activity_id"), cells, strict=True):
            row = self.at(id, time)
            if row != NONE:
                yield row, time, cell

    def at(self, id: bytes | None, time: int) -> int:
        """The activity that has this id at this time; -1 if none has, or if it is ambiguous."""
        starts, rows = self._by_id.get(id, ([], [])) if id is not None else ([], [])
        place = bisect_right(starts, time) - 1
        if place < 0 or self.forest.ambiguous[rows[place]]:
            return NONE
        row = rows[place]
        end = self.forest.end[row] if self.forest.ended[row] else FOREVER
        return row if time <= end else NONE
