"""The vocabulary of wire types: `UInt32`, `Pointer`, `UnicodeString`, `Counted[...]` and friends.

Each public name is an `Annotated` alias: editors and type checkers see the Python type, `Layout` sees the
small frozen spec. Knows how many bytes each type takes and what Python value it makes; never reads a byte.
Source of the wire rules: the runtime's generated EventPipe writer (one buffer, no padding, little-endian).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar
from uuid import UUID

import attrs

T = TypeVar("T")

PythonKind: TypeAlias = Literal["int", "bool", "float", "char", "filetime"]
Text: TypeAlias = Literal["", "utf-16", "utf-8"]


@attrs.frozen
class Scalar:
    """A fixed-width number. `format` is its `struct` letter, always read little-endian."""

    name: str
    size: int
    format: str
    kind: PythonKind = "int"


@attrs.frozen
class PointerType:
    """An address as wide as the traced process's pointers: the trace's header decides, never the reader."""

    name: str = "Pointer"


@attrs.frozen
class Utf16Z:
    """UTF-16LE code units up to and including a zero unit, at any byte offset."""

    name: str = "UnicodeString"


@attrs.frozen
class AnsiZ:
    """Bytes up to and including a zero byte, shown as Latin-1 unless they are UTF-8."""

    name: str = "AnsiString"


@attrs.frozen
class GuidType:
    """Sixteen bytes, the first three groups little-endian."""

    name: str = "GUID"
    size: int = 16


@attrs.frozen
class EnumType:
    """A number whose values or bits have names; numbers without a name survive."""

    base: Scalar
    enum: type[Enum]

    @property
    def name(self) -> str:
        return self.base.name


@attrs.frozen
class By:
    """Names the earlier field that holds the element count (or byte length) of a counted field."""

    count: str


@attrs.frozen
class Pad:
    """Bytes between the previous field and this one, as (on 32-bit, on 64-bit) processes."""

    bytes32: int
    bytes64: int


@attrs.frozen
class CountedType:
    """As many elements as an earlier field says, contiguous, nothing between them."""

    element: WireType
    count: str = ""

    @property
    def name(self) -> str:
        return f"{type_name(self.element)}[{self.count}]"


@attrs.frozen
class BytesType:
    """As many raw bytes as an earlier field says."""

    count: str = ""

    @property
    def name(self) -> str:
        return f"Bytes[{self.count}]"


@attrs.frozen
class StructType:
    """A group of fields that repeats; `record` is a class made by `@struct`."""

    record: type

    @property
    def name(self) -> str:
        return self.record.__name__


@attrs.frozen
class VarIntType:
    """A number of one to ten bytes, seven bits each, low bits first; a signed one is zigzag-coded."""

    signed: bool

    @property
    def name(self) -> str:
        return "VarInt" if self.signed else "VarUInt"


@attrs.frozen
class DecimalType:
    """A .NET Decimal: flags (sign and scale), high, low and middle 32 bits."""

    name: str = "Decimal"
    size: int = 16


@attrs.frozen
class PrefixedType:
    """A 16-bit element count, then the elements. With `text` they are code units and make a string."""

    element: WireType
    text: Text = ""

    @property
    def name(self) -> str:
        return f"{self.text}-text" if self.text else f"{type_name(self.element)}[]"


@attrs.frozen
class FixedArrayType:
    """As many elements as the description says."""

    element: WireType
    count: int
    text: Text = ""

    @property
    def name(self) -> str:
        return f"{type_name(self.element)}[{self.count}]"


@attrs.frozen
class LocatedType:
    """Four bytes that say where the elements stand: position in the low half, byte size in the high half.

    The position counts from the payload's first byte, or with `relative` from the byte behind these four.
    """

    element: WireType
    relative: bool
    text: Text = ""

    @property
    def name(self) -> str:
        return f"{'RelLoc' if self.relative else 'DataLoc'} {type_name(self.element)}[]"


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


class FileTime(int):
    """A moment: the exact number of 100 ns since 1601-01-01 UTC, shown as the time that it means.

    It is compared, stored and calculated with as the number; `str` is the time with all its digits, `utc` a datetime
    cut to microseconds.
    """

    __slots__ = ()

    @property
    def utc(self) -> datetime | None:
        """None when no datetime can hold it."""
        try:
            return _FILETIME_START + timedelta(microseconds=int(self) // 10)
        except OverflowError:
            return None

    def __str__(self) -> str:
        """ISO-8601 with all seven digits; the number where no date can hold it."""
        moment = self.utc
        if moment is None:
            return str(int(self))
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{int(self) % 10_000_000:07}Z"

    def __repr__(self) -> str:
        number = int(self)
        return f"FileTime({number})" if self.utc is None else f"FileTime({number}, {self})"


_FILETIME_START: Final = datetime(1601, 1, 1, tzinfo=UTC)


@attrs.frozen
class _CountedMark:
    """Marks `Counted[X]`; the element is found in the alias's own arguments."""


_COUNTED: Final = _CountedMark()


@attrs.frozen
class _PrefixedMark:
    """Marks `Prefixed[X]`; the element is found in the alias's own arguments."""


_PREFIXED: Final = _PrefixedMark()

Int8: TypeAlias = Annotated[int, Scalar("Int8", 1, "b")]
UInt8: TypeAlias = Annotated[int, Scalar("UInt8", 1, "B")]
Int16: TypeAlias = Annotated[int, Scalar("Int16", 2, "h")]
UInt16: TypeAlias = Annotated[int, Scalar("UInt16", 2, "H")]
Int32: TypeAlias = Annotated[int, Scalar("Int32", 4, "i")]
UInt32: TypeAlias = Annotated[int, Scalar("UInt32", 4, "I")]
Int64: TypeAlias = Annotated[int, Scalar("Int64", 8, "q")]
UInt64: TypeAlias = Annotated[int, Scalar("UInt64", 8, "Q")]
Float: TypeAlias = Annotated[float, Scalar("Float", 4, "f", "float")]
Double: TypeAlias = Annotated[float, Scalar("Double", 8, "d", "float")]
Boolean: TypeAlias = Annotated[bool, Scalar("Boolean", 4, "I", "bool")]
"""Four bytes, as the runtime's own events write it; any non-zero value is true."""
Boolean8: TypeAlias = Annotated[bool, Scalar("Boolean8", 1, "B", "bool")]
Char: TypeAlias = Annotated[str, Scalar("Char", 2, "H", "char")]
"""One UTF-16 code unit, which may be half of a pair."""
Time: TypeAlias = Annotated[FileTime, Scalar("FileTime", 8, "Q", "filetime")]
VarInt: TypeAlias = Annotated[int, VarIntType(True)]
VarUInt: TypeAlias = Annotated[int, VarIntType(False)]
DotNetDecimal: TypeAlias = Annotated[Decimal, DecimalType()]
CountedUtf8: TypeAlias = Annotated[str, PrefixedType(Scalar("UTF8", 1, "B", "char"), "utf-8")]
"""UTF-8 text behind its 16-bit byte count."""
Pointer: TypeAlias = Annotated[int, PointerType()]
Guid: TypeAlias = Annotated[UUID, GuidType()]
UnicodeString: TypeAlias = Annotated[str, Utf16Z()]
AnsiString: TypeAlias = Annotated[str, AnsiZ()]
Bytes: TypeAlias = Annotated[bytes, BytesType()]
"""Needs `by`: `Data: Annotated[Bytes, by("DataSize")]`."""
Prefixed: TypeAlias = Annotated[tuple[T, ...], _PREFIXED]
"""Elements behind a 16-bit count of their own."""
Counted: TypeAlias = Annotated[tuple[T, ...], _COUNTED]
"""Needs `by`: `ILOffsets: Annotated[Counted[UInt32], by("CountOfMapEntries")]`."""


def by(count: str) -> By:
    """The field that counts this one: elements of a `Counted`, bytes of a `Bytes`."""
    return By(count)


def pad(bytes32: int, bytes64: int) -> Pad:
    """Bytes that the writer's C++ compiler put in front of this field, on 32- and 64-bit processes."""
    return Pad(bytes32, bytes64)


def type_name(wire: WireType) -> str:
    """The name shown to users: `UInt32`, `Pointer`, `UInt64[Count]`."""
    return wire.name


def fixed_size(wire: WireType) -> int | None:
    """Bytes on the wire, or None when the bytes decide (pointers count as unknown until they are bound)."""
    match wire:
        case Scalar() | GuidType() | DecimalType():
            return wire.size
        case EnumType():
            return wire.base.size
        case LocatedType():
            return 4
        case FixedArrayType():
            size = fixed_size(wire.element)
            return None if size is None else size * wire.count
        case _:
            return None


def read_annotation(annotation: Any, where: str) -> tuple[WireType, Pad | None]:
    """The wire type (and padding) that an annotation of an event class stands for.

    Raises TypeError, naming `where`, when it holds no wire type or lacks its `by`.
    """
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is None:
        if isinstance(annotation, type) and hasattr(annotation, "__layout__"):
            return StructType(annotation), None
        raise TypeError(f"{where}: {annotation!r} is not a wire type; use one of clrevents.types")
    origin = annotation.__origin__
    wire: WireType | None = None
    count: str | None = None
    padding: Pad | None = None
    for item in metadata:
        if isinstance(item, By):
            count = item.count
        elif isinstance(item, Pad):
            padding = item
        elif isinstance(item, _CountedMark):
            wire = CountedType(read_annotation(origin.__args__[0], where)[0])
        elif isinstance(item, _PrefixedMark):
            wire = PrefixedType(read_annotation(origin.__args__[0], where)[0])
        elif isinstance(item, WireType):
            wire = item
        elif hasattr(item, "__metadata__"):
            wire = read_annotation(item, where)[0]
    if isinstance(origin, type) and issubclass(origin, Enum) and isinstance(wire, Scalar):
        wire = EnumType(wire, origin)
    if isinstance(wire, CountedType | BytesType):
        if count is None:
            raise TypeError(f'{where}: a counted field needs its count: Annotated[..., by("Count")]')
        wire = attrs.evolve(wire, count=count)
    elif count is not None:
        raise TypeError(f"{where}: by({count!r}) only fits Counted and Bytes")
    if wire is None:
        raise TypeError(f"{where}: {annotation!r} is not a wire type; use one of clrevents.types")
    return wire, padding
