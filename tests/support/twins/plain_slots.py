"""The functions of `slots.h` in plain Python, so that the source of the slots kernel runs without a compiler.

The product never runs it so: these, and the source with them, are what the compiled kernel must agree with.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any

from clrevents.decode.kernels.plain import text_end

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


def sole(items: list[Any]) -> bool:
    return False


def run_of_numbers(
    code: list[int],
    counts: list[int],
    room: int,
    first: bool,
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


def exchange(slots: list[Callable[[Any, Any], None]], k: int, item: object, items: list[Any], at: int) -> None:
    """Nothing is filled again here, so the slot was empty."""
    put(slots, k, item, items[at])


def five(slots: list[Callable[[Any, Any], None]], item: object, *values: object) -> None:
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
