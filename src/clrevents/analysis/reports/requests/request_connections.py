"""Connections of requests: by which the two sides of one match, and what was done to get them.

A connection of HTTP/1.1 carries one request after another. A client's is a server's if both carried the same number,
each received while it was under way, and if no other connection fits, on either side. Path and time alone would match
most requests to several others; paths decide only between connections that fit. A connection may serve another request
than the one in whose flow it was made.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from itertools import pairwise
from typing import Final, TypeAlias

from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.framework.vocabulary.report_table import SpanRow, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import NONE, Gathered
from clrevents.analysis.reports.requests.known_requests import KnownRequest, RequestFinder, RequestSide
from clrevents.analysis.shared.forest.activity_signals import ActivitySource

Sent: TypeAlias = tuple[int, KnownRequest]
"""When a request was sent, or received, and which one."""

_MOST: Final = 100
"""Where more connections than this might be the other side, none is taken."""


def tie_peers(requests: Sequence[KnownRequest]) -> int:
    """Set the peers of requests, and what only the other side knows. Returns how many are matched."""
    clients = [sent for sent in _connections(requests, "client").values() if _serial(sent)]
    servers = sorted(_connections(requests, "server").values(), key=lambda received: received[0][0])
    first = [received[0][0] for received in servers]
    fitting: list[list[int]] = []
    rivals = [0] * len(servers)
    for sent in clients:
        low = bisect_left(first, sent[0][0])
        high = bisect_right(first, _end(sent[0][1]))
        candidates = [] if high - low > _MOST else [at for at in range(low, high) if _fit(sent, servers[at])]
        if len(candidates) > 1:
            paths = [client.path for _, client in sent]
            candidates = [at for at in candidates if paths == [server.path for _, server in servers[at]]]
        fitting.append(candidates)
        for at in candidates:
            rivals[at] += 1
    tied = 0
    for sent, candidates in zip(clients, fitting, strict=True):
        if len(candidates) == 1 and rivals[candidates[0]] == 1:
            for (_, client), (_, server) in zip(sent, servers[candidates[0]], strict=True):
                client.peer, server.peer = server.row, client.row
                tied += 1
                if server.status is None and client.status is not None:
                    server.status, server.status_evidence = client.status, "peer"
    return tied


def _connections(requests: Sequence[KnownRequest], side: RequestSide) -> Mapping[str, list[Sent]]:
    """The requests on each connection of a side, in order."""
    by_connection: dict[str, list[Sent]] = {}
    for request in requests:
        if request.side == side:
            for time, connection in request.sends:
                by_connection.setdefault(connection, []).append((time, request))
    for sent in by_connection.values():
        sent.sort(key=lambda one: one[0])
    return by_connection


def _serial(sent: Sequence[Sent]) -> bool:
    """Whether the response to each request has begun before the next one is sent.

    A request ends a moment after its connection is free again, so that its end says nothing.
    """
    return all(one.headers is not None and one.start + one.headers <= time for (_, one), (time, _) in pairwise(sent))


def _fit(sent: Sequence[Sent], received: Sequence[Sent]) -> bool:
    """Whether each request was received while it was under way."""
    if len(sent) != len(received):
        return False
    return all(time <= there[0] <= _end(client) for (time, client), there in zip(sent, received, strict=True))


def _end(request: KnownRequest) -> int:
    return FOREVER if request.end is None else request.end


RESOLVING: Final = ActivitySource("System.Net.NameResolution", "Resolution")
CONNECTING: Final = ActivitySource("System.Net.Sockets", "Connect")
_ACCEPTING: Final = ActivitySource("System.Net.Sockets", "Accept")
SECURING: Final = ActivitySource("System.Net.Security", "Handshake")
_STEPS: Final = {RESOLVING: "dns", CONNECTING: "connect", _ACCEPTING: "accept", SECURING: "tls"}
NETWORK_FAILURES: Final = {f"{source.provider}/{source.name}Failed": source for source in _STEPS}
NETWORK_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(NETWORK_FAILURES, ("time_ns", "activity_id")),
    f"{SECURING.provider}/HandshakeStart": ("isServer", "targetHost"),
}
"""What is kept of each event."""
_ADDRESS: Final = re.compile(r"InterNetwork(?:V6)?:\d+:\{([0-9,]+)\}")


@table_row(span=("start_ns", "end_ns"), text="name")
class ConnectionStep(SpanRow):
    """A step towards a connection: a name look-up, a connect, an accept, a handshake."""

    kind: cells.Word = column("`dns`, `connect`, `accept` or `tls`.")
    request_row: cells.RowNumber | None = column("The request in which it began, by ids; null if unknown.")
    activity_row: cells.RowNumber = column("Its row in the report on activities.", hidden=True)
    start_ns: cells.Ns = column("When it began. An accept begins when the server is ready for a connection.")
    end_ns: cells.Ns | None = column("When it ended; null without a stop event.")
    duration_ns: cells.DurationNs | None = column("How long it took; null without an end.")
    failed: cells.Flag = column("A failure was recorded.")
    server: cells.Flag | None = column(
        "Whether a handshake is on the server's side; null for other steps.", hidden=True
    )
    name: cells.PrivateText | None = column("The name or address looked up or connected to, or the handshake's host.")


def network_steps(finder: RequestFinder, events: Mapping[str, Gathered]) -> list[ConnectionStep]:
    """All of them, in order of their begins."""
    forest, index = finder.index.forest, finder.index
    shaken = events[f"{SECURING.provider}/HandshakeStart"]
    hosts = dict(index.started(shaken, SECURING, "targetHost", str))
    servers = dict(index.started(shaken, SECURING, "isServer", int))
    # Activities say that they failed before they stop.
    failed = {
        row
        for name, source in NETWORK_FAILURES.items()
        for row, _ in index.owners(events[name])
        if forest.source[row] == source
    }
    steps = []
    for row, source in enumerate(forest.source):
        if source in _STEPS:
            start, end, detail = forest.start[row], forest.end[row] if forest.ended[row] else None, forest.detail[row]
            name = detail if source == RESOLVING or detail is None else endpoint(detail)
            steps.append(
                ConnectionStep(
                    kind=_STEPS[source],
                    request_row=finder.of[row] if finder.of[row] != NONE else None,
                    activity_row=row,
                    start_ns=start,
                    end_ns=end,
                    duration_ns=None if end is None else end - start,
                    failed=row in failed,
                    server=None if (server := servers.get(row)) is None else bool(server),
                    name=hosts.get(row, name) or None,
                )
            )
    return steps


def endpoint(dumped: str) -> str:
    """The address and port in a dump of a socket address, `InterNetwork:16:{20,57,127,0,0,1,…}`; else the text."""
    matched = _ADDRESS.fullmatch(dumped)
    numbers = [int(number) for number in matched[1].split(",") if 0 < len(number) < 4] if matched is not None else []
    if max(numbers, default=0) > 255:
        return dumped
    data = bytes(numbers)
    port = int.from_bytes(data[:2], "big")
    if dumped.startswith("InterNetworkV6:") and len(data) >= 22:
        address = IPv6Address(data[6:22])
        return f"[{address}]:{port}" if address.ipv4_mapped is None else f"{address.ipv4_mapped}:{port}"
    if dumped.startswith("InterNetwork:") and len(data) >= 6:
        return f"{IPv4Address(data[2:6])}:{port}"
    return dumped
