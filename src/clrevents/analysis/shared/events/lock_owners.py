"""Which thread held a lock, as its contentions say: by the system's id, since .NET 11 by the runtime's own number.

`System.Threading.Lock` of .NET 9 and 10 gives the number, too, and so does every lock of a NativeAOT program. It is
used again when its thread is gone; whose it was is known from the creation of threads. Without that, the owner is
unknown: a number is no id (docs/errata.md, "Owners of locks are told by two kinds of numbers").
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.runtime_versions import VERSION, VERSION_EVENTS, versions_of
from clrevents.analysis.shared.events.wait_events import field_numbers
from clrevents.trace import TraceInfo

Ids: TypeAlias = NDArray[np.uint64]

_CREATED: Final = "runtime/ThreadCreated"
OWNER_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = dict.fromkeys(VERSION_EVENTS, (VERSION,))
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
        versions = set[int]().union(*(versions_of(events[name]) for name in VERSION_EVENTS))
        return cls(info.native_aot or max(versions, default=0) >= _NUMBERED_SINCE, created)

    def threads(self, told: NDArray[Any], times: NDArray[np.int64], seen: Ids) -> Ids:
        """The id of each owner that was told at a time; 0 where it is unknown. `seen` are ids of other threads."""
        ids = {thread for some in self.created.values() for _, thread in some} | set(seen.tolist())
        found = told.astype(np.uint64)
        for row, (owner, time) in enumerate(zip(found.tolist(), times.tolist(), strict=True)):
            if self.numbered or (owner in self.created and owner not in ids):
                lives = self.created.get(owner, [])
                place = bisect_right(lives, (time, np.inf)) - 1
                found[row] = lives[place][1] if place >= 0 else 0
        return found
