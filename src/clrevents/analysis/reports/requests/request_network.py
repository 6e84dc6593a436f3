"""What was done to get connections, inside of requests and outside: look-ups of names, connects, accepts, handshakes.

Each is an activity of its provider. A connection may serve another request than the one in whose flow it was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from clrevents._util.value_classes import define
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.reports.requests.known_requests import RequestFinder
from clrevents.analysis.shared.forest.activity_signals import ActivitySource

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


@define(eq=False)
class NetworkStep:
    """One of them; `end` is None without a stop event."""

    activity: int
    kind: str
    request: int | None
    start: int
    end: int | None
    thread: int
    name: str | None
    failed: bool = False
    server: bool | None = None


def network_steps(finder: RequestFinder, events: Mapping[str, Gathered]) -> list[NetworkStep]:
    """All of them, in order of their begins."""
    forest, index = finder.index.forest, finder.index
    found: dict[int, NetworkStep] = {}
    for row, source in enumerate(forest.source):
        if source in _STEPS:
            request = finder.of[row] if finder.of[row] != NONE else None
            end = forest.end[row] if forest.ended[row] else None
            detail = forest.detail[row]
            name = detail if source == RESOLVING or detail is None else endpoint(detail)
            made = NetworkStep(row, _STEPS[source], request, forest.start[row], end, forest.thread[row], name or None)
            found[row] = made
    shaken = events[f"{SECURING.provider}/HandshakeStart"]
    for row, host in index.started(shaken, SECURING, "targetHost", str):
        found[row].name = host or None
    for row, server in index.started(shaken, SECURING, "isServer", int):
        found[row].server = None if server is None else bool(server)
    for row in _failed(finder, events):
        if row in found:
            found[row].failed = True
    return list(found.values())


def _failed(finder: RequestFinder, events: Mapping[str, Gathered]) -> Iterator[int]:
    """The activities that say that they failed, which they do before they stop."""
    for name, source in NETWORK_FAILURES.items():
        for row, _ in finder.index.owners(events[name]):
            if finder.index.forest.source[row] == source:
                yield row


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
