"""A request → where its time went, one part after another; time without an event is the part `unaccounted`.

Where parts overlap, the one that began first keeps the time, so that the parts of a request add up to its duration.
The queue for a connection takes only what the other steps of the request leave; what stopped or blocked its code only
what is left then; and awaits only what these leave.

As lines of a waterfall the requests that parts stand for are inside of them: the part `call` holds the request that was
sent; where a client waits for its response, the server's side is inside that. It ends where there are too many lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import NONE
from clrevents.analysis.reports.requests.known_requests import HTTP, RECEIVING, SENDING, KnownRequest, RequestFinder
from clrevents.analysis.reports.requests.request_commands import KnownCommand
from clrevents.analysis.reports.requests.request_connections import CONNECTING, RESOLVING, SECURING
from clrevents.analysis.shared.forest.activity_forest import ActivityForest
from clrevents.analysis.shared.forest.activity_signals import ActivitySource

UNACCOUNTED: Final = "unaccounted"
_CONTENT: Final = ActivitySource(HTTP, "RequestContent")
_PARTS: Final = {
    SENDING: "request_headers",
    _CONTENT: "request_content",
    RECEIVING: "response_headers",
    ActivitySource(HTTP, "ResponseContent"): "response_content",
    RESOLVING: "dns",
    CONNECTING: "connect",
    SECURING: "tls",
}


@frozen
class TimedPart:
    """A stretch of a request, and the request or the command that it stands for if it is a `call` or a `command`."""

    part: str
    start: int
    end: int
    call: int | None = None
    command: int | None = None


class RequestParts:
    """Finds the parts of requests. `further` are more of them by request; each takes what those before it leave."""

    def __init__(
        self,
        finder: RequestFinder,
        commands: Iterable[KnownCommand] = (),
        further: Sequence[Mapping[int, Sequence[TimedPart]]] = (),
    ) -> None:
        forest = finder.index.forest
        self._recorded: dict[int, list[TimedPart]] = {}
        queues: dict[int, list[TimedPart]] = {}
        self._layers = (self._recorded, queues, *further)
        ends: dict[int, list[int]] = {}
        for row, source in enumerate(forest.source):
            number = finder.of[row]
            if number == NONE or source not in _PARTS or not forest.ended[row]:
                continue
            self._add(number, TimedPart(_PARTS[source], forest.start[row], forest.end[row]))
            if source in (SENDING, _CONTENT):
                ends.setdefault(number, []).append(forest.end[row])
        self._wait(finder, forest, ends)
        for command in commands:
            if command.counts and command.request is not None and command.end is not None:
                self._add(command.request, TimedPart("command", command.start, command.end, command=command.row))
        for request in finder.requests:
            for left, queue in request.queued:
                queues.setdefault(request.row, []).append(TimedPart("queue", left - queue, left))
            if request.parent is not None and request.end is not None and request.side == "client":
                self._add(request.parent, TimedPart("call", request.start, request.end, request.row))

    def of(self, request: KnownRequest) -> list[TimedPart]:
        """The parts in order; none without an end."""
        if request.end is None:
            return []
        laid_out = [TimedPart(UNACCOUNTED, request.start, request.end)] if request.start < request.end else []
        for layer in self._layers:
            if request.row in layer:
                laid_out = filled(laid_out, cut_parts(request.start, request.end, layer[request.row]))
        return laid_out

    def _wait(self, finder: RequestFinder, forest: ActivityForest, ends: dict[int, list[int]]) -> None:
        """From when a request is sent to when the first of its response is there."""
        for sent in ends.values():
            sent.sort()
        for row in finder.index.by_source.get(RECEIVING, ()):
            sent = ends.get(finder.of[row], [])
            place = bisect_right(sent, forest.start[row]) - 1
            if place >= 0:
                self._add(finder.of[row], TimedPart("wait", sent[place], forest.start[row]))

    def _add(self, number: int, part: TimedPart) -> None:
        self._recorded.setdefault(number, []).append(part)


def cut_parts(start: int, end: int, parts: Iterable[TimedPart]) -> list[TimedPart]:
    """These parts inside the bounds, without overlaps, and what lies between them."""
    cut: list[TimedPart] = []
    reach = start
    ordered: Sequence[TimedPart] = sorted(parts, key=lambda part: (part.start, part.end, part.part))
    for part in ordered:
        low, high = max(part.start, reach), min(part.end, end)
        if high <= low:
            continue
        if low > reach:
            cut.append(TimedPart(UNACCOUNTED, reach, low))
        cut.append(attrs.evolve(part, start=low, end=high))
        reach = high
    if reach < end:
        cut.append(TimedPart(UNACCOUNTED, reach, end))
    return cut


def filled(parts: Sequence[TimedPart], others: Sequence[TimedPart]) -> list[TimedPart]:
    """The parts, and where they are unaccounted, the others; both cut, and from the same begin to the same end."""
    joined: list[TimedPart] = []
    at = 0
    for part in parts:
        if part.part != UNACCOUNTED:
            joined.append(part)
            continue
        while at < len(others) and others[at].end <= part.start:
            at += 1
        while at < len(others) and others[at].start < part.end:
            other = others[at]
            joined.append(attrs.evolve(other, start=max(other.start, part.start), end=min(other.end, part.end)))
            if other.end > part.end:
                break
            at += 1
    return joined


_MOST_LINES: Final = 100


@frozen
class LaidOutPart:
    """A line: a request, with its name, or a part of one."""

    request: int
    depth: int
    part: str
    start: int
    end: int
    name: str | None = None

    def label(self, number: int) -> str:
        """What people read, so that the order of texts is that of lines."""
        name = self.part if self.name is None else f"{self.part} {self.name}"
        return f"{number:02} {'· ' * self.depth}{name}"


def waterfall(
    request: KnownRequest, requests: Sequence[KnownRequest], parts: Sequence[Sequence[TimedPart]]
) -> tuple[list[LaidOutPart], int]:
    """The lines of a request, of all requests with their parts; and how many were left out, or parts with more."""
    lines: list[LaidOutPart] = []
    seen = set[int]()
    waiting: list[tuple[KnownRequest | LaidOutPart, int]] = [(request, 0)]
    while waiting and len(lines) < _MOST_LINES:
        one, depth = waiting.pop()
        if isinstance(one, LaidOutPart):
            lines.append(one)
            continue
        if one.row in seen or one.end is None:
            continue
        seen.add(one.row)
        name = " ".join(filter(None, (one.method, one.path))) or None
        lines.append(LaidOutPart(one.row, depth, one.side, one.start, one.end, name))
        inside: list[tuple[KnownRequest | LaidOutPart, int]] = []
        for part in parts[one.row]:
            inside.append((LaidOutPart(one.row, depth + 1, part.part, part.start, part.end), depth + 1))
            position = part.call
            if part.part == "wait" and one.side == "client":
                position = one.peer
            if position is not None:
                inside.append((requests[position], depth + 2))
        waiting += reversed(inside)
    return lines, len(waiting)
