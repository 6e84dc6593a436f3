"""The event that marks a trace as a part of another: `StartNs` and `EndNs`, the bounds of the part (the end exclusive).

Times are nanoseconds since the session started; an open side is the least or the greatest number of 64 bits.
"""

from __future__ import annotations

import struct
from typing import Final

from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription

CUT: Final = ("clrevents", "Cut")
"""Its provider and name. It describes itself, so that no reader needs to know it."""
ID: Final = 2
FIELDS: Final = tuple(FieldDescription(name, TypeCode.INT64) for name in ("StartNs", "EndNs"))


def mark_payload(start_ns: int, end_ns: int) -> bytes:
    """The payload of the event."""
    return struct.pack("<qq", start_ns, end_ns)
