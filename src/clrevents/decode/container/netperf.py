"""NetPerf 1, 2 and 3: full 56-byte headers, each event with its stack behind it (format §1.4, §1.5).

Written in time order, without sequence numbers or sequence points. Metadata stands among the events; in
NetPerf 1 and 2 an event names it by the file offset of its record.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from uuid import UUID

from clrevents.decode.blocks import (
    Block,
    Boundary,
    End,
    Events,
    Fault,
    Header,
    InlineStacks,
    Metadata,
    MetadataRow,
    TraceInfo,
)
from clrevents.decode.container.base import check_clock, cut, damage, read_trace_header, system_time
from clrevents.decode.container.nettrace4 import bad_event, bad_fields, read_metadata
from clrevents.decode.container.objects import Body, ObjectContainer
from clrevents.decode.kernels import make_columns
from clrevents.decode.metadata import BadFields, read_fields_v1
from clrevents.decode.window import Cursor, NeedMore, Short, Window
from clrevents.errors import Limits, Problem, UnreadableError

_RECORD = struct.Struct("<iiiq32si")
_STACK_LIMIT = 65527
_UNKNOWN_CPU = 0xFFFFFFFF
_NO_GUIDS = bytes(32)
_OLD_HEADER = struct.Struct("<i8hqq")

# What NetPerf 1 says instead of a provider's name.
_PROVIDERS = {
    UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"): "Microsoft-Windows-DotNETRuntime",
    UUID("a669021c-c450-4609-a035-5af59af4df18"): "Microsoft-Windows-DotNETRuntimeRundown",
    UUID("763fd754-7086-4dfe-95eb-c01a46faf4ca"): "Microsoft-Windows-DotNETRuntimePrivate",
    UUID("cc2bcbba-16b6-4cf3-8990-d74c2e8af500"): "Microsoft-Windows-DotNETRuntimeStress",
    UUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5"): "System.Threading.Tasks.TplEventSource",
    UUID("8e9f5090-2d75-4d03-8a81-e5afbf85daf1"): "System.Diagnostics.Eventing.FrameworkEventSource",
    UUID("3c530d44-97ae-513a-1e6d-783e8f8e03a9"): "Microsoft-DotNETCore-SampleProfiler",
}


class _Records:
    """Collects records into columns, stacks and the places of metadata records.

    `exact`: without padding the sizes must add up, which tells a record from a footer.
    """

    def __init__(self, window: Window, first_stack: int, exact: bool = False) -> None:
        self.window = window
        self.first_stack = first_stack
        self.exact = exact
        self.rows: list[tuple[int, int, int, int, int, int]] = []
        self.marks: list[tuple[int, int, int]] = []
        self.starts: list[int] = []
        self.sizes: list[int] = []
        self.metadata: list[tuple[int, int, int]] = []
        self._guids = _NO_GUIDS

    def read(self, pos: int, end: int) -> int | None:
        """One record; where its announced size ends, or None when it makes no sense within `end`."""
        data = self.window.data
        if end - pos < _RECORD.size + 4:
            return None
        size, metadata_id, thread, time, guids, payload = _RECORD.unpack_from(data, pos)
        after: int = pos + 4 + size
        body = pos + _RECORD.size
        if size < _RECORD.size or after > end or not 0 <= payload <= after - body - 4:
            return None
        stack = int.from_bytes(data[body + payload : body + payload + 4], "little", signed=True)
        left = after - (body + payload + 4) - stack
        if not 0 <= stack <= _STACK_LIMIT or left < 0 or (self.exact and left):
            return None
        if metadata_id == 0:
            self.metadata.append((pos, body, payload))
            return after
        if guids != self._guids:
            self._guids = guids
            self.marks.append((len(self.rows), 48, pos + 20))
        number = 0
        if stack:
            number = self.first_stack + len(self.starts)
            self.starts.append(body + payload + 4)
            self.sizes.append(stack)
        self.rows.append((metadata_id, thread & 0xFFFFFFFF, number, time, self.window.base + body, payload))
        return after

    def blocks(self, broken: bool = False) -> Iterator[Block]:
        """What was collected, apart from the metadata."""
        if self.starts:
            yield InlineStacks(self.first_stack, self.starts, self.sizes, self.window.data)
        if self.rows:
            columns = make_columns(self.rows, [(0, 0, 0, _UNKNOWN_CPU)], self.marks)
            yield Events([columns], self.window.data, self.window.base, broken, counted=False)
        yield Boundary()


class NetPerf3(ObjectContainer):
    """NetPerf 3: blocks of records, each padded to a multiple of four inside its announced size."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        super().__init__(4, ("EventBlock",), limits, salvage)

    def _header(self, window: Window, version: int) -> Header:
        if version != 3:
            raise UnreadableError(f"this is NetPerf version {version}; 1 to 3 can be read", offset=window.offset)
        return Header(read_trace_header(window, "NetPerf", version))

    def _content(self, window: Window, body: Body) -> Iterator[Block]:
        if body.name != "EventBlock":
            note = f"a block of an unknown kind, {body.name!r}, was skipped"
            yield Fault(Problem("unknown-block", "note", note, window.base + body.start, body.end - body.start))
            return
        records = _Records(window, 1)
        pos = body.start
        stop: int | None = pos
        while pos < body.end:
            stop = records.read(pos, body.end)
            if stop is None:
                break
            pos = stop
        spans = [(window.base + at, size) for _, at, size in records.metadata]
        yield from read_metadata(window, spans, self._limits, body.broken)
        yield from records.blocks(body.broken or stop is None)
        if stop is None and not body.broken:
            yield bad_event("truncated", window.base + pos, body.end - pos)


class NetPerf12:
    """NetPerf 1 and 2: one object that holds everything, unpadded, and a footer behind it."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        self._limits = limits
        self._salvage = salvage
        self._version = 0

    def read(self, window: Window) -> Iterator[Block]:
        start = window.pos
        try:
            yield from self._records(window) if self._version else self._header(window)
        except BaseException:
            window.pos = start
            raise

    def _header(self, window: Window) -> Iterator[Block]:
        window.require(3 + 12)
        version, _, length = struct.unpack_from("<iii", window.data, window.pos + 3)
        if version not in (1, 2):
            raise UnreadableError(f"this is NetPerf version {version}; 1 to 3 can be read", offset=window.pos + 3)
        at = window.pos + 15 + length + 1
        window.require(at + _OLD_HEADER.size - window.pos)
        _, *when, sync, frequency = _OLD_HEADER.unpack_from(window.data, at)
        check_clock(frequency, window.base + at + 28)
        self._version = version
        window.pos = at + _OLD_HEADER.size
        yield Header(TraceInfo("NetPerf", version, system_time(tuple(when)), sync, frequency, pointer_size=8))

    def _records(self, window: Window) -> Iterator[Block]:
        """As many whole records as the window has; they are told from the footer by their sizes."""
        records = _Records(window, 1, exact=True)
        pos = window.pos
        while pos < window.end:
            after = records.read(pos, window.end)
            if after is None:
                break
            pos = after
        if pos == window.pos:
            yield from self._end(window)
            return
        for start, at, size in records.metadata:
            yield self._metadata(window, start, at, size)
        window.pos = pos
        yield from records.blocks()

    def _end(self, window: Window) -> Iterator[Block]:
        """No record begins here: the footer, a cut, or damage."""
        if not window.final:
            size = 60
            if window.available >= 4:
                size = max(size, 4 + int.from_bytes(window.data[window.pos : window.pos + 4], "little", signed=True))
            if size > self._limits.block_bytes or size <= window.available:
                # Nothing sensible; only the end of the stream can tell the footer from damage.
                size = 2 * window.available + 64
            raise NeedMore(size)
        data, pos, left = window.data, window.pos, window.available
        at = window.offset
        window.pos = window.end
        if data[pos] == 6 and left >= 5:
            count = int.from_bytes(data[pos + 1 : pos + 5], "little", signed=True)
            if count >= 0 and left == 1 + 4 + 4 * count + 8:
                yield End(at)
                return
        if data[pos] == 6 and left == 1:
            yield End(at)
            return
        size = int.from_bytes(data[pos : pos + 4], "little", signed=True)
        if left < 60 or size + 4 > left:
            yield Fault(cut("an event", at, max(size + 4, 60), left), fatal=not self._salvage)
        else:
            yield Fault(
                damage("bad-event", "an event's sizes do not add up", at, left, "everything from here on"),
                fatal=not self._salvage,
            )

    def _metadata(self, window: Window, start: int, at: int, size: int) -> Block:
        cursor = Cursor(window.data, at, at + size, window.base, self._limits.string_bytes)
        metadata_id = window.base + start
        try:
            row, wrong = self._record(cursor, metadata_id)
        except Short as short:
            text = f"an event description ends inside its {short.what}"
            return Fault(damage("bad-metadata", text, window.base + at, size, "the events it describes"))
        if wrong:
            return Fault(bad_fields(row.provider, row.name or str(row.id), wrong, window.base + at, size))
        return Metadata((row,))

    def _record(self, cursor: Cursor, metadata_id: int) -> tuple[MetadataRow, str]:
        offset = cursor.base + cursor.pos
        if self._version == 1:
            guid = cursor.guid("provider guid")
            provider = _PROVIDERS.get(guid, str(guid))
        else:
            provider = cursor.utf16z("provider name")
        event_id = cursor.i32("event id") & 0xFFFF
        version = cursor.i32("event version") & 0xFF
        length = cursor.i32("description length")
        row = MetadataRow(metadata_id, provider, event_id, version, offset=offset)
        if length <= 0 or cursor.left < 4:
            return row, ""
        cursor.i32("event id")
        name = cursor.utf16z("event name")
        keywords = cursor.u64("keywords")
        cursor.i32("event version")
        level = cursor.i32("level") & 0xFF
        wrong = ""
        fields = row.fields
        try:
            fields = read_fields_v1(cursor, self._limits)
        except BadFields as bad:
            wrong = str(bad)
        except Short as short:
            wrong = f"its description ends inside {short.what}"
        return (
            MetadataRow(metadata_id, provider, event_id, version, name, keywords, level, fields=fields, offset=offset),
            wrong,
        )
