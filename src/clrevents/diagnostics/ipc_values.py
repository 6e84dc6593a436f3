"""How the diagnostic protocol writes values: little-endian numbers, counted texts, arrays, records of such fields.

Values to bytes and back, both checked, as declared by annotations. Knows no message and does no I/O.
"""

from __future__ import annotations

import struct
import typing
from collections.abc import Iterator
from typing import Annotated, Any, Final, Protocol, TypeAlias, TypeVar
from uuid import UUID

import attrs

from clrevents._util.value_classes import frozen

T = TypeVar("T")

MOST_BYTES: Final = 0xFFFF
"""Of one message, header included: its size has 16 bits."""


class Malformed(ValueError):
    """Bytes that do not follow the protocol."""


class Reader:
    """Bytes that are read from the front. Every length is checked against what is left."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        if size > self.left:
            raise Malformed(f"{size} bytes are announced, but only {self.left} are there")
        self._at += size
        return self._data[self._at - size : self._at]


class WireType(Protocol):
    """One kind of value on the wire. `write` raises ValueError for a value that it cannot represent."""

    def write(self, value: Any) -> bytes: ...
    def read(self, reader: Reader) -> Any: ...


@frozen
class Number:
    """An integer that `struct` knows."""

    code: str

    def write(self, value: Any) -> bytes:
        try:
            return struct.pack(f"<{self.code}", value)
        except struct.error as error:
            raise ValueError(f"{value!r} cannot be sent as a number: {error}") from None

    def read(self, reader: Reader) -> int:
        (value,) = struct.unpack(f"<{self.code}", reader.take(struct.calcsize(f"<{self.code}")))
        return int(value)


@frozen
class FlagType:
    """One byte, 0 or 1."""

    def write(self, value: Any) -> bytes:
        return b"\1" if value else b"\0"

    def read(self, reader: Reader) -> bool:
        return reader.take(1) != b"\0"


@frozen
class TextType:
    """The number of UTF-16 units including the final NUL, then those; a number of 0 is no text at all."""

    def write(self, value: Any) -> bytes:
        if value is None:
            return _COUNT.write(0)
        if "\0" in value:
            raise ValueError(f"{value!r} contains a NUL, which would end the text")
        try:
            units = f"{value}\0".encode("utf-16-le")
        except UnicodeEncodeError:
            raise ValueError(f"{value!r} contains half of a surrogate pair, which is not a character") from None
        return _COUNT.write(len(units) // 2) + units

    def read(self, reader: Reader) -> str | None:
        size = _COUNT.read(reader)
        return reader.take(2 * size).decode("utf-16-le", "replace").partition("\0")[0] if size else None


@frozen
class GuidValue:
    """Sixteen bytes."""

    def write(self, value: Any) -> bytes:
        return bytes(value.bytes_le)

    def read(self, reader: Reader) -> UUID:
        return UUID(bytes_le=reader.take(16))


@frozen
class ArrayOf:
    """The number of items, then the items."""

    item: WireType

    def write(self, value: Any) -> bytes:
        return _COUNT.write(len(value)) + b"".join(map(self.item.write, value))

    def read(self, reader: Reader) -> tuple[Any, ...]:
        # Every item has a byte or more, so a number that lies ends with the bytes.
        return tuple(self.item.read(reader) for _ in range(_COUNT.read(reader)))


@frozen
class RecordOf:
    """The fields of a class, one after the other."""

    record: type[Any]

    def write(self, value: Any) -> bytes:
        return write_record(value)

    def read(self, reader: Reader) -> Any:
        return read_record(self.record, reader)


_COUNT: Final = Number("I")

U16: TypeAlias = Annotated[int, Number("H")]
U32: TypeAlias = Annotated[int, Number("I")]
I32: TypeAlias = Annotated[int, Number("i")]
U64: TypeAlias = Annotated[int, Number("Q")]
Flag: TypeAlias = Annotated[bool, FlagType()]
Text: TypeAlias = Annotated[str, TextType()]
OptionalText: TypeAlias = Annotated[str | None, TextType()]
Guid: TypeAlias = Annotated[UUID, GuidValue()]


def wire_fields(record: type[Any]) -> dict[str, WireType]:
    """The fields of a record class by name, in wire order."""
    hints = typing.get_type_hints(record, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in attrs.fields(record)}


def write_record(value: Any) -> bytes:
    """The fields of a record as bytes. Raises ValueError for a value that does not fit."""
    return b"".join(_written(value))


def _written(value: Any) -> Iterator[bytes]:
    for name, wire in wire_fields(type(value)).items():
        yield wire.write(getattr(value, name))


def read_record(record: type[T], reader: Reader) -> T:
    """A record from bytes. Raises Malformed if they end too early; bytes after it are ignored."""
    return record(**{name: wire.read(reader) for name, wire in wire_fields(record).items()})
