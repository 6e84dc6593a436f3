"""A second encoder of payloads, for tests only: fields in wire order, `struct`, nothing clever.

Takes the wire types of a class's layout and nothing else of the library, so that agreement means something.
"""

from __future__ import annotations

import struct
from enum import Enum
from typing import Any
from uuid import UUID

from clrevents.schema.wire import (
    AnsiZ,
    BytesType,
    CountedType,
    EnumType,
    GuidType,
    PointerType,
    PrefixedType,
    Scalar,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)
from nettrace4_writer import varint


def encode(record: Any, pointer_size: int) -> tuple[bytes, list[tuple[str, int, int]]]:
    """The payload of a record, and (name, start, end) of each field in it, padding counted with its field."""
    out = b""
    places = []
    for field in type(record).__layout__.fields:
        start = len(out)
        if field.pad is not None:
            out += bytes(field.pad.bytes64 if pointer_size == 8 else field.pad.bytes32)
        out += value_bytes(field.type, getattr(record, field.name), pointer_size)
        places.append((field.name, start, len(out)))
    return out, places


def value_bytes(wire: WireType, value: Any, pointer_size: int) -> bytes:
    match wire:
        case Scalar():
            number = ord(value) if wire.kind == "char" else value
            return struct.pack("<" + wire.format, number)
        case EnumType():
            assert isinstance(value, Enum)
            return struct.pack("<" + wire.base.format, value.value)
        case PointerType():
            return struct.pack("<Q" if pointer_size == 8 else "<I", value)
        case GuidType():
            assert isinstance(value, UUID)
            return value.bytes_le
        case Utf16Z():
            return bytes(value, "utf-16-le", "surrogatepass") + b"\0\0"
        case AnsiZ():
            return bytes(value, "utf-8") + b"\0"
        case BytesType():
            return bytes(value)
        case CountedType():
            return _elements(wire.element, value, pointer_size)
        case PrefixedType(text="utf-8"):
            text = bytes(value, "utf-8")
            return struct.pack("<H", len(text)) + text
        case VarIntType():
            return _zigzag(value) if wire.signed else varint(value)
        case PrefixedType(text=""):
            return struct.pack("<H", len(value)) + _elements(wire.element, value, pointer_size)
        case StructType():
            return encode(value, pointer_size)[0]
    raise NotImplementedError(f"no registered event has a {wire!r}")


def _elements(wire: WireType, values: Any, pointer_size: int) -> bytes:
    """The elements of an array; fields that are deltas are differences in all but the first."""
    if not (isinstance(wire, StructType) and wire.deltas):
        return b"".join(value_bytes(wire, v, pointer_size) for v in values)
    out = b""
    for at, value in enumerate(values):
        for place, field in enumerate(type(value).__layout__.fields):
            number = getattr(value, field.name)
            if at and place in wire.deltas:
                step = number - getattr(values[at - 1], field.name)
                out += _zigzag((step + (1 << 63)) % (1 << 64) - (1 << 63))
            else:
                out += value_bytes(field.type, number, pointer_size)
    return out


def _zigzag(value: int) -> bytes:
    return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)
