"""BoundLayout → a function from payload bytes to a record.

Each payload must be used up exactly: what is short raises `Misfit` with the field, what is left over comes
back as a tail. Nothing here knows events by name; a layout and its class are all it needs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

from clrevents.schema.layout import BoundField, BoundLayout, FixedStep, VariableStep
from clrevents.schema.types import (
    BytesType,
    CountedType,
    EnumType,
    GuidType,
    Scalar,
    StructType,
    Utf16Z,
    WireType,
)

Values: TypeAlias = list[Any]
Step: TypeAlias = Callable[[bytes, int, int, Values], int]
Reader: TypeAlias = Callable[[bytes, int, int], tuple[Any, int]]

_CACHE = 1 << 16
_CACHED_BYTES = 256


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
    """Raised by a step; the reader adds what it knows and raises Misfit."""

    def __init__(self, field: str, offset: int, needed: int, why: str) -> None:
        super().__init__(field)
        self.field = field
        self.offset = offset
        self.needed = needed
        self.why = why


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


def make_reader(layout: BoundLayout, record: Callable[..., Any], texts: TextCache) -> Reader:
    """A function `(data, start, end) -> (record, position behind it)`; raises Misfit."""
    steps = [_step(step, texts) for step in layout.steps]
    names = [field.name for field in layout.fields]
    if len(steps) == 1 and isinstance(layout.steps[0], FixedStep):
        return _fixed_reader(layout.steps[0], record, names, steps[0])

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        values: Values = []
        try:
            for step in steps:
                pos = step(data, pos, end, values)
        except _Short as short:
            raise _misfit(short, end, names, values) from None
        return record(*values), pos

    return read


def _fixed_reader(step: FixedStep, record: Callable[..., Any], names: list[str], slow: Step) -> Reader:
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
                raise _misfit(short, end, names, values) from None
        if not converters:
            return record(*unpack(data, pos)), pos + size
        fields = list(unpack(data, pos))
        for index, convert in converters:
            fields[index] = convert(fields[index])
        return record(*fields), pos + size

    return read


def _misfit(short: _Short, end: int, names: list[str], values: Values) -> Misfit:
    partial = dict(zip(names, values, strict=False))
    return Misfit(short.field, short.offset, short.needed, max(end - short.offset, 0), short.why, partial)


def _step(step: FixedStep | VariableStep, texts: TextCache) -> Step:
    if isinstance(step, FixedStep):
        return _fixed(step)
    match step.field.type:
        case Utf16Z():
            return _utf16(step.field, texts)
        case BytesType():
            return _bytes(step)
        case CountedType():
            return _counted_structs(step, texts) if step.field.element is not None else _counted(step)
        case StructType():
            raise TypeError(f"{step.field.name}: a struct is only read as an element of a counted field")
        case _:
            return _ansi(step.field)


def _fixed(step: FixedStep) -> Step:
    compiled = struct.Struct(step.format)
    converters = _converters(step)

    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        if end - pos < step.size:
            # Field by field, to keep what fits and to name the first that does not.
            for field in step.fields:
                size = field.pad + (field.fixed_size or 0)
                if end - pos < size:
                    raise _Short(field.name, pos, size, "the payload ends early")
                (value,) = struct.unpack_from("<" + _code(field), data, pos)
                convert = _converter(field.type)
                values.append(convert(value) if convert else value)
                pos += size
        found = list(compiled.unpack_from(data, pos))
        for index, convert in converters:
            found[index] = convert(found[index])
        values += found
        return pos + step.size

    return read


def _code(field: BoundField) -> str:
    wire = field.type.base if isinstance(field.type, EnumType) else field.type
    padding = f"{field.pad}x" if field.pad else ""
    return padding + (wire.format if isinstance(wire, Scalar) else "16s")


def _converters(step: FixedStep) -> list[tuple[int, Callable[[Any], Any]]]:
    """(place in the run, function) for the fields that are no plain number."""
    pairs = ((i, _converter(field.type)) for i, field in enumerate(step.fields))
    return [(i, convert) for i, convert in pairs if convert is not None]


def _converter(wire: WireType) -> Callable[[Any], Any] | None:
    match wire:
        case EnumType():
            return EnumValues(wire.enum).__getitem__
        case Scalar(kind="bool"):
            return bool
        case GuidType():
            return _guid
        case _:
            return None


def _guid(data: bytes) -> UUID:
    return UUID(bytes_le=data)


def _utf16(field: BoundField, texts: TextCache) -> Step:
    text = texts.utf16

    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        pos += field.pad
        at = data.find(b"\0\0", pos, end)
        # Two zero bytes may be the end of one unit and the beginning of the next.
        while at >= 0 and (at - pos) & 1:
            at = data.find(b"\0\0", at + 1, end)
        if at < 0:
            raise _Short(field.name, pos, max(end - pos, 0) + 2, "the string has no end")
        values.append(text(data[pos:at]))
        return at + 2

    return read


def _ansi(field: BoundField) -> Step:
    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        pos += field.pad
        at = data.find(b"\0", pos, end)
        if at < 0:
            raise _Short(field.name, pos, max(end - pos, 0) + 1, "the string has no end")
        raw = data[pos:at]
        try:
            values.append(raw.decode("utf-8"))
        except UnicodeDecodeError:
            values.append(raw.decode("latin-1"))
        return at + 1

    return read


def _bytes(step: VariableStep) -> Step:
    field, counter = step.field, step.count_index

    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        pos += field.pad
        count = _count(field, values[counter], 1, pos, end)
        values.append(bytes(data[pos : pos + count]))
        return pos + count

    return read


def _counted(step: VariableStep) -> Step:
    field, counter = step.field, step.count_index
    assert isinstance(field.type, CountedType)
    element = field.type.element
    wire = element.base if isinstance(element, EnumType) else element
    convert = _converter(element)
    if isinstance(wire, Scalar):
        size, code = wire.size, wire.format
    elif isinstance(wire, GuidType):
        size, code = 16, "16s"
    else:
        return _counted_texts(step, element)

    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        pos += field.pad
        count = _count(field, values[counter], size, pos, end)
        found = struct.unpack_from(f"<{count}{code}" if size != 16 else "<" + code * count, data, pos)
        values.append(tuple(map(convert, found)) if convert else found)
        return pos + count * size

    return read


def _counted_texts(step: VariableStep, element: WireType) -> Step:
    field, counter = step.field, step.count_index
    one = BoundField(field.name, element)
    read_one = _utf16(one, TextCache()) if isinstance(element, Utf16Z) else _ansi(one)

    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        pos += field.pad
        count = _count(field, values[counter], 1, pos, end)
        found: Values = []
        for _ in range(count):
            pos = read_one(data, pos, end, found)
        values.append(tuple(found))
        return pos

    return read


def _counted_structs(step: VariableStep, texts: TextCache) -> Step:
    field, counter = step.field, step.count_index
    assert isinstance(field.type, CountedType)
    assert isinstance(field.type.element, StructType)
    assert field.element is not None
    smallest = max(field.element.min_size, 1)
    read_one = make_reader(field.element, field.type.element.record, texts)

    def read(data: bytes, pos: int, end: int, values: Values) -> int:
        pos += field.pad
        count = _count(field, values[counter], smallest, pos, end)
        found = []
        for index in range(count):
            try:
                value, pos = read_one(data, pos, end)
            except Misfit as misfit:
                name = f"{field.name}[{index}].{misfit.field}"
                raise _Short(name, misfit.offset, misfit.needed, misfit.why) from None
            found.append(value)
        values.append(tuple(found))
        return pos

    return read


def _count(field: BoundField, count: int, size: int, pos: int, end: int) -> int:
    """The claimed count, once the bytes left can hold that many elements of at least `size` bytes."""
    count = int(count)
    if count < 0 or count * size > end - pos:
        raise _Short(field.name, pos, max(count, 0) * size, f"it claims {count} elements")
    return count
