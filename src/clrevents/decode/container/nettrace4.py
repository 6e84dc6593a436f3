"""NetTrace 4 and "5": four kinds of block in the object envelope (docs/format.md, "Blocks of NetTrace 4").

Knows the contents of each block. Order, lifetimes and losses are the stream's business.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from clrevents.decode.container import container
from clrevents.decode.container.blocks import (
    Block,
    Events,
    Fault,
    Header,
    Metadata,
    SequencePoint,
    Stacks,
    ThreadNumbers,
)
from clrevents.decode.container.object_envelope import Body, ObjectContainer
from clrevents.decode.container.window import Cursor, Short, Window
from clrevents.decode.kernels.header_scan import HeaderScanner
from clrevents.errors import Limits, Problem, UnreadableError, damage
from clrevents.schema.codes import ObjectName, ObjectTag

# Plain strings where every block is tested: looking a member up takes longer than the test.
_NAMES = _EVENTS, _METADATA, _STACKS, _POINT = (
    str(ObjectName.EVENTS),
    str(ObjectName.METADATA),
    str(ObjectName.STACKS),
    str(ObjectName.SEQUENCE_POINT),
)


class NetTrace4(ObjectContainer):
    """Blocks of NetTrace 4 and 5; see `decode.container.container.Container`."""

    def __init__(self, limits: Limits, salvage: bool = False) -> None:
        super().__init__(ObjectTag.BEGIN_PRIVATE, _NAMES, limits, salvage)
        self._scanner = HeaderScanner()
        self._small = container.SmallBlocks(self._scanner)
        # Of the same length.
        self._small_types = self.signature(_EVENTS), self.signature(_STACKS)

    def _header(self, window: Window, version: int) -> Header:
        if version != 4:
            raise UnreadableError(
                f"unsupported NetTrace version {version}; versions 4 to 6 (and NetPerf 1 to 3) can be read",
                offset=window.offset,
            )
        return Header(container.read_trace_header(window, "NetTrace", version))

    def read_together(self, window: Window) -> tuple[Events, int] | None:
        if not self._seen_header or self._small.rests():
            return None
        small_bodies = self._small_bodies(window, self._small_types, self._small.most)
        if small_bodies is None:
            return None
        bodies, count, others = small_bodies
        end = int(bodies[3 * count - 1]) if count else 0
        stacks = []
        for at, start, stop in zip(others[0::3], others[1::3], others[2::3], strict=True):
            if start > end:
                break
            block = _stacks(window, start, stop, False)
            if block is None:
                self._small.refuse()
                return None
            stacks.append((block, window.base + at))
        return self._small.read(window, bodies, count, 1, False, stacks)

    def _content(self, window: Window, body: Body) -> Iterator[Block]:
        if body.name in (_EVENTS, _METADATA):
            yield from self._blobs(window, body)
        elif body.name == _STACKS:
            yield from self._stacks(window, body)
        elif body.name == _POINT:
            yield from self._sequence_point(window, body)
        else:
            note = f"skipped a block of unknown kind {body.name!r}"
            at = window.base + body.start
            yield Fault(Problem("unknown-block", "note", note, at, body.end - body.start))

    def _blobs(self, window: Window, body: Body) -> Iterator[Block]:
        """Event blobs after a block header; in a metadata block their payloads are metadata records."""
        at = window.base + body.start
        room = body.end - body.start
        size, flags, first, last = (
            container.BLOCK_HEADER.unpack_from(window.data, body.start) if room >= 20 else (0, 0, 0, 0)
        )
        if not container.BLOCK_HEADER.size <= size <= room:
            if not body.broken:
                text = f"{container.one(body.name)} of {room} bytes declares a header of {size}"
                yield Fault(damage("bad-block", text, at, room, "its events or descriptions"))
            return
        start = body.start + size
        if flags & container.COMPRESSED:
            columns, status, stop = self._scanner.scan(window.data, start, body.end, window.base, False)
        else:
            columns, status, stop = container.walk(window.data, start, body.end, window.base, False)
        broken = body.broken or status != "done"
        if body.name == _EVENTS:
            if columns:
                yield Events(columns, window.data, window.base, broken, (first, last) if first or last else None)
        else:
            spans = [span for c in columns for span in zip(c.offsets.tolist(), c.sizes.tolist(), strict=True)]
            yield from _read_metadata(window, spans, self._limits, broken)
        if status != "done" and not body.broken:
            yield container.bad_event(status, window.base + stop, body.end - stop)

    def _stacks(self, window: Window, body: Body) -> Iterator[Block]:
        block = _stacks(window, body.start, body.end, body.broken)
        if block is not None:
            yield block
        elif not body.broken:
            text = "a StackBlock does not hold as many stacks as it declares"
            at, room = window.base + body.start, body.end - body.start
            yield Fault(damage("bad-block", text, at, room, "its stacks"))

    def _sequence_point(self, window: Window, body: Body) -> Iterator[Block]:
        at = window.base + body.start
        room = body.end - body.start
        if room >= 12:
            time, count = struct.unpack_from("<qi", window.data, body.start)
            if 0 <= count <= (room - 12) // 12:
                entries = window.data[body.start + 12 : body.start + 12 + 12 * count]
                yield SequencePoint(time, ThreadNumbers(entries), at)
                return
        if not body.broken:
            yield Fault(
                damage(
                    "bad-block", "a sequence point does not match its declared size", at, room, "lost events unknown"
                )
            )


def _stacks(window: Window, start: int, end: int, broken: bool) -> Stacks | None:
    """A block of stacks; None if it cannot hold as many as it declares."""
    if end - start < 8:
        return None
    first, count = struct.unpack_from("<Ii", window.data, start)
    possible = container.stack_count(count, end - start - 8, broken)
    return None if possible is None else Stacks(first, possible, window.data, start + 8, end, window.base)


def _read_metadata(window: Window, spans: list[tuple[int, int]], limits: Limits, broken: bool) -> Iterator[Block]:
    """The metadata records at (stream offset, size); for a broken block only those that are complete."""
    rows = []
    for offset, size in spans:
        start = offset - window.base
        cursor = Cursor(window.data, start, start + size, window.base, limits.string_bytes)
        try:
            row, wrong = container.read_record(cursor, limits)
        except Short as short:
            text = f"an event description is truncated in its {short.what}"
            yield Fault(damage("bad-metadata", text, offset, size, "the events it describes"))
            if broken:
                break
            continue
        if broken and (wrong or row.metadata_id <= 0):
            break
        rows.append(row)
        if wrong:
            yield Fault(container.bad_fields(row.provider, row.name or str(row.id), wrong, offset, size))
    if rows:
        yield Metadata(tuple(rows))
