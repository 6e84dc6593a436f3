"""Rows waiting to be ordered, until the next sequence point or a limit, and released rows not yet taken.

Decides when rows are released and in which order. Sees neither bytes nor the meaning of ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from clrevents.decode.container.blocks import Events, InlineStacks, Stacks
from clrevents.decode.kernels.header_scan import HeaderColumns
from clrevents.decode.rows import Rows
from clrevents.decode.stacks import StackLookup
from clrevents.decode.stream.region import Region
from clrevents.decode.stream.resolver import ResolvedRows
from clrevents.decode.stream.thread_table import ThreadTable
from clrevents.errors import Limits, Problem


class RowQueue:
    """Collects rows region by region. `in_time_order` sorts the released rows; otherwise they stay in file order.

    Its methods return the problems to report. `walk_stacks` checks every stack for them; without `keep_stacks` only
    their ids are known, and no window is kept for them.
    """

    def __init__(
        self, limits: Limits, threads: ThreadTable, in_time_order: bool, walk_stacks: bool, keep_stacks: bool
    ) -> None:
        self.in_time_order = in_time_order
        self._walk_stacks = walk_stacks
        self._keep_stacks = keep_stacks or walk_stacks
        self._limits = limits
        self._threads = threads
        self._region = Region()
        self._tables_from = -1
        self._released: list[Rows] = []

    def take(self) -> list[Rows]:
        """The rows released since the last call."""
        released, self._released = self._released, []
        return released

    def add(self, rows: ResolvedRows, block: Events, first: bool) -> None:
        """Add the rows of one piece of a block; `first` says whether it is the block's first."""
        self._region.add(rows, block, first)

    def count(self, columns: HeaderColumns) -> None:
        """Account for rows that are counted, not collected."""
        self._region.count(columns)

    def add_stacks(self, block: Stacks | InlineStacks) -> None:
        self._region.add_stacks(block if self._keep_stacks else block.only_ids())

    def room_for_stacks(self, blocks: Sequence[tuple[Stacks, int]]) -> bool:
        """Whether these can be added, each with its offset, without the region's end and without ids that restart."""
        if not blocks:
            return True
        (first, begin), (_, end) = blocks[0], blocks[-1]
        begin = begin if self._tables_from < 0 else self._tables_from
        return (
            end - begin <= self._limits.region_bytes
            and not self._region.stacks.restarts(first)
            and all(later.first_id >= one.first_id + one.count for (one, _), (later, _) in pairwise(blocks))
        )

    def stack_lookup(self) -> StackLookup:
        """The current meaning of stack ids."""
        return self._region.stacks.lookup()

    def release(self, in_time_order: bool | None = None) -> None:
        """Release all collected rows."""
        ordered = self.in_time_order if in_time_order is None else in_time_order
        rows = self._region.release(ordered, self._threads.all)
        if rows is not None:
            self._released.append(rows)

    def end_region(self, in_time_order: bool | None = None) -> list[Problem]:
        """Release all rows; stack ids expire here."""
        self._tables_from = -1
        self.release(in_time_order)
        problems = list(self._region.stacks.problems()) if self._walk_stacks else []
        self._region.end()
        return problems

    def room_for(self, columns: HeaderColumns) -> bool:
        """Whether these rows can be added, piece by piece or all at once, without `bound_rows` releasing any."""
        region, limits = self._region, self._limits
        return region.events + len(columns) <= limits.region_events and region.extent(columns) <= limits.region_bytes

    def bound_rows(self, offset: int) -> Problem | None:
        """Release rows in file order if there are more than the limits allow; returns a note about it."""
        region, limits = self._region, self._limits
        if region.events <= limits.region_events and region.bytes <= limits.region_bytes:
            return None
        text = f"{region.events} events without a sequence point; delivered in file order"
        self.release(in_time_order=False)
        return Problem("region-too-long", "note", text, offset, impact="the time order of these events")

    def bound_tables(self, offset: int) -> list[Problem]:
        """To be called before adding stacks and labels, which are held until the next sequence point.

        If they exceed the limits, the region ends here: its stacks are dropped, a note says so, and its labels must be
        dropped too.
        """
        if self._tables_from < 0:
            self._tables_from = offset
        length = offset - self._tables_from
        if length <= self._limits.region_bytes:
            return []
        text = f"{length} bytes of stacks and labels without a sequence point; dropped the older ones"
        impact = "the time order of these events, and stacks and labels of later ones"
        note = Problem("region-too-long", "note", text, offset, impact=impact)
        return [note, *self.end_region(in_time_order=False)]
