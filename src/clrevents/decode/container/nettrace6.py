"""NetTrace 6: length-prefixed blocks after a 20-byte header (docs/format.md, "NetTrace 6"), and event descriptions.

Knows how blocks are framed, which kinds there are, and the short kinds; other rows are read in `nettrace6_rows`. There
are no marks to find a block by: see `nettrace6_search`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from clrevents.decode.container import container as shared
from clrevents.decode.container import nettrace6_search as search
from clrevents.decode.container.blocks import (
    Block,
    End,
    Events,
    Fault,
    FieldDescription,
    Header,
    Metadata,
    MetadataRow,
    SequencePoint,
    Stacks,
    TraceInfo,
)
from clrevents.decode.container.container import (
    BLOCK_HEADER,
    COMPRESSED,
    SMALL,
    BadFields,
    Budget,
    SmallBlocks,
    bad_event,
    bad_fields,
    cut,
    one,
    stack_count,
    walk,
)
from clrevents.decode.container.nettrace6_rows import (
    KnownRows,
    ThreadRows,
    read_count,
    read_labels,
    read_numbers,
    read_removed_threads,
    read_row,
)
from clrevents.decode.container.window import Cursor, Short, Window
from clrevents.decode.kernels.engine import chained
from clrevents.decode.kernels.header_scan import HeaderScanner
from clrevents.errors import Limits, Problem, Severity, UnreadableError, damage
from clrevents.schema.codes import ARRAYS, BlockKind, Forget, MetadataItem, TypeCode

_LOCATED = frozenset({TypeCode.RELLOC, TypeCode.DATALOC})
# The end of a description without fields and optional items, whose counts are two zeros.
_BARE = bytes(4)
_VARIABLE = frozenset({TypeCode.STRING, TypeCode.ARRAY, TypeCode.VARINT, TypeCode.VARUINT})


class Descriptions:
    """Reads the metadata blocks of one stream."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known = KnownRows[MetadataRow]()

    def read(self, cursor: Cursor, broken: bool) -> Iterator[Block]:
        """A metadata block; for a broken one only the complete rows. Raises Short after yielding what was read."""
        cursor.take(cursor.u16("header size"), "header")
        rows: list[MetadataRow] = []
        faults: list[Fault] = []
        while cursor.left:
            offset = cursor.base + cursor.pos
            try:
                row = read_row(cursor, "metadata")
            except Short:
                yield Metadata(tuple(rows))
                yield from faults
                raise
            known = self._known.find(row, offset)
            if known is not None:
                rows.append(known)
                continue
            start, size = row.pos, row.left
            try:
                described, wrong, severity = _description(row, self._limits, offset)
            except Short as short:
                text = f"an event description is truncated in its {short.what}"
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
            else:
                self._known.keep(row.data[start : row.end], described)
        yield Metadata(tuple(rows))
        yield from faults


class _Impossible(BadFields):
    """A field list that no writer can have intended: the description is damaged, not merely unsupported."""


def _description(row: Cursor, limits: Limits, offset: int) -> tuple[MetadataRow, str, Severity]:
    """One description, the fault of its optional parts ("" if there is none), and its severity."""
    metadata_id = row.varint(32, "metadata id")
    provider = row.utf8("provider name")
    event_id = row.varint(32, "event id")
    name = row.utf8("event name")
    if row.left == len(_BARE) and row.data.startswith(_BARE, row.pos):
        return MetadataRow(metadata_id, provider, event_id, 0, name, offset=offset), "", "note"
    wrong = ""
    severity: Severity = "note"
    fields: tuple[FieldDescription, ...] = ()
    values: dict[str, int | None] = {"opcode": None, "keywords": 0, "level": 0, "version": 0}
    attributes: list[tuple[str, str]] = []
    message = description = ""
    guid = None
    try:
        fields = _fields(row, Budget(limits), 0)
        part = read_row(row, "optional")
        while part.left:
            kind = part.u8("optional item")
            match kind:
                case MetadataItem.OPCODE:
                    values["opcode"] = part.u8("opcode")
                case MetadataItem.KEYWORDS:
                    values["keywords"] = part.u64("keywords")
                case MetadataItem.MESSAGE:
                    message = part.utf8("message")
                case MetadataItem.DESCRIPTION:
                    description = part.utf8("description")
                case MetadataItem.ATTRIBUTE:
                    attributes.append((part.utf8("key"), part.utf8("value")))
                case MetadataItem.PROVIDER_GUID:
                    guid = part.guid("provider guid")
                case MetadataItem.LEVEL:
                    values["level"] = part.u8("level")
                case MetadataItem.VERSION:
                    values["version"] = part.u8("version")
                case _:
                    wrong = f"it has an optional item of unknown kind {kind}"
                    break
    except Short as short:
        wrong = f"it is truncated in {short.what}"
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
        field = read_row(cursor, "field")
        name = field.utf8("field name")
        fields.append(_type(field, budget, depth, name))
    return tuple(fields)


def _type(cursor: Cursor, budget: Budget, depth: int, name: str) -> FieldDescription:
    code = cursor.u8("type code")
    if code in ARRAYS:
        element = _type(cursor, budget, budget.enter(depth), "")
        if code in _LOCATED and _variable(element):
            raise _Impossible(f"field {name!r} is a located array, but its elements have no fixed size")
        count = cursor.u16("element count") if code == TypeCode.FIXED_ARRAY else 0
        return FieldDescription(name, code, element=element, count=count)
    if code == TypeCode.OBJECT:
        return FieldDescription(name, code, members=_fields(cursor, budget, budget.enter(depth)))
    return FieldDescription(name, code)


def _variable(field: FieldDescription) -> bool:
    """Whether the width of a value is known only from its bytes."""
    if field.code == TypeCode.OBJECT:
        return any(_variable(m) for m in field.members)
    if field.code == TypeCode.FIXED_ARRAY and field.element is not None:
        return _variable(field.element)
    return field.code in _VARIABLE


# Plain numbers where every block is tested: looking a member up takes longer than the test.
_END, _TRACE, _EVENTS, _METADATA, _POINT, _STACKS, _THREADS, _, _LABELS = map(int, BlockKind)
_NAMES: Final[dict[int, str]] = {
    BlockKind.END: "end block",
    BlockKind.TRACE: "trace block",
    BlockKind.EVENTS: "event block",
    BlockKind.METADATA: "metadata block",
    BlockKind.SEQUENCE_POINT: "sequence point",
    BlockKind.STACKS: "stack block",
    BlockKind.THREADS: "thread block",
    BlockKind.REMOVED_THREADS: "thread removal block",
    BlockKind.LABELS: "label block",
}
_IMPACT: Final = "the events, names or stacks of this range"
_TRACE_HEADER: Final = struct.Struct("<8hqqii")


def _name(kind: int) -> str:
    return _NAMES.get(kind) or f"block of kind {kind}"


class NetTrace6:
    """Reads one block after another; see `decode.container.container.Container`."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        self._limits = limits
        self._salvage = salvage
        self._scanner = HeaderScanner()
        self._small = SmallBlocks(self._scanner)
        self._search = search.Search()
        self._descriptions = Descriptions(limits)
        self._threads = ThreadRows()
        # The stream offset of a position at which the last block showed that one starts.
        self._follows = -1
        self._seen_header = False

    def read(self, window: Window) -> Iterator[Block]:
        with window.all_or_nothing():
            yield from self._block(window)

    def read_together(self, window: Window) -> tuple[Events, int] | None:
        if not self._seen_header or self._small.rests():
            return None
        largest = min(SMALL, self._limits.block_bytes)
        if window.available < 4 or window.data[window.pos + 3] != _EVENTS:
            return None
        bodies, count = chained(window.data, window.pos, window.end, _EVENTS, largest, self._small.most)
        return self._small.read(window, bodies, count, 0, True)

    def _block(self, window: Window) -> Iterator[Block]:
        start = window.pos
        window.require(4)
        size, kind = search.head(window.data, start)
        at = window.base + start
        name = _name(kind)
        if kind == _END and self._seen_header:
            if not self._salvage or not self._search.spurious_end(window):
                if not window.final:
                    window.require(4 + size)
                window.pos = min(start + 4 + size, window.end)
                yield End(at)
                return
            yield from self._lost(window)
            return
        if not self._seen_header and kind != _TRACE:
            raise UnreadableError(f"the first block is {one(name)} instead of the trace block", offset=at)
        if self._salvage and self._seen_header:
            yield from self._salvaged(window, kind, size)
            return
        if size > self._limits.block_bytes:
            yield Fault(
                damage("bad-block", f"{one(name)} declares {size} bytes", at, size, "everything from here on"), True
            )
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
        """A block that is trusted if it parses to its end or another one follows it; otherwise it ends at the next."""
        start = window.pos
        data = window.data
        if not window.final:
            window.require(4 + min(size, search.PEEK))
        known = size <= self._limits.block_bytes and (
            window.base + start == self._follows or search.plausible(data, start, window.end)
        )
        end = start + 4 + size
        if (known or kind not in _NAMES) and not window.final:
            window.require(4 + size)
        if known and end <= window.end:
            # Events that lead exactly to the end are proof enough; the rest is read only once the block is trusted.
            blocks = list(self._content(window, kind, start + 4, end, False)) if kind == _EVENTS else None
            proven = blocks is not None and not any(isinstance(block, Fault) for block in blocks)
            if proven or search.followed(window, end):
                yield from self._content(window, kind, start + 4, end, False) if blocks is None else blocks
                window.pos = end
                self._follows = -1 if proven else window.base + end
                return
        elif kind not in _NAMES and end <= window.end and search.followed(window, end):
            yield from self._content(window, kind, start + 4, end, False)
            window.pos = end
            return
        if not known:
            yield from self._lost(window)
            return
        resumes, stop = self._search.find(window)
        if not resumes:
            stop = min(end, window.end)
        yield from self._content(window, kind, start + 4, stop, True)
        name, at = one(_name(kind)), window.base + start
        window.pos = stop
        if not resumes and end > stop:
            yield Fault(cut(name, at, size + 4, stop - start))
        else:
            text = f"{name} does not end at its declared size; its plausible part was kept"
            yield Fault(damage("bad-block", text, at, stop - start, _IMPACT))

    def _lost(self, window: Window) -> Iterator[Block]:
        """No block starts here: continue where several follow each other."""
        start = window.pos
        _, stop = self._search.find(window)
        text = f"no block starts here; skipped {stop - start} bytes"
        window.pos = stop
        yield Fault(damage("bad-block", text, window.base + start, stop - start, _IMPACT))

    def _content(self, window: Window, kind: int, start: int, end: int, broken: bool) -> Iterator[Block]:
        if kind == _TRACE:
            if self._seen_header:
                yield Fault(damage("bad-block", "a second trace block", window.base + start, end - start, "nothing"))
            elif not broken:
                yield self._header(window, start, end)
            return
        if kind == _EVENTS:
            yield from self._events(window, start, end, broken)
            return
        if kind not in _NAMES:
            text = f"skipped a block of unknown kind {kind}"
            yield Fault(Problem("unknown-block", "note", text, window.base + start, end - start))
            return
        cursor = Cursor(window.data, start, end, window.base, self._limits.string_bytes)
        try:
            if kind == _STACKS:
                yield self._stacks(window, cursor, broken)
            elif kind == _LABELS:
                yield from read_labels(cursor)
            elif kind == _METADATA:
                yield from self._descriptions.read(cursor, broken)
            elif kind == _POINT:
                yield self._point(cursor)
            elif kind == _THREADS:
                yield from self._threads.read(cursor)
            else:
                yield read_removed_threads(cursor)
        except Short as short:
            if not broken:
                text = f"{one(_NAMES[kind])} is truncated in its {short.what}"
                yield Fault(damage("bad-block", text, short.offset, end - start, "the contents of this block"))

    def _header(self, window: Window, start: int, end: int) -> Header:
        cursor = Cursor(window.data, start, end, window.base, self._limits.string_bytes)
        try:
            *when, sync, frequency, pointer_size, count = _TRACE_HEADER.unpack_from(
                window.data, cursor.take(_TRACE_HEADER.size, "clock")
            )
            shared.check_clock(frequency, window.base + start + 24)
            shared.check_pointer_size(pointer_size, window.base + start + 32)
            if not 0 <= count * 2 <= cursor.left:
                raise Short("key and value pairs", cursor.base + cursor.pos, 2 * count, cursor.left)
            pairs = tuple((cursor.utf8("key"), cursor.utf8("value")) for _ in range(count))
        except Short as short:
            raise UnreadableError(
                f"the trace block is truncated in its {short.what}",
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
                start=shared.system_time(tuple(when)),
                sync_qpc=sync,
                frequency=frequency,
                pointer_size=pointer_size,
                process_id=_number(known.get("ProcessId")),
                recorded_processors=_number(known.get("HardwareThreadCount")),
                sampling_interval_ns=_number(known.get("ExpectedCPUSamplingRate")),
                key_values=pairs,
            )
        )

    def _events(self, window: Window, start: int, end: int, broken: bool) -> Iterator[Block]:
        at, room = window.base + start, end - start
        size, flags, first, last = BLOCK_HEADER.unpack_from(window.data, start) if room >= 20 else (0, 0, 0, 0)
        if not BLOCK_HEADER.size <= size <= room:
            if not broken:
                text = f"an event block of {room} bytes declares a header of {size}"
                yield Fault(damage("bad-block", text, at, room, "its events"))
            return
        if flags & COMPRESSED:
            columns, status, stop = self._scanner.scan(window.data, start + size, end, window.base, True)
        else:
            columns, status, stop = walk(window.data, start + size, end, window.base, True)
        if columns:
            span = (first, last) if first or last else None
            yield Events(columns, window.data, window.base, broken or status != "done", span, labelled=True)
        if status != "done" and not broken:
            yield bad_event(status, window.base + stop, end - stop)

    def _point(self, cursor: Cursor) -> SequencePoint:
        at = cursor.base + cursor.pos
        time = cursor.i64("time")
        flags = cursor.u32("flags")
        count = read_count(cursor, 2, "threads")
        threads = read_numbers(cursor, count)
        return SequencePoint(time, threads, at, bool(flags & Forget.THREADS), bool(flags & Forget.METADATA))

    def _stacks(self, window: Window, cursor: Cursor, broken: bool) -> Stacks:
        first = cursor.u32("first id")
        count = stack_count(cursor.u32("count"), cursor.left, broken)
        if count is None:
            raise Short("stacks", cursor.base + cursor.pos, 0, cursor.left)
        return Stacks(first, count, window.data, cursor.pos, cursor.end, window.base)


def _number(text: str | None) -> int | None:
    """A decimal number of reasonable length; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None
