"""Finding the blocks of NetTrace 6 again after damage: there are no marks, only sizes that lead to the next block.

A head is believed when the first bytes of its block fit its kind, a place when several such blocks follow each other.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

PEEK: Final = 24
"""Bytes behind a block's head that show whether it is one."""

END, EVENTS, METADATA, POINT, STACKS, THREADS, REMOVED, LABELS = 0, 2, 3, 4, 5, 6, 7, 8
_CHAIN: Final = 3
_STRIDE: Final = 1 << 20
_SMALLEST: Final = 2
_HEADER_LIMIT: Final = 1024
_THREAD_LIMIT: Final = 1 << 20


def head(data: bytes, pos: int) -> tuple[int, int]:
    """Size and kind of the block at `pos`, of which four bytes are there."""
    number = int.from_bytes(data[pos : pos + 4], "little")
    return number & 0xFFFFFF, number >> 24


def plausible(data: bytes, pos: int, end: int) -> bool:
    """Whether a block begins at `pos`, as far as `data[:end]` shows; it may go on behind `end`."""
    return end - pos >= 4 and bool(_fits(data, pos, end))


def _fits(data: bytes, pos: int, end: int) -> Any:
    size, kind = head(data, pos)
    at = pos + 4
    there = data[at : min(at + min(size, PEEK), end)] + bytes(PEEK)
    if kind == EVENTS:
        length, flags, first, last = struct.unpack_from("<HHqq", there)
        return 20 <= length <= min(size, _HEADER_LIMIT) and flags < 4 and first <= last
    if kind == METADATA:
        (skipped,) = struct.unpack_from("<H", there)
        if skipped + 6 > PEEK or size == 2 + skipped:
            return skipped <= _HEADER_LIMIT and size >= 2 + skipped
        length, number = struct.unpack_from("<HB", there, 2 + skipped)
        # A row is never shorter than its id, two names, an event id and two counts.
        return 8 <= length <= size - skipped - 4 and number > 0
    if kind == POINT:
        _, flags, count = struct.unpack_from("<qII", there)
        return size >= 16 and flags < 4 and 2 * count <= size - 16 <= 15 * count
    if kind == STACKS:
        first, count, length = struct.unpack_from("<III", there)
        if not count:
            return size == 8
        return first > 0 and length % 4 == 0 and 4 * count + length <= size - 8
    if kind == THREADS:
        (length,) = struct.unpack_from("<H", there)
        return 3 <= size <= _THREAD_LIMIT and 1 <= length <= size - 2
    if kind == REMOVED:
        return 2 <= size <= _THREAD_LIMIT
    if kind == LABELS:
        first, count = struct.unpack_from("<II", there)
        return size >= 8 and first > 0 and 2 * count <= size - 8
    return False


def follows(data: bytes, pos: int, end: int, final: bool) -> bool:
    """Whether the stream goes on or ends at `pos`; of what follows at least a head and PEEK bytes are there, or all."""
    if pos == end:
        return final
    if end - pos < 4:
        return False
    size, kind = head(data, pos)
    return (kind == END and size == 0) or plausible(data, pos, end)


class Undecided(Exception):
    """Whether blocks follow each other depends on bytes that are not there yet: the stream until this place."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


def resume(data: bytes, start: int, stop: int, end: int, final: bool) -> int | None:
    """The first place before `stop` from which several blocks follow each other; None if there is none.

    Raises Undecided where a place may be one: taking a later one would depend on how the stream is cut.
    """
    raw = np.frombuffer(data, dtype=np.uint8)
    known: dict[int, bool] = {}
    for at in range(start, stop, _STRIDE):
        # The kind is the fourth byte of a head, behind three of a size that has to lead somewhere.
        kinds = raw[at + 3 : min(at + _STRIDE, stop, end - 3) + 3]
        places = np.flatnonzero((kinds >= EVENTS) & (kinds <= LABELS)) + at
        sizes = raw[places] + (raw[places + 1].astype(np.int64) << 8) + (raw[places + 2].astype(np.int64) << 16)
        believed = sizes >= _SMALLEST
        if final:
            believed &= places + 4 + sizes <= end
        for place in places[believed].tolist():
            if _chains(data, place, end, final, known):
                return int(place)
    return None


def _chains(data: bytes, pos: int, end: int, final: bool, known: dict[int, bool]) -> bool:
    for number in range(_CHAIN):
        if number and final and (pos == end or data[pos:end] == bytes(4)):
            return True
        if not final and pos + 4 + PEEK > end:
            raise Undecided(pos + 4 + PEEK)
        fits = known.get(pos)
        if fits is None:
            fits = plausible(data, pos, end)
            # Heads that are looked at first are not looked at again; where they lead may be.
            if number:
                known[pos] = fits
        if not fits:
            return False
        begin, (size, _) = pos, head(data, pos)
        pos += 4 + size
        if pos > end and final:
            # The last one may be cut: as long as the end was not known, its first bytes were enough as well.
            return number == _CHAIN - 1 and begin + 4 + PEEK <= end
    return True
