"""Event headers of blocks → `HeaderColumns`, through the scan kernel, in reused memory.

Knows how the columns of many blocks are laid out, and counts rows by kind and by thread; does not know what their
integers mean.
"""

from __future__ import annotations

import sys
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define
from clrevents.decode.kernels.engine import COMPILED, SCAN, WALK, Ints, given, numbers_room, scratch, taken, zeros

PADDING: Final[int] = SCAN.PADDING
"""How many bytes after a block the scan may read, without trusting them."""

Status = Literal["done", "truncated", "bad-varint"]
_STATUS: Final[dict[int, Status]] = {
    SCAN.DONE: "done",
    SCAN.TRUNCATED: "truncated",
    SCAN.BAD_VARINT: "bad-varint",
}
# Rows per call, rows of the columns that blocks share, and how few of these are not worth another call, for one block
# or for many.
_ROWS: Final = 1 << 14
_ARENA: Final = 1 << 17
_ARENAS: Final = 3
_FEW: Final = 1 << 10
_MANY: Final = 1 << 13
# Extra distance between columns: at a power of two they would all map to the same cache sets.
_APART: Final = 72
# The first numbers of the scan's state: where it stopped, and how many rows, runs and marks it wrote.
_COUNTS: Final = 4
# How many numbers are kept of each of several blocks.
_HEADS: Final = 6
_THREADS: Final = 1
# Rows are few if there are this many times more kinds.
_SPARSE: Final = 16
_M64: Final = (1 << 64) - 1
_NO_MARKS: Final = np.empty((0, 3), dtype=np.int64)


@define(eq=False)
class HeaderColumns:
    """Event headers of one block, one array per attribute; row i is the i-th event in file order.

    `ticks` are raw clock ticks; `offsets` are absolute in the stream. `runs` has a row (row, capture thread,
    sequence, processor) where a capture thread's run starts; `marks` a row (row, flags, offset or label id).
    In columns of several blocks a mark whose value is -1 (with labels: 0) says that nothing carries over from here on.
    `place` says in which larger columns they are, and from which row, if any. `sorted_tick` is that of the last event
    so far that is flagged as sorted, if any: no event that follows in the file, of any thread, is earlier.
    """

    metadata_ids: NDArray[np.int64]
    thread_ids: NDArray[np.uint64]
    stack_ids: NDArray[np.int64]
    ticks: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    runs: NDArray[np.uint64]
    marks: NDArray[np.int64]
    place: tuple[list[NDArray[Any]], int] | None = None
    sorted_tick: int | None = None

    def __len__(self) -> int:
        return len(self.ticks)


def adjacent(columns: list[HeaderColumns]) -> list[list[NDArray[Any]]]:
    """Thread ids, stack ids, times, offsets and sizes of many blocks, of those that are adjacent as one."""
    block_columns: list[list[NDArray[Any]]] = [[], [], [], [], []]
    at = 0
    while at < len(columns):
        first = columns[at]
        end = at + 1
        if first.place is not None:
            arrays, row = first.place
            stop = row + len(first)
            while end < len(columns) and _follows(columns[end], arrays, stop):
                stop += len(columns[end])
                end += 1
            parts = [array[row:stop] for array in arrays[_THREADS:]]
        else:
            parts = [first.thread_ids, first.stack_ids, first.ticks, first.offsets, first.sizes]
        for column, part in zip(block_columns, parts, strict=True):
            column.append(part)
        at = end
    return block_columns


def _follows(columns: HeaderColumns, arrays: list[NDArray[Any]], row: int) -> bool:
    place = columns.place
    return place is not None and place[0] is arrays and place[1] == row


class _Columns:
    """Room for the columns of many blocks, which views of them may outlive: all of them, and `each`.

    Keeping a view of one column keeps all six.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.all: Any
        self.each: list[Any]
        if COMPILED:
            self.all = np.empty((6, room + _APART), dtype=np.uint64)
            self.each = [*self.all.view(np.int64)]
            self.each[_THREADS] = self.all[_THREADS]
        else:
            self.all = self.each = [[0] * room for _ in range(6)]
        self._idle = self._references()

    def take(self, at: int, rows: int) -> list[NDArray[Any]]:
        """The written rows: six columns, of which only threads are unsigned."""
        if not COMPILED:
            return _signed([taken(column, rows) for column in self.each])
        end = at + rows
        return [column[at:end] for column in self.each]

    def kept(self) -> bool:
        """Whether anybody may still have a part of them."""
        if not COMPILED:
            return False
        references = self._references()
        return references is None or self._idle is None or references > self._idle

    def _references(self) -> int | None:
        """How many views there are, and some more that are always there; None where counts do not tell.

        Other interpreters count differently or not at all; without the GIL a count is no longer true once it is read.
        """
        if sys.implementation.name != "cpython" or not _has_gil():
            return None
        return sys.getrefcount(self.all)


def _signed(columns: list[NDArray[np.uint64]]) -> list[NDArray[Any]]:
    """Six columns, of which only threads stay unsigned."""
    return [c if place == _THREADS else c.view(np.int64) for place, c in enumerate(columns)]


def _has_gil() -> bool:
    """Whether one thread runs at a time. A free-threaded interpreter may change its mind when it imports something."""
    asked = getattr(sys, "_is_gil_enabled", None)
    return asked is None or bool(asked())


class HeaderScanner:
    """Scans blocks into adjacent columns in large arrays. Not thread-safe; one per stream."""

    def __init__(self) -> None:
        # The last ones are written to; reused memory is faster than new.
        self._arenas = [_Columns(_ROWS)]
        self._at = 0
        self._runs, self._marks = scratch(4 * _ROWS), scratch(3 * _ROWS)

    def scan(
        self, buf: bytes, start: int, end: int, base: int, labels: bool
    ) -> tuple[list[HeaderColumns], Status, int]:
        """The columns of `buf[start:end]`, how the scan ended, and where (in `buf`).

        `base` is the stream offset of `buf[0]`. `buf` must extend at least PADDING bytes past `end`.
        """
        state = zeros(SCAN.STATE, np.uint64)
        state[SCAN.POS] = start
        block_columns = []
        if not self._arenas[-1].kept():
            # Memory used last is the fastest.
            self._at = 0
        while True:
            state[SCAN.ROWS], state[SCAN.RUNS], state[SCAN.MARKS] = 0, 0, 0
            arena, at = self._room()
            limit = min(arena.room - at, _ROWS)
            status = SCAN.scan(buf, end, base, at, limit, labels, state, arena.all, self._runs, self._marks)
            stop, rows, runs, marks = state[:_COUNTS].tolist() if COMPILED else state[:_COUNTS]
            if rows:
                block_columns.append(self._written(arena, at, rows, runs, marks, state))
            if status != SCAN.FULL:
                return block_columns, _STATUS[status], stop

    def scan_together(
        self, buf: bytes, bodies: Any, count: int, base: int, labels: bool
    ) -> tuple[HeaderColumns | None, Ints, int]:
        """The columns of several blocks, each from a fresh start, up to the first that is not sound or has no room.

        `bodies` is what `program.chained` found. Also six numbers of each block that has events: how many rows, and
        integers in `runs` and `marks`, there are after it, its first and last tick, and the place of its size; and how
        many blocks were scanned. Of many small blocks, each costs a thousandth of what columns of its own would.
        """
        if not self._arenas[-1].kept():
            self._at = 0
        arena, at = self._room(_MANY)
        room = min(arena.room - at, _ROWS)
        state, heads = zeros(SCAN.STATE, np.uint64), scratch(_HEADS * count + 1)
        done = SCAN.together(
            buf, count, bodies, base, at, room, labels, state, arena.all, self._runs, self._marks, heads
        )
        kept = int(heads[_HEADS * count])
        table = taken(heads, _HEADS * kept, own=False).view(np.int64).reshape(-1, _HEADS)
        if not kept:
            return None, table, done
        rows, runs, marks = table[-1, :3].tolist()
        return self._written(arena, at, rows, runs, marks, state), table, done

    def _written(self, arena: _Columns, at: int, rows: int, runs: int, marks: int, state: Any) -> HeaderColumns:
        """What a scan wrote: rows from this place on, and integers in `runs` and `marks`."""
        self._at += rows if COMPILED else 0
        ids, threads, stacks, times, offsets, sizes = arena.take(at, rows)
        return HeaderColumns(
            *(ids, threads, stacks, times, offsets, sizes),
            runs=taken(self._runs, runs).reshape(-1, 4),
            marks=taken(self._marks, marks).view(np.int64).reshape(-1, 3) if marks else _NO_MARKS,
            place=(arena.each, at) if COMPILED else None,
            sorted_tick=signed_tick(int(state[SCAN.SORTED])) if state[SCAN.HAS_SORTED] else None,
        )

    def _room(self, least: int = _FEW) -> tuple[_Columns, int]:
        """Where the next rows go: columns, and the first place in them, with room for at least so many."""
        arenas = self._arenas
        if arenas[-1].room - self._at < least:
            idle = next((arena for arena in arenas if not arena.kept()), None)
            if idle is not None:
                arenas.remove(idle)
            arenas.append(idle or _Columns(_ARENA))
            del arenas[:-_ARENAS]
            self._at = 0
        return arenas[-1], self._at


def signed_tick(tick: int) -> int:
    """Ticks of 64 bits as a signed number."""
    return tick - (1 << 64) if tick >> 63 else tick


def arranged(kinds: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[tuple[int, slice]]]:
    """Row numbers by kind, ascending within each; and each kind that occurs with the slice of its rows among them."""
    if not len(kinds):
        return np.empty(0, dtype=np.int64), []
    if int(kinds.max()) > _SPARSE * len(kinds):
        # As long as there are kinds in all would take longer than as long as there are rows.
        used, places = np.unique(kinds, return_inverse=True)
        order, groups = arranged(places)
        return order, [(int(used[place]), part) for place, part in groups]
    if COMPILED:
        ends, order = np.zeros(int(kinds.max()) + 1, dtype=np.int64), np.empty(len(kinds), dtype=np.int64)
        WALK.arrange(len(kinds), given(kinds), len(ends), ends, order)
    else:
        # A single step in numpy, but slow in the kernel under Python.
        ends, order = np.cumsum(np.bincount(kinds)), np.argsort(kinds, kind="stable")
    stops = ends.tolist()
    spans = zip([0, *stops], stops, strict=False)
    return order, [(kind, slice(first, last)) for kind, (first, last) in enumerate(spans) if first < last]


def make_columns(
    rows: list[tuple[int, int, int, int, int, int]],
    runs: list[tuple[int, int, int, int]],
    marks: list[tuple[int, int, int]],
    sorted_tick: int | None = None,
) -> HeaderColumns:
    """Columns from rows (metadata id, thread, stack id, time, absolute offset, size) read by other means."""
    # A time may be negative; as unsigned, as the scan has it.
    table = [np.array([n & _M64 for n in column], dtype=np.uint64) for column in zip(*rows, strict=True)]
    ids, threads, stacks, times, offsets, sizes = _signed(table)
    return HeaderColumns(
        *(ids, threads, stacks, times, offsets, sizes),
        runs=np.array(runs, dtype=np.uint64).reshape(-1, 4),
        marks=np.array(marks, dtype=np.int64).reshape(-1, 3),
        sorted_tick=sorted_tick,
    )


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
