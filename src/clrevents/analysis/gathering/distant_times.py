"""Times further from the start of a session than any session lasts, which only a crafted or damaged clock produces.

Answers subtract and add times. Those of a year leave room in 64 bits for a hundred; centuries do not for two. Events
themselves keep the time that they have. Who says so to a reader is the caller's business.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.table.table import Table

Ints = NDArray[np.int64]

FAR_NS: Final = 365 * 86_400 * 1_000_000_000
"""A year before or after the start of the session."""


def near_ns(time_ns: int) -> int:
    """A time of any size, not further away than a year."""
    return max(-FAR_NS, min(time_ns, FAR_NS))


def near_times(times: Ints) -> tuple[Ints, int]:
    """Times not further away than a year, and how many were."""
    if not len(times) or (int(times.min()) >= -FAR_NS and int(times.max()) <= FAR_NS):
        return times, 0
    return np.clip(times, -FAR_NS, FAR_NS), int(((times < -FAR_NS) | (times > FAR_NS)).sum())


def near_table(table: Table) -> tuple[Table, int]:
    """A table whose `time_ns`, if it has them, are such times, and how many of them are not what they were."""
    if "time_ns" not in table:
        return table, 0
    place = table.columns.index("time_ns")
    parts, distant = [], 0
    for part in table.parts:
        times, moved = near_times(part[place].values)
        distant += moved
        parts.append((*part[:place], attrs.evolve(part[place], values=times), *part[place + 1 :]) if moved else part)
    return (attrs.evolve(table, parts=tuple(parts)), distant) if distant else (table, 0)
