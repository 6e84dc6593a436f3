"""BoundLayout → a function from payload bytes to a record.

Each payload must be used up exactly: what is short raises `Misfit` with the field, what is left over comes
back as a tail. Nothing here knows events by name; a layout and its class are all it needs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

from clrevents.schema.layout import BoundField, BoundLayout, FixedStep, VariableStep
from clrevents.schema.types import (
    AnsiZ,
    BytesType,
    CountedType,
    DecimalType,
    EnumType,
    FileTime,
    FixedArrayType,
    GuidType,
    LocatedType,
    PrefixedType,
    Scalar,
    StructType,
    Text,
    Utf16Z,
    VarIntType,
    WireType,
    fixed_size,
)

Values: TypeAlias = list[Any]
Step: TypeAlias = Callable[[bytes, int, int, Values], int]
Value: TypeAlias = Callable[[bytes, int, int], tuple[Any, int]]
Reader: TypeAlias = Callable[[bytes, int, int], tuple[Any, int]]

_CACHE = 1 << 16
_CACHED_BYTES = 256
_U64 = (1 << 64) - 1


class Misfit(Exception):
    """A payload that does not fit its layout. Never leaves this room: it becomes a RawPayload and a Problem."""

    def __init__(self, field: str, offset: int, needed: int, available: int, why: str, partial: dict[str, Any]):
        super().__init__(field)
        self.field = field
        self.offset = offset
        self.needed = needed
        self.available = available
        self.why = why
        self.partial = partial


class _Short(Exception):
    """Raised while a value is read; the reader adds what it knows and raises Misfit.

    `whole`: `offset` is where the field begins, so that nothing of it was there.
    """

    def __init__(self, offset: int, needed: int, why: str, field: str = "", whole: bool = False) -> None:
        super().__init__(why)
        self.whole = whole
        self.offset = offset
        self.needed = needed
        self.why = why
        self.field = field


class EnumValues(dict[int, Enum]):
    """Number → enum member, made once a number; bounded, because a file chooses the numbers."""

    def __init__(self, enum: type[Enum]) -> None:
        super().__init__()
        self.enum = enum

    def __missing__(self, number: int) -> Enum:
        member = self.enum(number)
        if len(self) < 4096:
            self[number] = member
        return member


class TextCache:
    """Bytes → text, made once for strings that repeat, as names and signatures do; bounded."""

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def utf16(self, data: bytes) -> str:
        text = self._known.get(data)
        if text is None:
            text = data.decode("utf-16-le", "surrogatepass")
            if len(data) <= _CACHED_BYTES and len(self._known) < _CACHE:
                self._known[data] = text
        return text


def make_reader(
    layout: BoundLayout, record: Callable[..., Any], texts: TextCache, absent_is_none: bool = False
) -> Reader:
    """A function `(data, start, end) -> (record, position behind it)`; raises Misfit.

    With `absent_is_none` fields that begin exactly at the end are None: self-described events of older
    writers lack the newest fields.
    """
    steps = [_step(step, texts, layout.pointer_size) for step in layout.steps]
    names = [field.name for field in layout.fields]
    if len(steps) == 1 and isinstance(layout.steps[0], FixedStep):
        return _fixed_reader(layout.steps[0], record, names, steps[0], absent_is_none)

    scattered = any(_is_located(field.type) for field in layout.fields)

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        values: Values = []
        start = pos
        try:
            for step in steps:
                start = pos
                pos = step(data, pos, end, values)
        except _Short as short:
            if not (absent_is_none and short.offset == end and (short.whole or start == end)):
                raise _misfit(short, end, names, values) from None
            return record(*values, *[None] * (len(names) - len(values))), end
        # Located elements stand behind the fields, with any bytes between them.
        return record(*values), end if scattered else pos

    return read


def _is_located(wire: WireType) -> bool:
    if isinstance(wire, StructType):
        return any(_is_located(f.type) for f in wire.record.__layout__.fields)  # type: ignore[attr-defined]
    return isinstance(wire, LocatedType)


def _fixed_reader(
    step: FixedStep, record: Callable[..., Any], names: list[str], slow: Step, absent_is_none: bool
) -> Reader:
    """The whole payload is one run: no list of values is needed where it fits."""
    size = step.size
    unpack = struct.Struct(step.format).unpack_from
    converters = _converters(step)

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < size:
            values: Values = []
            try:
                slow(data, pos, end, values)
            except _Short as short:
                if not (absent_is_none and short.offset == end):
                    raise _misfit(short, end, names, values) from None
                return record(*values, *[None] * (len(names) - len(values))), end
        if not converters:
            return record(*unpack(data, pos)), pos + size
        fields = list(unpack(data, pos))
        for index, convert in converters:
            fields[index] = convert(fields[index])
        return record(*fields), pos + size

    return read


def _misfit(short: _Short, end: int, names: list[str], values: Values) -> Misfit:
    field = names[len(values)] if len(values) < len(names) else names[-1]
    partial = dict(zip(names, values, strict=False))
    return Misfit(field + short.field, short.offset, short.needed, max(end - short.offset, 0), short.why, partial)


def _step(step: FixedStep | VariableStep, texts: TextCache, pointer_size: int) -> Step:
    if isinstance(step, FixedStep):
        return _fixed(step)
    field, counter = step.field, step.count_index
    pad = field.pad
    if counter >= 0:
        element = field.type.element if isinstance(field.type, CountedType) else None
        many = _many(element, texts, pointer_size) if element is not None else _raw

        def counted(data: bytes, pos: int, end: int, values: Values) -> int:
            value, pos = many(data, pos + pad, end, int(values[counter]))
            values.append(value)
            return pos

        return counted
    read = _value(field.type, texts, pointer_size)

    def one(data: bytes, pos: int, end: int, values: Values) -> int:
        value, pos = read(data, pos + pad, end)
        values.append(value)
        return pos

    return one


def _fixed(step: FixedStep) -> Step:
    compiled = struct.Struct(step.format)
    converters = _converters(step)

    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        if end - pos < step.size:
            # Field by field, to keep what fits and to name the first that does not.
            for field in step.fields:
                size = field.pad + (field.fixed_size or 0)
                if end - pos < size:
                    raise _Short(pos, size, "the payload ends early", whole=True)
                (value,) = struct.unpack_from("<" + _code(field), data, pos)
                convert = converter(field.type)
                values.append(convert(value) if convert else value)
                pos += size
        found = list(compiled.unpack_from(data, pos))
        for index, convert in converters:
            found[index] = convert(found[index])
        values += found
        return pos + step.size

    return read


def _code(field: BoundField) -> str:
    return (f"{field.pad}x" if field.pad else "") + _struct_code(field.type)


def _struct_code(wire: WireType) -> str:
    wire = wire.base if isinstance(wire, EnumType) else wire
    return wire.format if isinstance(wire, Scalar) else "16s"


def _converters(step: FixedStep) -> list[tuple[int, Callable[[Any], Any]]]:
    """(place in the run, function) for the fields that are no plain number."""
    pairs = ((i, converter(field.type)) for i, field in enumerate(step.fields))
    return [(i, convert) for i, convert in pairs if convert is not None]


def converter(wire: WireType) -> Callable[[Any], Any] | None:
    match wire:
        case EnumType():
            return EnumValues(wire.enum).__getitem__
        case Scalar(kind="bool"):
            return bool
        case Scalar(kind="char"):
            return chr
        case Scalar(kind="filetime"):
            return FileTime
        case GuidType():
            return _guid
        case DecimalType():
            return decimal_of
        case _:
            return None


def _guid(data: bytes) -> UUID:
    return UUID(bytes_le=data)


def decimal_of(data: bytes) -> Decimal:
    """Bit 31 of the flags is the sign, bits 16 to 23 are the decimal places."""
    flags, high, low, middle = struct.unpack("<IIII", data)
    digits = (high << 64) | (middle << 32) | low
    return Decimal((flags >> 31, tuple(map(int, str(digits))), -(flags >> 16 & 0xFF)))


def _value(wire: WireType, texts: TextCache, pointer_size: int) -> Value:
    """A function `(data, start, end) -> (value, position behind it)`; raises _Short."""
    match wire:
        case Utf16Z():
            return _utf16(texts)
        case AnsiZ():
            return _ansi
        case VarIntType():
            return _signed if wire.signed else _unsigned
        case StructType():
            return _struct(wire, texts, pointer_size)
        case PrefixedType():
            return _prefixed(wire, texts, pointer_size)
        case FixedArrayType():
            return _fixed_array(wire, texts, pointer_size)
        case LocatedType():
            return _located(wire, texts, pointer_size)
        case CountedType() | BytesType():
            raise TypeError("a counted field needs a field that counts it")
        case _:
            return _scalar(wire)


def _scalar(wire: WireType) -> Value:
    size = fixed_size(wire) or 0
    unpack = struct.Struct("<" + _struct_code(wire)).unpack_from
    convert = converter(wire)

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < size:
            raise _Short(pos, size, "the payload ends early")
        (value,) = unpack(data, pos)
        return (convert(value) if convert else value), pos + size

    return read


def _utf16(texts: TextCache) -> Value:
    text = texts.utf16

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        at = data.find(b"\0\0", pos, end)
        # Two zero bytes may be the end of one unit and the beginning of the next.
        while at >= 0 and (at - pos) & 1:
            at = data.find(b"\0\0", at + 1, end)
        if at < 0:
            raise _Short(pos, max(end - pos, 0) + 2, "the string has no end")
        return text(data[pos:at]), at + 2

    return read


def _ansi(data: bytes, pos: int, end: int) -> tuple[Any, int]:
    at = data.find(b"\0", pos, end)
    if at < 0:
        raise _Short(pos, max(end - pos, 0) + 1, "the string has no end")
    return narrow_text(data[pos:at]), at + 1


def narrow_text(data: bytes) -> str:
    """Bytes as UTF-8, or as Latin-1 where they are none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _unsigned(data: bytes, pos: int, end: int) -> tuple[Any, int]:
    value = 0
    for shift in range(0, 70, 7):
        if pos >= end:
            raise _Short(pos, 1, "the number has no end")
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _U64, pos
    raise _Short(pos, 1, "the number has too many bytes")


def _signed(data: bytes, pos: int, end: int) -> tuple[Any, int]:
    value, pos = _unsigned(data, pos, end)
    return (value >> 1) ^ -(value & 1), pos


def _struct(wire: StructType, texts: TextCache, pointer_size: int) -> Value:
    read = make_reader(wire.record.__layout__.bind(pointer_size), wire.record, texts)  # type: ignore[attr-defined]

    def inner(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        try:
            return read(data, pos, end)
        except Misfit as misfit:
            raise _Short(misfit.offset, misfit.needed, misfit.why, f".{misfit.field}") from None

    return inner


def _prefixed(wire: PrefixedType, texts: TextCache, pointer_size: int) -> Value:
    many = _text(wire.text) if wire.text else _many(wire.element, texts, pointer_size)

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < 2:
            raise _Short(pos, 2, "the payload ends early")
        return many(data, pos + 2, end, data[pos] | data[pos + 1] << 8)

    return read


def _fixed_array(wire: FixedArrayType, texts: TextCache, pointer_size: int) -> Value:
    many = _text(wire.text) if wire.text else _many(wire.element, texts, pointer_size)
    return lambda data, pos, end: many(data, pos, end, wire.count)


def _located(wire: LocatedType, texts: TextCache, pointer_size: int) -> Value:
    """Elements somewhere else in the payload, which is all of `data`."""
    many = _text(wire.text) if wire.text else _many(wire.element, texts, pointer_size)
    width = fixed_size(wire.element) or 1

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < 4:
            raise _Short(pos, 4, "the payload ends early")
        place = data[pos] | data[pos + 1] << 8
        size = data[pos + 2] | data[pos + 3] << 8
        start = pos + 4 + place if wire.relative else place
        if start > end or size > end - start:
            raise _Short(pos, size, f"its {size} bytes at {start} lie outside the payload")
        if size % width:
            raise _Short(pos, width, f"its {size} bytes are no whole number of elements")
        value, _ = many(data, start, start + size, size // width)
        return value, pos + 4

    return read


def _text(text: Text) -> Callable[[bytes, int, int, int], tuple[Any, int]]:
    """A function for `count` code units that make a string."""
    width = 2 if text == "utf-16" else 1

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        size = count * width
        if size > end - pos:
            raise _Short(pos, size, f"it claims {count} characters")
        raw = data[pos : pos + size]
        if width == 2:
            return raw.decode("utf-16-le", "surrogatepass"), pos + size
        return raw.decode("utf-8", "replace"), pos + size

    return read


def _raw(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
    if not 0 <= count <= end - pos:
        raise _Short(pos, max(count, 0), f"it claims {count} bytes")
    return data[pos : pos + count], pos + count


def _many(element: WireType, texts: TextCache, pointer_size: int) -> Callable[[bytes, int, int, int], tuple[Any, int]]:
    """A function for `count` elements of one type."""
    if isinstance(element, Scalar | EnumType | GuidType | DecimalType):
        return _many_fixed(element)
    one = _value(element, texts, pointer_size)
    smallest = fixed_size(element) or _smallest(element, pointer_size)

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        if count < 0 or count * smallest > end - pos:
            raise _Short(pos, max(count, 0) * smallest, f"it claims {count} elements")
        found = []
        for index in range(count):
            try:
                value, pos = one(data, pos, end)
            except _Short as short:
                raise _Short(short.offset, short.needed, short.why, f"[{index}]{short.field}") from None
            found.append(value)
        return tuple(found), pos

    return read


def _many_fixed(element: WireType) -> Callable[[bytes, int, int, int], tuple[Any, int]]:
    size, code = fixed_size(element) or 1, _struct_code(element)
    convert = converter(element)

    def read(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
        if count < 0 or count * size > end - pos:
            raise _Short(pos, max(count, 0) * size, f"it claims {count} elements")
        found = struct.unpack_from(f"<{count}{code}" if code != "16s" else "<" + code * count, data, pos)
        return (tuple(map(convert, found)) if convert else found), pos + count * size

    return read


def _smallest(element: WireType, pointer_size: int) -> int:
    """The fewest bytes an element takes, at least one: it bounds what a count may claim."""
    if isinstance(element, StructType):
        smallest: int = element.record.__layout__.bind(pointer_size).min_size  # type: ignore[attr-defined]
        return max(smallest, 1)
    return 2 if isinstance(element, Utf16Z | PrefixedType) else 1
