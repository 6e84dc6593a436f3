"""The interface of a container, and what several of them do the same way.

Event blocks that follow each other are read in one piece: alone, a small one would cost a hundred times its bytes, and
one as runtimes write it twice its events. Headers that are not compressed, which no runtime has shipped in NetTrace,
give the columns that the scan kernel gives. Descriptions of NetPerf 3 and NetTrace 4/5 are read (docs/format.md, "Event
descriptions"), and not compared with the registry.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.words import counted
from clrevents.decode.container.blocks import (
    Block,
    Events,
    Fault,
    FieldDescription,
    MetadataRow,
    Stacks,
    Together,
    TraceInfo,
)
from clrevents.decode.container.window import Cursor, Short, Window
from clrevents.decode.kernels.header_scan import HeaderColumns, HeaderScanner, Status, make_columns, signed_tick
from clrevents.errors import Limits, Problem, UnreadableError, damage
from clrevents.schema.codes import UNSORTED, BlockFlag, HeaderFlag, MetadataTag, TypeCode

BLOCK_HEADER: Final = struct.Struct("<HHqq")
"""Size, flags, first and last tick (docs/format.md, "Block header")."""
# A plain number: operations on members of a flag class cost as much as a small block.
COMPRESSED: Final = int(BlockFlag.COMPRESSED)
_TRACE: Final = struct.Struct("<8hqqiiii")


class Container(Protocol):
    """Parses one generation of the format, a block at a time."""

    def read(self, window: Window) -> Iterator[Block]:
        """Yield the values of the next block, leaving `window.pos` after it.

        Raises NeedMore, with the position unmoved, if the window ends before the block and is not final. In a final
        window, yields what is left of a truncated block, then a fatal Fault.
        """
        ...

    def read_together(self, window: Window) -> tuple[Events, int] | None:
        """The events of several small sound blocks that start here, and where these end; None if there are few.

        Blocks of stacks may stand between them. Leaves the position where it is. What `read` would yield for one block
        after the other is `Events.apart`.
        """
        ...


def system_time(fields: tuple[int, ...]) -> datetime | None:
    """A Windows SYSTEMTIME as an aware datetime; None if it is not a valid date. The day of the week is ignored."""
    year, month, _, day, hour, minute, second, millisecond = fields
    try:
        return datetime(year, month, day, hour, minute, second, millisecond * 1000, tzinfo=UTC)
    except ValueError:
        return None


def read_trace_header(window: Window, format: str, version: int) -> TraceInfo:
    """The 48 bytes of NetPerf 3 and NetTrace 4/5 (docs/format.md, "Trace header"); moves the position after them."""
    window.require(_TRACE.size + 1)
    *when, sync, frequency, pointer_size, pid, processors, interval = _TRACE.unpack_from(window.data, window.pos)
    check_clock(frequency, window.offset + 24)
    check_pointer_size(pointer_size, window.offset + 32)
    window.pos += _TRACE.size
    return TraceInfo(
        format=format,
        version=version,
        start=system_time(tuple(when)),
        sync_qpc=sync,
        frequency=frequency,
        pointer_size=pointer_size,
        process_id=pid or None,
        recorded_processors=processors or None,
        sampling_interval_ns=interval,
    )


def check_clock(frequency: int, offset: int) -> None:
    """Nothing can be read without a valid clock."""
    if frequency <= 0:
        raise UnreadableError(f"the header declares a clock frequency of {frequency} Hz", offset=offset)


def check_pointer_size(pointer_size: int, offset: int) -> None:
    if pointer_size not in (4, 8):
        raise UnreadableError(f"the header declares a pointer size of {pointer_size}", offset=offset)


def stack_count(claimed: int, room: int, broken: bool) -> int | None:
    """How many stacks of at least four bytes there can be; None if the claim is impossible."""
    possible = room // 4
    if 0 <= claimed <= possible:
        return claimed
    return possible if broken and claimed > possible else None


def one(name: str) -> str:
    """A kind of block with its article, for messages."""
    return f"{'an' if name[0].upper() in 'AEIOU' or name.startswith('SP') else 'a'} {name}"


def incomplete(offset: int) -> Problem:
    """The note for a stream that stops after a complete block without an end mark."""
    return Problem(
        "missing-end",
        "note",
        "the trace has no end mark: the process or the recorder stopped early",
        offset,
        impact="the end of the trace, often with the names of its methods, was never written",
    )


def cut(what: str, offset: int, needed: int, available: int) -> Problem:
    """The damage of a stream that ends inside a block."""
    return Problem(
        "truncated",
        "damage",
        f"the file ends inside {what}: {needed} bytes declared, {available} available",
        offset,
        available,
        impact="everything from here on is missing",
        needed=needed,
    )


def bad_fields(provider: str, name: str, wrong: str, offset: int, size: int | None) -> Problem:
    """The note for an event whose field list is unusable."""
    text = f"unusable event description: {wrong}"
    impact = "the event has no fields of its own"
    return Problem("bad-fields", "note", text, offset, size, event=f"{provider}/{name}", impact=impact)


def bad_event(status: str, offset: int, length: int) -> Fault:
    """The damage of a block whose event headers become invalid."""
    what = "an event extends past the end of its block"
    if status == "bad-varint":
        what = "an event header has an overlong varint"
    return Fault(damage("bad-event", what, offset, length, "the rest of the block"))


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
        events = self._read(window, bodies, count, behind, labelled, stacks)
        if events is None:
            self.refuse()
        else:
            self._pause = 0
        return events

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


# Size, metadata id, sequence number, thread, capture thread, processor, stack, tick, GUIDs or label list, payload size.
_FULL = struct.Struct("<IIIQQIIQ32sI")
_FULL_LABELLED = struct.Struct("<IIIQQIIQII")
_GUIDS = bytes(32)
_GUIDS_AT = 44
_ID_MASK = UNSORTED - 1
_BOTH_IDS = int(HeaderFlag.ACTIVITY | HeaderFlag.RELATED)
_LABELS = int(HeaderFlag.LABELS)


def walk(buf: bytes, start: int, end: int, base: int, labelled: bool) -> tuple[list[HeaderColumns], Status, int]:
    """The columns of `buf[start:end]`, how it ended, and where; as `HeaderScanner.scan`.

    The high bit of the metadata id means "not sorted" and is dropped (docs/format.md, "Full event headers").
    """
    rows: list[tuple[int, int, int, int, int, int]] = []
    runs: list[tuple[int, int, int, int]] = []
    marks: list[tuple[int, int, int]] = []
    carried: bytes | int = 0 if labelled else _GUIDS
    pos = start
    latest: int | None = None
    status: Status = "done"
    header = _FULL_LABELLED if labelled else _FULL
    while pos < end:
        if end - pos < header.size:
            status = "truncated"
            break
        size, id, seq, thread, capture, cpu, stack, time, shown, payload = header.unpack_from(buf, pos)
        body = pos + header.size
        if payload > end - body:
            status = "truncated"
            break
        if shown != carried:
            carried = shown
            marks.append((len(rows), _LABELS, shown) if labelled else (len(rows), _BOTH_IDS, pos + _GUIDS_AT))
        runs.append((len(rows), capture, seq, cpu))
        rows.append((id & _ID_MASK, thread, stack, time, base + body, payload))
        if not id & UNSORTED:
            latest = signed_tick(time)
        # Writers may pad within the declared size; an invalid size is not trusted.
        padding = pos + 4 + size - (body + payload)
        pos = body + payload + (padding if 0 <= padding <= 3 and pos + 4 + size <= end else 0)
    return ([make_columns(rows, runs, marks, latest)] if rows else []), status, pos


class BadFields(Exception):
    """The field list is invalid; the event keeps its name and has no fields. Never leaves this room."""


def read_record(cursor: Cursor, limits: Limits) -> tuple[MetadataRow, str]:
    """One metadata record, and the fault of its optional part ("" if there is none).

    Raises Short if even the fixed part is incomplete.
    """
    offset = cursor.base + cursor.pos
    metadata_id = cursor.i32("metadata id")
    provider = cursor.utf16z("provider name")
    event_id = cursor.i32("event id") & 0xFFFF
    name = cursor.utf16z("event name")
    keywords = cursor.u64("keywords")
    version = cursor.i32("event version") & 0xFF
    level = cursor.i32("level") & 0xFF
    fields: tuple[FieldDescription, ...] = ()
    opcode = None
    wrong = ""
    try:
        if cursor.left >= 4:
            fields = read_fields_v1(cursor, limits)
        while cursor.left >= 5:
            length = cursor.i32("tag length")
            kind = cursor.u8("tag kind")
            end = cursor.take(length, "tag") + length
            tag = Cursor(cursor.data, end - length, end, cursor.base, cursor.limit)
            if kind == MetadataTag.OPCODE:
                opcode = tag.u8("opcode")
            elif kind == MetadataTag.PARAMETERS:
                budget = Budget(limits)
                fields = tuple(_field_v2(tag, budget, 0) for _ in range(budget.count(tag, 10)))
    except Short as short:
        wrong = f"its description is truncated in {short.what}"
        fields = ()
    except BadFields as bad:
        wrong = str(bad)
        fields = ()
    row = MetadataRow(metadata_id, provider, event_id, version, name, keywords, level, opcode, fields, offset=offset)
    return row, wrong


def read_fields_v1(cursor: Cursor, limits: Limits) -> tuple[FieldDescription, ...]:
    """A field count and fields in the older layout. Raises BadFields or Short."""
    budget = Budget(limits)
    return tuple(_field_v1(cursor, budget, 0) for _ in range(budget.count(cursor, 6)))


class Budget:
    """Bounds the fields and the depth of one description before anything is built from them."""

    def __init__(self, limits: Limits) -> None:
        self.left = limits.fields
        self.depth = limits.nesting

    def count(self, cursor: Cursor, smallest: int) -> int:
        """A field count that the remaining bytes can hold, with fields of at least `smallest` bytes."""
        count = cursor.i32("field count")
        self.spend(count, count * smallest, cursor.left)
        return count

    def spend(self, count: int, needed: int, left: int) -> None:
        if count < 0 or needed > left:
            raise BadFields(f"it declares {counted(count, 'field')} in {left} bytes")
        self.left -= count
        if self.left < 0:
            raise BadFields("it declares more fields than Limits.fields")

    def enter(self, depth: int) -> int:
        if depth >= self.depth:
            raise BadFields("its fields nest deeper than Limits.nesting")
        return depth + 1


def _field_v1(cursor: Cursor, budget: Budget, depth: int) -> FieldDescription:
    """Type first, name last; an object's own name comes after its members."""
    code = cursor.i32("type code")
    members: tuple[FieldDescription, ...] = ()
    if code == TypeCode.OBJECT:
        inner = budget.enter(depth)
        members = tuple(_field_v1(cursor, budget, inner) for _ in range(budget.count(cursor, 6)))
    elif code == TypeCode.ARRAY:
        raise BadFields("it has an array, which only the newer field list allows")
    return FieldDescription(cursor.utf16z("field name"), code, members=members)


def _field_v2(cursor: Cursor, budget: Budget, depth: int) -> FieldDescription:
    """Size first (counting itself), then name, then type; bytes after the type are skipped."""
    start = cursor.pos
    size = cursor.i32("field size")
    if size < 4 or size - 4 > cursor.left:
        raise BadFields(f"a field of {size} bytes does not fit in the remaining {cursor.left + 4}")
    inside = Cursor(cursor.data, cursor.pos, start + size, cursor.base, cursor.limit)
    name = inside.utf16z("field name")
    field = _type_v2(inside, budget, depth, name)
    cursor.pos = start + size
    return field


def _type_v2(cursor: Cursor, budget: Budget, depth: int, name: str) -> FieldDescription:
    code = cursor.i32("type code")
    if code == TypeCode.ARRAY:
        return FieldDescription(name, code, element=_type_v2(cursor, budget, budget.enter(depth), ""))
    if code == TypeCode.OBJECT:
        inner = budget.enter(depth)
        members = tuple(_field_v2(cursor, budget, inner) for _ in range(budget.count(cursor, 10)))
        return FieldDescription(name, code, members=members)
    return FieldDescription(name, code)
