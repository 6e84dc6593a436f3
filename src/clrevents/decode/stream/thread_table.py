"""The threads of NetTrace 6: from the indexes used by events to threads, as defined at that moment.

Pure bookkeeping of values from `blocks`; sees no bytes. A thread that is described again after it was forgotten or
removed has the place that it had.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import ThreadRow
from clrevents.decode.kinds import digest
from clrevents.decode.rows import UNKNOWN_THREAD
from clrevents.errors import Limits, Problem, damage

# Looked up one by one: a trace may have as many blocks as events.
_FEW = 16


class ThreadTable:
    """The threads of NetTrace 6: from the indexes used by events to threads, which may reuse an index.

    A thread keeps its place in `all`; an index refers to it from its definition to its removal. `definitions` counts
    them.
    """

    def __init__(self, limits: Limits) -> None:
        self.all: list[ThreadRow] = []
        self.definitions = 0
        self._limits = limits
        self._by_index: dict[int, int] = {}
        # How many definitions there were before that of each place.
        self._born: list[int] = []
        # Places of threads that no index refers to, by what describes these.
        self._free: dict[bytes, list[int]] = {}
        self._ids = np.full(64, UNKNOWN_THREAD, dtype=np.uint64)

    def define(self, row: ThreadRow) -> Problem | None:
        """Add a thread; returns a problem if its index is in use."""
        old = self._by_index.get(row.index)
        if old is not None and _description(self.all[old]) == _description(row):
            return None
        place = self._take_free(row) if self._free else None
        if place is None:
            place = len(self.all)
            if place >= self._limits.threads:
                return damage("too-many-threads", "more threads than Limits.threads", row.offset, None, "later threads")
            self._add(row)
        self._by_index[row.index] = place
        self._born[place] = self.definitions
        self.definitions += 1
        if old is None:
            return None
        text = f"thread index {row.index} is redefined while in use"
        return damage("redefined-thread", text, row.offset, None, "which thread these events are about")

    def _add(self, row: ThreadRow) -> None:
        place = len(self.all)
        self.all.append(row)
        self._born.append(0)
        if place + 1 == len(self._ids):
            self._ids = np.concatenate((self._ids, np.full_like(self._ids, UNKNOWN_THREAD)))
        if row.thread_id is not None:
            self._ids[place] = row.thread_id

    def _take_free(self, row: ThreadRow) -> int | None:
        key = digest(_description(row))
        places = self._free.get(key)
        if not places:
            return None
        place = places.pop()
        if not places:
            del self._free[key]
        return place

    def _let_go(self, place: int) -> None:
        self._free.setdefault(digest(_description(self.all[place])), []).append(place)

    def born(self, place: int) -> int:
        """How many definitions there were before the last one of the thread at this place."""
        return self._born[place] if place < len(self._born) else self.definitions

    def find(self, index: int) -> int | None:
        """The place of the thread that an index currently refers to."""
        return self._by_index.get(index)

    def remove(self, index: int) -> int | None:
        """Forget an index; returns its thread's place."""
        place = self._by_index.pop(index, None)
        if place is not None:
            self._let_go(place)
        return place

    def forget(self) -> None:
        for place in self._by_index.values():
            self._let_go(place)
        self._by_index = {}

    def places(self, indexes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], int | None]:
        """Places of many indexes (-1 if undefined), and the first undefined index."""
        if len(indexes) < _FEW:
            few = [self._by_index.get(index, -1) for index in indexes.tolist()]
            return np.array(few, dtype=np.int64), few.index(-1) if -1 in few else None
        uniques, inverse = np.unique(indexes, return_inverse=True)
        found = [self._by_index.get(index, -1) for index in uniques.tolist()]
        places = np.array(found, dtype=np.int64)[inverse]
        missing = np.flatnonzero(places < 0)
        return places, int(missing[0]) if len(missing) else None

    def thread_ids(self, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Operating-system thread ids; all ones where unknown."""
        # Place -1, a missing thread, reads the last of them, which is always unknown.
        return self._ids[places]

    def thread_id(self, place: int) -> int:
        """The operating system's id of one thread; -1 if unknown."""
        known = self.all[place].thread_id
        return -1 if known is None else known


def _description(row: ThreadRow) -> tuple[object, ...]:
    """What a row says of the thread itself."""
    return row.thread_id, row.process_id, row.name, row.attributes
