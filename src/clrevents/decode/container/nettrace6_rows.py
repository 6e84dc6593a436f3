"""Rows of NetTrace 6: threads, removed threads and label lists (docs/format.md, "Threads" and "Label lists").

Knows their items. Items have no length, so after an unknown one the rest of its row or block is lost. Thread indexes
with their last sequence numbers are read many at a time: a block may have millions. What a row means for events is the
stream's business.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import (
    Block,
    Fault,
    LabelList,
    Labels,
    MetadataRow,
    RemovedThreads,
    ThreadNumbers,
    ThreadRow,
    Threads,
)
from clrevents.decode.container.window import Cursor, Short
from clrevents.errors import Problem
from clrevents.schema.codes import LAST_LABEL, LabelKind, ThreadItem

_Numbers: TypeAlias = NDArray[np.uint64]

# Bytes looked at together (each needs some thirty of memory meanwhile), and how few are read one by one in less time.
_BYTES: Final = 1 << 13
_FEW: Final = 1 << 6
# The bytes that a thread index and a sequence number have at most.
_INDEX: Final = 10
_SEQUENCE: Final = 5


def read_numbers(cursor: Cursor, count: int | None = None) -> ThreadNumbers:
    """So many threads with their numbers, or all that there are up to the end. Raises Short."""
    return ThreadNumbers.of(_pieces(cursor, count))


def _pieces(cursor: Cursor, count: int | None) -> Iterator[tuple[_Numbers, _Numbers]]:
    done = 0
    while done < count if count is not None else cursor.left:
        most = cursor.left if count is None else count - done
        read = _together(cursor, most) if cursor.left >= _FEW else None
        if read is None:
            # Of those that are not sound the first raises what is wrong with it.
            read = _one_by_one(cursor, most)
        done += len(read[0])
        yield read


def _one_by_one(cursor: Cursor, most: int) -> tuple[_Numbers, _Numbers]:
    """The next threads and their numbers, at least one. Raises Short."""
    numbers = [cursor.varint(64, "thread index"), cursor.varint(32, "sequence number")]
    while cursor.left and len(numbers) < 2 * most:
        numbers += cursor.varint(64, "thread index"), cursor.varint(32, "sequence number")
    pairs = np.array(numbers, dtype=np.uint64)
    return pairs[0::2], pairs[1::2]


def _together(cursor: Cursor, most: int) -> tuple[_Numbers, _Numbers] | None:
    """The next threads and their numbers, up to one that is not sound; None if the first is not."""
    raw = np.frombuffer(cursor.data, np.uint8, min(cursor.left, _BYTES), cursor.pos)
    lasts = np.flatnonzero(raw < 128)
    lasts = lasts[: 2 * min(most, len(lasts) // 2)]
    sizes = np.diff(lasts, prepend=-1).reshape(-1, 2)
    wrong = np.flatnonzero((sizes > (_INDEX, _SEQUENCE)).any(axis=1))
    count = int(wrong[0]) if len(wrong) else len(sizes)
    if not count:
        return None
    lengths = sizes[:count].ravel()
    firsts = lasts[: 2 * count] - lengths + 1
    values = (raw[firsts] & 127).astype(np.uint64)
    for place in range(1, int(lengths.max())):
        longer = np.flatnonzero(lengths > place)
        values[longer] |= (raw[firsts[longer] + place] & 127).astype(np.uint64) << np.uint64(7 * place)
    cursor.pos += int(lasts[2 * count - 1]) + 1
    return values[0::2], values[1::2]


# Plain numbers: every event may have a list, and looking a member up takes longer than the test.
_ACTIVITY_ID, _RELATED_ID, _TRACE_ID, _SPAN_ID, _TEXT, _NUMBER, _OPCODE, _KEYWORDS, _LEVEL, _VERSION = map(
    int, LabelKind
)

R = TypeVar("R", MetadataRow, ThreadRow)

Row: TypeAlias = Literal["metadata", "optional", "field", "thread"]
_ROW_NAMES: Final[dict[Row, tuple[str, str]]] = {
    "metadata": ("metadata row", "metadata row size"),
    "optional": ("optional row", "optional row size"),
    "field": ("field row", "field row size"),
    "thread": ("thread row", "thread row size"),
}
_ROWS: Final = 1000
# After so many lists of one size, those that are like the last are found together; only lists of so many bytes.
_ALIKE: Final = 16
_SHORT: Final = 1 << 8
# So many rows of each sort are remembered.
_KEPT: Final = 1 << 12
# The labels of a fixed size.
_SIZES = {
    _ACTIVITY_ID: 16,
    _RELATED_ID: 16,
    _TRACE_ID: 16,
    _SPAN_ID: 8,
    _OPCODE: 1,
    _KEYWORDS: 8,
    _LEVEL: 1,
    _VERSION: 1,
}
_AS_PAIRS: Final = {"Version": "version", "OpCode": "opcode"}
_BYTE: Final = 255


def read_row(cursor: Cursor, what: Row) -> Cursor:
    """A row after its 16-bit size, as a new cursor."""
    at = cursor.pos + 2
    if at <= cursor.end and (end := at + int.from_bytes(cursor.data[at - 2 : at], "little")) <= cursor.end:
        cursor.pos = end
        return Cursor(cursor.data, at, end, cursor.base, cursor.limit)
    row, row_size = _ROW_NAMES[what]
    size = cursor.u16(row_size)
    at = cursor.take(size, row)
    return Cursor(cursor.data, at, at + size, cursor.base, cursor.limit)


def read_count(cursor: Cursor, smallest: int, what: str) -> int:
    """A count that the remaining bytes can hold."""
    count = cursor.u32(what)
    if count * smallest > cursor.left:
        raise Short(what, cursor.base + cursor.pos, count * smallest, cursor.left)
    return count


class KnownRows(Generic[R]):
    """Rows by their bytes: a service that is recorded for long describes the same things again and again."""

    def __init__(self) -> None:
        self._rows: dict[bytes, R] = {}

    def find(self, row: Cursor, offset: int) -> R | None:
        """A row that was like this one, at this offset."""
        known = self._rows.get(row.data[row.pos : row.end]) if row.left <= _SHORT else None
        return None if known is None else known.moved(offset)

    def keep(self, stored: bytes, row: R) -> None:
        """Remember a row for its bytes."""
        if len(stored) <= _SHORT:
            if len(self._rows) >= _KEPT:
                self._rows.clear()
            self._rows[stored] = row


class ThreadRows:
    """Reads the thread blocks of one stream."""

    def __init__(self) -> None:
        self._known = KnownRows[ThreadRow]()

    def read(self, cursor: Cursor) -> Iterator[Block]:
        """A thread block. Raises Short, after yielding what was read, if it ends inside a row."""
        wrong: Fault | None = None
        short: Short | None = None
        more = True
        while more:
            # A few at a time: a block may have millions, which a limit stops.
            rows: list[ThreadRow] = []
            try:
                while cursor.left and len(rows) < _ROWS:
                    offset = cursor.base + cursor.pos
                    stored = read_row(cursor, "thread")
                    row = self._known.find(stored, offset)
                    if row is None:
                        start = stored.pos
                        row, unknown = _thread_row(stored, offset)
                        wrong = unknown or wrong
                        if unknown is None:
                            self._known.keep(stored.data[start : stored.end], row)
                    rows.append(row)
            except Short as caught:
                short = caught
            # Even if the block ends early: what was read is valid.
            yield Threads(tuple(rows))
            more = cursor.left > 0 and short is None
        if wrong is not None:
            yield wrong
        if short is not None:
            raise short


def read_removed_threads(cursor: Cursor) -> RemovedThreads:
    """A block of removed threads. Raises Short."""
    at = cursor.base + cursor.pos
    return RemovedThreads(read_numbers(cursor), at)


def read_labels(cursor: Cursor) -> Iterator[Block]:
    """A label block; an unknown kind of label ends it after yielding what was before. Raises Short."""
    first = cursor.u32("first index")
    count = read_count(cursor, 2, "label lists")
    begin = cursor.pos
    starts = array("I", [0])
    size = alike = 0
    try:
        while len(starts) <= count:
            before = cursor.pos
            _skip_label_list(cursor)
            starts.append(cursor.pos - begin)
            alike = alike + 1 if cursor.pos - before == size else 0
            size = cursor.pos - before
            if alike == _ALIKE:
                alike = 0
                more = _lists_alike(cursor, size, count + 1 - len(starts))
                ends = np.arange(1, more + 1, dtype=np.uint32) * np.uint32(size) + np.uint32(starts[-1])
                starts.frombytes(ends.tobytes())
                cursor.pos += more * size
    except _UnknownLabel as unknown:
        text = f"a label of unknown kind {unknown.kind}; the rest of its block is unreadable"
        yield Labels(first, _StoredLists(cursor, begin, starts))
        yield Fault(Problem("unknown-item", "note", text, unknown.offset, cursor.left, impact="later labels"))
        return
    yield Labels(first, _StoredLists(cursor, begin, starts))


class _StoredLists:
    """The label lists of a block, each read when it is asked for: a block may have far more of them than events do.

    `starts` are their places in the block, and the end of the last.
    """

    __slots__ = ("_data", "_limit", "_starts")

    def __init__(self, cursor: Cursor, begin: int, starts: array[int]) -> None:
        self._data = cursor.data[begin : begin + starts[-1]]
        self._starts = starts
        self._limit = cursor.limit

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, index: int) -> LabelList:
        return _label_list(Cursor(self._data, self._starts[index], self._starts[index + 1], 0, self._limit))

    def __iter__(self) -> Iterator[LabelList]:
        return (self[index] for index in range(len(self)))

    def stored(self, index: int) -> bytes:
        """The bytes of one list."""
        return self._data[self._starts[index] : self._starts[index + 1]]


class _UnknownLabel(Exception):
    def __init__(self, kind: int, offset: int) -> None:
        super().__init__(kind)
        self.kind = kind
        self.offset = offset


def _thread_row(row: Cursor, offset: int) -> tuple[ThreadRow, Fault | None]:
    index = row.varint(64, "thread index")
    name, process, thread = None, None, None
    attributes = []
    wrong: Fault | None = None
    while row.left:
        kind = row.u8("thread item")
        if kind == ThreadItem.NAME:
            name = row.utf8("thread name")
        elif kind == ThreadItem.PROCESS_ID:
            process = row.varint(64, "process id")
        elif kind == ThreadItem.THREAD_ID:
            thread = row.varint(64, "thread id")
        elif kind == ThreadItem.ATTRIBUTE:
            attributes.append((row.utf8("key"), row.utf8("value")))
        else:
            text = f"thread {index} has an item of unknown kind {kind}; the rest of its row is ignored"
            wrong = Fault(Problem("unknown-item", "note", text, offset, row.left))
            break
    return ThreadRow(index, thread, process, name, tuple(attributes), offset), wrong


def _lists_alike(cursor: Cursor, size: int, most: int) -> int:
    """How many lists from the cursor on have the same labels as the one of `size` bytes before it.

    0 unless it is short and its labels have a fixed size.
    """
    most = min(most, cursor.left // size)
    places, at = [], 0
    while at < size:
        fixed = _SIZES.get(cursor.data[cursor.pos - size + at] & ~LAST_LABEL)
        if fixed is None or size > _SHORT:
            return 0
        places.append(at)
        at += 1 + fixed
    raw = np.frombuffer(cursor.data, np.uint8, (most + 1) * size, cursor.pos - size).reshape(-1, size)
    alike, step = 0, _ALIKE
    while alike < most:
        same = (raw[alike + 1 : min(alike + step, most) + 1, places] == raw[0, places]).all(axis=1)
        if not same.all():
            return alike + int(same.argmin())
        alike += len(same)
        # Ever more, so that a short run does not pay for all that follows.
        step *= 2
    return alike


def _skip_label_list(cursor: Cursor) -> None:
    """Move the cursor past a list, which is then known to be readable."""
    data, pos, end = cursor.data, cursor.pos, cursor.end
    last = False
    while not last:
        kind = data[pos] if pos < end else -1
        size = _SIZES.get(kind & ~LAST_LABEL, -1)
        if size < 0 or size > end - pos - 1:
            cursor.pos = pos
            _skip_label(cursor)
            pos = cursor.pos
        else:
            pos += 1 + size
        last = kind >= LAST_LABEL
    cursor.pos = pos


def _skip_label(cursor: Cursor) -> None:
    """A label without a fixed size, or one that does not fit or is unknown."""
    offset = cursor.base + cursor.pos
    kind = cursor.u8("label kind") & ~LAST_LABEL
    if kind == _TEXT:
        cursor.skip_utf8("label key")
        cursor.skip_utf8("label value")
    elif kind == _NUMBER:
        cursor.skip_utf8("label key")
        cursor.varint(64, "label value")
    elif kind in _SIZES:
        cursor.take(_SIZES[kind], LabelKind(kind).name.lower().replace("_", " "))
    else:
        raise _UnknownLabel(kind, offset)


def _label_list(cursor: Cursor) -> LabelList:
    activity = related = trace = None
    span: int | None = None
    pairs: list[tuple[str, str | int]] = []
    # By name, so that events with a long list do not pay for its repetitions.
    overrides: dict[str, int] = {}
    last = False
    while not last:
        offset = cursor.base + cursor.pos
        kind = cursor.u8("label kind")
        last = bool(kind & LAST_LABEL)
        kind &= ~LAST_LABEL
        if kind == _ACTIVITY_ID:
            activity = _bytes(cursor, "activity id")
        elif kind == _RELATED_ID:
            related = _bytes(cursor, "related activity id")
        elif kind == _TRACE_ID:
            trace = _bytes(cursor, "trace id")
        elif kind == _SPAN_ID:
            span = cursor.u64("span id")
        elif kind == _TEXT:
            pairs.append((cursor.utf8("label key"), cursor.utf8("label value")))
        elif kind == _NUMBER:
            key = cursor.utf8("label key")
            value = cursor.varint(64, "label value")
            pairs.append((key, (value >> 1) ^ -(value & 1)))
        elif kind == _OPCODE:
            overrides["opcode"] = cursor.u8("opcode")
        elif kind == _KEYWORDS:
            overrides["keywords"] = cursor.u64("keywords")
        elif kind == _LEVEL:
            overrides["level"] = cursor.u8("level")
        elif kind == _VERSION:
            overrides["version"] = cursor.u8("version")
        else:
            raise _UnknownLabel(kind, offset)
    for key, number in pairs:
        # As the Linux recorder at first wrote what has labels of its own.
        name = _AS_PAIRS.get(key)
        if name is not None and str(number).isdecimal() and int(number) <= _BYTE:
            overrides.setdefault(name, int(number))
    return LabelList(activity, related, trace, span, tuple(pairs), tuple(sorted(overrides.items())))


def _bytes(cursor: Cursor, what: str) -> bytes:
    at = cursor.take(16, what)
    return cursor.data[at : at + 16]
