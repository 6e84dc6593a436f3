"""NetTrace 6: length-prefixed blocks after a 20-byte header (docs/format.md, "NetTrace 6").

Knows how blocks are framed, which kinds there are, and the short kinds; rows are read in `nettrace6_rows` and
`nettrace6_metadata`. There are no marks to find a block by: see `nettrace6_search`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from clrevents.decode.container import container as shared
from clrevents.decode.container.blocks import (
    Block,
    End,
    Events,
    Fault,
    Header,
    SequencePoint,
    Stacks,
    TraceInfo,
)
from clrevents.decode.container.container import (
    BLOCK_HEADER,
    COMPRESSED,
    SMALL,
    SmallBlocks,
    bad_event,
    cut,
    one,
    stack_count,
)
from clrevents.decode.container.nettrace6 import nettrace6_search as search
from clrevents.decode.container.nettrace6.nettrace6_metadata import Descriptions
from clrevents.decode.container.nettrace6.nettrace6_rows import (
    ThreadRows,
    read_count,
    read_labels,
    read_removed_threads,
)
from clrevents.decode.container.nettrace6.thread_numbers import read_numbers
from clrevents.decode.container.uncompressed import NETTRACE6, walk
from clrevents.decode.container.window import Cursor, Short, Window
from clrevents.decode.kernels.header_scan import HeaderScanner
from clrevents.decode.kernels.program import chained
from clrevents.errors import Limits, Problem, UnreadableError, damage
from clrevents.schema.codes import BlockKind, Forget

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
        found, stop = self._search.find(window)
        if not found:
            stop = min(end, window.end)
        yield from self._content(window, kind, start + 4, stop, True)
        name, at = one(_name(kind)), window.base + start
        window.pos = stop
        if not found and end > stop:
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
