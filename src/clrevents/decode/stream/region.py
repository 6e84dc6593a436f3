"""Events between two sequence points: collected block by block, passed on in time order as `Rows`; and when.

Holds columns of integers and the windows they refer to; decodes nothing. Order is (time, place in the file), one of
the orders that the format allows and the only deterministic one (docs/format.md, "Order of events").
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import Events, InlineStacks, LabelList, Stacks, ThreadRow
from clrevents.decode.kernels.engine import Ints, end_to_end
from clrevents.decode.kernels.header_scan import HeaderColumns, adjacent
from clrevents.decode.rows import Release, Rows, Runs, T
from clrevents.decode.stacks import StackLookup, StackTable
from clrevents.decode.stream.resolver import LabelChanges, ResolvedRows, ThreadTable
from clrevents.errors import Limits, Problem

_ACTIVITY, _RELATED = 16, 32
_NOWHERE = -1
_NO_PROCESSOR = 0xFFFFFFFF
_NO_INTS: Ints = np.empty(0, dtype=np.int64)


# So many small pieces become one, since a piece takes two kilobytes whatever it holds; and their average size in rows.
_PIECES = 256
_SMALL = 64


class _Pieces:
    """Arrays to be concatenated; many small ones are from time to time."""

    def __init__(self) -> None:
        self.parts: list[Ints] = []
        self._joined = 0
        self._rows = 0

    def append(self, part: Ints) -> None:
        self.parts.append(part)
        self._rows += len(part)
        many = len(self.parts) - self._joined
        if many >= _PIECES:
            if self._rows < _SMALL * many:
                self.parts[self._joined :] = [np.concatenate(self.parts[self._joined :])]
            self._joined, self._rows = len(self.parts), 0


class Region:
    """Collects the event blocks of one region after the other until their rows may be released.

    `in_time_order` sorts the released rows; otherwise they stay in file order. Methods return the problems to report.
    `walk_stacks` checks every stack for them; without `keep_stacks` only their ids are known, and no window is kept
    for them.
    """

    def __init__(
        self, limits: Limits, threads: ThreadTable, in_time_order: bool, walk_stacks: bool, keep_stacks: bool
    ) -> None:
        self.in_time_order = in_time_order
        self._walk_stacks = walk_stacks
        self._keep_stacks = keep_stacks or walk_stacks
        self._limits = limits
        self._threads = threads
        self._tables_from = -1
        self._released: list[Rows] = []
        self.stacks = StackTable()
        self.stackless: tuple[int, int, int] | None = None
        """How many events refer to stacks that never came, in this region and before, and the first and last tick; None
        if none does."""
        # Ids whose stack has not come, with the ticks of their events: it may follow them.
        self._waiting: list[tuple[Ints, Ints]] = []
        self._clear()

    def _clear(self) -> None:
        self._events = 0
        self._bytes = 0
        self._start = 0
        self._columns: list[HeaderColumns] = []
        # From here on columns are pieces as they were added, with as many rows together.
        self._loose = 0
        self._loose_rows = 0
        self._kind_indexes = _Pieces()
        self._thread_places = _Pieces()
        # Of the rows of the first columns, so many: the meaning of their stack ids before ids restarted.
        self._stack_numbers = _Pieces()
        self._resolved = 0
        self._bases: list[int] = []
        self._windows: list[bytes] = []
        self._marks = _Pieces()
        self._has_activity = False
        # Rows and places in turn.
        self._label_rows = array("q")
        self._label_lists: list[LabelList] = []
        self._sequenced = True

    def add(self, rows: ResolvedRows, block: Events, first: bool) -> None:
        """Add the rows of a piece of a block; `first` says that the block starts here, so that nothing carries over."""
        if not self._windows or self._windows[-1] is not block.window:
            self._windows.append(block.window)
            self._bases.append(block.base)
        if rows.label_changes is None:
            self._add_marks(rows.columns, block.base, first)
        else:
            self._add_labels(rows.label_changes, first)
        if rows.thread_places is not None:
            self._thread_places.append(rows.thread_places)
        self._sequenced = block.counted
        self._columns.append(rows.columns)
        self._loose_rows += len(rows.columns)
        if len(self._columns) - self._loose >= _PIECES:
            self._join_columns()
        self._kind_indexes.append(rows.kind_indexes)
        self.count(rows.columns)

    def _join_columns(self) -> None:
        """Make few columns of the loose ones if these are small; resolved ones stay apart from others."""
        loose, resolved = self._columns[self._loose :], max(self._resolved - self._loose, 0)
        if self._loose_rows < _SMALL * len(loose):
            parts = [_as_one(part) for part in (loose[:resolved], loose[resolved:]) if part]
            self._columns[self._loose :] = parts
            if resolved:
                self._resolved = self._loose + 1
        self._loose, self._loose_rows = len(self._columns), 0

    def count(self, columns: HeaderColumns) -> None:
        """Only record how much there is, of rows that are counted and not collected."""
        self._bytes = self._extent(columns)
        if not self._events:
            self._start = int(columns.offsets[0])
        self._events += len(columns)
        missing = self.stacks.missing(columns.stack_ids)
        if missing is not None:
            self._waiting.append((columns.stack_ids[missing], columns.ticks[missing]))

    def _find_stackless(self) -> None:
        """Whose stacks have not come until now never get one."""
        waiting, self._waiting = self._waiting, []
        for ids, every in waiting:
            missing = self.stacks.missing(ids)
            if missing is not None:
                ticks = every[missing]
                low, high = int(ticks.min()), int(ticks.max())
                count, first, last = self.stackless or (0, low, high)
                self.stackless = count + len(ticks), min(first, low), max(last, high)

    def _extent(self, columns: HeaderColumns) -> int:
        """How many bytes of the stream the region has once these rows are in it.

        That is about what is held; not the windows, which are as large as the pieces fed.
        """
        start = self._start if self._events else int(columns.offsets[0])
        return int(columns.offsets[-1] + columns.sizes[-1]) - start

    def _add_marks(self, columns: HeaderColumns, base: int, first: bool) -> None:
        """Where activity ids change in the piece that is added next."""
        if first and self._has_activity:
            self._marks.append(_reset(self._events))
            self._has_activity = False
        if len(columns.marks):
            marks = columns.marks.copy()
            marks[:, 0] += self._events
            marks[marks[:, 2] >= 0, 2] += base
            self._marks.append(marks)
            self._has_activity = True

    def _add_labels(self, changes: LabelChanges, first: bool) -> None:
        """Where label lists change in the piece that is added next."""
        if first and self._label_rows and self._label_rows[-1] >= 0:
            self._label_rows.extend((self._events, _NOWHERE))
        for row, labels in changes:
            place = _NOWHERE
            if labels is not None:
                place = len(self._label_lists)
                self._label_lists.append(labels)
            self._label_rows.extend((self._events + row, place))

    def add_stacks(self, block: Stacks | InlineStacks) -> None:
        """Take stacks. If ids restart, those of the events so far are resolved first."""
        if self.stacks.restarts(block):
            self._find_stackless()
            self._resolve_stacks()
        self.stacks.add(block if self._keep_stacks else block.only_ids())

    def _resolve_stacks(self) -> None:
        """Give all events so far trace-wide stack numbers, by the current meaning of their ids."""
        lookup = self.stacks.lookup()
        for columns in self._columns[self._resolved :]:
            self._stack_numbers.append(lookup.unique(columns.stack_ids))
        self._resolved = len(self._columns)

    def take(self) -> list[Rows]:
        """The rows released since the last call."""
        released, self._released = self._released, []
        return released

    def release(self, in_time_order: bool | None = None) -> None:
        """Release all rows collected so far; stacks stay until the region ends."""
        if not self._columns:
            self._clear()
            return
        lookup: StackLookup | None = self.stacks.lookup()
        threads, stacks, times, offsets, sizes = adjacent(self._columns)
        if self._resolved:
            self._resolve_stacks()
            stacks, lookup = self._stack_numbers.parts, None
        ticks, order = end_to_end(times), np.arange(self._events)
        ordered = self.in_time_order if in_time_order is None else in_time_order
        unsorted = ordered and not (ticks[1:] >= ticks[:-1]).all()
        if unsorted:
            order = np.argsort(ticks, kind="stable")

        def column(parts: list[NDArray[T]]) -> NDArray[T]:
            # One after the other, in memory that the one before has left: the system takes longer to give new memory.
            values = end_to_end(parts)
            return values.take(order) if unsorted else values

        places = self._thread_places.parts
        rows = Rows(
            column(self._kind_indexes.parts),
            column([ticks]),
            column(threads),
            column(stacks) if any(ids.any() for ids in stacks) else np.zeros_like(ticks),
            column(offsets),
            column(sizes),
            order,
            column(places) if places else None,
            self._shared(lookup, self._threads.all),
        )
        self._clear()
        self._released.append(rows)

    def _shared(self, lookup: StackLookup | None, threads: list[ThreadRow]) -> Release:
        """What the released rows refer to."""
        activity, related = _guid_places(self._marks.parts)
        labels = _pairs(self._label_rows)
        return Release(
            np.array(self._bases, dtype=np.int64),
            self._windows,
            self.stacks,
            lookup,
            _runs(self._columns),
            activity[0],
            activity[1],
            related[0],
            related[1],
            labels[0],
            labels[1],
            self._label_lists,
            threads,
            self._sequenced,
        )

    def room_for_stacks(self, blocks: Sequence[tuple[Stacks, int]]) -> bool:
        """Whether these can be added, each with its offset, without the region's end and without ids that restart."""
        if not blocks:
            return True
        (first, begin), (_, end) = blocks[0], blocks[-1]
        begin = begin if self._tables_from < 0 else self._tables_from
        return (
            end - begin <= self._limits.region_bytes
            and not self.stacks.restarts(first)
            and all(later.first_id >= one.first_id + one.count for (one, _), (later, _) in pairwise(blocks))
        )

    def end_region(self, in_time_order: bool | None = None) -> list[Problem]:
        """Release all rows; stack ids expire here."""
        self._tables_from = -1
        self.release(in_time_order)
        problems = list(self.stacks.problems()) if self._walk_stacks else []
        self._find_stackless()
        self.stacks = self.stacks.successor()
        return problems

    def room_for(self, columns: HeaderColumns) -> bool:
        """Whether these rows can be added, piece by piece or all at once, without `bound_rows` releasing any."""
        limits = self._limits
        return self._events + len(columns) <= limits.region_events and self._extent(columns) <= limits.region_bytes

    def bound_rows(self, offset: int) -> Problem | None:
        """Release rows in file order if there are more than the limits allow; returns a note about it."""
        if self._events <= self._limits.region_events and self._bytes <= self._limits.region_bytes:
            return None
        text = f"{self._events} events without a sequence point; delivered in file order"
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


def _as_one(columns: list[HeaderColumns]) -> HeaderColumns:
    """Columns as they are kept here, with neither marks nor descriptions."""
    threads, stacks, ticks, offsets, sizes = map(end_to_end, adjacent(columns))
    table, firsts = _run_table(columns)
    table[:, 0] = firsts
    return HeaderColumns(_NO_INTS, threads, stacks, ticks, offsets, sizes, table, columns[0].marks[:0])


def _run_table(columns: list[HeaderColumns]) -> tuple[NDArray[np.uint64], Ints]:
    """The runs of all columns, and their first rows as if the columns were one."""
    tables, firsts, at = [], [], 0
    for c in columns:
        tables.append(c.runs)
        firsts.append(c.runs[:, 0].astype(np.int64) + at)
        at += len(c)
    return np.concatenate(tables), np.concatenate(firsts)


def _runs(columns: list[HeaderColumns]) -> Runs:
    """The runs of all columns, as if these were one."""
    table, firsts = _run_table(columns)
    processors = table[:, 3].astype(np.int64)
    processors[processors == _NO_PROCESSOR] = -1
    return Runs(firsts, np.ascontiguousarray(table[:, 1]), processors)


def _reset(row: int) -> Ints:
    """The mark of a block's start: no activity carries over."""
    return np.array([[row, _ACTIVITY | _RELATED, _NOWHERE]], dtype=np.int64)


def _guid_places(marks: list[Ints]) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """From marks to (rows, stream offsets) of activity ids and of related ones; -1 if there is none."""
    if not marks:
        return (_NO_INTS, _NO_INTS), (_NO_INTS, _NO_INTS)
    table = np.concatenate(marks)
    rows, flags, places = table[:, 0], table[:, 1], table[:, 2]
    activity, related = (flags & _ACTIVITY) != 0, (flags & _RELATED) != 0
    # The related id follows the activity id, if there is one.
    after = np.where(places == _NOWHERE, _NOWHERE, places + np.where(activity, 16, 0))
    return (rows[activity], places[activity]), (rows[related], after[related])


def _pairs(items: array[int]) -> tuple[Ints, Ints]:
    if not items:
        return _NO_INTS, _NO_INTS
    table = np.array(items, dtype=np.int64)
    return table[0::2], table[1::2]
