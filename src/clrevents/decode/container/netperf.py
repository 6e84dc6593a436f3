"""NetPerf 1, 2 and 3, the formats before NetTrace (docs/format.md, "NetPerf 1 and 2" and "NetPerf 3").

All have records with full headers, each followed by its stack: 1 and 2 in one object, 3 in blocks. Knows no payload.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container import container
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
from clrevents.decode.container.object_envelope import Body, ObjectContainer
from clrevents.decode.container.window import NEXT_TRACE, Cursor, NeedMore, Short, Window, behind_end
from clrevents.decode.kernels.header_scan import make_columns
from clrevents.errors import Limits, Problem, UnreadableError, damage
from clrevents.schema.codes import HeaderFlag, ObjectName, ObjectTag

RECORD: Final = struct.Struct("<iiiq32si")
"""Size, metadata id, thread, ticks, two GUIDs, and the payload's size."""
STACK_LIMIT: Final = 65527
_UNKNOWN_CPU = 0xFFFFFFFF
_NO_GUIDS = bytes(32)
_M32 = 0xFFFFFFFF
_BOTH_IDS = int(HeaderFlag.ACTIVITY | HeaderFlag.RELATED)

Describe: TypeAlias = Callable[[int, Cursor], tuple[MetadataRow, str]]
"""Reads the description in the record at a stream offset: the row, and its fault, if any."""


class Records:
    """Collects records into columns and stacks; `description` is the position of a record that is a description.

    `exact`: without padding the sizes must add up, which distinguishes a record from a footer. None has more than
    `most` bytes.
    """

    def __init__(self, window: Window, exact: bool, most: int) -> None:
        self.window = window
        self.most = most
        self.exact = exact
        self.rows: list[tuple[int, int, int, int, int, int]] = []
        self.marks: list[tuple[int, int, int]] = []
        self.starts: list[int] = []
        self.sizes: list[int] = []
        self.description: tuple[int, int, int] | None = None
        self._guids = _NO_GUIDS

    def read(self, pos: int, end: int) -> int | None:
        """Read one record; returns the end of its declared size, or None if it is invalid within `end`."""
        data = self.window.data
        if end - pos < RECORD.size + 4:
            return None
        size, metadata_id, thread, time, guids, payload = RECORD.unpack_from(data, pos)
        after: int = pos + 4 + size
        body = pos + RECORD.size
        if not RECORD.size <= size <= self.most or after > end or not 0 <= payload <= after - body - 4:
            return None
        stack = int.from_bytes(data[body + payload : body + payload + 4], "little", signed=True)
        left = after - (body + payload + 4) - stack
        if not 0 <= stack <= STACK_LIMIT or left < 0 or (self.exact and left):
            return None
        if metadata_id == 0:
            self.description = pos, body, payload
            return after
        self.description = None
        if guids != self._guids:
            self._guids = guids
            self.marks.append((len(self.rows), _BOTH_IDS, pos + 20))
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
            columns = make_columns(self.rows, [(0, 0, 0, _UNKNOWN_CPU)], self.marks, self.rows[-1][3])
            yield Events([columns], self.window.data, self.window.base, broken, counted=False)
        yield Boundary()


def walk_records(
    window: Window, pos: int, end: int, limits: Limits, describe: Describe, exact: bool, broken: bool
) -> Generator[Block, None, tuple[int, bool]]:
    """Read records from `pos` on; returns where they stop, and whether the next one is invalid.

    The events before a bad description are yielded before its fault. A broken block ends at one.
    """
    sound = True
    while sound and pos < end:
        records = Records(window, exact, limits.block_bytes)
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
        # Where sizes add up exactly, everything read before a stop is equally trustworthy.
        yield from records.blocks(broken or not (sound or exact))
        if fault is not None and not broken:
            yield fault
    return pos, not sound


def _described(
    window: Window, place: tuple[int, int, int], limits: Limits, describe: Describe
) -> tuple[MetadataRow | None, Fault | None]:
    """A record that is a description, and its fault, if any."""
    start, at, size = place
    cursor = Cursor(window.data, at, at + size, window.base, limits.string_bytes)
    try:
        row, wrong = describe(window.base + start, cursor)
    except Short as short:
        text = f"an event description is truncated in its {short.what}"
        return None, Fault(damage("bad-metadata", text, window.base + at, size, "the events it describes"))
    if wrong:
        return row, Fault(container.bad_fields(row.provider, row.name or str(row.id), wrong, window.base + at, size))
    return row, None


_HEADER = struct.Struct("<i8hqq")
_SMALLEST = RECORD.size + 4
# After damage, this many consecutive records are not a coincidence. Few bytes are searched at first, then more at a
# time: looking far where records are near would take longer than reading them.
_CHAIN = 3
_FIRST_STRIDE = 1 << 8
_STRIDE = 1 << 20

# NetPerf 1's placeholder for a provider name.
_PROVIDERS = {
    UUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"): "Microsoft-Windows-DotNETRuntime",
    UUID("a669021c-c450-4609-a035-5af59af4df18"): "Microsoft-Windows-DotNETRuntimeRundown",
    UUID("763fd754-7086-4dfe-95eb-c01a46faf4ca"): "Microsoft-Windows-DotNETRuntimePrivate",
    UUID("cc2bcbba-16b6-4cf3-8990-d74c2e8af500"): "Microsoft-Windows-DotNETRuntimeStress",
    UUID("2e5dba47-a3d2-4d16-8ee0-6671ffdcd7b5"): "System.Threading.Tasks.TplEventSource",
    UUID("8e9f5090-2d75-4d03-8a81-e5afbf85daf1"): "System.Diagnostics.Eventing.FrameworkEventSource",
    UUID("3c530d44-97ae-513a-1e6d-783e8f8e03a9"): "Microsoft-DotNETCore-SampleProfiler",
}


def _candidates(data: bytes, start: int, stop: int, end: int) -> list[int]:
    """Positions in `data[start:stop]` at which the sizes of a record before `end` add up without padding."""
    stop = min(stop, end - _SMALLEST + 1)
    if stop <= start:
        return []
    raw = np.frombuffer(data, dtype=np.uint8)

    def numbers(places: NDArray[np.int64]) -> NDArray[np.int64]:
        four = raw[places[:, None] + np.arange(4)]
        return np.ascontiguousarray(four).view("<u4").astype(np.int64)[:, 0]

    places = np.arange(start, stop, dtype=np.int64)
    # The high bytes of both sizes are nearly always 0, which leaves few candidates.
    places = places[(raw[places + 3] == 0) & (raw[places + 55] == 0)]
    size, payload = numbers(places), numbers(places + 52)
    fits = (size >= RECORD.size) & (payload <= size - RECORD.size) & (places + 4 + size <= end)
    places, size, payload = places[fits], size[fits], payload[fits]
    stack = numbers(places + RECORD.size + payload)
    exact = (stack <= STACK_LIMIT) & (size == RECORD.size + payload + stack)
    positions: list[int] = places[exact].tolist()
    return positions


class NetPerf12:
    """NetPerf 1 and 2: one object that holds everything, unpadded, followed by a footer."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        self._limits = limits
        self._salvage = salvage
        self._version = 0

    def read(self, window: Window) -> Iterator[Block]:
        with window.all_or_nothing():
            yield from self._records(window) if self._version else self._header(window)

    def read_together(self, window: Window) -> tuple[Events, int] | None:
        """There are no event blocks here."""
        return None

    def _header(self, window: Window) -> Iterator[Block]:
        window.require(3 + 12)
        version, reader, length = struct.unpack_from("<iii", window.data, window.pos + 3)
        if version not in (1, 2):
            raise UnreadableError(
                f"unsupported NetPerf version {version}; versions 1 to 3 can be read", offset=window.pos + 3
            )
        # Writers that demand a reader of version 1 have one more reference first, and the pointer size last.
        sized = reader == 1
        at = window.pos + 15 + length + 1 + 4 * sized
        window.require(at + _HEADER.size + 4 * sized - window.pos)
        _, *when, sync, frequency = _HEADER.unpack_from(window.data, at)
        container.check_clock(frequency, window.base + at + 28)
        end, pointer_size = at + _HEADER.size, 8
        if sized:
            (pointer_size,) = struct.unpack_from("<i", window.data, end)
            container.check_pointer_size(pointer_size, window.base + end)
        self._version = version
        window.pos = end + 4 * sized
        yield Header(TraceInfo("NetPerf", version, container.system_time(tuple(when)), sync, frequency, pointer_size))

    def _records(self, window: Window) -> Iterator[Block]:
        """As many complete records as the window has; their sizes distinguish them from the footer."""
        pos, _ = yield from walk_records(window, window.pos, window.end, self._limits, self._record, True, False)
        if pos == window.pos:
            yield from self._end(window)
        else:
            window.pos = pos

    def _end(self, window: Window) -> Iterator[Block]:
        """No complete record starts here: more bytes are needed, or this is the footer, a cut, or damage."""
        pos, left, at = window.pos, window.available, window.offset
        if not window.final and left < _SMALLEST:
            raise NeedMore(_SMALLEST)
        size = int.from_bytes(window.data[pos : pos + 4], "little", signed=True)
        payload = int.from_bytes(window.data[pos + 52 : pos + 56], "little", signed=True)
        possible = RECORD.size <= size <= self._limits.block_bytes and 0 <= payload <= size - RECORD.size
        if not window.final and possible and size + 4 > left:
            raise NeedMore(size + 4)
        other = behind_end(window, pos)
        last = window.end if other is None else other
        if (window.final or other is not None) and self._footer(window, last - pos):
            window.pos = last
            yield End(at)
            return
        left = last - pos
        resumes, stop = self._resume(window) if self._salvage and other is None else (False, last)
        if not resumes and (window.final or other is not None) and (left < _SMALLEST or (possible and size + 4 > left)):
            problem = container.cut("an event", at, max(size + 4, _SMALLEST), left)
        elif not self._salvage:
            problem = damage("bad-event", "an event's sizes are inconsistent", at, None, "everything from here on")
        else:
            text = f"an event's sizes are inconsistent; skipped {stop - pos} bytes"
            problem = damage("bad-event", text, at, stop - pos, "the events of this range")
        window.pos = stop
        yield Fault(problem, fatal=not self._salvage)

    def _footer(self, window: Window, left: int) -> bool:
        """Whether all that is left is the closing tag, alone or followed by the table of references."""
        data, pos = window.data, window.pos
        if data[pos] != ObjectTag.END:
            return False
        count = int.from_bytes(data[pos + 1 : pos + 5], "little", signed=True)
        return left == 1 or (left >= 5 and count >= 0 and left == 1 + 4 + 4 * count + 8)

    def _resume(self, window: Window) -> tuple[bool, int]:
        """Whether consecutive complete records follow after this position, and where, or how far was searched."""
        at, end = window.pos + 1, min(window.end, window.pos + self._limits.block_bytes)
        stride = _FIRST_STRIDE
        while at < end:
            stop = min(at + stride, end)
            for pos in _candidates(window.data, at, stop, window.end):
                if self._chains(window, pos):
                    other = NEXT_TRACE.search(window.data, window.pos, pos)
                    return True, pos if other is None else other.start()
            at, stride = stop, min(2 * stride, _STRIDE)
        # Those that may follow the last of them, too, or it would not be found in pieces.
        needed = (1 + _CHAIN) * (self._limits.block_bytes + 4)
        if not window.final and window.available < needed:
            raise NeedMore(min(2 * window.available + 64, needed))
        return False, window.end if end == window.end else end

    def _chains(self, window: Window, pos: int) -> bool:
        records = Records(window, True, self._limits.block_bytes)
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
            fields = container.read_fields_v1(cursor, self._limits)
        except container.BadFields as bad:
            wrong = str(bad)
        except Short as short:
            wrong = f"its description is truncated in {short.what}"
        return (
            MetadataRow(metadata_id, provider, event_id, version, name, keywords, level, fields=fields, offset=offset),
            wrong,
        )


class NetPerf3(ObjectContainer):
    """NetPerf 3: blocks of records, each padded to a multiple of four within its declared size."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        super().__init__(ObjectTag.BEGIN, (ObjectName.EVENTS,), limits, salvage)

    def _header(self, window: Window, version: int) -> Header:
        if version != 3:
            raise UnreadableError(
                f"unsupported NetPerf version {version}; versions 1 to 3 can be read", offset=window.offset
            )
        return Header(container.read_trace_header(window, "NetPerf", version))

    def _content(self, window: Window, body: Body) -> Iterator[Block]:
        if body.name != ObjectName.EVENTS:
            note = f"skipped a block of unknown kind {body.name!r}"
            yield Fault(Problem("unknown-block", "note", note, window.base + body.start, body.end - body.start))
            return
        limits = self._limits
        pos, stopped = yield from walk_records(
            window,
            body.start,
            body.end,
            limits,
            lambda _, cursor: container.read_record(cursor, limits),
            False,
            body.broken,
        )
        if stopped and not body.broken:
            yield container.bad_event("truncated", window.base + pos, body.end - pos)
