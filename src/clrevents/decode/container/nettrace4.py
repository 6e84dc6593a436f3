"""NetTrace 4 and "5": a chain of serialized objects behind `Nettrace!FastSerialization.1` (format §1.2-1.8).

Knows the object envelope and the four block kinds. Order, lifetimes and losses are the stream's business.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import attrs

from clrevents.decode.blocks import (
    Block,
    End,
    Events,
    Fault,
    Header,
    Metadata,
    SequencePoint,
    Stacks,
    TraceInfo,
)
from clrevents.decode.container.base import cut, damage, system_time
from clrevents.decode.kernels import HeaderScanner
from clrevents.decode.metadata import read_record
from clrevents.decode.window import Cursor, Short, Window
from clrevents.errors import Limits, Problem, UnreadableError

_NULL, _BEGIN, _END = 1, 5, 6
_NAME_LIMIT = 64
_TRACE = struct.Struct("<8hqqiiii")
_BLOCK_HEADER = struct.Struct("<HHqq")
_COMPRESSED = 1


@attrs.frozen
class _Body:
    """A block's payload: `window[start:end]`; `missing` bytes of it lie beyond the end of the stream."""

    name: str
    start: int
    end: int
    missing: int


class NetTrace4:
    """Reads objects one after the other; see `decode.container.base.Container`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._scanner = HeaderScanner()
        self._seen_header = False

    def read(self, window: Window) -> Iterator[Block]:
        start = window.pos
        try:
            yield from self._object(window)
        except BaseException:
            window.pos = start
            raise

    def _object(self, window: Window) -> Iterator[Block]:
        start = window.pos
        window.require(1)
        if window.data[window.pos] == _NULL:
            window.pos += 1
            yield End(window.base + start)
            return
        fault = self._type_header(window)
        if isinstance(fault, Fault):
            yield fault
            return
        name, version = fault
        if name == "Trace":
            yield self._trace(window, version)
            return
        if not self._seen_header:
            raise UnreadableError(
                f"the first object is {name!r} instead of the trace's own header", offset=window.base + start
            )
        body = self._body(window, name)
        if isinstance(body, Fault):
            yield body
            return
        yield from self._content(window, body)
        window.pos = body.end
        if body.missing:
            at = window.base + body.start
            size = body.end - body.start
            yield Fault(cut(f"a {name}", at, size + body.missing, size), fatal=True)
        elif window.data[body.end] != _END:
            at = window.base + body.end
            yield Fault(
                damage("bad-end-tag", f"a {name} does not end where it says", at, 1, "what follows"),
                fatal=True,
            )
        else:
            window.pos = body.end + 1

    def _type_header(self, window: Window) -> Fault | tuple[str, int]:
        """Name and version of the object that begins here; the position moves to its content."""
        start = window.pos
        at = window.base + start
        window.require(3)
        if window.data[start : start + 3] != bytes((_BEGIN, _BEGIN, _NULL)):
            return _broken("no object begins here", at)
        window.require(15)
        version, _, length = struct.unpack_from("<iii", window.data, start + 3)
        if not 0 < length <= _NAME_LIMIT:
            return _broken(f"an object's type name claims {length} bytes", at)
        window.require(15 + length + 1)
        name = window.data[start + 15 : start + 15 + length]
        if window.data[start + 15 + length] != _END:
            return _broken("an object's type does not end where it says", at)
        window.pos = start + 15 + length + 1
        return name.decode("utf-8", "replace"), version

    def _trace(self, window: Window, version: int) -> Header:
        if version > 4:
            raise UnreadableError(
                f"this is NetTrace version {version}; versions up to 5 are read so far", offset=window.offset
            )
        window.require(_TRACE.size + 1)
        *when, sync, frequency, pointer_size, pid, processors, interval = _TRACE.unpack_from(window.data, window.pos)
        if frequency <= 0:
            raise UnreadableError(f"the header's clock has {frequency} ticks a second", offset=window.offset + 24)
        if pointer_size not in (4, 8):
            raise UnreadableError(f"the header's pointer size is {pointer_size}", offset=window.offset + 32)
        info = TraceInfo(
            format="NetTrace",
            version=version,
            start=system_time(tuple(when)),
            sync_qpc=sync,
            frequency=frequency,
            pointer_size=pointer_size,
            process_id=pid or None,
            processors=processors or None,
            sampling_interval_ns=interval,
        )
        if window.data[window.pos + _TRACE.size] != _END:
            raise UnreadableError("the header does not end where it should", offset=window.offset + _TRACE.size)
        window.pos += _TRACE.size + 1
        self._seen_header = True
        return Header(info)

    def _body(self, window: Window, name: str) -> Fault | _Body:
        """The extent of a block, which must be whole in memory unless the stream has ended."""
        window.require(4)
        at = window.offset
        (size,) = struct.unpack_from("<i", window.data, window.pos)
        # The alignment is that of the offset in the stream, not in memory.
        start = window.pos + 4 + -(at + 4) % 4
        if not 0 <= size <= self._limits.block_bytes:
            return _broken(f"a {name} claims {size} bytes", at)
        if not window.final:
            window.require(start + size + 1 - window.pos)
        end = min(start + size, window.end)
        missing = start + size - end
        if missing == 0 and end == window.end:
            missing = 1  # only its end tag
        return _Body(name, min(start, window.end), end, missing)

    def _content(self, window: Window, body: _Body) -> Iterator[Block]:
        match body.name:
            case "EventBlock" | "MetadataBlock":
                yield from self._blobs(window, body)
            case "StackBlock":
                yield from self._stacks(window, body)
            case "SPBlock":
                yield from self._sequence_point(window, body)
            case _:
                note = f"a block of an unknown kind, {body.name!r}, was skipped"
                at = window.base + body.start
                yield Fault(Problem("unknown-block", "note", note, at, body.end - body.start))

    def _blobs(self, window: Window, body: _Body) -> Iterator[Block]:
        """Event blobs behind a block header; in a metadata block their payloads are metadata records."""
        at = window.base + body.start
        if body.end - body.start < _BLOCK_HEADER.size:
            if not body.missing:
                yield Fault(damage("bad-block", f"a {body.name} is too small for its header", at, None, "the block"))
            return
        size, flags, _, _ = _BLOCK_HEADER.unpack_from(window.data, body.start)
        if size < _BLOCK_HEADER.size or size > body.end - body.start:
            if not body.missing:
                text = f"a {body.name} claims a header of {size} bytes"
                yield Fault(damage("bad-block", text, at, None, "the block"))
            return
        if not flags & _COMPRESSED:
            text = f"a {body.name} has uncompressed event headers, which are not read yet"
            yield Fault(damage("unsupported-block", text, at, body.end - body.start, "the block's events"))
            return
        columns, status, stop = self._scanner.scan(window.data, body.start + size, body.end, window.base, False)
        if body.name == "EventBlock":
            if columns:
                yield Events(columns, window.data, window.base)
        else:
            spans = [span for c in columns for span in zip(c.offsets.tolist(), c.sizes.tolist(), strict=True)]
            yield from self._metadata(window, spans)
        if status != "done" and not body.missing:
            what = "an event runs past the end of its block"
            if status == "bad-varint":
                what = "an event header holds a number of too many bytes"
            length = body.end - stop
            yield Fault(damage("bad-event", what, window.base + stop, length, "the rest of the block"))

    def _metadata(self, window: Window, spans: list[tuple[int, int]]) -> Iterator[Block]:
        rows = []
        for offset, size in spans:
            start = offset - window.base
            cursor = Cursor(window.data, start, start + size, window.base, self._limits.string_bytes)
            try:
                row, wrong = read_record(cursor, self._limits)
            except Short as short:
                text = f"an event description ends inside its {short.what}"
                yield Fault(damage("bad-metadata", text, offset, size, "the events it describes"))
                continue
            rows.append(row)
            if wrong:
                label = f"{row.provider}/{row.name or row.id}"
                yield Fault(
                    Problem(
                        "bad-fields",
                        "note",
                        f"the description of an event cannot be used: {wrong}",
                        offset,
                        size,
                        event=label,
                        breaks="the event has no fields of its own",
                    )
                )
        if rows:
            yield Metadata(tuple(rows))

    def _stacks(self, window: Window, body: _Body) -> Iterator[Block]:
        at = window.base + body.start
        if body.end - body.start < 8:
            if not body.missing:
                yield Fault(damage("bad-block", "a StackBlock is too small for its header", at, None, "its stacks"))
            return
        first, count = struct.unpack_from("<Ii", window.data, body.start)
        start = body.start + 8
        possible = (body.end - start) // 4
        if count < 0 or count > possible:
            if not body.missing:
                text = f"a StackBlock claims {count} stacks in {body.end - start} bytes"
                yield Fault(damage("bad-block", text, at, body.end - body.start, "its stacks"))
                return
            count = possible
        yield Stacks(first, count, window.data, start, body.end, window.base)

    def _sequence_point(self, window: Window, body: _Body) -> Iterator[Block]:
        at = window.base + body.start
        room = body.end - body.start
        if room >= 12:
            time, count = struct.unpack_from("<qi", window.data, body.start)
            if 0 <= count <= (room - 12) // 12:
                threads = tuple(struct.iter_unpack("<QI", window.data[body.start + 12 : body.start + 12 + 12 * count]))
                yield SequencePoint(time, threads, at)
                return
        if not body.missing:
            yield Fault(damage("bad-block", "a sequence point does not fit its size", at, room, "lost events unknown"))


def _broken(message: str, at: int) -> Fault:
    return Fault(damage("bad-object", message, at, None, "everything up to the next sound block"), fatal=True)
