"""Bytes of a stream that can be read: `Window`, cursors in it, and where another trace begins in the same file.

`Window` is what a container parses: bytes followed by padding, a position, and whether more bytes will come.
`Cursor` reads rarely used structures (metadata, threads) and reports where it ran out. Neither knows any format.
"""

from __future__ import annotations

import re
import struct
from typing import Final
from uuid import UUID

from clrevents._util.value_classes import define
from clrevents.errors import TraceError
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE


class NeedMore(Exception):
    """The container needs this many bytes from its position to continue. Never leaves this room."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed


class Short(Exception):
    """A structure ends before one of its values does. Never leaves this room."""

    def __init__(self, what: str, offset: int, needed: int, available: int) -> None:
        super().__init__(what)
        self.what = what
        self.offset = offset
        self.needed = needed
        self.available = available


@define(eq=False)
class Window:
    """Bytes `data[:end]` of the stream, the first at stream offset `base`; padding follows."""

    data: bytes
    end: int
    base: int
    final: bool
    pos: int = 0

    @property
    def available(self) -> int:
        return self.end - self.pos

    @property
    def offset(self) -> int:
        """The stream offset of the current position."""
        return self.base + self.pos

    def require(self, count: int) -> None:
        """Raises NeedMore unless `count` bytes are available at the current position."""
        if count > self.end - self.pos:
            raise NeedMore(count)

    def all_or_nothing(self) -> _AllOrNothing:
        """What is read inside moves the position only if it is read to its end. Needs count from the beginning."""
        return _AllOrNothing(self)

    def context(self, error: TraceError) -> TraceError:
        """The same error with the bytes around its offset attached."""
        if error.offset is not None:
            at = min(max(error.offset, self.base), self.base + self.end)
            start = max((at - 32) & ~15, self.base)
            error.window = self.data[start - self.base : min(at + 48 - self.base, self.end)]
            error.window_offset = start
        return error


class _AllOrNothing:
    """See `Window.all_or_nothing`. Not a generator, which takes several times as long, for each block."""

    __slots__ = ("_start", "_window")

    def __init__(self, window: Window) -> None:
        self._window = window
        self._start = window.pos

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            window, read = self._window, self._window.pos - self._start
            window.pos = self._start
            if isinstance(error, NeedMore):
                raise NeedMore(error.needed + read) from None


class Cursor:
    """Reads little-endian values from `data[pos:end]`; raises Short, never reads outside."""

    __slots__ = ("base", "data", "end", "limit", "pos")

    def __init__(self, data: bytes, pos: int, end: int, base: int, limit: int = 1 << 16) -> None:
        self.data = data
        self.pos = pos
        self.end = end
        self.base = base
        self.limit = limit

    @property
    def left(self) -> int:
        return self.end - self.pos

    def take(self, count: int, what: str) -> int:
        """Skip `count` bytes; returns the position where they start."""
        if count < 0 or count > self.end - self.pos:
            raise Short(what, self.base + self.pos, count, self.end - self.pos)
        at = self.pos
        self.pos += count
        return at

    def u8(self, what: str) -> int:
        return self.data[self.take(1, what)]

    def u16(self, what: str) -> int:
        return int.from_bytes(self.data[(at := self.take(2, what)) : at + 2], "little")

    def u32(self, what: str) -> int:
        return int.from_bytes(self.data[(at := self.take(4, what)) : at + 4], "little")

    def i32(self, what: str) -> int:
        return int.from_bytes(self.data[(at := self.take(4, what)) : at + 4], "little", signed=True)

    def u64(self, what: str) -> int:
        return int.from_bytes(self.data[(at := self.take(8, what)) : at + 8], "little")

    def i64(self, what: str) -> int:
        return int.from_bytes(self.data[(at := self.take(8, what)) : at + 8], "little", signed=True)

    def guid(self, what: str) -> UUID:
        at = self.take(16, what)
        return UUID(bytes_le=self.data[at : at + 16])

    def varint(self, bits: int, what: str) -> int:
        """An unsigned LEB128 number of at most `bits` bits (taken modulo 2**bits)."""
        at = self.pos
        if at < self.end and self.data[at] < 128:
            # Nearly all of them have one byte.
            self.pos = at + 1
            return self.data[at]
        value = 0
        for shift in range(0, bits, 7):
            byte = self.data[at] if at < self.end else self.u8(what)
            at += 1
            self.pos = at
            value |= (byte & 127) << shift
            if byte < 128:
                return value & ((1 << bits) - 1)
        raise Short(f"{what} (an overlong varint)", self.base + self.pos, 0, self.left)

    def utf16z(self, what: str) -> str:
        """UTF-16LE text up to its terminating zero, which is consumed; lone surrogates become U+FFFD.

        Otherwise a name could be neither the name of a class nor a column's nor a file's.
        """
        start = self.pos
        at = self.data.find(b"\0\0", start, self.end)
        while at >= 0 and (at - start) & 1:
            at = self.data.find(b"\0\0", at + 1, self.end)
        if at < 0 or at - start > self.limit:
            raise Short(f"{what} (unterminated text)", self.base + start, 2, self.left)
        self.pos = at + 2
        return self.data[start:at].decode("utf-16-le", "replace")

    def utf8(self, what: str) -> str:
        """UTF-8 text after its varint byte count; invalid bytes become U+FFFD."""
        at = self.pos + 1
        if at <= self.end and (count := self.data[at - 1]) < 128 and count <= self.limit and count <= self.end - at:
            # Nearly all of them: a crafted trace may have a million.
            self.pos = at + count
            return self.data[at : self.pos].decode("utf-8", "replace")
        at = self.skip_utf8(what)
        return self.data[at : self.pos].decode("utf-8", "replace")

    def skip_utf8(self, what: str) -> int:
        """Skip such a text; returns the position where its bytes start."""
        count = self.varint(32, what)
        if count > self.limit:
            raise Short(f"{what} (longer than the limit)", self.base + self.pos, count, self.left)
        return self.take(count, what)


def unpack_words(data: bytes, size: int) -> tuple[int, ...]:
    """Addresses of 4 or 8 bytes each; a remainder shorter than a word is left out."""
    count = len(data) // size
    return struct.unpack_from(f"<{count}{'Q' if size == 8 else 'I'}", data)


NEXT_TRACE: Final = re.compile(
    rb"(?:%b)?%b|%b\x00{4}\x06\x00{3}" % (NETTRACE, re.escape(FAST_SERIALIZATION), NETTRACE), re.DOTALL
)
"""How traces of all generations begin."""
_FIRST: Final = (NETTRACE[0], FAST_SERIALIZATION[0])
LONGEST: Final = len(NETTRACE + FAST_SERIALIZATION)
"""Bytes of the longest of these beginnings."""
_FOOTER: Final = 64
"""At most so many bytes follow the end of a trace."""


def next_trace(window: Window, pos: int, within: int = 0) -> int | None:
    """The position at which another trace begins, at `pos` or at most `within` bytes later.

    Raises NeedMore until it is known.
    """
    if not within and window.data[pos] not in _FIRST:
        return None
    if not window.final:
        window.require(pos - window.pos + within + LONGEST)
    match = NEXT_TRACE.search(window.data, pos, min(window.end, pos + within + LONGEST))
    return None if match is None or match.start() > pos + within else match.start()


def behind_end(window: Window, pos: int) -> int | None:
    """The same behind the end of a trace, of which some have a few more bytes there."""
    return next_trace(window, pos, _FOOTER)
