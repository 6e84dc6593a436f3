"""Protobuf's wire format: fields with the few kinds of value that our files need, as bytes.

Field numbers are the callers' business. Knows no message.
"""

from __future__ import annotations

import struct
from typing import Final

_FIXED, _BYTES = 1, 2
_WORD: Final = struct.Struct("<Q")
_DOUBLE: Final = struct.Struct("<d")
_SHORT: Final = (
    *(bytes((value,)) for value in range(0x80)),
    *(bytes((value & 0x7F | 0x80, value >> 7)) for value in range(0x80, 0x4000)),
)
"""Numbers of one byte and two: all tags, most lengths."""


def number(field: int, value: int) -> bytes:
    """A non-negative number; 0 is the default of a missing one."""
    return varint(field << 3) + varint(value) if value else b""


def kept_number(field: int, value: int) -> bytes:
    """An integer that is written even if it is 0. Negative ones, from -2**63 on, take ten bytes."""
    return varint(field << 3) + varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def message(field: int, data: bytes, keep: bool = False) -> bytes:
    """Length-prefixed bytes: texts, messages, packed numbers. Empty ones are left out unless kept."""
    return varint(field << 3 | _BYTES) + varint(len(data)) + data if data or keep else b""


def text(field: int, value: str) -> bytes:
    """A text, which may be empty. What has no form in UTF-8, half of a surrogate pair, becomes a question mark."""
    return message(field, value.encode("utf-8", "replace"), keep=True)


def fixed64(field: int, value: int) -> bytes:
    """Eight bytes, 0 included."""
    return varint(field << 3 | _FIXED) + _WORD.pack(value)


def double(field: int, value: float) -> bytes:
    """A float, 0 included."""
    return varint(field << 3 | _FIXED) + _DOUBLE.pack(value)


def varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; all but the last have the top bit set."""
    if value < 0x4000:
        return _SHORT[value]
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
