"""Payloads that fit a layout, drawn from a seed: small numbers, addresses, any texts, counts that are few or many."""

from __future__ import annotations

import random
import struct
from typing import Any, Final

from clrevents.schema.wire import (
    AnsiZ,
    CountedType,
    FixedArrayType,
    LocatedType,
    PrefixedType,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

_COUNTS: Final = (0, 1, 1, 2, 3, 5, 20, 100, 400)
_BASE: Final = 0x7F0000000000


def payload(layout: Any, rng: random.Random, number: int, pointer_size: int = 8) -> bytes:
    """Bytes that fit a layout. `number` is the event's, from which ids and addresses may be made."""
    bound = layout.bind(pointer_size)
    counters = {f.type.counted_by for f in bound.fields if f.type.counted_by is not None}
    counts: dict[str, int] = {}
    out = []
    for field in bound.fields:
        wire = field.type
        if field.name in counters:
            counts[field.name] = rng.choice(_COUNTS) & (1 << 8 * wire.number.size - 1) - 1
            out.append(counts[field.name].to_bytes(wire.number.size, "little"))
        elif wire.counted_by is not None:
            element = getattr(wire, "element", None)
            n = counts[wire.counted_by]
            out.append(bytes(n) if element is None else b"".join(_value(element, rng, number) for _ in range(n)))
        else:
            out.append(bytes(field.pad) + _value(wire, rng, number))
    return b"".join(out)


def _value(wire: WireType, rng: random.Random, number: int) -> bytes:
    if wire.number is not None:
        size = wire.number.size
        value = rng.choice(
            (0, 1, 2, 3, number, number * 16, rng.randrange(64), _BASE + 64 * number, rng.getrandbits(64))
        )
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
    match wire:
        case Utf16Z():
            return _text(rng, number).encode("utf-16-le") + b"\0\0"
        case AnsiZ():
            return _text(rng, number).encode() + b"\0"
        case StructType():
            return payload(wire.record.__layout__, rng, number)  # type: ignore[attr-defined]
        case VarIntType():
            return bytes((number & 127 | 128, number >> 7 & 127))
        case PrefixedType():
            n = rng.choice((0, 1, 5, 50))
            return struct.pack("<H", n) + b"".join(_value(wire.element, rng, number) for _ in range(n))
        case FixedArrayType():
            return b"".join(_value(wire.element, rng, number) for _ in range(wire.count))
        case LocatedType() | CountedType():
            return bytes(4)
        case _:
            return number.to_bytes(8, "little") * 2


def _text(rng: random.Random, number: int) -> str:
    return rng.choice(
        ("", "a", f"n{number}", "System.Private.CoreLib", f"/usr/lib/m{number}.dll", "T`1[[x]]" * 9, "<>" * 60)
    )
