"""What the packed buffers of .NET's async profiler look like: their head, and the width of each kind of sub-event.

Each `AsyncEvents` carries one buffer, with many sub-events of one thread. These have numbers of their own, in event ids
from `FIRST_ID` on, which are not the provider's. Pure data; docs/format.md, "Async buffers".
"""

from __future__ import annotations

from typing import Final

from clrevents._util.value_classes import frozen
from clrevents.schema.registry import ASYNC

CARRIER_ID: Final = 1
FIRST_ID: Final = 1000
"""The event id of a buffer itself; sub-event n is event `FIRST_ID + n`."""
METADATA: Final = 22
"""The sub-event that announces the version and the width of all others, and its own is always the same."""
VERSION: Final = 1
"""Of the buffer; others are not known."""
HEAD: Final = "<BIIQIQQ"
"""Version, size in bytes, number of the thread's context, thread, number of sub-events, first and last tick."""
HEAD_SIZE: Final = 37
LENGTH_SIZE: Final = 4
"""Bytes of the length in front of the buffer."""


@frozen
class Form:
    """The version of a kind of sub-event, and how many bytes the length of its payload takes; 0: it has no payload."""

    version: int
    width: int


_NONE, _SHORT, _LONG = Form(1, 0), Form(1, 1), Form(1, 2)
FORMS: Final = {
    **dict.fromkeys((3, 4, 9, 10, 13, 14, 17, 18, 20, 21), _NONE),
    **dict.fromkeys((1, 2, 5, 11, 12, 15, 23), _SHORT),
    **dict.fromkeys((6, 7, 8, 16, 19, METADATA), _LONG),
}
"""By sub-event, in .NET 11.0: for recordings that begin without the announcement."""


def in_buffer(provider: str, id: int) -> bool:
    """Whether these events come in buffers."""
    return provider == ASYNC and id >= FIRST_ID
