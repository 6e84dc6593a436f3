"""`Tally`: rows counted by kind and by thread, through the scan module's second loop.

Knows integers only; what the kinds and threads are is the caller's business.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.kernels.engine import COMPILED, SCAN, given, numbers_room, scratch, zeros
from clrevents.decode.kernels.header_scan import HeaderColumns


class Tally:
    """Counts rows by kind, and by thread with the first and last tick of each."""

    def __init__(self, threads: int) -> None:
        self._most_threads = threads
        self._counts = zeros(256)
        self._room = 0
        self._used = 0
        self._ids, self._sums = scratch(0), numbers_room(0)
        self._latest = given(np.array([-1 << 63], dtype=np.int64))
        self._threads: dict[int, tuple[int, int, int]] = {}

    @property
    def latest(self) -> int:
        """The last tick of all; the smallest possible number before the first."""
        return int(self._latest[0])

    @property
    def kinds(self) -> NDArray[np.int64]:
        """How many rows each kind has, by its index."""
        return np.asarray(self._counts, dtype=np.int64)

    @property
    def threads(self) -> dict[int, tuple[int, int, int]]:
        """Rows, first and last tick of each thread."""
        self._fold()
        return self._threads

    def add(self, columns: HeaderColumns, values: NDArray[np.int64], table: NDArray[np.int64], kinds: int) -> bool:
        """Take one piece of a block; the kind of row i, one of `kinds`, is `table[values[i]]`.

        Returns False, without counting, if one has none: beyond the table, or -1 in it.
        """
        rows = len(columns)
        if kinds > len(self._counts):
            grown = zeros(2 * kinds)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        if self._used + rows > self._room:
            self._fold()
            self._room = max(self._room, 2 * rows)
            self._ids, self._sums = scratch(self._room), numbers_room(3 * self._room)
        if not COMPILED and len(table) > rows:
            # The interpreted kernel takes lists: not one of the whole table for each small block.
            if rows and not (values.min() >= 0 and values.max() < len(table)):
                return False
            values, table = np.arange(rows, dtype=np.int64), table[values]
        times, threads = given(columns.ticks), given(columns.thread_ids)
        arguments = (given(values), given(table), len(table), threads, times)
        used = int(SCAN.tally(rows, *arguments, self._counts, self._used, self._ids, self._sums, self._latest))
        if used < 0:
            return False
        self._used = used
        return True

    def _fold(self) -> None:
        """Merge what the kernel found into the totals of each thread."""
        used, self._used = self._used, 0
        threads = self._threads
        for at in range(used):
            thread = int(self._ids[at])
            count, low, high = map(int, self._sums[3 * at : 3 * at + 3])
            old = threads.get(thread)
            if old is not None:
                threads[thread] = old[0] + count, min(old[1], low), max(old[2], high)
            elif len(threads) < self._most_threads:
                threads[thread] = count, low, high
