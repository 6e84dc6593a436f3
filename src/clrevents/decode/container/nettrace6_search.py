"""Finds the blocks of NetTrace 6 again after damage: there are no marks, only sizes that lead to the next block.

A block head is trusted if the first bytes of its block fit its kind, a position if several such blocks follow each
other. Looks only at these first bytes of a block, and once at each position, however many searches cover it. Reading
from a `Window` may raise NeedMore.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

import numpy as np

from clrevents.decode.container.window import LONGEST, NEXT_TRACE, NeedMore, Window, behind_end
from clrevents.schema.codes import BlockKind

PEEK: Final = 24
"""Number of bytes after a block head used to check whether it is one."""

# How far to search for blocks at a time, after damage and after an end mark.
_REACH: Final = 1 << 20
_CHAIN: Final = 3
# Positions looked at together: few at first, because blocks are usually close.
_FIRST_STRIDE: Final = 1 << 8
_STRIDE: Final = 1 << 20
_SMALLEST: Final = 2
# Plain numbers where every block is tested: looking a member up takes longer than the test.
_END, _EVENTS, _LABELS = int(BlockKind.END), int(BlockKind.EVENTS), int(BlockKind.LABELS)
_HEADER_LIMIT: Final = 1024
_THREAD_LIMIT: Final = 1 << 20


def head(data: bytes, pos: int) -> tuple[int, int]:
    """Size and kind of the block at `pos`, where at least four bytes are available."""
    number = int.from_bytes(data[pos : pos + 4], "little")
    return number & 0xFFFFFF, number >> 24


def plausible(data: bytes, pos: int, end: int) -> bool:
    """Whether a block starts at `pos`, as far as `data[:end]` shows; it may extend past `end`."""
    return end - pos >= 4 and _fits(data, pos, end)


def followed(window: Window, end: int) -> bool:
    """Whether a recognizable block follows at `end`."""
    if not window.final:
        window.require(end + 4 + PEEK - window.pos)
    return _follows(window.data, end, window.end, window.final)


class Search:
    """Searches one stream, each from a position at or after that of the last."""

    def __init__(self) -> None:
        # Stream offsets between which no blocks start, and between which there is no beginning of a trace.
        self._from = self._to = 0
        self._none_from = self._none_to = 0

    def spurious_end(self, window: Window) -> bool:
        """In salvage mode an end block is trusted only if no other blocks can be found after it starts."""
        if not window.final:
            window.require(_REACH)
        place = self._first(window, min(window.end, window.pos + _REACH))
        return place is not None and behind_end(window, window.pos + 4) is None

    def find(self, window: Window) -> tuple[bool, int]:
        """Whether consecutive blocks follow within reach after this position, and where, or how far was searched."""
        stop = min(window.end, window.pos + _REACH)
        place = self._first(window, stop)
        start, until, base = window.pos + 1, stop if place is None else place, window.base
        if not self._none_from <= base + start <= self._none_to:
            self._none_from = self._none_to = base + start
        # One that ends behind what was searched may begin in it.
        other = NEXT_TRACE.search(window.data, max(start, self._none_to - base - LONGEST + 1), until)
        if other is not None:
            return True, other.start()
        self._none_to = max(self._none_to, base + until)
        if place is not None:
            return True, place
        if not window.final and stop == window.end:
            raise NeedMore(min(2 * window.available + 64, _REACH))
        return False, stop

    def _first(self, window: Window, stop: int) -> int | None:
        """The first position after this one and before `stop` from which several blocks follow each other, if any.

        Raises NeedMore where a position may be one: taking a later one would depend on how the stream is sliced.
        """
        start, base = window.pos + 1, window.base
        if not self._from <= base + start <= self._to:
            self._from = self._to = base + start
        at = self._to - base
        stride = _FIRST_STRIDE
        known: dict[int, bool] = {}
        while at < stop:
            until = min(at + stride, stop)
            for place in _heads(window, at, until):
                try:
                    chained = _chains(window.data, place, window.end, window.final, known)
                except _Undecided as undecided:
                    self._to = base + place
                    # At least twice as much each time, so that a long search stays linear.
                    raise NeedMore(max(undecided.end - window.pos, 2 * window.available)) from None
                if chained:
                    self._to = base + place
                    return place
            # The last three positions have no whole head yet.
            self._to = base + max(at, min(until, window.end - 3))
            at = until
            stride = min(2 * stride, _STRIDE)
        return None


def _fits(data: bytes, pos: int, end: int) -> bool:
    size, kind = head(data, pos)
    fits = _FITS.get(kind)
    if fits is None:
        return False
    at = pos + 4
    return fits(size, data[at : min(at + min(size, PEEK), end)] + bytes(PEEK))


def _fits_events(size: int, there: bytes) -> bool:
    length, flags, first, last = struct.unpack_from("<HHqq", there)
    return bool(20 <= length <= min(size, _HEADER_LIMIT) and flags < 4 and first <= last)


def _fits_metadata(size: int, there: bytes) -> bool:
    (skipped,) = struct.unpack_from("<H", there)
    if skipped + 6 > PEEK or size == 2 + skipped:
        return bool(skipped <= _HEADER_LIMIT and size >= 2 + skipped)
    length, number = struct.unpack_from("<HB", there, 2 + skipped)
    # A row is never shorter than its id, two names, an event id and two counts.
    return bool(8 <= length <= size - skipped - 4 and number > 0)


def _fits_sequence_point(size: int, there: bytes) -> bool:
    _, flags, count = struct.unpack_from("<qII", there)
    return bool(size >= 16 and flags < 4 and 2 * count <= size - 16 <= 15 * count)


def _fits_stacks(size: int, there: bytes) -> bool:
    first, count, length = struct.unpack_from("<III", there)
    if not count:
        return size == 8
    return bool(first > 0 and length % 4 == 0 and 4 * count + length <= size - 8)


def _fits_threads(size: int, there: bytes) -> bool:
    (length,) = struct.unpack_from("<H", there)
    return bool(not size or (3 <= size <= _THREAD_LIMIT and 1 <= length <= size - 2))


def _fits_removed_threads(size: int, there: bytes) -> bool:
    return not size or 2 <= size <= _THREAD_LIMIT


def _fits_labels(size: int, there: bytes) -> bool:
    first, count = struct.unpack_from("<II", there)
    return bool(size >= 8 and first > 0 and 2 * count <= size - 8)


# From a block's size and its first bytes (with zeros after them).
_FITS: Final[dict[int, Callable[[int, bytes], bool]]] = {
    BlockKind.EVENTS: _fits_events,
    BlockKind.METADATA: _fits_metadata,
    BlockKind.SEQUENCE_POINT: _fits_sequence_point,
    BlockKind.STACKS: _fits_stacks,
    BlockKind.THREADS: _fits_threads,
    BlockKind.REMOVED_THREADS: _fits_removed_threads,
    BlockKind.LABELS: _fits_labels,
}


def _follows(data: bytes, pos: int, end: int, final: bool) -> bool:
    """Whether the stream continues or ends at `pos`, with at least a head and PEEK bytes after it, or all there are."""
    if pos == end:
        return final
    if end - pos < 4:
        return False
    size, kind = head(data, pos)
    return (kind == _END and size == 0) or plausible(data, pos, end)


class _Undecided(Exception):
    """Whether blocks follow each other depends on bytes not yet available, up to this position."""

    def __init__(self, end: int) -> None:
        super().__init__(end)
        self.end = end


def _heads(window: Window, start: int, stop: int) -> list[int]:
    """The positions from `start` to `stop` that may be heads of blocks by their kind and size alone."""
    raw = np.frombuffer(window.data, dtype=np.uint8)
    # The kind is the fourth byte of a head, after a three-byte size that must lead to another block.
    kinds = raw[start + 3 : max(min(stop, window.end - 3), start) + 3]
    places = np.flatnonzero((kinds >= _EVENTS) & (kinds <= _LABELS)) + start
    sizes = raw[places] + (raw[places + 1].astype(np.int64) << 8) + (raw[places + 2].astype(np.int64) << 16)
    believed = sizes >= _SMALLEST
    if window.final:
        believed &= places + 4 + sizes <= window.end
    positions: list[int] = places[believed].tolist()
    return positions


def _chains(data: bytes, pos: int, end: int, final: bool, known: dict[int, bool]) -> bool:
    for number in range(_CHAIN):
        if number and final and (pos == end or (end - pos == 4 and data[pos:end] == bytes(4))):
            return True
        if not final and pos + 4 + PEEK > end:
            raise _Undecided(pos + 4 + PEEK)
        fits = known.get(pos)
        if fits is None:
            fits = plausible(data, pos, end)
            # Heads are checked once; the positions they lead to may be checked again.
            if number:
                known[pos] = fits
        if not fits:
            return False
        begin, (size, _) = pos, head(data, pos)
        pos += 4 + size
        if pos > end and final:
            # The last one may be cut: while the end was unknown, its first bytes sufficed as well.
            return number == _CHAIN - 1 and begin + 4 + PEEK <= end
    return True
