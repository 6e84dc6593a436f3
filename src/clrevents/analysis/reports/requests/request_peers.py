"""Matches the two sides of a request, if one trace has both: by their connections, in the order of the requests.

A connection of HTTP/1.1 carries one request after another. A client's is a server's if both carried the same number,
each received while it was under way, and if no other connection fits, on either side. Path and time alone would match
most requests to several others; paths decide only between connections that fit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.reports.requests.known_requests import KnownRequest, RequestSide

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
        found = [] if high - low > _MOST else [at for at in range(low, high) if _fit(sent, servers[at])]
        if len(found) > 1:
            found = [at for at in found if _alike(sent, servers[at])]
        fitting.append(found)
        for at in found:
            rivals[at] += 1
    tied = 0
    for sent, found in zip(clients, fitting, strict=True):
        if len(found) == 1 and rivals[found[0]] == 1:
            for (_, client), (_, server) in zip(sent, servers[found[0]], strict=True):
                client.peer, server.peer = server.row, client.row
                tied += 1
                if server.status is None and client.status is not None:
                    server.status, server.status_evidence = client.status, "peer"
    return tied


def _connections(requests: Sequence[KnownRequest], side: RequestSide) -> Mapping[str, list[Sent]]:
    """The requests on each connection of a side, in order."""
    found: dict[str, list[Sent]] = {}
    for request in requests:
        if request.side == side:
            for time, connection in request.sends:
                found.setdefault(connection, []).append((time, request))
    for sent in found.values():
        sent.sort(key=lambda one: one[0])
    return found


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


def _alike(sent: Sequence[Sent], received: Sequence[Sent]) -> bool:
    """Whether the paths of the requests are the same."""
    return all(client.path == server.path for (_, client), (_, server) in zip(sent, received, strict=True))


def _end(request: KnownRequest) -> int:
    return FOREVER if request.end is None else request.end
