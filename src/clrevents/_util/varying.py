"""Texts without their varying parts: numbers, GUIDs and other ids, in messages and in paths; and what varies in many
paths, such as the name of a package.

Decides which texts are alike; knows no events.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

_VARYING: Final = re.compile(
    r"""
    \b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b    # a GUID
    | \b0[xX][0-9a-fA-F]+
    | \b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}\b                      # a hash
    | [0-9]+(?:[.,:][0-9]+)*
    """,
    re.VERBOSE,
)
_ID: Final = r"(?:\d+|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{8,})"
_PART: Final = re.compile(rf"(?<=/){_ID}(?=/|$)")
_WHOLE: Final = re.compile(_ID)


def message_pattern(text: str) -> str:
    """The message with `#` for each number or id.

    >>> message_pattern("user 17 not found (request 3f2504e0-4f89-11d3-9a0c-0305e82c3301)")
    'user # not found (request #)'
    """
    return _VARYING.sub("#", text)


def route_pattern(path: str) -> str:
    """The path with `{n}` for each part that is a number or an id.

    >>> route_pattern("/orders/17/lines")
    '/orders/{n}/lines'
    """
    return _PART.sub("{n}", path)


_MANY: Final = 20
"""So many different parts in one place of routes are values, if there are at most `_FEW` requests for each."""
_FEW: Final = 3
_OFTEN: Final = 5
"""A part that is so many times as frequent as the median is no value."""


def folded_routes(counts: Mapping[str, int]) -> dict[str, str]:
    """Each of these routes, of which there were so many requests, with `{…}` for a part that has many values.

    The first part of a route is no value, and neither is one that stands in many of them.

    >>> folded_routes({f"/v3/{name}/index.json": 1 for name in "abcdefghijklmnopqrst"})["/v3/c/index.json"]
    '/v3/{…}/index.json'
    """
    parts = {route: tuple(route.split("/")) for route in counts}
    # The heads that are folded already, from the left on: a value hides what is below it, so all of these meet.
    heads: dict[str, tuple[str, ...]] = dict.fromkeys(counts, ())
    for depth in range(max(map(len, parts.values()), default=0)):
        going = [route for route, own in parts.items() if len(own) > depth]
        places: dict[tuple[tuple[str, ...], bool], Counter[str]] = {}
        for route in going:
            place = heads[route], len(parts[route]) == depth + 1
            places.setdefault(place, Counter())[parts[route][depth]] += counts[route]
        values = {place: _values(counts) for place, counts in places.items() if depth > 1}
        for route in going:
            head, part = heads[route], parts[route][depth]
            place = head, len(parts[route]) == depth + 1
            heads[route] = (*head, "{…}" if part in values.get(place, ()) else part)
    return {route: "/".join(head) for route, head in heads.items()}


def _values(counts: Counter[str]) -> frozenset[str]:
    """The parts that are values, of those that stand in one place."""
    usual = sorted(counts.values())[len(counts) // 2]
    rare = {part: count for part, count in counts.items() if count <= _OFTEN * usual and part != "{n}"}
    return frozenset(rare if len(rare) >= _MANY and sum(rare.values()) <= _FEW * len(rare) else ())


def is_id(part: str) -> bool:
    """Whether `route_pattern` leaves nothing of this part of a path."""
    return _WHOLE.fullmatch(part) is not None
