"""A second decoder: one construct per wire type, parsing and building from the same declaration, slow and obvious.

For tests, and for people who want to inspect or patch the bytes of a payload. Never where speed matters. Shares only
the declarations with the decoder, so that their agreement means something. Values are those of the records: enums,
GUIDs, tuples, nested records.
"""

from __future__ import annotations

import functools
import operator
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import Enum
from itertools import pairwise
from typing import Any
from uuid import UUID

import construct as c

from clrevents.errors import PayloadError
from clrevents.schema import wire as wires
from clrevents.schema.dynamic import attribute_names
from clrevents.schema.layout import BoundField, BoundLayout, Field, Layout
from clrevents.schema.types import FileTime

_NUMBERS = {
    "b": c.Int8sl,
    "B": c.Int8ul,
    "h": c.Int16sl,
    "H": c.Int16ul,
    "i": c.Int32sl,
    "I": c.Int32ul,
    "q": c.Int64sl,
    "Q": c.Int64ul,
    "f": c.Float32l,
    "d": c.Float64l,
}
_REST = "rest_"
_END = "end_"


class Codec:
    """Parses and builds payloads of one layout; `construct` is the underlying object, for inspection or reuse.

    `parse` raises PayloadError for bytes, and `build` ValueError for values, naming the field.
    """

    def __init__(self, layout: BoundLayout, record: type[Any]) -> None:
        self._layout = layout
        self._record = record
        self._members = _members(layout)
        self.construct = _payload(layout)

    def parse(self, data: bytes) -> Any:
        """The record that all of these bytes hold. Raises PayloadError if bytes are missing or left over."""
        try:
            values = self.construct.parse(data)
        except (c.ConstructError, UnicodeDecodeError, OverflowError) as error:
            raise PayloadError(f"{self._record.__name__}: {_first_line(error)}") from error
        left = values.pop(_REST)
        values = {f.name: values[member] for f, member in zip(self._layout.fields, self._members, strict=True)}
        located = [f for f in self._layout.fields if isinstance(f.type, wires.LocatedType)]
        for field in located:
            values[field.name] = self._fetch(field, values[field.name], data)
        if left and not located:
            text = f"{self._record.__name__}: {len(left)} bytes are left over"
            raise PayloadError(text, offset=len(data) - len(left))
        return self._record(*(values[f.name] for f in self._layout.fields))

    def build(self, record: Any) -> bytes:
        """The bytes of a record. Raises ValueError if a value does not fit its field."""
        # The argument need not be a record: any object with the fields as attributes will do.
        names = getattr(type(record), "__fields__", None) or [f.name for f in self._layout.fields]
        values = {f.name: getattr(record, name) for f, name in zip(self._layout.fields, names, strict=True)}
        self._check_counts(values)
        tail = b""
        start = self._layout.fixed_size
        for field in self._layout.fields:
            if isinstance(field.type, wires.LocatedType):
                what = f"{self._record.__name__}.{field.name}"
                if start is None:
                    raise ValueError(f"{what} lies behind fields whose size depends on their values")
                data = _place(field.type, values[field.name], self._layout.pointer_size, what)
                at = start + len(tail) - (self._end_of(field) if field.type.relative else 0)
                if at > 0xFFFF or len(data) > 0xFFFF:
                    raise ValueError(f"{what}: {len(data)} bytes at {at} do not fit in 16 bits")
                values[field.name] = at | len(data) << 16
                tail += data
        built = {member: values[f.name] for f, member in zip(self._layout.fields, self._members, strict=True)}
        try:
            return bytes(self.construct.build({**built, _REST: tail}))
        except c.ConstructError as error:
            raise ValueError(f"{self._record.__name__}{_reason(error)}") from error

    def _fetch(self, field: BoundField, locator: int, data: bytes) -> Any:
        """The value that a locator points to."""
        assert isinstance(field.type, wires.LocatedType)
        start, size = locator & 0xFFFF, locator >> 16
        if field.type.relative:
            start += self._end_in(data, field)
        width = 2 if field.type.text == "utf-16" else field.type.element.fixed_size or 1
        if start + size > len(data) or size % width:
            raise PayloadError(f"{self._record.__name__}.{field.name}: {size} bytes at {start} are missing")
        there = data[start : start + size]
        if field.type.text:
            return _decode(there, width)
        element = _one(field.type.element, self._layout.pointer_size)
        return tuple(c.Array(size // width, element).parse(there))

    def _check_counts(self, values: dict[str, Any]) -> None:
        for field in self._layout.fields:
            if isinstance(field.type, wires.CountedType | wires.BytesType):
                if not isinstance(values[field.name], bytes | tuple | list):
                    raise ValueError(f"{self._record.__name__}.{field.name} cannot be {values[field.name]!r}")
                claimed, there = int(values[field.type.count]), len(values[field.name])
                if claimed != there:
                    raise ValueError(
                        f"{self._record.__name__}.{field.name} has {there} elements; {field.type.count} is {claimed}"
                    )

    def _end_in(self, data: bytes, wanted: BoundField) -> int:
        """Where a field ends in these bytes."""
        fields = self._layout.fields[: self._layout.fields.index(wanted) + 1]
        head = BoundLayout(self._layout.pointer_size, fields, (), None, 0)
        end = c.Struct(*_fields(head), _END / c.Tell).parse(data)[_END]
        assert isinstance(end, int)
        return end

    def _end_of(self, wanted: BoundField) -> int:
        """Where a field of a fixed layout ends."""
        end = 0
        for field in self._layout.fields:
            end += field.pad + (field.fixed_size or 0)
            if field is wanted:
                break
        return end


def codec(what: Any, pointer_size: int = 8, record: type[Any] | None = None) -> Codec:
    """The codec of an event class, or of a `Layout` and the class of its records."""
    if isinstance(what, Layout):
        if record is None:
            raise TypeError("a Layout requires the class of its records")
        return Codec(what.bind(pointer_size), record)
    return _of_class(what, pointer_size)


@functools.lru_cache(maxsize=4096)
def _of_class(event_class: Any, pointer_size: int) -> Codec:
    return Codec(event_class.__layout__.bind(pointer_size), event_class)


def _payload(layout: BoundLayout) -> Any:
    return c.Struct(*_fields(layout), _REST / c.GreedyBytes)


def _members(layout: BoundLayout) -> list[str]:
    """Names that construct accepts: wire names may be empty or reserved."""
    plain = Layout(tuple(Field(f.name, f.type) for f in layout.fields))
    return list(attribute_names(plain))


def _fields(layout: BoundLayout) -> list[Any]:
    names = dict(zip((f.name for f in layout.fields), _members(layout), strict=True))
    members: list[Any] = []
    for field in layout.fields:
        if field.pad:
            members.append(c.Padding(field.pad))
        wire = field.type
        if isinstance(wire, wires.CountedType):
            wire = wires.CountedType(wire.element, names[wire.count])
        elif isinstance(wire, wires.BytesType):
            wire = wires.BytesType(names[wire.count])
        members.append(names[field.name] / _one(wire, layout.pointer_size))
    return members


def _one(wire: wires.WireType, pointer_size: int) -> Any:
    """The construct of one value."""
    match wire:
        case wires.Scalar():
            return _scalar(wire)
        case wires.EnumType():
            return _mapped(_NUMBERS[wire.base.format], _enum(wire.enum), operator.index)
        case wires.GuidType():
            return _mapped(c.Bytes(16), lambda b: UUID(bytes_le=b), lambda u: u.bytes_le)
        case wires.DecimalType():
            return _mapped(c.Bytes(16), _to_decimal, _from_decimal)
        case wires.Utf16Z():
            return _mapped(c.NullTerminated(c.GreedyBytes, term=b"\0\0"), _from_utf16, _to_utf16z)
        case wires.AnsiZ():
            return _mapped(c.NullTerminated(c.GreedyBytes), _from_narrow, _to_narrow)
        case wires.BytesType():
            return c.Bytes(lambda ctx: int(ctx[wire.count]))
        case wires.CountedType():
            element = _one(wire.element, pointer_size)
            array = c.Array(lambda ctx: int(ctx[wire.count]), element)
            deltas = wire.element.deltas if isinstance(wire.element, wires.StructType) else ()
            return _mapped(array, lambda read: _added(read, deltas), lambda given: _subtracted(given, deltas))
        case wires.PrefixedType():
            return _prefixed(wire, pointer_size)
        case wires.FixedArrayType():
            return _fixed_array(wire, pointer_size)
        case wires.VarIntType():
            return _mapped(c.VarInt, _signed, _unsigned) if wire.signed else _mapped(c.VarInt, _u64, _natural)
        case wires.StructType():
            return _nested(wire, pointer_size)
        case wires.LocatedType():
            return c.Int32ul
    raise TypeError(f"no construct for {wire!r}")


class _Mapped(c.Adapter):  # type: ignore[misc]
    """Converts between values of the records and the inner construct's; an invalid value names its path."""

    def __init__(self, inner: Any, decode: Callable[[Any], Any], encode: Callable[[Any], Any]) -> None:
        super().__init__(inner)
        self._to_value, self._from_value = decode, encode

    def _decode(self, obj: Any, context: Any, path: str) -> Any:
        return self._to_value(obj)

    def _encode(self, obj: Any, context: Any, path: str) -> Any:
        try:
            return self._from_value(obj)
        except (TypeError, AttributeError, ValueError, OverflowError) as error:
            raise c.MappingError(f"{error} (value {obj!r})", path=path) from error


def _mapped(inner: Any, decode: Callable[[Any], Any], encode: Callable[[Any], Any]) -> Any:
    return _Mapped(inner, decode, encode)


def _scalar(wire: wires.Scalar) -> Any:
    number = _NUMBERS[wire.format]
    match wire.kind:
        case "bool":
            return _mapped(number, bool, int)
        case "char":
            return _mapped(number, chr, ord)
        case "filetime":
            return _mapped(number, FileTime, operator.index)
        case _:
            return number


def _enum(enum: type[Enum]) -> Callable[[int], Enum]:
    return lambda number: enum(number)


def _nested(wire: wires.StructType, pointer_size: int) -> Any:
    layout: BoundLayout = wire.layout.bind(pointer_size)
    names: tuple[str, ...] = wire.record.__fields__  # type: ignore[attr-defined]
    members = _members(layout)
    return _mapped(
        c.Struct(*_fields(layout)),
        lambda values: wire.record(*(values[member] for member in members)),
        lambda record: {m: getattr(record, name) for m, name in zip(members, names, strict=True)},
    )


def _added(read: Sequence[Any], deltas: tuple[int, ...]) -> tuple[Any, ...]:
    """Structs with values instead of differences to the struct before."""
    structs: list[Any] = []
    for each in read:
        for name in [each.__fields__[place] for place in deltas] if structs else ():
            value = getattr(structs[-1], name) + _signed(getattr(each, name))
            each = _changed(each, name, _u64(value))
        structs.append(each)
    return tuple(structs)


def _subtracted(given: Sequence[Any], deltas: tuple[int, ...]) -> list[Any]:
    """Structs with differences to the struct before instead of values."""
    differences = list(given[:1])
    for before, each in pairwise(given):
        for name in [each.__fields__[place] for place in deltas]:
            step = _u64(getattr(each, name) - getattr(before, name))
            each = _changed(each, name, _u64(step << 1 ^ -(step >> 63)))
        differences.append(each)
    return differences


def _changed(record: Any, name: str, value: int) -> Any:
    return type(record)(*(value if field == name else getattr(record, field) for field in record.__fields__))


def _prefixed(wire: wires.PrefixedType, pointer_size: int) -> Any:
    if wire.text:
        width = 2 if wire.text == "utf-16" else 1
        size = c.Rebuild(c.Int16ul, lambda ctx: len(ctx.data) // width)
        counted = c.Struct("n" / size, "data" / c.Bytes(lambda ctx: ctx.n * width))
        return _mapped(counted, lambda v: _decode(v.data, width), lambda s: {"data": _encode(s, width)})
    return _mapped(c.PrefixedArray(c.Int16ul, _one(wire.element, pointer_size)), tuple, list)


def _fixed_array(wire: wires.FixedArrayType, pointer_size: int) -> Any:
    if wire.text:
        width = 2 if wire.text == "utf-16" else 1
        return _mapped(c.Bytes(wire.count * width), lambda b: _decode(b, width), lambda s: _encode(s, width))
    return _mapped(c.Array(wire.count, _one(wire.element, pointer_size)), tuple, list)


def _place(wire: wires.LocatedType, value: Any, pointer_size: int, what: str) -> bytes:
    try:
        if wire.text:
            return _encode(value, 2 if wire.text == "utf-16" else 1)
        one = _one(wire.element, pointer_size)
        return b"".join(one.build(element) for element in value)
    except (c.ConstructError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{what}: {_lines(error)}") from error


def _decode(data: bytes, width: int) -> str:
    return data.decode("utf-16-le", "surrogatepass") if width == 2 else data.decode("utf-8", "replace")


def _encode(text: str, width: int) -> bytes:
    return text.encode("utf-16-le", "surrogatepass") if width == 2 else text.encode("utf-8")


def _from_utf16(data: bytes) -> str:
    return data.decode("utf-16-le", "surrogatepass")


def _to_utf16z(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("the string contains a NUL, which would end it")
    return text.encode("utf-16-le", "surrogatepass")


def _from_narrow(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _to_narrow(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("the string contains a NUL, which would end it")
    return text.encode("utf-8")


def _u64(number: int) -> int:
    return number & (1 << 64) - 1


def _signed(number: int) -> int:
    number = _u64(number)
    return (number >> 1) ^ -(number & 1)


def _unsigned(number: int) -> int:
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError("the number is wider than 64 bits")
    return _u64((number << 1) ^ (number >> 63))


def _natural(number: int) -> int:
    if not 0 <= number < 1 << 64:
        raise ValueError("the number is wider than 64 bits")
    return number


def _to_decimal(data: bytes) -> Decimal:
    flags, high, low, middle = struct.unpack("<IIII", data)
    sign, places = flags >> 31, flags >> 16 & 0xFF
    return Decimal((sign, tuple(int(d) for d in str(high << 64 | middle << 32 | low)), -places))


def _from_decimal(value: Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{value} is not a .NET decimal")
    number = int("".join(map(str, digits))) * 10 ** max(exponent, 0)
    if number >= 1 << 96 or -exponent > 28:
        raise ValueError(f"{value} is wider than a .NET decimal")
    flags = sign << 31 | max(-exponent, 0) << 16
    return struct.pack("<IIII", flags, number >> 64, number & 0xFFFFFFFF, number >> 32 & 0xFFFFFFFF)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _reason(error: c.ConstructError) -> str:
    """`.Field: why`, from construct's two lines: the path in its tree, and the reason."""
    where, _, why = str(error).rpartition("\n")
    path = where.partition("->")[2].replace(" ", "").replace("->", ".")
    return f".{path}: {why}" if path else f": {_lines(error)}"


def _lines(error: Exception) -> str:
    return " ".join(str(error).split())


__all__ = ["Codec", "codec"]
