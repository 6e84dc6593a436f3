"""Which major versions of .NET a process ran, as its start or the rundown tells; none where neither was recorded."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents.analysis.gathering.gather import Gathered

VERSION_EVENTS: Final = ("runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart")
"""The events with the version."""
VERSION: Final = "BclMajorVersion"


def versions_of(events: Gathered | None) -> set[int]:
    """The versions that one of the events tells."""
    if events is None or VERSION not in events.table:
        return set()
    return set(events.numbers(VERSION).astype(np.int64).tolist())
