"""Wire types: the bytes of a field, and everything that follows from the type alone.

Sizes, `struct` codes, numpy dtypes (as text) and counts are defined only here. Never reads a byte, and does not know
how annotations spell these types: who reads, skips or compiles values derives from `ByWriting` and is told by each type
how it is written. The wire rules are those of the runtime's generated EventPipe writer (one buffer, no padding,
little-endian).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, cast

import attrs

from clrevents._util.value_classes import frozen

R = TypeVar("R")
Kind: TypeAlias = Literal["", "int", "bool", "float", "char", "filetime", "guid", "decimal"]
Text: TypeAlias = Literal["", "utf-16", "utf-8", "bytes"]

_DTYPES: Final = {
    **{"b": "<i1", "h": "<i2", "i": "<i4", "q": "<i8", "B": "<u1", "H": "<u2", "I": "<u4", "Q": "<u8"},
    **{"f": "<f4", "d": "<f8", "16s": "V16"},
}

_COLUMNS: Final = {
    **{"b": "int8", "h": "int16", "i": "int32", "q": "int64"},
    **{"B": "uint8", "H": "uint16", "I": "uint32", "Q": "uint64"},
    **{"f": "float32", "d": "float64", "bool": "bool", "char": "string", "filetime": "timestamp"},
}


class Wire:
    """The traits of a wire type. The defaults are those of a type whose width depends on the bytes."""

    __slots__ = ()

    kind: Kind = ""
    """What a single value of a fixed width is; empty for an enum, and for all others."""
    enum: type[Enum] | None = None
    """The names of its numbers."""

    def read_by(self, reader: ByWriting[R]) -> R:
        """What a reader has for the way in which a value is written."""
        return reader.plain(cast("WireType", self))

    @property
    def number(self) -> Scalar | None:
        """The number on the wire: the type itself for a scalar, an enum's base; None for everything else."""
        return None

    @property
    def fixed_size(self) -> int | None:
        """Size in bytes on the wire, or None if it depends on the bytes (or for pointers, until they are bound)."""
        return None if self.number is None else self.number.size

    def min_size(self, pointer_size: int) -> int:
        """The smallest size of a value in bytes."""
        return self.fixed_size or 0

    @property
    def code(self) -> str | None:
        """The `struct` code that reads one value; None if there is none. GUIDs and decimals stay 16 bytes."""
        return None if self.number is None else self.number.format

    @property
    def dtype(self) -> str | None:
        """The numpy dtype of one value, such as `"<u4"`; None if `code` is None."""
        return None if self.code is None else _DTYPES[self.code]

    @property
    def counted_by(self) -> str | None:
        """The name of the earlier field that holds the count of this one; None if there is none."""
        return None

    @property
    def located(self) -> bool:
        """Whether the value, or a field of it, is elsewhere in the payload, after all its fields."""
        return False

    @property
    def parts(self) -> tuple[WireType, ...]:
        """The types of what it consists of: an array's element, the fields of a struct; none for a single value."""
        return ()

    @property
    def innermost(self) -> WireType:
        """The innermost element type of nested arrays; the type itself if it is not an array."""
        return cast("WireType", self)

    @property
    def column(self) -> str:
        """What a column holds its values as: a numpy name, `string`, `binary`, `timestamp`, `list` or `struct`."""
        return ""

    def bound(self, pointer_size: int) -> WireType:
        """The same type with its pointers as numbers of 4 or 8 bytes."""
        return cast("WireType", self)


@frozen
class Scalar(Wire):
    """A fixed-width number. `format` is its `struct` letter, always read little-endian."""

    name: str
    size: int
    format: str
    kind: Kind = "int"

    @property
    def signed(self) -> bool:
        """Whether it is an integer with a sign."""
        return self.format in "bhiq"

    @property
    def column(self) -> str:
        # An address is as wide in all tables.
        return "uint64" if self.name == "Pointer" else _COLUMNS.get(self.kind) or _COLUMNS[self.format]

    @property
    def number(self) -> Scalar:
        return self


@frozen
class PointerType(Wire):
    """An address as wide as the traced process's pointers, as declared in the trace's header."""

    name: str = "Pointer"
    column = "uint64"

    def min_size(self, pointer_size: int) -> int:
        return pointer_size

    def bound(self, pointer_size: int) -> WireType:
        return _POINTERS[pointer_size]


_POINTERS: Final = {4: Scalar("Pointer", 4, "I"), 8: Scalar("Pointer", 8, "Q")}


@frozen
class Utf16Z(Wire):
    """UTF-16LE code units up to and including a zero unit, at any byte offset."""

    name: str = "UnicodeString"
    column = "string"

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.terminated(2)

    def min_size(self, pointer_size: int) -> int:
        return 2


@frozen
class AnsiZ(Wire):
    """Bytes up to and including a zero byte, shown as Latin-1 unless they are UTF-8.

    A null string is written as nothing, so its `min_size` is 0.
    """

    name: str = "AnsiString"
    column = "string"

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.terminated(1)


class Bytes16(Wire):
    """Sixteen bytes that form one value."""

    __slots__ = ()

    @property
    def fixed_size(self) -> int:
        return 16

    @property
    def code(self) -> str:
        return "16s"


@frozen
class GuidType(Bytes16):
    """Sixteen bytes, the first three groups little-endian."""

    name: str = "GUID"
    column = "binary"
    kind = "guid"


@frozen
class DecimalType(Bytes16):
    """A .NET Decimal: flags (sign and scale), high, low and middle 32 bits."""

    name: str = "Decimal"
    column = "string"
    kind = "decimal"


@frozen
class EnumType(Wire):
    """A number whose values or bits have names; numbers without a name are kept."""

    base: Scalar
    enum: type[Enum]

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def number(self) -> Scalar:
        return self.base

    @property
    def column(self) -> str:
        return self.base.column


@frozen
class VarIntType(Wire):
    """A number of one to ten bytes, seven bits each, low bits first; a signed one is zigzag-encoded.

    A `delta`, in a struct of an array, is unsigned in the first element, and in all others on the wire the
    zigzag-encoded difference to the one before, modulo 2⁶⁴.
    """

    signed: bool
    delta: bool = False

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.varint(self)

    @property
    def column(self) -> str:
        return "int64" if self.signed else "uint64"

    @property
    def name(self) -> str:
        return "Delta" if self.delta else "VarInt" if self.signed else "VarUInt"

    def min_size(self, pointer_size: int) -> int:
        return 1


@frozen
class BytesType(Wire):
    """As many raw bytes as an earlier field says."""

    count: str = ""
    column = "binary"
    text: Final[Text] = "bytes"
    unit_size = 1

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.counted(self)

    @property
    def name(self) -> str:
        return f"Bytes[{self.count}]"

    @property
    def counted_by(self) -> str:
        return self.count


@frozen
class StructType(Wire):
    """A repeating group of fields; `record` is a class made by `@struct`."""

    record: type
    column = "struct"

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.record(self)

    @property
    def name(self) -> str:
        return self.record.__name__

    @property
    def parts(self) -> tuple[WireType, ...]:
        return tuple(field.type for field in self.layout.fields)

    @property
    def layout(self) -> Any:
        """The `Layout` of its fields."""
        return self.record.__layout__  # type: ignore[attr-defined]

    @property
    def located(self) -> bool:
        return any(field.type.located for field in self.layout.fields)

    @property
    def deltas(self) -> tuple[int, ...]:
        """The places of its fields that are differences to those of the element before."""
        fields = enumerate(self.layout.fields)
        return tuple(place for place, field in fields if isinstance(field.type, VarIntType) and field.type.delta)

    def min_size(self, pointer_size: int) -> int:
        size: int = self.layout.bind(pointer_size).min_size
        return size


class ArrayType(Wire):
    """Contiguous elements of one type, which are the code units of a string if there is a `text` encoding."""

    __slots__ = ()

    element: WireType
    text: Text = ""

    @property
    def parts(self) -> tuple[WireType, ...]:
        return (self.element,)

    @property
    def innermost(self) -> WireType:
        return self.element.innermost

    @property
    def column(self) -> str:
        return "string" if self.text else "list"

    @property
    def unit_size(self) -> int:
        """Size of one code unit in bytes."""
        return 2 if self.text == "utf-16" else 1

    def bound(self, pointer_size: int) -> WireType:
        own: Any = self
        bound: WireType = attrs.evolve(own, element=self.element.bound(pointer_size))
        return bound


@frozen
class CountedType(ArrayType):
    """As many elements as an earlier field says."""

    element: WireType
    count: str = ""

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.counted(self)

    @property
    def name(self) -> str:
        return f"{self.element.name}[{self.count}]"

    @property
    def counted_by(self) -> str:
        return self.count


@frozen
class PrefixedType(ArrayType):
    """A 16-bit element count, then the elements."""

    element: WireType
    text: Text = ""

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.prefixed(self)

    @property
    def name(self) -> str:
        return f"{self.text}-text" if self.text else f"{self.element.name}[]"

    def min_size(self, pointer_size: int) -> int:
        return 2


@frozen
class FixedArrayType(ArrayType):
    """As many elements as the description says."""

    element: WireType
    count: int
    text: Text = ""

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.repeated(self)

    @property
    def name(self) -> str:
        return f"{self.element.name}[{self.count}]"

    @property
    def fixed_size(self) -> int | None:
        size = self.element.fixed_size
        return None if size is None else size * self.count

    def min_size(self, pointer_size: int) -> int:
        return self.element.min_size(pointer_size) * self.count


@frozen
class LocatedType(ArrayType):
    """Four bytes that locate the elements: position in the low half, byte size in the high half.

    The position counts from the payload's first byte, or with `relative` from the byte after these four.
    """

    element: WireType
    relative: bool
    text: Text = ""

    def read_by(self, reader: ByWriting[R]) -> R:
        return reader.elsewhere(self)

    @property
    def name(self) -> str:
        return f"{'RelLoc' if self.relative else 'DataLoc'} {self.element.name}[]"

    @property
    def fixed_size(self) -> int:
        return 4

    @property
    def located(self) -> bool:
        return True


WireType: TypeAlias = (
    Scalar
    | PointerType
    | Utf16Z
    | AnsiZ
    | GuidType
    | EnumType
    | CountedType
    | BytesType
    | StructType
    | VarIntType
    | DecimalType
    | PrefixedType
    | FixedArrayType
    | LocatedType
)


class ByWriting(Generic[R]):
    """What is done with a value, by the way in which it is written; what a reader does not define is its `other`."""

    def other(self, wire: WireType) -> R:
        """Everything else."""
        raise TypeError(f"{wire.name} cannot be read here")

    def plain(self, wire: WireType) -> R:
        """One value of a fixed width, with a `struct` code."""
        return self.other(wire)

    def terminated(self, unit: int) -> R:
        """Text of units of so many bytes, up to and including a zero unit."""
        raise TypeError("text cannot be read here")

    def varint(self, wire: VarIntType) -> R:
        """A number of one to ten bytes."""
        return self.other(wire)

    def record(self, wire: StructType) -> R:
        """Its fields, one after the other."""
        return self.other(wire)

    def counted(self, wire: CountedType | BytesType) -> R:
        """As many elements, or bytes, as an earlier field says."""
        return self.other(wire)

    def prefixed(self, wire: PrefixedType) -> R:
        """Elements, or text, behind their number."""
        return self.other(wire)

    def repeated(self, wire: FixedArrayType) -> R:
        """A known number of elements, or of units of text."""
        return self.other(wire)

    def elsewhere(self, wire: LocatedType) -> R:
        """Elements, or text, at another place of the payload."""
        return self.other(wire)
