"""Threads as payloads name them → the system's ids, and the version of .NET, on which that depends.

Owners of locks are given by the system's thread id, since .NET 11 by the runtime's own number (docs/errata.md, "Owners
of locks are told by two kinds of numbers"), and ids in payloads may be the lower 32 bits of those in headers. A version
is told by the process's start or the rundown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import Array
from clrevents.analysis.shared.events.event_spans import field_numbers
from clrevents.trace import TraceInfo

VERSION_EVENTS: Final = ("runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart")
"""The events with the version."""
_VERSION: Final = "BclMajorVersion"


def versions_of(events: Mapping[str, Gathered]) -> set[int]:
    """The major versions of .NET that events tell; none where neither of `VERSION_EVENTS` is among them."""
    gathered = (events[name] for name in VERSION_EVENTS if name in events and _VERSION in events[name].table)
    return {int(version) for rows in gathered for version in rows.numbers(_VERSION).tolist()}


Ids = NDArray[np.uint64]
_LOWER: Final = np.uint64(2**32 - 1)
_ALL: Final = 2**64 - 1


def whole_ids(recorded: Ids, headers: Ids) -> Ids:
    """The ids of payloads, or instead of each the only id of a header that has it as its lower 32 bits."""
    longer, _ = np.unique(headers[headers > _LOWER], return_counts=True)
    if not len(longer):
        return recorded
    lower, first, count = np.unique(longer & _LOWER, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(lower, recorded), len(lower) - 1)
    cut = (lower[place] == recorded) & (count[place] == 1) & ~np.isin(recorded, headers)
    return np.where(cut, longer[first[place]], recorded)


def whole_of(recorded: Iterable[int], headers: Iterable[int]) -> list[int]:
    """The same of numbers, of which damaged ones may be negative."""
    both = (np.array([id & _ALL for id in ids], dtype=np.uint64) for ids in (recorded, headers))
    ids: list[int] = whole_ids(*both).tolist()
    return ids


_CREATED: Final = "runtime/ThreadCreated"
OWNER_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = dict.fromkeys(VERSION_EVENTS, (_VERSION,))
"""What is needed of each event, beside the creation of threads."""
_NUMBERED_SINCE: Final = 11


@frozen(eq=False)
class LockOwners:
    """The threads of a process by their numbers, each with when it was created."""

    numbered: bool = False
    """Whether every lock names its owner by number."""
    created: Mapping[int, list[tuple[int, int]]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, events: Mapping[str, Gathered], info: TraceInfo) -> LockOwners:
        """By these events of one process."""
        columns = ("time_ns", "ManagedThreadIndex", "OSThreadID")
        rows = zip(*(field_numbers(events[_CREATED], name).tolist() for name in columns), strict=True)
        created: dict[int, list[tuple[int, int]]] = {}
        for time, number, thread in sorted(rows):
            created.setdefault(number, []).append((time, thread))
        versions = versions_of(events)
        return cls(info.native_aot or max(versions, default=0) >= _NUMBERED_SINCE, created)

    def threads(self, owners: Array, times: NDArray[np.int64], seen: Ids) -> Ids:
        """The id of each owner that was told at a time; 0 where it is unknown. `seen` are ids of other threads."""
        ids = {thread for some in self.created.values() for _, thread in some} | set(seen.tolist())
        threads = owners.astype(np.uint64)
        for row, (owner, time) in enumerate(zip(threads.tolist(), times.tolist(), strict=True)):
            if self.numbered or (owner in self.created and owner not in ids):
                lives = self.created.get(owner, [])
                place = bisect_right(lives, (time, np.inf)) - 1
                threads[row] = lives[place][1] if place >= 0 else 0
        return threads
