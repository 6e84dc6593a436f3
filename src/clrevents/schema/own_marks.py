"""The events that we write ourselves: what a trace was made of, and what that lacked.

They stand next to the first event of a trace and are described in it, so that every reader shows them. Numbers only.
Knows neither their writers nor their readers.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Set
from enum import IntEnum
from typing import Final

from clrevents._util.value_classes import frozen
from clrevents.schema.codes import TypeCode
from clrevents.schema.dynamic import FieldDescription
from clrevents.schema.registry import OWN

PROVIDER: Final = OWN
OWN_THREAD: Final = 0xFFFFFFFF
"""The thread on which a recorder writes what it counted: one that no process has, so nobody misses its events."""
LEAST, MOST = -(1 << 63), (1 << 63) - 1


@frozen
class Mark:
    """One of these events. Its description has the number `metadata_id` unless another one has."""

    name: str
    id: int
    metadata_id: int
    names: tuple[str, ...]
    code: TypeCode = TypeCode.INT64

    @property
    def event(self) -> tuple[str, str]:
        """Its provider and name."""
        return PROVIDER, self.name

    @property
    def selector(self) -> str:
        """What selects it."""
        return f"{PROVIDER}/{self.name}"

    @property
    def fields(self) -> tuple[FieldDescription, ...]:
        """Its fields as they are described."""
        return tuple(FieldDescription(name, self.code) for name in self.names)

    def payload(self, *values: int) -> bytes:
        """Its payload; what damaged clocks say becomes what 64 bits hold."""
        form = f"<{len(self.names)}{'q' if self.code == TypeCode.INT64 else 'i'}"
        return struct.pack(form, *(min(max(value, LEAST), MOST) for value in values))


REDACTED: Final = Mark("Redacted", 1, 1, ("Blank", "Ids"), TypeCode.INT32)
"""Texts were replaced. 1 if they became the same number of `x` instead of words; 1 if identifying numbers were, too."""
CUT: Final = Mark("Cut", 2, (1 << 31) - 1, ("StartNs", "EndNs"))
"""The trace is a part of another: its bounds, the end exclusive, in nanoseconds since the session started. An open side
is the least or the greatest number of 64 bits."""
JOINED: Final = Mark(
    "Joined",
    3,
    (1 << 31) - 2,
    (
        *("ProcessID", "ShiftNs", "UncertaintyNs", "Compared", "Contradicting", "ErrorNs"),
        *("StartNs", "StoppedNs", "EndNs"),
    ),
)
"""The trace is two recordings of one run. Of which process the other recording is; what was added to its times, and by
how much that may be wrong either way; how many of its events were compared to find that, and how many contradict it;
how deep the worst of those lies that were left out to try it, -1 if none were; when it began, when its tracing stopped,
and when it ended."""
LACKED: Final = Mark("Lacked", 4, (1 << 31) - 3, ("What", "Count", "LostThread", "StartNs", "EndNs"))
"""What the original lacked, so that a copy of a damaged trace, or of one without an end, is not taken for a whole."""


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
    """The values of one `LACKED`."""

    what: Lacking
    count: int = 1
    thread_id: int = -1
    start_ns: int = LEAST
    end_ns: int = MOST

    def payload(self) -> bytes:
        """The payload of the event."""
        return LACKED.payload(self.what, self.count, self.thread_id, self.start_ns, self.end_ns)


def lack_of(payload: bytes) -> Lack | None:
    """The values of a payload; None if they are none that are written."""
    if len(payload) != 8 * len(LACKED.names):
        return None
    what, count, thread, start, end = struct.unpack("<5q", payload)
    if what not in list(Lacking) or count < 1 or start > end:
        return None
    return Lack(Lacking(what), count, thread, start, end)


def marks_redaction(providers: Mapping[str, Set[str]]) -> bool:
    """Whether a trace is redacted, by the providers of its events' names."""
    return PROVIDER in providers.get(REDACTED.name, ())
