"""What kernels need from their engine, where Python runs them: the functions of `slots.h` and `walk.pxd`.

Used by nothing else; the compiled engine never loads it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TOP = (1 << 64) - 1


def located(cls: type, setters: list[Any]) -> list[Callable[[Any, Any], None]]:
    """What writes each slot of a class. Raises TypeError for what is no slot of it."""
    if not isinstance(cls, type):
        raise TypeError(f"{cls!r} is not a class")
    for setter in setters:
        home = getattr(setter, "__objclass__", None)
        named = isinstance(setter, MemberDescriptorType) and setter.__name__ in vars(home).get("__slots__", ())
        if not named or not issubclass(cls, setter.__objclass__):
            raise TypeError(f"{setter!r} is not a slot of {cls!r}")
    return [setter.__set__ for setter in setters]


def closed(cls: type, slots: list[Any]) -> bool:
    """Nothing is filled again: elsewhere than in CPython, and under a debugger, counts of references do not tell."""
    return False


def idle(items: list[Any], at: int, cls: type) -> bool:
    return False


def put(slots: list[Callable[[Any, Any], None]], k: int, item: object, value: object) -> None:
    slots[k](item, value)


def place_of(numbers: list[int]) -> list[int]:
    return numbers


place_of_keys = place_of


def sole(items: list[Any]) -> bool:
    return False


def run_of_numbers(
    code: list[int],
    luck: list[int],
    counts: list[int],
    room: int,
    first: bool,
    keys: list[int],
    numbers: list[Any],
    slots: list[Callable[[Any, Any], None]],
    slot: int,
    at: int,
    run: int,
    item: object,
    buf: bytes,
    pos: int,
    end: int,
) -> int:
    read = {0: natural_at, 1: signed_at, 3: truth, 4: real}
    for k in range(run):
        operation, pad, size = code[at + 8 * k : at + 8 * k + 3]
        pos += pad
        if size > end - pos:
            return -1
        if operation == 9:
            stop = next((place for place in range(pos, min(end, pos + 10)) if buf[place] < 128), -1)
            if stop < 0:
                return -1
            if item is not None:
                number = sum((buf[place] & 127) << 7 * (place - pos) for place in range(pos, stop + 1)) & _TOP
                put(slots, slot + k, item, _number(number, code[at + 8 * k + 3], counts, first))
            pos = stop + 1
        else:
            if item is not None:
                put(slots, slot + k, item, read[operation](buf, pos, size))
            pos += size
    return pos


def _number(natural: int, how: int, counts: list[int], first: bool) -> int:
    if how <= 1:
        return unfolded(natural) if how == 1 else natural
    counts[how - 2] = natural if first else natural_sum(counts[how - 2], unfolded(natural))
    return counts[how - 2]


def truth(buf: bytes, pos: int, size: int) -> bool:
    return natural_at(buf, pos, size) != 0


def six(slots: list[Callable[[Any, Any], None]], item: object, *values: object) -> None:
    for k, value in enumerate(values):
        put(slots, k, item, value)


def forget(made: list[Any]) -> None:
    """The collector knows of everything here."""


def natural_at(buf: bytes, pos: int, size: int) -> int:
    return int.from_bytes(buf[pos : pos + size], "little")


def signed_at(buf: bytes, pos: int, size: int) -> int:
    return int.from_bytes(buf[pos : pos + size], "little", signed=True)


def unfolded(number: int) -> int:
    return (number >> 1) ^ -(number & 1)


def natural_sum(one: int, other: int) -> int:
    return one + other & _TOP


def counted(number: int) -> int:
    return number


def real(buf: bytes, pos: int, size: int) -> float:
    (number,) = struct.unpack_from("<d" if size == 8 else "<f", buf, pos)
    return float(number)


def zero_unit(buf: bytes, pos: int, end: int) -> int:
    at = text_end(buf, pos, end)
    return at if end - at > 1 else -1


def zero_byte(buf: bytes, pos: int, end: int) -> int:
    return buf.find(b"\0", pos, end)


def text16(buf: bytes, pos: int, size: int) -> str:
    return buf[pos : pos + size].decode("utf-16-le", "surrogatepass")


def text8(buf: bytes, pos: int, size: int) -> str:
    try:
        return buf[pos : pos + size].decode()
    except UnicodeDecodeError:
        return buf[pos : pos + size].decode("latin-1")


def replaced(buf: bytes, pos: int, size: int) -> str:
    return buf[pos : pos + size].decode("utf-8", "replace")


def octets(buf: bytes, pos: int, size: int) -> bytes:
    return buf[pos : pos + size]


def guid(buf: bytes, pos: int) -> int:
    a, b, c, rest = struct.unpack_from("<IHH8s", buf, pos)
    return int(a) << 96 | int(b) << 80 | int(c) << 64 | int.from_bytes(rest, "big")


def same(buf: bytes, one: int, other: int, size: int) -> bool:
    return buf[one : one + size] == buf[other : other + size]


def sealed(made: list[Any]) -> tuple[Any, ...]:
    return tuple(made)


create = object.__new__


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
