"""The vocabulary of wire types: `UInt32`, `Pointer`, `UnicodeString`, `Counted[...]` and friends.

Each public name is an `Annotated` alias: editors and type checkers see the Python type, `Layout` sees the
small frozen spec. Knows how many bytes each type takes and what Python value it makes; never reads a byte.
Source of the wire rules: the runtime's generated EventPipe writer (one buffer, no padding, little-endian).
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar
from uuid import UUID

import attrs

T = TypeVar("T")

PythonKind: TypeAlias = Literal["int", "bool", "float"]


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


WireType: TypeAlias = Scalar | PointerType | Utf16Z | AnsiZ | GuidType | EnumType | CountedType | BytesType | StructType


@attrs.frozen
class _CountedMark:
    """Marks `Counted[X]`; the element is found in the alias's own arguments."""


_COUNTED: Final = _CountedMark()

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
Pointer: TypeAlias = Annotated[int, PointerType()]
Guid: TypeAlias = Annotated[UUID, GuidType()]
UnicodeString: TypeAlias = Annotated[str, Utf16Z()]
AnsiString: TypeAlias = Annotated[str, AnsiZ()]
Bytes: TypeAlias = Annotated[bytes, BytesType()]
"""Needs `by`: `Data: Annotated[Bytes, by("DataSize")]`."""
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
