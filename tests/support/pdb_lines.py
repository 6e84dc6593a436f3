"""The lines of methods in a portable PDB, for tests: a reading of its own of what the runtime's format says.

Reads documents no further than their number: the files of these tests have one each.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from pathlib import Path

_DOCUMENTS, _METHODS = 0x30, 0x31


class PdbLines:
    """The first line of each sequence point of each method, by its token."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        at = 16 + struct.unpack_from("<I", data, 12)[0] + 4
        streams: dict[bytes, bytes] = {}
        for _ in range(struct.unpack_from("<H", data, at - 2)[0]):
            start, size = struct.unpack_from("<II", data, at)
            end = data.index(0, at + 8)
            streams[data[at + 8 : end]] = data[start : start + size]
            at += 8 + (end - at - 8) // 4 * 4 + 4
        tables = streams[b"#~"]
        heaps, valid = tables[6], struct.unpack_from("<Q", tables, 8)[0]
        held = [table for table in range(64) if valid >> table & 1]
        counts = dict(zip(held, struct.unpack_from(f"<{len(held)}I", tables, 24), strict=True))
        guid, blob = (4 if heaps & bit else 2 for bit in (2, 4))
        row = 24 + 4 * len(held) + counts[_DOCUMENTS] * (2 * blob + 2 * guid)
        document = 4 if counts[_DOCUMENTS] >= 1 << 16 else 2
        self._points: dict[int, list[tuple[int, int]]] = {}
        for token in range(0x06000001, 0x06000001 + counts[_METHODS]):
            place = int.from_bytes(tables[row + document : row + document + blob], "little")
            one = int.from_bytes(tables[row : row + document], "little")
            self._points[token] = _points(streams[b"#Blob"], place, one == 0) if place else []
            row += document + blob

    def line(self, token: int, il_offset: int) -> int | None:
        """The line of the last sequence point up to an offset in a method's IL that has one; None if none has."""
        points = self._points[token]
        return next((line for _, line in points[bisect_right(points, (il_offset, 1 << 32)) - 1 :: -1] if line), None)


def _points(blob: bytes, at: int, several: bool) -> list[tuple[int, int]]:
    size, at = _number(blob, at)
    end = at + size
    _, at = _number(blob, at)
    if several:
        _, at = _number(blob, at)
    found: list[tuple[int, int]] = []
    offset = line = 0
    while at < end:
        step, at = _number(blob, at)
        if step == 0 and found:
            _, at = _number(blob, at)
            continue
        offset += step
        lines, at = _number(blob, at)
        columns, at = _number(blob, at) if lines == 0 else _signed(blob, at)
        if lines == columns == 0:
            found.append((offset, 0))
            continue
        more, at = _signed(blob, at) if line else _number(blob, at)
        _, at = _signed(blob, at) if line else _number(blob, at)
        line += more
        found.append((offset, line))
    return found


def _number(blob: bytes, at: int) -> tuple[int, int]:
    size = 1 if blob[at] < 0x80 else 2 if blob[at] < 0xC0 else 4
    return int.from_bytes(blob[at : at + size], "big") & (1 << 8 * size - (1, 2, 3)[size // 2]) - 1, at + size


def _signed(blob: bytes, at: int) -> tuple[int, int]:
    number, end = _number(blob, at)
    bits = {1: 6, 2: 13, 4: 28}[end - at]
    return (number >> 1) - (number & 1) * (1 << bits), end
