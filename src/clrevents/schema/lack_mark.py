"""The events that say what the original of a copy lacked: `clrevents/Lacked`, next to the copy's first event.

So a copy of a damaged trace, or of one without an end, is not taken for a whole one. Numbers only: a damaged file's
texts could be anyone's.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final

from clrevents._util.value_classes import frozen
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription

LACKED: Final = ("clrevents", "Lacked")
"""Its provider and name. It describes itself, so that every reader shows it."""
ID: Final = 4
FIELDS: Final = tuple(
    FieldDescription(name, TypeCode.INT64) for name in ("What", "Count", "LostThread", "StartNs", "EndNs")
)
_PAYLOAD: Final = struct.Struct("<5q")
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


class Lacking(IntEnum):
    """What was lacking."""

    END = 1
    """The end mark: until `StartNs` the events of all threads were there."""
    DAMAGE = 2
    """Places of the file that were damaged: `Count` of them."""
    EVENTS = 3
    """`Count` events of thread `LostThread` (-1: of any) that stood in damaged bytes, between `StartNs` and `EndNs`."""
    NUMBERS = 4
    """Numbers of its events that would show losses."""


@frozen
class Lack:
    """One event's values."""

    what: Lacking
    count: int = 1
    thread_id: int = -1
    start_ns: int = _LEAST
    end_ns: int = _MOST

    def payload(self) -> bytes:
        """The payload of the event."""
        values = (self.what, self.count, self.thread_id, self.start_ns, self.end_ns)
        return _PAYLOAD.pack(*(min(max(value, _LEAST), _MOST) for value in values))


def lack_of(payload: bytes) -> Lack | None:
    """The values of a payload; None if they are none that are written."""
    if len(payload) != _PAYLOAD.size:
        return None
    what, count, thread, start, end = _PAYLOAD.unpack(payload)
    if what not in list(Lacking) or count < 1 or start > end:
        return None
    return Lack(Lacking(what), count, thread, start, end)
