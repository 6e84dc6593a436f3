"""Picks the engine that runs the kernels, once, and says which. The only importer of the kernels.

Hands their integers on as numpy columns; refuses to know what the integers mean.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sys import getrefcount
from typing import Any, Final, Generic, Literal, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
_NAMES: Final = ("scan", "walk", "fill")


def _load(name: str, interpreted: bool) -> Any:
    """A kernel as it was built, or the same source run by Python."""
    if not interpreted:
        return importlib.import_module(f"clrevents.decode.{name}")
    source = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"clrevents.decode.{name}_interpreted", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built(name: str) -> bool:
    """Whether a kernel was compiled when the package was installed."""
    spec = importlib.util.find_spec(f"clrevents.decode.{name}")
    return spec is not None and spec.origin is not None and not spec.origin.endswith(".py")


# One engine for all kernels: what they are given differs.
COMPILED: Final = not os.environ.get("CLREVENTS_PURE") and all(map(_built, _NAMES))
_scan, _walk, _fill = (_load(name, not COMPILED) for name in _NAMES)
if os.environ.get("CLREVENTS_REQUIRE_COMPILED") and not COMPILED:
    raise ImportError("CLREVENTS_REQUIRE_COMPILED is set, but the kernels are not compiled (see docs/hacking.md)")

if not COMPILED:
    _fill.create = object.__new__
    _fill.put = lambda slot, item, value: slot.__set__(item, value)
    _fill.forget = lambda made: None

PADDING: Final[int] = _scan.PADDING
INSTRUCTION: Final[int] = _walk.WIDTH
Status = Literal["done", "truncated", "bad-varint"]
_STATUS: Final[dict[int, Status]] = {
    _scan.DONE: "done",
    _scan.TRUNCATED: "truncated",
    _scan.BAD_VARINT: "bad-varint",
}
# Rows in one call, rows of the columns that blocks share, and how few of these are not worth another call.
_ROWS: Final = 1 << 14
_ARENA: Final = 1 << 17
_ARENAS: Final = 3
_FEW: Final = 1 << 10
# How much further than their rows columns lie apart: at a power of two they all fall into the same places of a cache.
_APART: Final = 72
# The first numbers of the scan's state: where it stopped, and how many rows, runs and marks it wrote.
_COUNTS: Final = 4
_THREADS: Final = 1
_NO_MARKS: Final = np.empty((0, 3), dtype=np.int64)


def engine() -> str:
    """Which engine runs the inner loops: `"interpreted"`, or `"compiled"` where a compiler was at hand."""
    return "compiled" if COMPILED else "interpreted"


@attrs.define(eq=False)
class HeaderColumns:
    """Event headers of one block, one array an attribute; row i is the i-th event in file order.

    `times` are raw clock ticks; `offsets` are absolute in the stream. `runs` has a row (row, capture thread,
    sequence, processor) where a capture thread's run begins; `marks` a row (row, flags, offset or label id).
    `place` says in which larger columns they stand, and from which row, where they do.
    """

    metadata_ids: NDArray[np.int64]
    thread_ids: NDArray[np.uint64]
    stack_ids: NDArray[np.int64]
    times: NDArray[np.int64]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    runs: NDArray[np.uint64]
    marks: NDArray[np.int64]
    place: tuple[list[NDArray[Any]], int] | None = None

    def __len__(self) -> int:
        return len(self.times)


def end_to_end(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """One array of all; no copy of a single one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def joined(columns: list[HeaderColumns]) -> list[NDArray[Any]]:
    """Thread ids, stack ids, times, offsets and sizes of many blocks; no copy where they stand together."""
    found: list[list[NDArray[Any]]] = [[], [], [], [], []]
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
            parts = [first.thread_ids, first.stack_ids, first.times, first.offsets, first.sizes]
        for column, part in zip(found, parts, strict=True):
            column.append(part)
        at = end
    return [end_to_end(column) for column in found]


def _follows(columns: HeaderColumns, arrays: list[NDArray[Any]], row: int) -> bool:
    place = columns.place
    return place is not None and place[0] is arrays and place[1] == row


class _Columns:
    """Room for the columns of many blocks, which views of them may outlive: all of them, and `each`.

    Whoever keeps a view of one column keeps all six.
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
        """Rows that were written: six columns, of which only threads are unsigned."""
        if not COMPILED:
            columns = [taken(column, rows) for column in self.each]
            return [c if i == _THREADS else c.view(np.int64) for i, c in enumerate(columns)]
        end = at + rows
        return [column[at:end] for column in self.each]

    def kept(self) -> bool:
        """Whether anybody still has a part of them."""
        return COMPILED and self._references() > self._idle

    def _references(self) -> int:
        """How many views there are, and some more that are always there."""
        return getrefcount(self.all)


class HeaderScanner:
    """Scans blocks into columns that stand one behind the other in large arrays. Not thread-safe; one a stream."""

    def __init__(self) -> None:
        # The last ones are written to; memory that was used is faster than new one.
        self._arenas = [_Columns(_ROWS)]
        self._at = 0
        self._runs, self._marks = scratch(4 * _ROWS), scratch(3 * _ROWS)

    def scan(
        self, buf: bytes, start: int, end: int, base: int, labels: bool
    ) -> tuple[list[HeaderColumns], Status, int]:
        """The columns of `buf[start:end]`, how the scan ended, and where (in `buf`).

        `base` is the stream offset of `buf[0]`. `buf` must reach at least PADDING bytes beyond `end`.
        """
        state = _zeros(_scan.STATE, np.uint64)
        state[_scan.POS] = start
        found = []
        if not self._arenas[-1].kept():
            # What was just used is the fastest of all.
            self._at = 0
        while True:
            arena, at = self._room()
            limit = min(arena.room - at, _ROWS)
            status = _scan.scan(buf, end, base, at, limit, labels, state, arena.all, self._runs, self._marks)
            stop, rows, runs, marks = state[:_COUNTS].tolist() if COMPILED else state[:_COUNTS]
            if rows:
                ids, threads, stacks, times, offsets, sizes = arena.take(at, rows)
                found.append(
                    HeaderColumns(
                        ids,
                        threads,
                        stacks,
                        times,
                        offsets,
                        sizes,
                        taken(self._runs, runs).reshape(-1, 4),
                        taken(self._marks, marks).view(np.int64).reshape(-1, 3) if marks else _NO_MARKS,
                        (arena.each, at) if COMPILED else None,
                    )
                )
                self._at += rows if COMPILED else 0
            if status != _scan.FULL:
                return found, _STATUS[status], stop

    def _room(self) -> tuple[_Columns, int]:
        """Where the next rows go: columns, and from which place on."""
        arenas = self._arenas
        if arenas[-1].room - self._at < _FEW:
            idle = next((arena for arena in arenas if not arena.kept()), None)
            if idle is not None:
                arenas.remove(idle)
            arenas.append(idle or _Columns(_ARENA))
            del arenas[:-_ARENAS]
            self._at = 0
        return arenas[-1], self._at


class Tally:
    """Counts rows by kind, and by thread with the first and last tick of each."""

    def __init__(self, threads: int) -> None:
        self._most_threads = threads
        self._counts = _zeros(256)
        self._room = 0
        self._used = 0
        self._ids, self._sums = scratch(0), _numbers(0)
        self._latest = _given(np.array([-1 << 63], dtype=np.int64))
        self._threads: dict[int, tuple[int, int, int]] = {}

    @property
    def latest(self) -> int:
        """The last tick of all; the least number there is before any."""
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
        """Take one piece of a block; the kind of row i, one of so many `kinds`, is `table[values[i]]`.

        False, and nothing is taken, where one has none: beyond the table, or -1 in it.
        """
        rows = len(columns)
        if kinds > len(self._counts):
            grown = _zeros(2 * kinds)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        if self._used + rows > self._room:
            self._fold()
            self._room = max(self._room, 2 * rows)
            self._ids, self._sums = scratch(self._room), _numbers(3 * self._room)
        times, threads = _given(columns.times), _given(columns.thread_ids)
        given = (_given(values), _given(table), len(table), threads, times)
        used = int(_scan.tally(rows, *given, self._counts, self._used, self._ids, self._sums, self._latest))
        if used < 0:
            return False
        self._used = used
        return True

    def _fold(self) -> None:
        """Add what the kernel found to what is known of each thread."""
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


def arranged(kinds: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[tuple[int, slice]]]:
    """Row numbers by kind, rising within each; and each kind that occurs with where its rows stand among them."""
    if not len(kinds):
        return np.empty(0, dtype=np.int64), []
    if COMPILED:
        ends, order = np.zeros(int(kinds.max()) + 1, dtype=np.int64), np.empty(len(kinds), dtype=np.int64)
        _scan.arrange(len(kinds), _given(kinds), len(ends), ends, order)
    else:
        # What numpy does in one step, and the kernel in Python would take long for.
        ends, order = np.cumsum(np.bincount(kinds)), np.argsort(kinds, kind="stable")
    stops = ends.tolist()
    spans = zip([0, *stops], stops, strict=False)
    return order, [(kind, slice(first, last)) for kind, (first, last) in enumerate(spans) if first < last]


@attrs.frozen(eq=False)
class Walk:
    """What a program found: `places[k]` and `counts[k]` are instruction k's two cells, one number a run.

    `stops` are the positions behind the rows; `fits` says whether every row went through to the end.
    """

    places: list[NDArray[np.int64]]
    counts: list[NDArray[np.int64]]
    stops: NDArray[np.int64]
    fits: bool


class Program:
    """A layout's instructions, in what the engine reads fastest."""

    def __init__(self, numbers: list[int]) -> None:
        self.length = len(numbers)
        self.steps = len(numbers) // INSTRUCTION
        self.code: Any = np.array(numbers, dtype=np.int64) if COMPILED else numbers

    def walk(
        self,
        buf: bytes,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        repeats: NDArray[np.int64] | None = None,
    ) -> Walk:
        """Run over the payloads `buf[starts[i]:ends[i]]`, `repeats[i]` times each (once if None)."""
        rows = len(starts)
        total = rows if repeats is None else int(repeats.sum())
        times = _ones(rows) if repeats is None else _given(repeats)
        cells, stops, states = scratch(2 * self.steps * total), _numbers(rows), _numbers(rows)
        bad = _walk.walk(
            buf, rows, total, self.code, self.length, _given(starts), _given(ends), times, cells, stops, states
        )
        table = taken(cells, 2 * self.steps * total, own=False).view(np.int64).reshape(2 * self.steps, total)
        found = list(table)
        return Walk(found[0::2], found[1::2], np.asarray(stops, dtype=np.int64), not bad)


def narrow(
    buf: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-16LE text of `lengths[i]` bytes at `starts[i]` as UTF-8: all bytes, and where each row ends in them."""
    rows = len(starts)
    room = int(lengths.sum()) // 2 * 3
    out = np.empty(room, dtype=np.uint8) if COMPILED else bytearray(room)
    ends = _numbers(rows)
    size = _walk.narrow(buf, rows, _given(starts), _given(lengths), out, ends)
    return np.frombuffer(out, dtype=np.uint8)[:size].copy(), np.asarray(ends, dtype=np.int64)


def gather(buf: bytes | NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The bytes of all rows, one behind the other."""
    size = int(lengths.sum())
    out = np.empty(size, dtype=np.uint8) if COMPILED else bytearray(size)
    _walk.gather(buf, len(starts), _given(starts), _given(lengths), out)
    return np.frombuffer(out, dtype=np.uint8)


class Maker(Generic[T]):
    """Makes objects of one slotted class without running `__init__`."""

    def __init__(self, cls: type[T], names: Sequence[str]) -> None:
        self._cls = cls
        # What writes each slot, wherever in the class's ancestry it was made.
        self._setters = [next(vars(c)[name] for c in cls.__mro__ if name in vars(c)) for name in names]

    def of(self, columns: Sequence[list[Any] | NDArray[Any]]) -> Callable[[int, int], list[T]]:
        """A function that makes objects `first` to `last`: slot `names[k]` of object i is `columns[k][i]`.

        Numbers of an array become ints, floats and bools.
        """
        lists: list[list[Any] | None] = []
        places, numbers, length = [], [], 0
        for column in columns:
            place = 0
            if isinstance(column, list):
                lists.append(column)
            elif not COMPILED or column.dtype.kind not in "iu":
                lists.append(column.tolist())
            else:
                lists.append(None)
                place = length if column.dtype.kind == "u" else -1 - length
                numbers.append(column)
                length += len(column)
            places.append(place)
        unsigned = scratch(length)
        at = 0
        for column in numbers:
            unsigned[at : at + len(column)] = column
            at += len(column)
        signed = unsigned.view(np.int64) if COMPILED else []
        given = (self._cls, self._setters, lists, _given(np.array(places)), unsigned, signed)

        def make(first: int, last: int) -> list[T]:
            made: list[T] = _fill.fill(*given, first, last)
            return made

        return make


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage is collected in between: for what makes many objects, none of which can be garbage.

    The collector starts by how many were made, and would look at all that is waiting, over and over. It is the whole
    process's: what other threads leave behind waits for some milliseconds.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def scatter(into: list[Any], rows: NDArray[np.int64], values: list[Any]) -> None:
    """Put each value at its row."""
    _fill.scatter(into, _given(rows), values)


def _given(values: NDArray[Any]) -> Any:
    """Numbers for a kernel, in what the engine reads fastest."""
    if not COMPILED:
        return values.tolist()
    return values if values.flags.c_contiguous else np.ascontiguousarray(values)


def _zeros(count: int, dtype: type[np.generic] = np.int64) -> Any:
    """`count` numbers, all 0."""
    return np.zeros(count, dtype=dtype) if COMPILED else [0] * count


_units: Any = None


def _ones(count: int) -> Any:
    """`count` times the number 1, made as seldom as possible."""
    global _units
    if not COMPILED:
        return [1] * count
    if _units is None or len(_units) < count:
        _units = np.ones(max(2 * count, 1 << 16), dtype=np.int64)
    return _units[:count]


def _numbers(count: int) -> Any:
    """Room for `count` signed numbers."""
    return np.empty(count, dtype=np.int64) if COMPILED else [0] * count


def scratch(count: int) -> Any:
    """Room for `count` unsigned 64-bit numbers, in what the engine writes to fastest; anything stands in it."""
    return np.empty(count, dtype=np.uint64) if COMPILED else [0] * count


def taken(values: Any, count: int, own: bool = True) -> NDArray[np.uint64]:
    """The first `count` numbers of a scratch column, as an array of their own (unless the scratch is given up)."""
    if COMPILED:
        found: NDArray[np.uint64] = values[:count]
        return found.copy() if own else found
    return np.frombuffer(array("Q", values[:count]), dtype=np.uint64)


def make_columns(
    rows: list[tuple[int, int, int, int, int, int]],
    runs: list[tuple[int, int, int, int]],
    marks: list[tuple[int, int, int]],
) -> HeaderColumns:
    """Columns from rows (metadata id, thread, stack id, time, absolute offset, size) that were read otherwise."""
    table = [np.array(column, dtype=np.uint64) for column in zip(*(_wrap(r) for r in rows), strict=True)]
    return HeaderColumns(
        table[0].view(np.int64),
        table[1],
        table[2].view(np.int64),
        table[3].view(np.int64),
        table[4].view(np.int64),
        table[5].view(np.int64),
        np.array(runs, dtype=np.uint64).reshape(-1, 4),
        np.array(marks, dtype=np.int64).reshape(-1, 3),
    )


def _wrap(row: tuple[int, int, int, int, int, int]) -> tuple[int, int, int, int, int, int]:
    """The same row with a time that may be negative as unsigned, as the scan has it."""
    return row[0], row[1], row[2], row[3] & ((1 << 64) - 1), row[4], row[5]
