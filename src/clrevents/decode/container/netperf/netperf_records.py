"""Records of NetPerf 1, 2 and 3: events with full headers, each followed by its stack (docs/format.md, "NetPerf 3").

Knows one record and a run of them, and that descriptions are interleaved with events. How a description is read, and
what contains the records, is up to the generations.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator
from typing import Final, TypeAlias

from clrevents.decode.container.blocks import Block, Boundary, Events, Fault, InlineStacks, Metadata, MetadataRow
from clrevents.decode.container.container import bad_fields
from clrevents.decode.container.window import Cursor, Short, Window
from clrevents.decode.kernels.header_scan import make_columns
from clrevents.errors import Limits, damage
from clrevents.schema.codes import HeaderFlag

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
        return row, Fault(bad_fields(row.provider, row.name or str(row.id), wrong, window.base + at, size))
    return row, None
