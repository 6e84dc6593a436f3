"""The threads of NetTrace 6: from the indexes used by events to threads, as defined at that moment.

Pure bookkeeping of values from `blocks`; sees no bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import ThreadRow
from clrevents.decode.rows import UNKNOWN_THREAD
from clrevents.errors import Limits, Problem, damage

# Looked up one by one: a trace may have as many blocks as events.
_FEW = 16


class ThreadTable:
    """The threads of NetTrace 6: from the indexes used by events to threads, which may reuse an index.

    A thread keeps its place in `all`; an index refers to it from its definition to its removal.
    """

    def __init__(self, limits: Limits) -> None:
        self.all: list[ThreadRow] = []
        self._limits = limits
        self._by_index: dict[int, int] = {}
        self._ids = np.full(64, UNKNOWN_THREAD, dtype=np.uint64)

    def define(self, row: ThreadRow) -> Problem | None:
        """Add a thread; returns a problem if its index is in use."""
        old = self._by_index.get(row.index)
        if old is not None and self.all[old] == row:
            return None
        if len(self.all) >= self._limits.threads:
            return damage("too-many-threads", "more threads than Limits.threads", row.offset, None, "later threads")
        place = self._by_index[row.index] = len(self.all)
        self.all.append(row)
        if place + 1 == len(self._ids):
            self._ids = np.concatenate((self._ids, np.full_like(self._ids, UNKNOWN_THREAD)))
        if row.thread_id is not None:
            self._ids[place] = row.thread_id
        if old is None:
            return None
        text = f"thread index {row.index} is redefined while in use"
        return damage("redefined-thread", text, row.offset, None, "which thread these events are about")

    def find(self, index: int) -> int | None:
        """The place of the thread that an index currently refers to."""
        return self._by_index.get(index)

    def remove(self, index: int) -> int | None:
        """Forget an index; returns its thread's place."""
        return self._by_index.pop(index, None)

    def forget(self) -> None:
        self._by_index.clear()

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
