"""From a number, or sixteen bytes, on the wire to the Python value in a record.

One function per wire type; reads no payload and knows no positions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from clrevents.schema.types import FileTime
from clrevents.schema.wire import DecimalType, EnumType, GuidType, Scalar, WireType


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
