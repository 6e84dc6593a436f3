"""What the walk kernel needs from its engine, where Python runs it: the functions of `walk.pxd`.

Used by nothing else; the compiled engine never loads it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def move(buf: bytes | NDArray[np.uint8], pos: int, out: bytearray, at: int, size: int) -> None:
    """Copy bytes, all of them or none."""
    if size:
        if not 0 <= pos <= len(buf) - size or not 0 <= at <= len(out) - size:
            raise IndexError("bytes outside of the buffer")
        # A bytearray takes no part of an array.
        out[at : at + size] = bytes(buf[pos : pos + size])


def plain_units(buf: bytes, pos: int, end: int, out: bytearray, at: int) -> int:
    """Copy UTF-16 units of ASCII, if all are: how many there are, or 0."""
    count = max(end - pos, 0) // 2
    if count and (not 0 <= pos <= len(buf) - 2 * count or not 0 <= at <= len(out) - count):
        raise IndexError("bytes outside of the buffer")
    low, high = buf[pos : pos + 2 * count : 2], buf[pos + 1 : pos + 2 * count : 2]
    if not low.isascii() or high.count(0) != count:
        return 0
    out[at : at + count] = low
    return count


def text_end(buf: bytes, pos: int, end: int) -> int:
    """Where the first zero unit of UTF-16 is, or where less than a unit is left."""
    if end <= pos:
        return pos
    if end > len(buf):
        raise IndexError("bytes outside of the buffer")
    at = buf.find(b"\0\0", pos, end)
    while at >= 0 and at - pos & 1:
        at = buf.find(b"\0\0", at + 1, end)
    return at if at >= 0 else end - (end - pos & 1)
