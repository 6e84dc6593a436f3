"""NetPerf 1, 2 and 3: full headers, each event with its stack (docs/format.md, "NetPerf 1 and 2" and "NetPerf 3").

Written in time order, without sequence numbers or sequence points. Metadata stands among the events; in
NetPerf 1 and 2 an event names it by the file offset of its record.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator
from typing import TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import (
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
from clrevents.decode.container.container import check_clock, cut, read_trace_header, system_time
from clrevents.decode.container.metadata import BadFields, read_fields_v1, read_record
from clrevents.decode.container.nettrace4 import bad_event, bad_fields
from clrevents.decode.container.object_envelope import Body, ObjectContainer
from clrevents.decode.container.window import Cursor, NeedMore, Short, Window
from clrevents.decode.kernels.header_scan import make_columns
from clrevents.errors import Limits, Problem, UnreadableError, damage

_RECORD = struct.Struct("<iiiq32si")
_STACK_LIMIT = 65527
_UNKNOWN_CPU = 0xFFFFFFFF
_NO_GUIDS = bytes(32)
_OLD_HEADER = struct.Struct("<i8hqq")
_M32 = 0xFFFFFFFF
_SMALLEST = 60
# Behind damage so many records in a row are no accident; they are searched so many bytes at a time.
_CHAIN = 3
_STRIDE = 1 << 20

# Reads the description of the record at (start, place of its payload, size), and what is wrong with it.
Describe: TypeAlias = Callable[[int, Cursor], tuple[MetadataRow, str]]

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
    """Collects records into columns and stacks; `description` is where a record that is a description stands.

    `exact`: without padding the sizes must add up, which tells a record from a footer.
    """

    def __init__(self, window: Window, exact: bool) -> None:
        self.window = window
        self.exact = exact
        self.rows: list[tuple[int, int, int, int, int, int]] = []
        self.marks: list[tuple[int, int, int]] = []
        self.starts: list[int] = []
        self.sizes: list[int] = []
        self.description: tuple[int, int, int] | None = None
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
            self.description = pos, body, payload
            return after
        self.description = None
        if guids != self._guids:
            self._guids = guids
            self.marks.append((len(self.rows), 48, pos + 20))
        number = 0
        if stack:
            number = 1 + len(self.starts)
            self.starts.append(body + payload + 4)
            self.sizes.append(stack)
        self.rows.append((metadata_id & _M32, thread & _M32, number, time, self.window.base + body, payload))
        return after

    def blocks(self, broken: bool) -> Iterator[Block]:
        """What was collected."""
        if self.starts:
            yield InlineStacks(1, self.starts, self.sizes, self.window.data)
        if self.rows:
            columns = make_columns(self.rows, [(0, 0, 0, _UNKNOWN_CPU)], self.marks)
            yield Events([columns], self.window.data, self.window.base, broken, counted=False)
        yield Boundary()


def _walk(
    window: Window, pos: int, end: int, limits: Limits, describe: Describe, exact: bool, broken: bool
) -> Generator[Block, None, tuple[int, bool]]:
    """Records from `pos` on; returns where they stop, and whether the next one makes no sense.

    What stands in front of a bad description is yielded before its fault. A broken block ends at one.
    """
    sound = True
    while sound and pos < end:
        records = _Records(window, exact)
        rows: list[MetadataRow] = []
        fault: Fault | None = None
        while pos < end and fault is None:
            after = records.read(pos, end)
            if after is None:
                sound = False
                break
            pos = after
            if records.description is not None:
                row, fault = _described(window, records.description, limits, describe)
                if broken and (fault is not None or row is None or row.metadata_id <= 0):
                    sound = False
                    break
                if row is not None:
                    rows.append(row)
        if rows:
            yield Metadata(tuple(rows))
        # Where sizes add up exactly, what was read before a stop is as good as any.
        yield from records.blocks(broken or not (sound or exact))
        if fault is not None and not broken:
            yield fault
    return pos, not sound


def _described(
    window: Window, place: tuple[int, int, int], limits: Limits, describe: Describe
) -> tuple[MetadataRow | None, Fault | None]:
    """A record that is a description, and what is wrong with it."""
    start, at, size = place
    cursor = Cursor(window.data, at, at + size, window.base, limits.string_bytes)
    try:
        row, wrong = describe(window.base + start, cursor)
    except Short as short:
        text = f"an event description ends inside its {short.what}"
        return None, Fault(damage("bad-metadata", text, window.base + at, size, "the events it describes"))
    if wrong:
        return row, Fault(bad_fields(row.provider, row.name or str(row.id), wrong, window.base + at, size))
    return row, None


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
        limits = self._limits
        pos, stopped = yield from _walk(
            window, body.start, body.end, limits, lambda _, cursor: read_record(cursor, limits), False, body.broken
        )
        if stopped and not body.broken:
            yield bad_event("truncated", window.base + pos, body.end - pos)


def _candidates(data: bytes, start: int, stop: int, end: int) -> list[int]:
    """Places in `data[start:stop]` at which the sizes of a record before `end` add up without padding."""
    stop = min(stop, end - _SMALLEST + 1)
    if stop <= start:
        return []
    raw = np.frombuffer(data, dtype=np.uint8)

    def numbers(places: NDArray[np.int64]) -> NDArray[np.int64]:
        four = raw[places[:, None] + np.arange(4)]
        return np.ascontiguousarray(four).view("<u4").astype(np.int64)[:, 0]

    places = np.arange(start, stop, dtype=np.int64)
    # The high bytes of both sizes are nearly always 0: that leaves few places to look at.
    places = places[(raw[places + 3] == 0) & (raw[places + 55] == 0)]
    size, payload = numbers(places), numbers(places + 52)
    fits = (size >= _RECORD.size) & (payload <= size - _RECORD.size) & (places + 4 + size <= end)
    places, size, payload = places[fits], size[fits], payload[fits]
    stack = numbers(places + _RECORD.size + payload)
    exact = (stack <= _STACK_LIMIT) & (size == _RECORD.size + payload + stack)
    found: list[int] = places[exact].tolist()
    return found


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
        except NeedMore as more:
            raise window.back_to(start, more) from None
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
        pos, _ = yield from _walk(window, window.pos, window.end, self._limits, self._record, True, False)
        if pos == window.pos:
            yield from self._end(window)
        else:
            window.pos = pos

    def _end(self, window: Window) -> Iterator[Block]:
        """No whole record begins here: more is to come, or this is the footer, a cut, or damage."""
        pos, left, at = window.pos, window.available, window.offset
        if not window.final and left < _SMALLEST:
            raise NeedMore(_SMALLEST)
        size = int.from_bytes(window.data[pos : pos + 4], "little", signed=True)
        payload = int.from_bytes(window.data[pos + 52 : pos + 56], "little", signed=True)
        possible = _RECORD.size <= size <= self._limits.block_bytes and 0 <= payload <= size - _RECORD.size
        if not window.final and possible and size + 4 > left:
            raise NeedMore(size + 4)
        if window.final and self._footer(window):
            window.pos = window.end
            yield End(at)
            return
        found, stop = self._resume(window) if self._salvage else (False, window.end)
        if not found and window.final and (left < _SMALLEST or (possible and size + 4 > left)):
            problem = cut("an event", at, max(size + 4, _SMALLEST), left)
        elif not self._salvage:
            problem = damage("bad-event", "an event's sizes do not add up", at, None, "everything from here on")
        else:
            text = f"an event's sizes do not add up; {stop - pos} bytes were skipped"
            problem = damage("bad-event", text, at, stop - pos, "the events of this range")
        window.pos = stop
        yield Fault(problem, fatal=not self._salvage)

    def _footer(self, window: Window) -> bool:
        """Whether all that is left is the closing tag, alone or with the table of references behind it."""
        data, pos, left = window.data, window.pos, window.available
        if data[pos] != 6:
            return False
        count = int.from_bytes(data[pos + 1 : pos + 5], "little", signed=True)
        return left == 1 or (left >= 5 and count >= 0 and left == 1 + 4 + 4 * count + 8)

    def _resume(self, window: Window) -> tuple[bool, int]:
        """Whether whole records follow each other somewhere behind this place, and where, or how far was searched."""
        start, end = window.pos + 1, min(window.end, window.pos + self._limits.block_bytes)
        for at in range(start, end, _STRIDE):
            for pos in _candidates(window.data, at, min(at + _STRIDE, end), window.end):
                if self._chains(window, pos):
                    return True, pos
        if not window.final and end == window.end:
            raise NeedMore(2 * window.available + 64)
        return False, window.end if end == window.end else end

    def _chains(self, window: Window, pos: int) -> bool:
        records = _Records(window, True)
        for _ in range(_CHAIN):
            after = records.read(pos, window.end)
            if after is None:
                return window.final and pos + 1 == window.end
            pos = after
        return True

    def _record(self, metadata_id: int, cursor: Cursor) -> tuple[MetadataRow, str]:
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
