"""Small event blocks that follow each other, read in one piece: each alone would cost a hundred times its bytes.

Knows how their columns become one; which blocks may be read so is up to the container of each generation.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.container.blocks import Events, Together
from clrevents.decode.container.window import Window
from clrevents.decode.kernels.header_scan import HeaderColumns, HeaderScanner

SMALL: Final = 1 << 11
"""Larger blocks, in bytes, are read one by one."""
# So many blocks are read together, at least and at most; and so many are read alone after failures.
_LEAST: Final = 1 << 5
_MOST: Final = 1 << 12
_LONGEST_PAUSE: Final = 1 << 6
Ints: TypeAlias = NDArray[np.int64]

_FEW: Final = 4
_ACTIVITY_IDS: Final = 16 | 32
_LABELS: Final = 16
_HEADER: Final = np.dtype([("length", "<u2"), ("flags", "<u2"), ("first", "<i8"), ("last", "<i8")])
_BYTES: Final = np.arange(_HEADER.itemsize)


@frozen(eq=False)
class Places:
    """Small blocks whose heads are sound, one entry a block in each array.

    `offsets` are those of problems with them, `spans` their first and last tick; their events are in the window
    from `starts` up to `stops`, and the next block starts at `ends`.
    """

    offsets: Ints
    spans: Ints
    starts: Ints
    stops: Ints
    ends: Ints

    @classmethod
    def of(cls, window: Window, bodies: Ints, headers: NDArray[np.void], sound: NDArray[np.bool_], tag: int) -> Places:
        """Up to the first that is not sound; `bodies` has where problems are, start and end, before `tag` bytes."""
        count = len(sound) if sound.all() else int(sound.argmin())
        at, starts, stops = bodies[:count].T
        spans = np.stack((headers["first"], headers["last"]), axis=1)[:count]
        return cls(at + window.base, spans, starts + headers["length"][:count], stops, stops + tag)


def header_fields(window: Window, starts: Ints) -> NDArray[np.void]:
    """The headers of event blocks that start here; of those that are too short for one, anything."""
    raw = np.frombuffer(window.data, dtype=np.uint8)
    found: NDArray[np.void] = raw.take(starts[:, None] + _BYTES, mode="clip").view(_HEADER)[:, 0]
    return found


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

    def read(self, window: Window, places: Places | None, labelled: bool) -> tuple[Events, int] | None:
        """The events of these blocks up to the first that is not sound, and where the last ends; None if few are.

        The window stays where it is.
        """
        found = self._read(window, places, labelled) if places is not None else None
        if found is None:
            self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE)
            self._rest = self._pause + 1
        else:
            self._pause = 0
        return found

    def _read(self, window: Window, places: Places, labelled: bool) -> tuple[Events, int] | None:
        count = len(places.starts)
        if count < _FEW:
            return None
        columns, counts = self._scanner.scan_together(window.data, places.starts, places.stops, window.base, labelled)
        done = len(counts)
        if done < count:
            self.most = _LEAST
        elif count == self.most:
            self.most = min(4 * count, _MOST)
        if columns is None or done < _FEW:
            return None
        # Blocks without an event say nothing.
        filled = np.diff(counts[:, 0], prepend=0) > 0
        together = Together(counts[filled], columns.marks, places.offsets[:done][filled], places.spans[:done][filled])
        columns.marks = _with_ends(columns, together, labelled)
        events = Events([columns], window.data, window.base, labelled=labelled, together=together)
        return events, int(places.ends[done - 1])


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
