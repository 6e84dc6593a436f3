"""Single values as bytes: integers, LEB128 numbers, GUIDs and the two kinds of text (docs/format.md, "Notation").

Each function raises ValueError, with the value's name, for a value that does not fit. Knows no event and no block.
"""

from __future__ import annotations

from uuid import UUID

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
_SMALL = [bytes((n,)) for n in range(128)]


def checked(value: int, low: int, high: int, what: str) -> int:
    """Return `value` if it is an integer in `low..high`. Raises ValueError naming `what` otherwise."""
    if not isinstance(value, int):
        raise ValueError(f"{what} must be an integer, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{what} must be in {low}..{high}, not {value}")
    return value


def unsigned(value: int, size: int, what: str) -> bytes:
    """`size` bytes, little-endian, no sign."""
    return checked(value, 0, (1 << 8 * size) - 1, what).to_bytes(size, "little")


def signed(value: int, size: int, what: str) -> bytes:
    """`size` bytes, little-endian, two's complement."""
    half = 1 << (8 * size - 1)
    return checked(value, -half, half - 1, what).to_bytes(size, "little", signed=True)


def either(value: int, size: int, what: str) -> bytes:
    """`size` bytes for a number that some read as signed and others as unsigned: both ranges are accepted."""
    checked(value, -(1 << (8 * size - 1)), (1 << 8 * size) - 1, what)
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def varuint(value: int, bits: int, what: str) -> bytes:
    """LEB128: seven bits per byte, low first, the high bit says that more follow; at most 5 or 10 bytes."""
    if value.__class__ is int and 0 <= value < 128:
        return _SMALL[value]
    checked(value, 0, (1 << bits) - 1, what)
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value: int, what: str) -> bytes:
    """A signed 64-bit number, zigzag LEB128."""
    checked(value, -(1 << 63), (1 << 63) - 1, what)
    return varuint((value << 1 ^ value >> 63) & M64, 64, what)


def guid(value: bytes | UUID, what: str) -> bytes:
    """Sixteen bytes as stored; a UUID is stored with its first three groups little-endian."""
    data = value.bytes_le if isinstance(value, UUID) else bytes(value)
    if len(data) != 16:
        raise ValueError(f"{what} must be 16 bytes, not {len(data)}")
    return data


def utf16z(text: str, what: str) -> bytes:
    """UTF-16LE units and a zero unit; lone surrogates are kept (docs/format.md, "Texts")."""
    if "\0" in text:
        raise ValueError(f"{what} contains a NUL, which would end it there: {text!r}")
    return text.encode("utf-16-le", "surrogatepass") + b"\0\0"


def utf8(text: str, what: str) -> bytes:
    """A varuint byte count and UTF-8 bytes."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} has a lone surrogate, which UTF-8 cannot encode: {text!r}") from None
    return varuint(len(data), 32, f"the length of {what}") + data
