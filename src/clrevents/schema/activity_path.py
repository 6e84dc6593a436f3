"""`activity_path`: the numbers that a runtime packs into a GUID of an activity, as text such as `/#4796/1/130/2/`.

Knows the packing alone (docs/activities.md, "Paths"). The text is for people: GUIDs are reused and paths are cut short,
so it refuses to say which activity is inside which.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from uuid import UUID

_SALT: Final = 0x599D99AD
_WORD: Final = 0xFFFFFFFF
_LARGEST_PROCESS: Final = 1 << 20
"""Process ids below this leave the upper bits of the checksum as they are."""
_NUMBERS: Final = 12
"""The bytes that hold the numbers; a checksum follows."""
_END: Final = 0
_LARGEST_IMMEDIATE: Final = 10
_OVERFLOW: Final = 11
_MULTI: Final = 12
_KEPT: Final = 1 << 14
"""How many paths are remembered: thousands of events have the same few ids."""


def path_checksum(numbers: Iterable[int]) -> int:
    """What follows the three 32-bit words of numbers in a path, before the process id changes it."""
    return sum(numbers, _SALT) & _WORD


@lru_cache(_KEPT)
def activity_path(guid: UUID, process_id: int | None = None) -> str | None:
    """The path in a GUID; None if it is not one.

    `process_id` is that of the process which wrote it. Without it, any number below 2**20 is taken for one, so that a
    random GUID is mistaken for a path once in 4096 times. A number after `$` hangs off a path that was too long, and
    says nothing of how deep it is. Texts may be shorter than what they stand for: several activities may have one.
    """
    data = guid.bytes_le
    *words, last = struct.unpack("<4I", data)
    writer = last ^ path_checksum(words)
    if writer not in (0, process_id) if process_id is not None else writer >= _LARGEST_PROCESS:
        return None
    numbers = _numbers(data[:_NUMBERS])
    return None if numbers is None else f"/{f'#{writer}' if writer else ''}{numbers}/"


def _numbers(data: bytes) -> str | None:
    """What the nibbles say, high ones first; None for a code that nobody writes."""
    found, separator = [], "/"
    place, end = 0, 2 * len(data)
    while place < end:
        nibble = _nibble(data, place)
        if nibble == _END:
            break
        if nibble <= _LARGEST_IMMEDIATE:
            found.append(f"{separator}{nibble}")
            place += 1
            continue
        if nibble == _OVERFLOW:
            separator = "$"
            place += 1
            if place == end:
                break
            nibble = _nibble(data, place)
            if nibble < _MULTI:
                return None
        size = nibble - _MULTI + 1
        start = place // 2 + 1
        if start + size > len(data):
            break
        # A length in the high nibble leaves the low one for bits above those of the bytes.
        above = 0 if place % 2 else data[place // 2] & 0xF
        number = (above << 8 * size) + int.from_bytes(data[start : start + size], "little")
        found.append(f"{separator}{number}")
        place = 2 * (start + size)
    return "".join(found)


def _nibble(data: bytes, place: int) -> int:
    return data[place // 2] & 0xF if place % 2 else data[place // 2] >> 4
