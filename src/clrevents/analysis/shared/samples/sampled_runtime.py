"""Whether samples tell if a thread ran: before .NET 5 most of those that ran say that they were out of managed code.

Goes by the version that the runtime tells of itself; where none is told, by whether hardly any of many samples is
in managed code. A method on the stack that is known to wait tells a wait in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from clrevents.analysis.gathering.gather import Gathered

VERSION_EVENTS: Final = ("runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart")
"""The events that tell the version."""
VERSION: Final = "BclMajorVersion"
UNTOLD: Final = "before .NET 5 samples do not tell whether a thread ran managed code"
"""Why there is no such number."""

_FIRST: Final = 5
_FEW: Final = 0.01
_ENOUGH: Final = 1000


def versions_of(events: Gathered | None) -> set[int]:
    """The versions that one of the events tells."""
    known = events is not None and VERSION in events.table
    return set() if events is None or not known else set(events.numbers(VERSION).astype(np.int64).tolist())


def tells_running(versions: Iterable[int], managed: int, samples: int) -> bool:
    """Whether samples tell it of a runtime of these versions; so many of them say that they are in managed code."""
    known = list(versions)
    if known:
        return min(known) >= _FIRST
    return samples < _ENOUGH or managed >= _FEW * samples
