"""Texts without their varying parts: numbers, GUIDs and other ids, in messages and in paths.

Decides which texts are alike; knows no events.
"""

from __future__ import annotations

import re
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


def is_id(part: str) -> bool:
    """Whether `route_pattern` leaves nothing of this part of a path."""
    return _WHOLE.fullmatch(part) is not None
