"""Event blocks that follow each other, read in one piece: alone, a small one would cost a hundred times its bytes, and
one as runtimes write it twice its events.

Knows how their columns become one; which blocks may be read so is up to the container of each generation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import Events, Stacks, Together
from clrevents.decode.container.window import Window
from clrevents.decode.kernels.header_scan import HeaderScanner

SMALL: Final = 1 << 17
"""Larger blocks, in bytes, are read one by one."""
# So many blocks are read together, at least and at most; and so many are read alone after failures.
_LEAST: Final = 1 << 5
_MOST: Final = 1 << 12
_LONGEST_PAUSE: Final = 1 << 6
Ints: TypeAlias = NDArray[np.int64]
_Stacks: TypeAlias = tuple[Stacks, int]

_FEW: Final = 2


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

    def refuse(self) -> None:
        """Blocks were not sound."""
        self.most = _FEW
        self._pause = min(2 * self._pause + 1, _LONGEST_PAUSE)
        self._rest = self._pause + 1

    def read(
        self, window: Window, bodies: Any, count: int, behind: int, labelled: bool, stacks: Sequence[_Stacks] = ()
    ) -> tuple[Events, int] | None:
        """The events of these blocks up to the first that is not sound, and where the last ends; None if few are.

        `bodies` is what `program.chained` found; `behind` the end of each are so many bytes. Blocks of `stacks` are
        between them. The window stays where it is.
        """
        if count < _FEW:
            # To find that out takes less than to read one block.
            self._rest = 2
            return None
        found = self._read(window, bodies, count, behind, labelled, stacks)
        if found is None:
            self.refuse()
        else:
            self._pause = 0
        return found

    def _read(
        self, window: Window, bodies: Any, count: int, behind: int, labelled: bool, stacks: Sequence[_Stacks]
    ) -> tuple[Events, int] | None:
        columns, heads, done = self._scanner.scan_together(window.data, bodies, count, window.base, labelled)
        if done < count:
            self.most = _LEAST
        elif count == self.most:
            self.most = min(4 * count, _MOST)
        if columns is None or done < _FEW:
            return None
        end = int(bodies[3 * done - 1])
        if done < count:
            stacks = [(block, offset) for block, offset in stacks if offset < window.base + end]
        together = Together(heads[:, :3], columns.marks, heads[:, 5] + window.base, heads[:, 3:5], stacks)
        events = Events([columns], window.data, window.base, labelled=labelled, together=together)
        return events, end + behind
