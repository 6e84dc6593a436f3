"""Event blocks that follow each other, read in one piece: alone, a small one would cost a hundred times its bytes, and
one as runtimes write it twice its events.

Knows how their columns become one; which blocks may be read so is up to the container of each generation.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import Events, Together
from clrevents.decode.container.window import Window
from clrevents.decode.kernels.header_scan import HeaderColumns, HeaderScanner

SMALL: Final = 1 << 17
"""Larger blocks, in bytes, are read one by one."""
# So many blocks are read together, at least and at most; and so many are read alone after failures.
_LEAST: Final = 1 << 5
_MOST: Final = 1 << 12
_LONGEST_PAUSE: Final = 1 << 6
Ints: TypeAlias = NDArray[np.int64]

_FEW: Final = 2
_ACTIVITY_IDS: Final = 16 | 32
_LABELS: Final = 16


class SmallBlocks:
    """Reads the small blocks of one stream together, `most` of them next.

    Fewer are looked for, and more rarely, after blocks that were not sound: these are looked at again one by one.
    """

    def __init__(self, scanner: HeaderScanner) -> None:
        self._scanner = scanner
        self.most = _LEAST
        self._rest = self._pause = 0

    def rests(self) -> bool:
        """Whether the next block is to be read alone."""
        self._rest -= self._rest > 0
        return self._rest > 0

    def read(self, window: Window, bodies: Any, count: int, behind: int, labelled: bool) -> tuple[Events, int] | None:
        """The events of these blocks up to the first that is not sound, and where the last ends; None if few are.

        `bodies` is what `program.chained` found; `behind` the end of each are so many bytes. The window stays where it
        is.
        """
        if count < _FEW:
            # To find that out takes less than to read one block.
            self._rest = 2
            return None
        found = self._read(window, bodies, count, behind, labelled)
        if found is None:
            self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE)
            self._rest = self._pause + 1
        else:
            self._pause = 0
        return found

    def _read(self, window: Window, bodies: Any, count: int, behind: int, labelled: bool) -> tuple[Events, int] | None:
        columns, heads, done = self._scanner.scan_together(window.data, bodies, count, window.base, labelled)
        if done < count:
            self.most = _LEAST
        elif count == self.most:
            self.most = min(4 * count, _MOST)
        if columns is None or done < _FEW:
            self.most = _FEW
            return None
        together = Together(heads[:, :3], columns.marks, heads[:, 5] + window.base, heads[:, 3:5])
        columns.marks = _with_ends(columns, together, labelled)
        events = Events([columns], window.data, window.base, labelled=labelled, together=together)
        return events, int(bodies[3 * done - 1]) + behind


def _with_ends(columns: HeaderColumns, together: Together, labelled: bool) -> NDArray[np.int64]:
    """The marks, and one at the start of each block after one that has any: ids do not carry over."""
    if not len(columns.marks):
        return columns.marks
    marked = np.diff(together.ends[:, 2], prepend=0) > 0
    rows = together.ends[:-1, 0][marked[:-1]]
    ends = np.empty((len(rows), 3), dtype=np.int64)
    ends[:, 0], ends[:, 1], ends[:, 2] = rows, _LABELS if labelled else _ACTIVITY_IDS, 0 if labelled else -1
    both = np.concatenate((ends, columns.marks))
    return both[np.argsort(both[:, 0], kind="stable")]
