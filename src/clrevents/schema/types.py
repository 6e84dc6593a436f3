"""The vocabulary of event classes: `UInt32`, `Pointer`, `UnicodeString`, `Counted[...]` and others.

Each public name is an `Annotated` alias: editors and type checkers see the Python type, `Layout` sees the wire type.
Knows how to read an annotation; everything that follows from a wire type is in `wire`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast
from uuid import UUID

import attrs

from clrevents._util.value_classes import frozen
from clrevents.schema import wire as wires

T = TypeVar("T")


@frozen
class By:
    """Names the earlier field that holds the element count (or byte length) of a counted field."""

    count: str


@frozen
class Pad:
    """Bytes between the previous field and this one, as (in 32-bit, in 64-bit) processes."""

    bytes32: int
    bytes64: int


class FileTime(int):
    """A time: the exact number of 100 ns since 1601-01-01 UTC, displayed as a date.

    It is stored and compared as the number; `str` is the time with all its digits, `utc` a datetime truncated to
    microseconds.
    """

    __slots__ = ()

    @property
    def utc(self) -> datetime | None:
        """None if no datetime can hold it."""
        try:
            return _FILETIME_START + timedelta(microseconds=int(self) // 10)
        except OverflowError:
            return None

    def __str__(self) -> str:
        """ISO 8601 with all seven digits; the number if no date can hold it."""
        moment = self.utc
        if moment is None:
            return str(int(self))
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{int(self) % 10_000_000:07}Z"

    def __repr__(self) -> str:
        number = int(self)
        return f"FileTime({number})" if self.utc is None else f"FileTime({number}, {self})"


_FILETIME_START: Final = datetime(1601, 1, 1, tzinfo=UTC)


class _Array(Enum):
    """Marks `Counted[X]` and `Prefixed[X]`; the element is found in the alias's own arguments."""

    COUNTED = wires.CountedType
    PREFIXED = wires.PrefixedType


Int8: TypeAlias = Annotated[int, wires.Scalar("Int8", 1, "b")]
UInt8: TypeAlias = Annotated[int, wires.Scalar("UInt8", 1, "B")]
Int16: TypeAlias = Annotated[int, wires.Scalar("Int16", 2, "h")]
UInt16: TypeAlias = Annotated[int, wires.Scalar("UInt16", 2, "H")]
Int32: TypeAlias = Annotated[int, wires.Scalar("Int32", 4, "i")]
UInt32: TypeAlias = Annotated[int, wires.Scalar("UInt32", 4, "I")]
Int64: TypeAlias = Annotated[int, wires.Scalar("Int64", 8, "q")]
UInt64: TypeAlias = Annotated[int, wires.Scalar("UInt64", 8, "Q")]
Float: TypeAlias = Annotated[float, wires.Scalar("Float", 4, "f", "float")]
Double: TypeAlias = Annotated[float, wires.Scalar("Double", 8, "d", "float")]
Boolean: TypeAlias = Annotated[bool, wires.Scalar("Boolean", 4, "I", "bool")]
"""Four bytes, as in the runtime's own events; any non-zero value is true."""
Boolean8: TypeAlias = Annotated[bool, wires.Scalar("Boolean8", 1, "B", "bool")]
Char: TypeAlias = Annotated[str, wires.Scalar("Char", 2, "H", "char")]
"""One UTF-16 code unit, which may be half of a pair."""
Time: TypeAlias = Annotated[FileTime, wires.Scalar("FileTime", 8, "Q", "filetime")]
VarInt: TypeAlias = Annotated[int, wires.VarIntType(True)]
VarUInt: TypeAlias = Annotated[int, wires.VarIntType(False)]
Delta: TypeAlias = Annotated[int, wires.VarIntType(False, delta=True)]
"""In a `struct` of a `Counted`: the value, of which the bytes have the difference to that of the element before."""
DotNetDecimal: TypeAlias = Annotated[Decimal, wires.DecimalType()]
CountedUtf8: TypeAlias = Annotated[str, wires.PrefixedType(wires.Scalar("UTF8", 1, "B", "char"), "utf-8")]
"""UTF-8 text prefixed with a 16-bit byte count."""
Pointer: TypeAlias = Annotated[int, wires.PointerType()]
Guid: TypeAlias = Annotated[UUID, wires.GuidType()]
UnicodeString: TypeAlias = Annotated[str, wires.Utf16Z()]
AnsiString: TypeAlias = Annotated[str, wires.AnsiZ()]
Bytes: TypeAlias = Annotated[bytes, wires.BytesType()]
"""Requires `by`: `Data: Annotated[Bytes, by("DataSize")]`."""
Prefixed: TypeAlias = Annotated[tuple[T, ...], _Array.PREFIXED]
"""Elements prefixed with a 16-bit count."""
Counted: TypeAlias = Annotated[tuple[T, ...], _Array.COUNTED]
"""Requires `by`: `ILOffsets: Annotated[Counted[UInt32], by("CountOfMapEntries")]`."""


def by(count: str) -> By:
    """Name the field that counts this one: elements of a `Counted`, bytes of a `Bytes`."""
    return By(count)


def pad(bytes32: int, bytes64: int) -> Pad:
    """Bytes that the writer's C++ compiler inserted before this field, in 32- and 64-bit processes."""
    return Pad(bytes32, bytes64)


def read_annotation(annotation: Any, where: str) -> tuple[wires.WireType, Pad | None]:
    """The wire type (and padding) that an annotation of an event class stands for.

    Raises TypeError, naming `where`, if it contains no wire type or lacks its `by`.
    """
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is None:
        if isinstance(annotation, type) and hasattr(annotation, "__layout__"):
            return wires.StructType(annotation), None
        raise TypeError(f"{where}: {annotation!r} is not a wire type; use one of clrevents.types")
    origin = annotation.__origin__
    wire: wires.WireType | None = None
    count: str | None = None
    padding: Pad | None = None
    for item in metadata:
        if isinstance(item, By):
            count = item.count
        elif isinstance(item, Pad):
            padding = item
        elif isinstance(item, _Array):
            wire = item.value(read_annotation(origin.__args__[0], where)[0])
        elif isinstance(item, wires.WireType):
            wire = item
        elif hasattr(item, "__metadata__"):
            wire = read_annotation(item, where)[0]
    if isinstance(origin, type) and issubclass(origin, Enum) and isinstance(wire, wires.Scalar):
        wire = wires.EnumType(wire, origin)
    if wire is not None and wire.counted_by is not None:
        if count is None:
            raise TypeError(f'{where}: a counted field requires its count: Annotated[..., by("Count")]')
        wire = attrs.evolve(cast("wires.CountedType | wires.BytesType", wire), count=count)
    elif count is not None:
        raise TypeError(f"{where}: by({count!r}) applies only to Counted and Bytes")
    if wire is None:
        raise TypeError(f"{where}: {annotation!r} is not a wire type; use one of clrevents.types")
    return wire, padding
