"""Strings of a payload, one at a time: up to their terminator, or with a known number of code units.

Knows both encodings and how invalid UTF-8 is handled; knows no layout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from clrevents.decode.payload.records.misfit import ShortValue
from clrevents.schema.wire import TextArrayType

One: TypeAlias = Callable[[bytes, int, int], tuple[Any, int]]
"""`(data, start, end) -> (value, position after it)`; raises ShortValue."""
Many: TypeAlias = Callable[[bytes, int, int, int], tuple[Any, int]]
"""`(data, start, end, count) -> (value, position after it)`; raises ShortValue."""

_CACHE = 1 << 16
_CACHED_BYTES = 256


class TextCache:
    """Bytes → text, made once for strings that repeat, such as names and signatures; bounded."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def utf16(self, data: bytes) -> str:
        text = self._known.get(data)
        if text is None:
            text = data.decode("utf-16-le", "surrogatepass")
            if len(data) <= _CACHED_BYTES and len(self._known) < _CACHE:
                self._known[data] = text
        return text


def utf16z(texts: TextCache) -> One:
    """UTF-16LE up to a zero unit."""
    text = texts.utf16

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        at = data.find(b"\0\0", pos, end)
        # Two zero bytes may be the end of one unit and the start of the next.
        while at >= 0 and (at - pos) & 1:
            at = data.find(b"\0\0", at + 1, end)
        if at < 0:
            raise ShortValue(pos, max(end - pos, 0) + 2, "unterminated string")
        return text(data[pos:at]), at + 2

    return read


def ansiz(data: bytes, pos: int, end: int) -> tuple[Any, int]:
    """Bytes up to a zero byte."""
    at = data.find(b"\0", pos, end)
    if at < 0:
        raise ShortValue(pos, max(end - pos, 0) + 1, "unterminated string")
    return narrow_text(data[pos:at]), at + 1


def narrow_text(data: bytes) -> str:
    """Bytes as UTF-8, or as Latin-1 if they are not valid UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def counted_text(wire: TextArrayType) -> Many:
    """`count` code units that form a string."""
    width = wire.unit_size

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        size = count * width
        if size > end - pos:
            raise ShortValue(pos, size, f"a declared count of {count} characters")
        raw = data[pos : pos + size]
        if width == 2:
            return raw.decode("utf-16-le", "surrogatepass"), pos + size
        return raw.decode("utf-8", "replace"), pos + size

    return read
