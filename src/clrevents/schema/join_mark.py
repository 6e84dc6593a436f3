"""The event that marks a trace as two recordings of one run in one file: `clrevents/Joined`, next to its first event.

Described in the trace itself, so that every reader shows it. Knows neither its writer nor its readers.
"""

from __future__ import annotations

import struct
from typing import Final

from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription

JOINED: Final = ("clrevents", "Joined")
"""Its provider and name."""
ID: Final = 3
MARK_NAMES: Final = (
    *("ProcessID", "ShiftNs", "UncertaintyNs", "Compared", "Contradicting", "ErrorNs"),
    *("StartNs", "StoppedNs", "EndNs"),
)
"""Of which process the other recording is; what was added to its times, and by how much that may be wrong either way;
how many of its events were compared to find that, and how many contradict it; how deep the worst of those lies that
were left out to try it, -1 if none were; when it began, when its tracing stopped, and when it ended."""
FIELDS: Final = tuple(FieldDescription(name, TypeCode.INT64) for name in MARK_NAMES)
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
SELECTOR: Final = "/".join(JOINED)


def mark_payload(*values: int) -> bytes:
    """The payload of the event, of the values of `MARK_NAMES`; those of damaged clocks become what 64 bits hold."""
    return struct.pack(f"<{len(MARK_NAMES)}q", *(min(max(value, _LEAST), _MOST) for value in values))
