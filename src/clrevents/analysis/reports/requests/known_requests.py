"""Activities → requests: what each side's events say about them, and which other request each is a part of.

Takes a request's status, connection and failure from events; guesses none of them. `request_peers` finds the other side
of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import attrs

from clrevents._util.value_classes import define
from clrevents._util.varying import route_pattern
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.reports.requests.request_events import (
    CLIENT,
    CONNECTED,
    ESTABLISHED,
    HOSTING,
    HTTP,
    KESTREL,
    LEFT_QUEUE,
    RECEIVING,
    SENDING,
    SERVER,
    UNHANDLED,
    ActivityIndex,
)
from clrevents.analysis.shared.forest.activity_forest import ActivityForest

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
                made = KnownRequest(number, row, side, forest.start[row], end, bool(forest.ambiguous[row]))
                made.parent = None if above == NONE else above
                made.has_id = forest.activity[row] is not None
                self.requests.append(made)
                self.of.append(number)
            else:
                self.of.append(above)

    def _client(self) -> None:
        index, forest = self.index, self._forest
        started = self._events[f"{HTTP}/RequestStart"]
        for row, host in index.started(started, CLIENT, "host", str):
            self.requests[self.of[row]].host = host
        for row, port in index.started(started, CLIENT, "port", int):
            mine = self.requests[self.of[row]]
            if mine.host is not None and port is not None and port >= 0:
                mine.host = f"{mine.host}:{port}"
        for row, path in index.started(started, CLIENT, "pathAndQuery", str):
            self.requests[self.of[row]].path = None if path is None else path.partition("?")[0]
        for name in (f"{HTTP}/ResponseHeadersStop", f"{HTTP}/RequestStop"):
            for row, _, status in index.told(self._events[name], "statusCode", int):
                mine_ = self._client_of(row)
                if mine_ is not None and status == _FAILED_STATUS:
                    mine_.failed = True
                elif mine_ is not None and status is not None:
                    mine_.status, mine_.status_evidence = status, "event"
        for row, _ in index.owners(self._events[f"{HTTP}/RequestFailed"]):
            failing = self._client_of(row)
            if failing is not None:
                failing.failed = True
        for row, left, milliseconds in index.told(self._events[LEFT_QUEUE], "timeOnQueueMilliseconds", float):
            queued = self._client_of(row)
            # A crafted number may be none.
            if queued is not None and milliseconds is not None and 0 <= milliseconds < 1e12:
                queued.queued.append((left, round(milliseconds * 1e6)))
        for row, _, length in index.told(self._events[f"{HTTP}/RequestContentStop"], "contentLength", int):
            sending = self._client_of(row)
            if sending is not None and length is not None and 0 <= length < 1 << 60:
                sending.sent_bytes = min((sending.sent_bytes or 0) + length, 1 << 60)
        for row in index.by_source.get(RECEIVING, ()):
            reading = self._client_of(row)
            if reading is not None and forest.ended[row]:
                reading.headers = forest.end[row] - reading.start
        self._connections()

    def _connections(self) -> None:
        """On which connection each request was sent, and whether it was new."""
        new = {str(id) for id in self._events[ESTABLISHED].cells("connectionId")}
        used: set[str] = set()
        for row, id in self.index.started(self._events[f"{HTTP}/RequestHeadersStart"], SENDING, "connectionId", int):
            mine = self._client_of(row)
            if mine is None or id is None:
                continue
            connection = str(id)
            mine.sends.append((self._forest.start[row], connection))
            mine.reused = True if connection in used else (False if connection in new else None)
            used.add(connection)

    def _server(self) -> None:
        index = self.index
        hosted = self._events[f"{HOSTING}/RequestStart"]
        received = self._events[f"{KESTREL}/RequestStart"]
        for events, source in ((received, CONNECTED), (hosted, SERVER)):
            for row, method in index.started(events, source, "method", str):
                mine = self._server_of(row)
                if mine is not None and method is not None:
                    mine.method = method
            for row, path in index.started(events, source, "path", str):
                mine = self._server_of(row)
                if mine is not None and path is not None:
                    mine.path = path.partition("?")[0]
        for row, id in index.started(received, CONNECTED, "connectionId", str):
            mine = self._server_of(row)
            if mine is not None and id is not None:
                mine.sends.append((mine.start, id))
        for row, _ in index.owners(self._events[UNHANDLED]):
            thrower = self._server_of(row)
            if thrower is not None:
                thrower.failed = True

    def _client_of(self, row: int) -> KnownRequest | None:
        return self._of(row, "client")

    def _server_of(self, row: int) -> KnownRequest | None:
        return self._of(row, "server")

    def _of(self, row: int, side: RequestSide) -> KnownRequest | None:
        number = self.of[row]
        return self.requests[number] if number != NONE and self.requests[number].side == side else None
