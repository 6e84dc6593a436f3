"""One payload → its record, by its layout: the plain reader, which the bulk readers have to agree with.

Each wire type becomes a function that either returns the value and the position after it or raises `ShortValue`, which
a record turns into a `Misfit`: the field, where and why. A payload must match exactly; the position after the record
shows how much is left over. Knows no event names: a layout and its class suffice.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.schema.layout import BoundLayout, FixedStep, VariableStep
from clrevents.schema.types import FileTime
from clrevents.schema.wire import (
    ArrayType,
    BytesType,
    ByWriting,
    CountedType,
    FixedArrayType,
    LocatedType,
    PrefixedType,
    StructType,
    VarIntType,
    WireType,
)


class ShortValue(Exception):
    """Raised while a value is read; the caller that knows the field turns it into a Misfit.

    `field` is the position inside the field (`[3].Name`).
    """

    def __init__(self, offset: int, needed: int, why: str, field: str = "") -> None:
        super().__init__(why)
        self.offset = offset
        self.needed = needed
        self.why = why
        self.field = field

    def inside(self, names: Sequence[str], read: int) -> None:
        """Say that it is in a record inside another one, after this many of its fields were read."""
        self.field = f".{_named(names, read)}{self.field}"


class Misfit(Exception):
    """A payload that does not fit its layout: the field, where and why, and the values of the fields before it."""

    def __init__(self, field: str, offset: int, needed: int, available: int, why: str, partial: dict[str, Any]):
        super().__init__(field)
        self.field = field
        self.offset = offset
        self.needed = needed
        self.available = available
        self.why = why
        self.partial = partial

    @classmethod
    def of(cls, short: ShortValue, end: int, names: Sequence[str], values: Sequence[Any]) -> Misfit:
        """Of a payload that ends at `end`, after `values` of the fields `names` were read."""
        field = _named(names, len(values))
        partial = dict(zip(names, values, strict=False))
        return cls(field + short.field, short.offset, short.needed, max(end - short.offset, 0), short.why, partial)


def _named(names: Sequence[str], read: int) -> str:
    """The field that follows those that were read."""
    return names[read] if read < len(names) else names[-1]


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


_DECODE: Final[dict[str, Callable[[bytes], Any]]] = {
    "utf-16": lambda data: data.decode("utf-16-le", "surrogatepass"),
    "utf-8": lambda data: data.decode("utf-8", "replace"),
    "bytes": bytes,
}


def _units(wire: ArrayType | BytesType) -> Many:
    """`count` units that form a text, or bytes."""
    width, decode, what = wire.unit_size, _DECODE[wire.text], "byte" if wire.text == "bytes" else "character"

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        size = count * width
        if not 0 <= size <= end - pos:
            raise ShortValue(pos, max(size, 0), f"a declared count of {counted(count, what)}")
        return decode(data[pos : pos + size]), pos + size

    return read


class EnumValues(dict[int, Enum]):
    """Number → enum member, made once per number; bounded, because a file chooses the numbers."""

    def __init__(self, enum: type[Enum]) -> None:
        super().__init__()
        self.enum = enum

    def __missing__(self, number: int) -> Enum:
        member = self.enum(number)
        if len(self) < 4096:
            self[number] = member
        return member


def converter(wire: WireType) -> Callable[[Any], Any] | None:
    """A function from what `struct` reads to the value; None if that is the value already."""
    return _CONVERTERS.get(wire.kind) if wire.enum is None else EnumValues(wire.enum).__getitem__


def _guid(data: bytes) -> UUID:
    return UUID(bytes_le=data)


def decimal_of(data: bytes) -> Decimal:
    """Bit 31 of the flags is the sign, bits 16 to 23 are the decimal places."""
    flags, high, low, middle = struct.unpack("<IIII", data)
    digits = (high << 64) | (middle << 32) | low
    return Decimal((flags >> 31, tuple(map(int, str(digits))), -(flags >> 16 & 0xFF)))


_CONVERTERS: Final[dict[str, Callable[[Any], Any]]] = {
    **{"bool": bool, "char": chr, "filetime": FileTime},
    **{"guid": _guid, "decimal": decimal_of},
}


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
class Scope(ByWriting[One]):
    """A function for one value, and what the values of one trace share for it: strings, the pointer size, and the
    budget of located values. Who needs more than values derives from it."""

    texts: TextCache
    pointer_size: int
    budget: LocatedBudget = attrs.Factory(LocatedBudget)

    def plain(self, wire: WireType) -> One:
        return _plain(wire, wire.code or "")

    def terminated(self, unit: int) -> One:
        return utf16z(self.texts) if unit == 2 else ansiz

    def varint(self, wire: VarIntType) -> One:
        return _signed if wire.signed else _unsigned

    def record(self, wire: StructType) -> One:
        return _record_decoder(wire.layout.bind(self.pointer_size), wire.record, self, outer=False)

    def prefixed(self, wire: PrefixedType) -> One:
        many = self.values(wire)

        def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
            if end - pos < 2:
                raise ShortValue(pos, 2, "the payload is too short")
            return many(data, pos + 2, end, data[pos] | data[pos + 1] << 8)

        return read

    def repeated(self, wire: FixedArrayType) -> One:
        many = self.values(wire)
        return lambda data, pos, end: many(data, pos, end, wire.count)

    def elsewhere(self, wire: LocatedType) -> One:
        """Elements elsewhere in the payload, which is all of `data`."""
        many = self.values(wire)
        width = wire.element.fixed_size or 1
        budget = self.budget
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

    def values(self, wire: ArrayType | BytesType) -> Many:
        """A function for a given number of elements, or units."""
        return _units(wire) if isinstance(wire, BytesType) or wire.text else self.many(wire.element)

    def many(self, element: WireType) -> Many:
        """A function for a given number of elements of one type."""
        return one_by_one(element, self) if element.code is None else _many_plain(element, element.code)

    def step(self, step: FixedStep | VariableStep) -> Step:
        """A function for one step of a record."""
        return _fixed(step) if isinstance(step, FixedStep) else _variable(step, self)

    def steps(self, layout: BoundLayout) -> list[Step]:
        """A function for each step of a record."""
        return [self.step(step) for step in layout.steps]


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


def undo_deltas(element: WireType) -> Callable[[tuple[Any, ...]], tuple[Any, ...]] | None:
    """What turns the differences in new structs, as read, into values, in place; None where there are none."""
    if not isinstance(element, StructType) or not element.deltas:
        return None
    record: Any = element.record
    # The slots themselves: records are frozen.
    slots = [getattr(record, record.__fields__[place]) for place in element.deltas]

    def undo(structs: tuple[Any, ...]) -> tuple[Any, ...]:
        for slot in slots:
            get, put = slot.__get__, slot.__set__
            value = None
            for each in structs:
                read = get(each)
                value = read if value is None else value + ((read >> 1) ^ -(read & 1)) & _U64
                put(each, value)
        return structs

    return undo


def one_by_one(element: WireType, scope: Scope) -> Many:
    """A function for `count` elements that are read one after the other."""
    one = element.read_by(scope)
    # At least one byte each, which bounds a declared count.
    smallest = max(element.min_size(scope.pointer_size), 1)
    undo = undo_deltas(element)

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        if count < 0 or count * smallest > end - pos:
            raise ShortValue(pos, max(count, 0) * smallest, f"a declared count of {counted(count, 'element')}")
        elements = []
        for index in range(count):
            try:
                value, pos = one(data, pos, end)
            except ShortValue as short:
                raise ShortValue(short.offset, short.needed, short.why, f"[{index}]{short.field}") from None
            elements.append(value)
        return tuple(elements) if undo is None else undo(tuple(elements)), pos

    return read


def _many_plain(element: WireType, code: str) -> Many:
    size = struct.calcsize("<" + code)
    convert = converter(element)
    # A count before `16s` would mean bytes.
    repeatable = len(code) == 1

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        if count < 0 or count * size > end - pos:
            raise ShortValue(pos, max(count, 0) * size, f"a declared count of {counted(count, 'element')}")
        elements = struct.unpack_from(f"<{count}{code}" if repeatable else "<" + code * count, data, pos)
        return (tuple(map(convert, elements)) if convert else elements), pos + count * size

    return read


Decode: TypeAlias = Callable[[bytes, int, int], tuple[Any, int]]
"""`(data, start, end) -> (record, position after it)`; raises Misfit."""
_Values: TypeAlias = list[Any]
Step: TypeAlias = Callable[[bytes, int, int, _Values], int]
"""`(data, start, end, values before, which it adds to) -> position after it`; raises ShortValue."""


def record_decoder(layout: BoundLayout, record: Callable[..., Any], texts: TextCache) -> Decode:
    """A function that reads one record of a layout."""
    return _record_decoder(layout, record, Scope(texts, layout.pointer_size), outer=True)


def _record_decoder(layout: BoundLayout, record: Callable[..., Any], scope: Scope, outer: bool) -> Decode:
    """One record of a payload: the `outer` one, which is all of it, or one inside.

    What is short inside goes to the outer one as it is, since records may nest deeply and payloads be tiny.
    """
    located = scope.budget
    steps = scope.steps(layout)
    names = [field.name for field in layout.fields]
    scattered = any(field.type.located for field in layout.fields)
    budgeted = outer and located.needed

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        values: _Values = []
        if budgeted:
            located.renew(end - pos)
        try:
            for step in steps:
                pos = step(data, pos, end, values)
        except ShortValue as short:
            if not outer:
                short.inside(names, len(values))
                raise
            raise Misfit.of(short, end, names, values) from None
        # Located elements follow the fields, with any bytes between them.
        return record(*values), end if scattered else pos

    return read


def _fixed(step: FixedStep) -> Step:
    compiled = struct.Struct(step.format)
    converters = _converters(step)

    def read(data: bytes, pos: int, end: int, values: _Values) -> int:
        if end - pos < step.size:
            # Field by field, to keep what fits and name the first that does not.
            for field in step.fields:
                size = field.pad + (field.fixed_size or 0)
                if end - pos < size:
                    raise ShortValue(pos, size, "the payload is too short")
                (value,) = struct.unpack_from(f"<{field.code}", data, pos)
                convert = converter(field.type)
                values.append(convert(value) if convert else value)
                pos += size
        elements = list(compiled.unpack_from(data, pos))
        for index, convert in converters:
            elements[index] = convert(elements[index])
        values += elements
        return pos + step.size

    return read


def _converters(step: FixedStep) -> list[tuple[int, Callable[[Any], Any]]]:
    """(place in the step, function) for the fields that are not plain numbers."""
    pairs = ((i, converter(field.type)) for i, field in enumerate(step.fields))
    return [(i, convert) for i, convert in pairs if convert is not None]


def _variable(step: VariableStep, scope: Scope) -> Step:
    wire, pad, counter = step.field.type, step.field.pad, step.count_index
    if isinstance(wire, CountedType | BytesType):
        many = scope.values(wire)

        def counted(data: bytes, pos: int, end: int, values: _Values) -> int:
            value, pos = many(data, pos + pad, end, int(values[counter]))
            values.append(value)
            return pos

        return counted
    read = wire.read_by(scope)

    def one(data: bytes, pos: int, end: int, values: _Values) -> int:
        value, pos = read(data, pos + pad, end)
        values.append(value)
        return pos

    return one
