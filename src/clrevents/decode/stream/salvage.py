"""How much of a damaged block may be believed: the rows in front of the first that cannot be true.

Judges by what rows claim and by whether their payloads fit; never repairs, and learns nothing from what it doubts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import Events
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.stacks import StackLookup

# So many zeros in place of several events are no events.
_WIPED = 64


class Doubt:
    """Decides for one stream; `steps_back` tells the rows at which a thread's numbers are not beyond its last."""

    def __init__(
        self,
        kinds: Kinds,
        payloads: PayloadDecoder,
        steps_back: Callable[[HeaderColumns], Iterator[tuple[int, bool]]],
    ) -> None:
        self._kinds = kinds
        self._payloads = payloads
        self._steps_back = steps_back

    def believable(
        self, columns: HeaderColumns, block: Events, stacks: Callable[[], StackLookup], doubtful: bool
    ) -> HeaderColumns:
        """The rows in front of the first that makes no sense.

        Impossible rows (a time outside the block's span, a step back of a thread's numbers, description 0, wiped
        bytes) show a block to be damaged. In such a block unknown descriptions and stacks, steps back from an
        earlier block and payloads that do not fit end what is believed; in a sound one they only mean that another
        block is missing or was wrong. In a doubtful one only payloads that do not fit do.
        """
        impossible = (columns.metadata_ids == 0) | _wiped(columns, block)
        if block.span is not None:
            impossible |= (columns.ticks < block.span[0]) | (columns.ticks > block.span[1])
        earlier = []
        if block.counted and not block.labelled:
            for row, inside in self._steps_back(columns):
                if inside:
                    impossible[row] = True
                else:
                    earlier.append(row)
        if not (block.broken or doubtful or impossible.any()):
            return columns
        bad = impossible
        if block.broken or impossible.any():
            bad = impossible | ~self._kinds.defined(columns.metadata_ids)
            bad[earlier] = True
            bad |= stacks().unique(columns.stack_ids) < 0
        wrong = np.flatnonzero(bad)
        believed = int(wrong[0]) if len(wrong) else len(columns)
        believed = self._fitting(columns, block, believed)
        return columns if believed == len(columns) else head(columns, believed)

    def _fitting(self, columns: HeaderColumns, block: Events, count: int) -> int:
        """How many of the first `count` rows come before one whose payload does not fit, or before wiped bytes."""
        kinds, _ = self._kinds.indexes(columns.metadata_ids[:count]) if count else (columns.metadata_ids, False)
        starts = (columns.offsets[:count] - block.base).tolist()
        sizes = columns.sizes[:count].tolist()
        for row, (kind, start, size) in enumerate(zip(kinds.tolist(), starts, sizes, strict=False)):
            if not self._payloads.fits(self._kinds.all[kind], block.window[start : start + size]):
                count = row
                break
        if count == len(columns):
            return count
        # Wiped bytes read as events that repeat the one before: no flags, no time, a payload of zeros.
        while count and not any(block.window[starts[count - 1] - 2 : starts[count - 1] + sizes[count - 1]]):
            count -= 1
        return count


def odd_times(block: Events) -> bool:
    """Whether a block's earliest and latest event are other than its header says; every known writer is exact."""
    if block.span is None or block.labelled:
        return False
    first = min(int(c.ticks.min()) for c in block.columns)
    last = max(int(c.ticks.max()) for c in block.columns)
    return (first, last) != block.span


def _wiped(columns: HeaderColumns, block: Events) -> NDArray[np.bool_]:
    """Rows that zeros read as: no flags, no time since the row before, a payload of zeros; a few in a row."""
    offsets, sizes, times = columns.offsets, columns.sizes, columns.ticks
    wiped = np.zeros(len(columns), dtype=np.bool_)
    bare = (offsets[1:] - offsets[:-1] - sizes[:-1] == 2) & (times[1:] == times[:-1])
    run: list[int] = []
    length = 0
    for row in (np.flatnonzero(bare) + 1).tolist():
        start = int(offsets[row]) - block.base - 2
        size = int(sizes[row]) + 2
        if block.window.count(0, start, start + size) != size:
            continue
        if run and run[-1] != row - 1:
            run, length = [], 0
        run.append(row)
        length += size
        if length >= _WIPED:
            wiped[run] = True
            run = run[-1:]
    return wiped


def head(columns: HeaderColumns, count: int) -> HeaderColumns:
    """The first rows of a block's columns."""
    return HeaderColumns(
        columns.metadata_ids[:count],
        columns.thread_ids[:count],
        columns.stack_ids[:count],
        columns.ticks[:count],
        columns.offsets[:count],
        columns.sizes[:count],
        columns.runs[columns.runs[:, 0] < np.uint64(count)],
        columns.marks[columns.marks[:, 0] < count],
        columns.place,
    )
