"""Activities and the events about them → requests, and which other request each is a part of.

The n-th start event of a name is the n-th activity of that name. Any other event belongs to the activity that has its
id at its time; if two have it, to none. Takes a request's status, connection and failure from events; guesses none of
them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias, TypeVar

import attrs

from clrevents._util.value_classes import define
from clrevents._util.varying import route_pattern
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.groups import NONE, Gathered
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
    f"{KESTREL}/RequestStart": ("time_ns", "thread_id", "connectionId", "requestId", "method", "path", "httpVersion"),
    f"{KESTREL}/RequestStop": ("time_ns", "requestId"),
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
        return ((row, time) for row, time, _ in self.with_column(events, "time_ns", int))

    def with_column(self, events: Gathered, name: str, of: type[T]) -> Iterator[tuple[int, int, T | None]]:
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


RequestSide: TypeAlias = Literal["client", "server"]

_FAILED_STATUS: Final = -1
"""What a client writes as the status of a request that got no response."""


@define(eq=False)
class KnownRequest:
    """One request. Times are those of its activity; `end` is None without a stop event."""

    row: int
    activity: int
    side: RequestSide
    start: int
    end: int | None
    ambiguous: bool
    end_evidence: str | None = None
    has_id: bool = True
    """Without one nothing is known to lie in it."""
    parent: int | None = None
    peer: int | None = None
    method: str | None = None
    host: str | None = None
    path: str | None = None
    status: int | None = None
    status_evidence: str | None = None
    failed: bool = False
    queued: list[tuple[int, int]] = attrs.field(factory=list)
    """When it left a queue, after how long."""
    headers: int | None = None
    sent_bytes: int | None = None
    sends: list[tuple[int, str]] = attrs.field(factory=list)
    """When the request was sent on which connection, or received; more than once where it was redirected."""
    reused: bool | None = None

    @property
    def route(self) -> str | None:
        """The path with what looks like a number left open."""
        return None if self.path is None else route_pattern(self.path)

    @property
    def wrong(self) -> bool:
        """Whether it failed, as far as is known."""
        return self.failed or (self.status is not None and self.status >= 500)


class RequestFinder:
    """Finds them in a forest. `of` is the request that each activity is a part of, or is; -1 for none."""

    def __init__(self, forest: ActivityForest, events: Mapping[str, Gathered]) -> None:
        self.index = ActivityIndex(forest)
        self._forest, self._events = forest, events
        self.requests: list[KnownRequest] = []
        self.of: list[int] = []
        self._tree()
        self._client()
        self._server()

    def thread(self, request: KnownRequest) -> int:
        """The thread on which a request started."""
        return self._forest.thread[request.activity]

    def _tree(self) -> None:
        """Which activities are requests. If the host records them, the server's activities are parts of those."""
        forest = self._forest
        server = SERVER if SERVER in self.index.by_source else CONNECTED
        for row, source in enumerate(forest.source):
            parent = forest.parent[row]
            above = self.of[parent] if parent != NONE else NONE
            if source in (CLIENT, server):
                end = forest.end[row] if forest.ended[row] else None
                side: RequestSide = "client" if source == CLIENT else "server"
                number = len(self.requests)
                request = KnownRequest(number, row, side, forest.start[row], end, bool(forest.ambiguous[row]))
                request.parent = None if above == NONE else above
                request.end_evidence = None if end is None else "event"
                request.has_id = forest.activity[row] is not None
                self.requests.append(request)
                self.of.append(number)
            else:
                self.of.append(above)

    def _client(self) -> None:
        index, forest = self.index, self._forest
        started = f"{HTTP}/RequestStart"
        for request, host in self._begun(started, CLIENT, "host", str):
            request.host = host
        for request, port in self._begun(started, CLIENT, "port", int):
            if request.host is not None and port >= 0:
                request.host = f"{request.host}:{port}"
        for request, path in self._begun(started, CLIENT, "pathAndQuery", str):
            request.path = path.partition("?")[0]
        for name in (f"{HTTP}/ResponseHeadersStop", f"{HTTP}/RequestStop"):
            for request, _, status in self._told(name, "statusCode", int):
                if status == _FAILED_STATUS:
                    request.failed = True
                else:
                    request.status, request.status_evidence = status, "event"
        for request, _, _ in self._told(f"{HTTP}/RequestFailed", "time_ns", int):
            request.failed = True
        for request, left, milliseconds in self._told(LEFT_QUEUE, "timeOnQueueMilliseconds", float):
            # A crafted number may be none.
            if 0 <= milliseconds < 1e12:
                request.queued.append((left, round(milliseconds * 1e6)))
        for request, _, length in self._told(f"{HTTP}/RequestContentStop", "contentLength", int):
            if 0 <= length < 1 << 60:
                request.sent_bytes = min((request.sent_bytes or 0) + length, 1 << 60)
        for row in index.by_source.get(RECEIVING, ()):
            reading = self._of(row, "client")
            if reading is not None and forest.ended[row]:
                reading.headers = forest.end[row] - reading.start
        self._connections()

    def _begun(
        self, event: str, source: ActivitySource, name: str, of: type[T], side: RequestSide = "client"
    ) -> Iterator[tuple[KnownRequest, T]]:
        """Requests of a side, with what the start events of a source have in a column, if that is `of` this type."""
        for row, value in self.index.started(self._events[event], source, name, of):
            request = self._of(row, side)
            if request is not None and value is not None:
                yield request, value

    def _told(
        self, event: str, name: str, of: type[T], side: RequestSide = "client"
    ) -> Iterator[tuple[KnownRequest, int, T]]:
        """The same of events that lie in a request, with the time of each."""
        for row, time, value in self.index.with_column(self._events[event], name, of):
            request = self._of(row, side)
            if request is not None and value is not None:
                yield request, time, value

    def _connections(self) -> None:
        """On which connection each request was sent, and whether it was new."""
        new = {str(id) for id in self._events[ESTABLISHED].cells("connectionId")}
        used: set[str] = set()
        for row, id in self.index.started(self._events[f"{HTTP}/RequestHeadersStart"], SENDING, "connectionId", int):
            request = self._of(row, "client")
            if request is None or id is None:
                continue
            connection = str(id)
            request.sends.append((self._forest.start[row], connection))
            request.reused = True if connection in used else (False if connection in new else None)
            used.add(connection)

    def _server(self) -> None:
        received = f"{KESTREL}/RequestStart"
        for event, source in ((received, CONNECTED), (f"{HOSTING}/RequestStart", SERVER)):
            for request, method in self._begun(event, source, "method", str, "server"):
                request.method = method
            for request, path in self._begun(event, source, "path", str, "server"):
                request.path = path.partition("?")[0]
        for request, id in self._begun(received, CONNECTED, "connectionId", str, "server"):
            request.sends.append((request.start, id))
        for request, _, _ in self._told(UNHANDLED, "time_ns", int, "server"):
            request.failed = True
        self._ends()

    def _ends(self) -> None:
        """Where no stop has the id of its start: the end by the number that Kestrel gives each request.

        The host starts a request, then Kestrel does, at once and on the same thread; Kestrel stops it, then the host.
        """
        received, stops = (self._events[f"{KESTREL}/Request{edge}"] for edge in ("Start", "Stop"))
        ends: dict[object, int] = dict(zip(stops.cells("requestId"), stops.cells("time_ns"), strict=True))
        columns = (received.cells(name) for name in ("time_ns", "thread_id", "path", "requestId"))
        starts: dict[int, list[tuple[int, object, object]]] = {}
        for time, thread, path, number in zip(*columns, strict=True):
            starts.setdefault(thread, []).append((time, path, number))
        after: dict[int, int] = {}
        for request in sorted(self.requests, key=lambda one: -one.start):
            if request.side == "client":
                continue
            thread = self.thread(request)
            of_thread = starts.get(thread, [])
            place = bisect_left(of_thread, request.start, key=lambda start: start[0])
            is_own = place < after.get(thread, len(of_thread)) and of_thread[place][1] == request.path
            after[thread] = place
            end = ends.get(of_thread[place][2]) if is_own else None
            if request.end is None and end is not None and end >= request.start:
                request.end, request.end_evidence = end, "number"

    def _of(self, row: int, side: RequestSide) -> KnownRequest | None:
        number = self.of[row]
        return self.requests[number] if number != NONE and self.requests[number].side == side else None
