"""One request → the lines of its waterfall: its parts, and inside of these the requests that they stand for.

A part `call` holds the request that was sent; where a client waits for its response, the server's side of the request
is inside that. Ends where there are too many lines, and says nothing of what is `unaccounted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from clrevents.analysis.reports.requests.known_requests import KnownRequest
from clrevents.analysis.reports.requests.request_parts import TimedPart

_MOST_LINES: Final = 100


@attrs.frozen
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
            held = part.call
            if part.part == "wait" and one.side == "client":
                held = one.peer
            if held is not None:
                inside.append((requests[held], depth + 2))
        waiting += reversed(inside)
    return lines, len(waiting)
