"""The numbers that a runtime packs into a GUID of an activity: as text such as `/#4796/1/130/2/`, and digit by digit.

Knows the packing alone (docs/activities.md, "Paths"). The text is for people: GUIDs are reused and paths are cut short,
so it refuses to say which activity is inside which. The digits say only what an activity cannot be inside of, and what
it was made in where something else says so, too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple
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
    says nothing about how deep it is. The text may lose information: several activities may have the same one.
    """
    data = guid.bytes_le
    *words, last = struct.unpack("<4I", data)
    writer = last ^ path_checksum(words)
    if writer not in (0, process_id) if process_id is not None else writer >= _LARGEST_PROCESS:
        return None
    numbers = _numbers(data[:_NUMBERS])
    return None if numbers is None else f"/{f'#{writer}' if writer else ''}{numbers}/"


class PathDigits(NamedTuple):
    """The digits that pack the numbers of a path, four bits each: those of what made the activity, and all."""

    maker: str
    whole: str


@lru_cache(_KEPT)
def path_digits(guid: UUID) -> PathDigits | None:
    """The digits of a path; None for anything but a path, and for one too long to include its creator."""
    if activity_path(guid) is None:
        return None
    data = guid.bytes_le[:_NUMBERS]
    unpacked = list(_unpacked(data))
    digits = data.hex()
    if not unpacked or any(number is None or number.far for number in unpacked):
        return None
    *_, last = unpacked
    assert last is not None
    # What follows the end is left over from a number that was packed wrongly.
    return None if digits[last.end :].strip("0") else PathDigits(digits[: last.start], digits[: last.end])


def cannot_lie_in(inner: UUID, outer: UUID) -> bool:
    """Whether the paths of two activities show that the first did not start in the second.

    Two paths that were packed wrongly, as some runtimes do, never show it; neither do GUIDs that are no paths.
    """
    path = activity_path(inner)
    if path is None or "$" in path or activity_path(outer) is None:
        return False
    # A number may end in zeros, and be followed by some that mean nothing.
    return not inner.bytes_le[:_NUMBERS].hex().startswith(outer.bytes_le[:_NUMBERS].hex().rstrip("0"))


class _Number(NamedTuple):
    """A number in a path, and where its digits begin and end. `far` ones say nothing about how deep they are."""

    number: int
    far: bool
    start: int
    end: int


def _numbers(data: bytes) -> str | None:
    """What the digits say; None for a code that nobody writes."""
    numbers = []
    for number in _unpacked(data):
        if number is None:
            return None
        numbers.append(f"{'$' if number.far else '/'}{number.number}")
    return "".join(numbers)


def _unpacked(data: bytes) -> Iterator[_Number | None]:
    """The numbers, high nibbles first; None for a code that nobody writes."""
    far = False
    place, end = 0, 2 * len(data)
    while place < end:
        nibble, first = _nibble(data, place), place
        if nibble == _END:
            break
        if nibble <= _LARGEST_IMMEDIATE:
            place += 1
            yield _Number(nibble, far, first, place)
            continue
        if nibble == _OVERFLOW:
            far = True
            place += 1
            if place == end:
                break
            nibble = _nibble(data, place)
            if nibble < _MULTI:
                yield None
                return
        size = nibble - _MULTI + 1
        start = place // 2 + 1
        if start + size > len(data):
            break
        # A length in the high nibble leaves the low one for bits above those of the bytes.
        above = 0 if place % 2 else data[place // 2] & 0xF
        number = (above << 8 * size) + int.from_bytes(data[start : start + size], "little")
        place = 2 * (start + size)
        yield _Number(number, far, first, place)


def _nibble(data: bytes, place: int) -> int:
    return data[place // 2] & 0xF if place % 2 else data[place // 2] >> 4
