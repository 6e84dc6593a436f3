"""NetTrace 6: length-prefixed blocks behind a 20-byte header (docs/format.md, "NetTrace 6").

Knows the nine kinds of block. There are no marks to find a block by: after damage only the chain of sizes helps.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from clrevents.decode.container import chain
from clrevents.decode.container.blocks import (
    Block,
    End,
    Events,
    Fault,
    FieldDescription,
    Header,
    LabelList,
    Labels,
    Metadata,
    MetadataRow,
    RemovedThreads,
    SequencePoint,
    Stacks,
    ThreadRow,
    Threads,
    TraceInfo,
)
from clrevents.decode.container.container import check_clock, check_pointer_size, cut, one, stack_count, system_time
from clrevents.decode.container.metadata import ARRAY, OBJECT, BadFields, Budget
from clrevents.decode.container.nettrace4 import bad_event, bad_fields
from clrevents.decode.container.uncompressed import NETTRACE6, walk
from clrevents.decode.container.window import Cursor, NeedMore, Short, Window
from clrevents.decode.kernels.header_scan import HeaderScanner
from clrevents.errors import Limits, Problem, Severity, UnreadableError, damage

END, TRACE, EVENTS, METADATA, POINT, STACKS, THREADS, REMOVED, LABELS = range(9)
NAMES: Final = (
    "end block",
    "trace block",
    "event block",
    "metadata block",
    "sequence point",
    "stack block",
    "thread block",
    "thread removal block",
    "label block",
)
_BLOCK_HEADER = struct.Struct("<HHqq")
_TRACE = struct.Struct("<8hqqii")
_COMPRESSED = 1
_FIXED_ARRAY, _RELLOC, _DATALOC = 22, 24, 25
_STRINGLESS = frozenset({18, 19, 20, 21})
# How far behind damage, and behind an end mark, blocks are looked for at a time.
_REACH: Final = 1 << 20


def _name(kind: int) -> str:
    return NAMES[kind] if kind < len(NAMES) else f"block of kind {kind}"


class NetTrace6:
    """Reads blocks one after the other; see `decode.container.base.Container`."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        self._limits = limits
        self._salvage = salvage
        self._scanner = HeaderScanner()
        self._seen_header = False

    def read(self, window: Window) -> Iterator[Block]:
        start = window.pos
        try:
            yield from self._block(window)
        except NeedMore as more:
            raise window.back_to(start, more) from None
        except BaseException:
            window.pos = start
            raise

    def _block(self, window: Window) -> Iterator[Block]:
        start = window.pos
        window.require(4)
        size, kind = chain.head(window.data, start)
        at = window.base + start
        name = _name(kind)
        if kind == END and self._seen_header:
            if not self._salvage or not self._spurious_end(window, size):
                if not window.final:
                    window.require(4 + size)
                window.pos = min(start + 4 + size, window.end)
                yield End(at)
                return
            yield from self._lost(window)
            return
        if not self._seen_header and kind != TRACE:
            raise UnreadableError(f"the first block is {one(name)} instead of the trace's own", offset=at)
        if self._salvage and self._seen_header:
            yield from self._salvaged(window, kind, size)
            return
        if size > self._limits.block_bytes:
            yield Fault(damage("bad-block", f"{one(name)} of {size} bytes", at, size, "everything from here on"), True)
            return
        if not window.final:
            window.require(4 + size)
        end = min(start + 4 + size, window.end)
        missing = start + 4 + size - end
        yield from self._content(window, kind, start + 4, end, bool(missing))
        window.pos = end
        if missing:
            yield Fault(cut(one(name), at, size + 4, end - start), fatal=not self._salvage)

    def _salvaged(self, window: Window, kind: int, size: int) -> Iterator[Block]:
        """A block that is believed when it reads to its end or when another follows it; else it ends at the next."""
        start = window.pos
        data = window.data
        if not window.final:
            window.require(4 + min(size, chain.PEEK))
        known = size <= self._limits.block_bytes and chain.plausible(data, start, window.end)
        end = start + 4 + size
        if (known or kind > LABELS) and not window.final:
            window.require(4 + size)
        if known and end <= window.end:
            # Events that lead exactly to the end are proof enough; nothing else is read before it is believed.
            blocks = list(self._content(window, kind, start + 4, end, False)) if kind == EVENTS else None
            proven = blocks is not None and not any(isinstance(block, Fault) for block in blocks)
            if proven or self._followed(window, end):
                yield from self._content(window, kind, start + 4, end, False) if blocks is None else blocks
                window.pos = end
                return
        elif kind > LABELS and end <= window.end and self._followed(window, end):
            yield from self._content(window, kind, start + 4, end, False)
            window.pos = end
            return
        if not known:
            yield from self._lost(window)
            return
        found, stop = self._find(window)
        if not found:
            stop = min(end, window.end)
        yield from self._content(window, kind, start + 4, stop, True)
        name, at = one(_name(kind)), window.base + start
        window.pos = stop
        if not found and end > stop:
            yield Fault(cut(name, at, size + 4, stop - start))
        else:
            text = f"{name} does not end where it says; what makes sense of it was kept"
            yield Fault(damage("bad-block", text, at, stop - start, "the events, names or stacks of this range"))

    def _followed(self, window: Window, end: int) -> bool:
        """Whether something recognisable follows at `end`."""
        if not window.final:
            window.require(end + 4 + chain.PEEK - window.pos)
        return chain.follows(window.data, end, window.end, window.final)

    def _spurious_end(self, window: Window, size: int) -> bool:
        """In salvage mode an end block is only believed where no other blocks can be found behind it."""
        if not window.final:
            window.require(_REACH)
        stop = min(window.end, window.pos + _REACH)
        return self._resume(window, window.pos + 4 + size, stop) is not None

    def _resume(self, window: Window, start: int, stop: int) -> int | None:
        try:
            return chain.resume(window.data, start, stop, window.end, window.final)
        except chain.Undecided as undecided:
            # At least twice as much each time, so that a long search stays linear.
            raise NeedMore(max(undecided.end - window.pos, 2 * window.available)) from None

    def _lost(self, window: Window) -> Iterator[Block]:
        """No block begins here: go on where several follow each other."""
        start = window.pos
        _, stop = self._find(window)
        text = f"no block begins here; {stop - start} bytes were skipped"
        impact = "the events, names or stacks of this range"
        window.pos = stop
        yield Fault(damage("bad-block", text, window.base + start, stop - start, impact))

    def _find(self, window: Window) -> tuple[bool, int]:
        """Whether blocks follow each other within reach behind this place, and where, or how far was searched."""
        stop = min(window.end, window.pos + _REACH)
        found = self._resume(window, window.pos + 1, stop)
        if found is not None:
            return True, found
        if not window.final and stop == window.end:
            raise NeedMore(min(2 * window.available + 64, _REACH))
        return False, stop

    def _content(self, window: Window, kind: int, start: int, end: int, broken: bool) -> Iterator[Block]:
        if kind == TRACE:
            if self._seen_header:
                yield Fault(damage("bad-block", "a second trace block", window.base + start, end - start, "nothing"))
            elif not broken:
                yield self._header(window, start, end)
            return
        if kind == EVENTS:
            yield from self._events(window, start, end, broken)
            return
        if kind > LABELS:
            text = f"a block of an unknown kind, {kind}, was skipped"
            yield Fault(Problem("unknown-block", "note", text, window.base + start, end - start))
            return
        cursor = Cursor(window.data, start, end, window.base, self._limits.string_bytes)
        try:
            match kind:
                case 3:
                    yield from self._metadata(cursor, broken)
                case 4:
                    yield self._point(cursor)
                case 5:
                    yield self._stacks(window, cursor, broken)
                case 6:
                    yield from self._threads(cursor)
                case 7:
                    yield self._removed(cursor)
                case _:
                    yield from self._labels(cursor)
        except Short as short:
            if not broken:
                text = f"{one(NAMES[kind])} ends inside its {short.what}"
                yield Fault(damage("bad-block", text, short.offset, end - start, "what this block says"))

    def _header(self, window: Window, start: int, end: int) -> Header:
        cursor = Cursor(window.data, start, end, window.base, self._limits.string_bytes)
        try:
            *when, sync, frequency, pointer_size, count = _TRACE.unpack_from(
                window.data, cursor.take(_TRACE.size, "clock")
            )
            check_clock(frequency, window.base + start + 24)
            check_pointer_size(pointer_size, window.base + start + 32)
            if not 0 <= count * 2 <= cursor.left:
                raise Short("key and value pairs", cursor.base + cursor.pos, 2 * count, cursor.left)
            pairs = tuple((cursor.utf8("key"), cursor.utf8("value")) for _ in range(count))
        except Short as short:
            raise UnreadableError(
                f"the trace block ends inside its {short.what}",
                offset=short.offset,
                needed=short.needed,
                available=short.available,
            ) from None
        self._seen_header = True
        known = dict(pairs)
        return Header(
            TraceInfo(
                format="NetTrace",
                version=6,
                start=system_time(tuple(when)),
                sync_qpc=sync,
                frequency=frequency,
                pointer_size=pointer_size,
                process_id=_number(known.get("ProcessId")),
                processors=_number(known.get("HardwareThreadCount")),
                sampling_interval_ns=_number(known.get("ExpectedCPUSamplingRate")),
                key_values=pairs,
            )
        )

    def _events(self, window: Window, start: int, end: int, broken: bool) -> Iterator[Block]:
        at, room = window.base + start, end - start
        size, flags, first, last = _BLOCK_HEADER.unpack_from(window.data, start) if room >= 20 else (0, 0, 0, 0)
        if not _BLOCK_HEADER.size <= size <= room:
            if not broken:
                text = f"an event block of {room} bytes claims a header of {size}"
                yield Fault(damage("bad-block", text, at, room, "its events"))
            return
        if flags & _COMPRESSED:
            columns, status, stop = self._scanner.scan(window.data, start + size, end, window.base, True)
        else:
            columns, status, stop = walk(window.data, start + size, end, window.base, NETTRACE6)
        if columns:
            span = (first, last) if first or last else None
            yield Events(columns, window.data, window.base, broken or status != "done", span, labelled=True)
        if status != "done" and not broken:
            yield bad_event(status, window.base + stop, end - stop)

    def _point(self, cursor: Cursor) -> SequencePoint:
        at = cursor.base + cursor.pos
        time = cursor.i64("time")
        flags = cursor.u32("flags")
        threads = []
        for _ in range(_believed(cursor, 2, "threads")):
            threads.append((cursor.varint(64, "thread index"), cursor.varint(32, "sequence number")))
        return SequencePoint(time, tuple(threads), at, bool(flags & 1), bool(flags & 2))

    def _stacks(self, window: Window, cursor: Cursor, broken: bool) -> Stacks:
        first = cursor.u32("first id")
        count = stack_count(cursor.u32("count"), cursor.left, broken)
        if count is None:
            raise Short("stacks", cursor.base + cursor.pos, 0, cursor.left)
        return Stacks(first, count, window.data, cursor.pos, cursor.end, window.base)

    def _threads(self, cursor: Cursor) -> Iterator[Block]:
        rows: list[ThreadRow] = []
        wrong: Fault | None = None
        short: Short | None = None
        try:
            while cursor.left:
                row, unknown = _thread_row(cursor)
                rows.append(row)
                wrong = unknown or wrong
        except Short as caught:
            short = caught
        # Also where the block ends early: what was read is true.
        yield Threads(tuple(rows))
        if wrong is not None:
            yield wrong
        if short is not None:
            raise short

    def _removed(self, cursor: Cursor) -> RemovedThreads:
        at = cursor.base + cursor.pos
        threads = []
        while cursor.left:
            threads.append((cursor.varint(64, "thread index"), cursor.varint(32, "sequence number")))
        return RemovedThreads(tuple(threads), at)

    def _labels(self, cursor: Cursor) -> Iterator[Block]:
        first = cursor.u32("first index")
        lists = []
        try:
            for _ in range(_believed(cursor, 2, "label lists")):
                lists.append(_label_list(cursor))
        except _UnknownLabel as unknown:
            text = f"a label of unknown kind {unknown.kind}; the rest of its block cannot be read"
            yield Labels(first, tuple(lists))
            yield Fault(Problem("unknown-item", "note", text, unknown.offset, cursor.left, impact="later labels"))
            return
        yield Labels(first, tuple(lists))

    def _metadata(self, cursor: Cursor, broken: bool) -> Iterator[Block]:
        cursor.take(cursor.u16("header size"), "header")
        rows: list[MetadataRow] = []
        faults: list[Fault] = []
        while cursor.left:
            offset = cursor.base + cursor.pos
            try:
                row = _row(cursor, "metadata")
            except Short:
                yield Metadata(tuple(rows))
                yield from faults
                raise
            size = row.left
            try:
                described, wrong, severity = _metadata_row(row, Budget(self._limits), offset)
            except Short as short:
                text = f"an event description ends inside its {short.what}"
                faults.append(Fault(damage("bad-metadata", text, offset, size, "the events it describes")))
                if broken:
                    break
                continue
            if broken and wrong:
                break
            rows.append(described)
            if wrong and severity == "damage":
                text = f"{described.provider}/{described.name}: {wrong}"
                faults.append(Fault(damage("bad-metadata", text, offset, size, "the events it describes")))
            elif wrong:
                faults.append(Fault(bad_fields(described.provider, described.name, wrong, offset, size)))
        yield Metadata(tuple(rows))
        yield from faults


class _Impossible(BadFields):
    """A field list that no writer can have meant: the description is damaged, not merely unknown here."""


class _UnknownLabel(Exception):
    def __init__(self, kind: int, offset: int) -> None:
        super().__init__(kind)
        self.kind = kind
        self.offset = offset


def _number(text: str | None) -> int | None:
    """A decimal number of sane length; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


def _believed(cursor: Cursor, smallest: int, what: str) -> int:
    """A count that the bytes left can hold."""
    count = cursor.u32(what)
    if count * smallest > cursor.left:
        raise Short(what, cursor.base + cursor.pos, count * smallest, cursor.left)
    return count


def _row(cursor: Cursor, what: str) -> Cursor:
    """A row behind its 16-bit size, as a cursor of its own."""
    size = cursor.u16(f"{what} row size")
    at = cursor.take(size, f"{what} row")
    return Cursor(cursor.data, at, at + size, cursor.base, cursor.limit)


def _thread_row(cursor: Cursor) -> tuple[ThreadRow, Fault | None]:
    offset = cursor.base + cursor.pos
    row = _row(cursor, "thread")
    index = row.varint(64, "thread index")
    name, process, thread = None, None, None
    attributes = []
    wrong: Fault | None = None
    while row.left:
        kind = row.u8("thread item")
        if kind == 1:
            name = row.utf8("thread name")
        elif kind == 2:
            process = row.varint(64, "process id")
        elif kind == 3:
            thread = row.varint(64, "thread id")
        elif kind == 4:
            attributes.append((row.utf8("key"), row.utf8("value")))
        else:
            text = f"thread {index} has an item of unknown kind {kind}; the rest of its row is left out"
            wrong = Fault(Problem("unknown-item", "note", text, offset, row.left))
            break
    return ThreadRow(index, thread, process, name, tuple(attributes), offset), wrong


def _label_list(cursor: Cursor) -> LabelList:
    activity = related = trace = None
    span: int | None = None
    pairs: list[tuple[str, str | int]] = []
    overrides: list[tuple[str, int]] = []
    last = False
    while not last:
        offset = cursor.base + cursor.pos
        kind = cursor.u8("label kind")
        last = bool(kind & 0x80)
        match kind & 0x7F:
            case 1:
                activity = _bytes(cursor, "activity id")
            case 2:
                related = _bytes(cursor, "related activity id")
            case 3:
                trace = _bytes(cursor, "trace id")
            case 4:
                span = cursor.u64("span id")
            case 5:
                pairs.append((cursor.utf8("label key"), cursor.utf8("label value")))
            case 6:
                key = cursor.utf8("label key")
                value = cursor.varint(64, "label value")
                pairs.append((key, (value >> 1) ^ -(value & 1)))
            case 7:
                overrides.append(("opcode", cursor.u8("opcode")))
            case 8:
                overrides.append(("keywords", cursor.u64("keywords")))
            case 9:
                overrides.append(("level", cursor.u8("level")))
            case 10:
                overrides.append(("version", cursor.u8("version")))
            case unknown:
                raise _UnknownLabel(unknown, offset)
    return LabelList(activity, related, trace, span, tuple(pairs), tuple(overrides))


def _bytes(cursor: Cursor, what: str) -> bytes:
    at = cursor.take(16, what)
    return cursor.data[at : at + 16]


def _metadata_row(row: Cursor, budget: Budget, offset: int) -> tuple[MetadataRow, str, Severity]:
    """One description, what is wrong with its optional parts ("" when nothing is), and how bad that is."""
    metadata_id = row.varint(32, "metadata id")
    provider = row.utf8("provider name")
    event_id = row.varint(32, "event id")
    name = row.utf8("event name")
    wrong = ""
    severity: Severity = "note"
    fields: tuple[FieldDescription, ...] = ()
    values: dict[str, int | None] = {"opcode": None, "keywords": 0, "level": 0, "version": 0}
    attributes: list[tuple[str, str]] = []
    message = description = ""
    guid = None
    try:
        fields = _fields(row, budget, 0)
        part = _row(row, "optional")
        while part.left:
            kind = part.u8("optional item")
            match kind:
                case 1:
                    values["opcode"] = part.u8("opcode")
                case 3:
                    values["keywords"] = part.u64("keywords")
                case 4:
                    message = part.utf8("message")
                case 5:
                    description = part.utf8("description")
                case 6:
                    attributes.append((part.utf8("key"), part.utf8("value")))
                case 7:
                    guid = part.guid("provider guid")
                case 8:
                    values["level"] = part.u8("level")
                case 9:
                    values["version"] = part.u8("version")
                case _:
                    wrong = f"it has an optional item of unknown kind {kind}"
                    break
    except Short as short:
        wrong = f"it ends inside {short.what}"
        fields = ()
    except BadFields as bad:
        wrong = str(bad)
        fields = ()
        severity = "damage" if isinstance(bad, _Impossible) else "note"
    described = MetadataRow(
        metadata_id,
        provider,
        event_id,
        values["version"] or 0,
        name,
        values["keywords"] or 0,
        values["level"] or 0,
        values["opcode"],
        fields,
        tuple(attributes),
        description,
        message,
        guid,
        offset,
    )
    return described, wrong, severity


def _fields(cursor: Cursor, budget: Budget, depth: int) -> tuple[FieldDescription, ...]:
    count = cursor.u16("field count")
    budget.spend(count, count * 4, cursor.left)
    fields = []
    for _ in range(count):
        field = _row(cursor, "field")
        name = field.utf8("field name")
        fields.append(_type(field, budget, depth, name))
    return tuple(fields)


def _type(cursor: Cursor, budget: Budget, depth: int, name: str) -> FieldDescription:
    code = cursor.u8("type code")
    if code in (ARRAY, _FIXED_ARRAY, _RELLOC, _DATALOC):
        element = _type(cursor, budget, budget.enter(depth), "")
        if code in (_RELLOC, _DATALOC) and _variable(element):
            raise _Impossible(f"field {name!r} is located elsewhere but its elements have no fixed size")
        count = cursor.u16("element count") if code == _FIXED_ARRAY else 0
        return FieldDescription(name, code, element=element, count=count)
    if code == OBJECT:
        return FieldDescription(name, code, members=_fields(cursor, budget, budget.enter(depth)))
    return FieldDescription(name, code)


def _variable(field: FieldDescription) -> bool:
    """Whether the width of a value is only known from its bytes."""
    if field.code == OBJECT:
        return any(_variable(m) for m in field.members)
    if field.code == _FIXED_ARRAY and field.element is not None:
        return _variable(field.element)
    return field.code in _STRINGLESS


__all__ = ["NAMES", "NeedMore", "NetTrace6"]
