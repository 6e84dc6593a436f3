"""Salvage of damaged blocks: the rows before the first implausible one.

Judges by header values and by whether payloads fit. Repairs nothing, and does not change the stream's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import Events, Together
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.kinds import Kinds
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.stacks import StackLookup
from clrevents.errors import Limits

# This many zeros in place of several events are not events.
_WIPED = 64


class PlausibilityCheck:
    """Distinguishes plausible rows from others, in one stream.

    `steps_back` yields the rows at which a thread's sequence numbers do not increase, and whether its last number is in
    the same block.
    """

    def __init__(
        self,
        kinds: Kinds,
        limits: Limits,
        steps_back: Callable[[HeaderColumns], Iterator[tuple[int, bool]]],
        pointer_size: int,
    ) -> None:
        self._kinds = kinds
        self._steps_back = steps_back
        self._payloads = PayloadDecoder(pointer_size, limits)

    def plausible(
        self, columns: HeaderColumns, block: Events, stacks: Callable[[], StackLookup], wrong_span: bool
    ) -> HeaderColumns:
        """The rows before the first implausible one.

        Impossible rows (a time outside the block's span, a step back of a thread's numbers, description 0, wiped
        bytes) show that a block is damaged. In such a block, unknown descriptions and stacks, steps back from an
        earlier block and payloads that do not fit are implausible too; in an intact one they only mean that another
        block is missing or was wrong. With `wrong_span` (see `span_differs`) only payloads that do not fit are.
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
        damaged = block.broken or impossible.any()
        if not (damaged or wrong_span):
            return columns
        count = _first(impossible)
        if damaged and count:
            # Only of rows before an impossible one can anything else matter.
            implausible = ~self._kinds.defined(columns.metadata_ids[:count])
            implausible[[row for row in earlier if row < count]] = True
            implausible |= stacks().unique(columns.stack_ids[:count]) < 0
            count = _first(implausible)
        count = self._fitting(columns, block, count)
        return columns if count == len(columns) else head(columns, count)

    def doubtful(self, block: Events, together: Together) -> bool:
        """Whether a row of blocks that were read together may be implausible, so that each must be looked at."""
        (columns,) = block.columns
        firsts = together.firsts()
        earliest, latest = np.minimum.reduceat(columns.ticks, firsts), np.maximum.reduceat(columns.ticks, firsts)
        first, last = together.spans[:, 0], together.spans[:, 1]
        given = (first != 0) | (last != 0)
        if block.labelled:
            outside = (earliest < first) | (latest > last)
        else:
            outside = (earliest != first) | (latest != last)
        return (
            bool((outside & given).any())
            or bool((columns.metadata_ids == 0).any())
            or bool(_wiped(columns, block).any())
            or (not block.labelled and next(self._steps_back(columns), None) is not None)
        )

    def _fitting(self, columns: HeaderColumns, block: Events, count: int) -> int:
        """How many of the first `count` rows precede one whose payload does not fit, or wiped bytes."""
        kinds, _ = self._kinds.indexes(columns.metadata_ids[:count]) if count else (columns.metadata_ids, False)
        starts = (columns.offsets[:count] - block.base).tolist()
        sizes = columns.sizes[:count].tolist()
        for row, (kind, start, size) in enumerate(zip(kinds.tolist(), starts, sizes, strict=False)):
            if not self._payloads.fits(self._kinds.all[kind], block.window[start : start + size]):
                count = row
                break
        if count == len(columns):
            return count
        # Wiped bytes read as events that repeat the previous one: no flags, no time, a payload of zeros.
        while count and not any(block.window[starts[count - 1] - 2 : starts[count - 1] + sizes[count - 1]]):
            count -= 1
        return count


def _first(rows: NDArray[np.bool_]) -> int:
    """The first row for which this holds, or how many rows there are."""
    rows_holding = np.flatnonzero(rows)
    return int(rows_holding[0]) if len(rows_holding) else len(rows)


def span_differs(block: Events) -> bool:
    """Whether a block's earliest and latest event differ from those its header gives; every known writer is exact."""
    if block.span is None or block.labelled:
        return False
    first = min(int(c.ticks.min()) for c in block.columns)
    last = max(int(c.ticks.max()) for c in block.columns)
    return (first, last) != block.span


def _wiped(columns: HeaderColumns, block: Events) -> NDArray[np.bool_]:
    """Rows that zeros decode to: no flags, no time since the previous row, a payload of zeros; several in a row."""
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
