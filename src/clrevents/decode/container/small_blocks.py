"""Small event blocks that follow each other, read in one piece: each alone would cost a hundred times its bytes.

Knows how their columns become one; which blocks may be read so is up to the container of each generation.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import Events, Together
from clrevents.decode.container.window import Window
from clrevents.decode.kernels.header_scan import HeaderColumns, HeaderScanner

SMALL: Final = 1 << 11
"""Larger blocks, in bytes, are read one by one."""
MOST: Final = 1 << 10
"""So many blocks at most are read together."""
_FEW: Final = 4
_ACTIVITY_IDS: Final = 16 | 32
_LABELS: Final = 16


Place: TypeAlias = tuple[int, int, int, int, int, int]
"""A small block whose head is sound: where problems with it are, its first and last tick, its events, and its end.

All but the first, which is an offset, and the ticks are places in the window.
"""


def read_together(
    scanner: HeaderScanner, window: Window, places: list[Place], labelled: bool
) -> tuple[Events, int] | None:
    """The events of these blocks up to the first that is not sound, and where the last of them ends; None if few are.

    The window stays where it is.
    """
    if len(places) < _FEW:
        return None
    columns, ends = scanner.scan_together(
        window.data, [(start, stop) for _, _, _, start, stop, _ in places], window.base, labelled
    )
    if columns is None or len(ends) < _FEW:
        return None
    scanned = places[: len(ends)]
    counts = np.array(ends, dtype=np.int64)
    # Blocks without an event say nothing.
    filled = np.diff(counts[:, 0], prepend=0) > 0
    table = np.array([place[:3] for place in scanned], dtype=np.int64)[filled]
    together = Together(counts[filled], columns.marks, table[:, 0], table[:, 1:])
    columns.marks = _with_ends(columns, together, labelled)
    events = Events([columns], window.data, window.base, labelled=labelled, together=together)
    return events, scanned[-1][-1]


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
