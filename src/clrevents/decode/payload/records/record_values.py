"""Values of one field, one payload at a time: numbers, groups, arrays, and located values.

Each wire type becomes a function that either returns the value and the position after it or raises ShortValue. Knows
no record; a struct's function is passed in.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

import attrs

from clrevents._util.value_classes import frozen
from clrevents.decode.payload.records.conversions import converter
from clrevents.decode.payload.records.misfit import ShortValue
from clrevents.decode.payload.records.record_text import Many, One, TextCache, ansiz, counted_text, utf16z
from clrevents.schema.wire import (
    AnsiZ,
    BytesType,
    CountedType,
    FixedArrayType,
    LocatedType,
    PrefixedType,
    StructType,
    TextArrayType,
    Utf16Z,
    VarIntType,
    WireType,
)

_U64 = (1 << 64) - 1


# Values may overlap, as when a writer stores equal ones once; but many fields could all claim the whole payload.
_OVERLAP: Final = 8
_OVERLAP_FREE: Final = 4096


class LocatedBudget:
    """How many bytes the located values of one payload may have together: a multiple of its size, and a few more.

    `needed` once a layout has such values.
    """

    __slots__ = ("left", "needed")

    def __init__(self) -> None:
        self.left = 0
        self.needed = False

    def renew(self, size: int) -> None:
        """A payload of `size` bytes is read next."""
        self.left = _OVERLAP * size + _OVERLAP_FREE

    def spend(self, size: int) -> bool:
        """Whether a value of `size` bytes is still within the budget."""
        self.left -= size
        return self.left >= 0


@frozen
class Scope:
    """What the values of one trace share: strings, the pointer size, how a struct's values are read, and the budget of
    located values.
    """

    texts: TextCache
    pointer_size: int
    struct: Callable[[StructType], One]
    located: LocatedBudget = attrs.Factory(LocatedBudget)


def one_value(wire: WireType, scope: Scope) -> One:
    """A function for one value. Raises TypeError for a type that needs a count."""
    code = wire.code
    if code is not None:
        return _plain(wire, code)
    match wire:
        case Utf16Z():
            return utf16z(scope.texts)
        case AnsiZ():
            return ansiz
        case VarIntType():
            return _signed if wire.signed else _unsigned
        case StructType():
            return scope.struct(wire)
        case PrefixedType():
            return _prefixed(wire, scope)
        case FixedArrayType():
            return _fixed_array(wire, scope)
        case LocatedType():
            return _located(wire, scope)
        case _:
            raise TypeError(f"{wire.name} needs a field that counts it")


def many_values(wire: CountedType | BytesType, scope: Scope) -> Many:
    """A function for a given number of elements, or bytes."""
    return _raw if isinstance(wire, BytesType) else _many(wire.element, scope)


def _plain(wire: WireType, code: str) -> One:
    compiled = struct.Struct("<" + code)
    size, unpack = compiled.size, compiled.unpack_from
    convert = converter(wire)

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < size:
            raise ShortValue(pos, size, "the payload is too short")
        (value,) = unpack(data, pos)
        return (convert(value) if convert else value), pos + size

    return read


def _unsigned(data: bytes, pos: int, end: int) -> tuple[Any, int]:
    value = 0
    for shift in range(0, 70, 7):
        if pos >= end:
            raise ShortValue(pos, 1, "unterminated varint")
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _U64, pos
    raise ShortValue(pos, 1, "overlong varint")


def _signed(data: bytes, pos: int, end: int) -> tuple[Any, int]:
    value, pos = _unsigned(data, pos, end)
    return (value >> 1) ^ -(value & 1), pos


def _prefixed(wire: PrefixedType, scope: Scope) -> One:
    many = _elements(wire, scope)

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < 2:
            raise ShortValue(pos, 2, "the payload is too short")
        return many(data, pos + 2, end, data[pos] | data[pos + 1] << 8)

    return read


def _fixed_array(wire: FixedArrayType, scope: Scope) -> One:
    many = _elements(wire, scope)
    return lambda data, pos, end: many(data, pos, end, wire.count)


def _located(wire: LocatedType, scope: Scope) -> One:
    """Elements elsewhere in the payload, which is all of `data`."""
    many = _elements(wire, scope)
    width = wire.element.fixed_size or 1
    budget = scope.located
    budget.needed = True

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < 4:
            raise ShortValue(pos, 4, "the payload is too short")
        place = data[pos] | data[pos + 1] << 8
        size = data[pos + 2] | data[pos + 3] << 8
        start = pos + 4 + place if wire.relative else place
        if start > end or size > end - start:
            raise ShortValue(pos, size, f"its {size} bytes at {start} are outside the payload")
        if size % width:
            raise ShortValue(pos, width, f"its {size} bytes are not a whole number of elements")
        if not budget.spend(size):
            raise ShortValue(pos, size, f"the payload's located values overlap more than {_OVERLAP} times")
        value, _ = many(data, start, start + size, size // width)
        return value, pos + 4

    return read


def _elements(wire: TextArrayType, scope: Scope) -> Many:
    return counted_text(wire) if wire.text else _many(wire.element, scope)


def _raw(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
    if not 0 <= count <= end - pos:
        raise ShortValue(pos, max(count, 0), f"a declared count of {count} bytes")
    return data[pos : pos + count], pos + count


def _many(element: WireType, scope: Scope) -> Many:
    """A function for `count` elements of one type."""
    if element.code is not None:
        return _many_plain(element, element.code)
    one = one_value(element, scope)
    # At least one byte each, which bounds a declared count.
    smallest = max(element.min_size(scope.pointer_size), 1)

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        if count < 0 or count * smallest > end - pos:
            raise ShortValue(pos, max(count, 0) * smallest, f"a declared count of {count} elements")
        found = []
        for index in range(count):
            try:
                value, pos = one(data, pos, end)
            except ShortValue as short:
                raise ShortValue(short.offset, short.needed, short.why, f"[{index}]{short.field}") from None
            found.append(value)
        return tuple(found), pos

    return read


def _many_plain(element: WireType, code: str) -> Many:
    size = struct.calcsize("<" + code)
    convert = converter(element)
    # A count before `16s` would mean bytes.
    repeatable = len(code) == 1

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        if count < 0 or count * size > end - pos:
            raise ShortValue(pos, max(count, 0) * size, f"a declared count of {count} elements")
        found = struct.unpack_from(f"<{count}{code}" if repeatable else "<" + code * count, data, pos)
        return (tuple(map(convert, found)) if convert else found), pos + count * size

    return read
