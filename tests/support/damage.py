"""Damages copies of a trace in five seeded ways, and knows which of the original's blocks each damage hits.

Has a walker of its own for the blocks, so that what the library says about a damaged copy is judged from outside.
"""

from __future__ import annotations

import gzip
import random
import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, Literal

import attrs

from project_files import FIXTURES, SHARED

_OLD_NAME: Final = b"Microsoft.DotNet.Runtime.EventPipeFile"
# The kinds of block of NetTrace 6, called as NetTrace 4 calls those that both have.
_NAMES: Final = (
    "End",
    "Trace",
    "EventBlock",
    "MetadataBlock",
    "SPBlock",
    "StackBlock",
    "ThreadBlock",
    "RemovedBlock",
    "LabelBlock",
)

Way = Literal["cut", "flip", "zero", "drop", "insert"]
WAYS: Final[tuple[Way, ...]] = ("cut", "flip", "zero", "drop", "insert")
COPIES: Final[dict[Way, int]] = {"cut": 100, "flip": 100, "zero": 50, "drop": 50, "insert": 50}
ZEROED, DROPPED, INSERTED = 4096, 1024, 777


@attrs.frozen
class BlockRange:
    """One object from its first tag to behind its last, one block of NetTrace 6, or one record of NetPerf 1 and 2."""

    name: str
    start: int
    end: int


@attrs.frozen
class Damage:
    """What was done to a copy: `size` bytes of the original from `at` on were hit (0 for an insertion)."""

    way: Way
    at: int
    size: int

    def apply(self, data: bytes, rng: random.Random) -> bytes:
        before, after = data[: self.at], data[self.at + self.size :]
        match self.way:
            case "cut" | "drop":
                return before + after
            case "flip":
                return before + bytes([data[self.at] ^ 1 << rng.randrange(8)]) + after
            case "zero":
                return before + bytes(self.size) + after
            case "insert":
                return before + rng.randbytes(INSERTED) + after

    def origin(self, offset: int) -> int | None:
        """Where a byte of the copy stood in the original; None for one that was inserted."""
        if offset < self.at:
            return offset
        if self.way == "drop":
            return offset + self.size
        if self.way == "insert":
            return offset - INSERTED if offset >= self.at + INSERTED else None
        return offset

    def hits(self, block: BlockRange) -> bool:
        if self.way == "insert":
            return block.start < self.at < block.end
        return self.at < block.end and self.at + self.size > block.start

    def within_copy(self, original_end: int) -> tuple[int, int]:
        """The bytes of the copy in which the damage shows (where bytes are gone: the seam)."""
        size = {"cut": 0, "drop": 0, "insert": INSERTED}.get(self.way, self.size)
        return self.at, min(self.at + size, original_end + INSERTED)


def damages(data: bytes, way: Way, part: int = 1, seed: int = 20) -> Iterator[tuple[Damage, bytes]]:
    """The damaged copies of one way, or one `part`-th of them, each with what was done to it; always the same."""
    rng = random.Random(f"{seed} {way} {len(data)}")
    for _ in range(COPIES[way] // part):
        at, size = rng.randrange(1, len(data)), 1
        if way == "cut":
            size = len(data) - at
        elif way == "zero":
            at, size = rng.randrange(len(data) - ZEROED), ZEROED
        elif way == "drop":
            at, size = rng.randrange(len(data) - DROPPED), DROPPED
        elif way == "insert":
            size = 0
        damage = Damage(way, at, size)
        yield damage, damage.apply(data, rng)


class Blocks:
    """The blocks of an undamaged stream by byte range."""

    def __init__(self, data: bytes) -> None:
        self.all = list(_walk(data))
        self._starts = [b.start for b in self.all]

    def at(self, offset: int) -> BlockRange:
        return self.all[bisect_right(self._starts, offset) - 1]

    def hit(self, damage: Damage) -> list[BlockRange]:
        return [b for b in self.all if damage.hits(b)]


def _walk(data: bytes) -> Iterator[BlockRange]:
    if data.startswith(b"Nettrace" + bytes(4)):
        return _walk_nettrace6(data)
    return _walk_netperf12(data) if data[39:].startswith(_OLD_NAME) else _walk_objects(data)


def _walk_nettrace6(data: bytes) -> Iterator[BlockRange]:
    yield BlockRange("Magic", 0, 20)
    pos = 20
    while pos < len(data):
        head = int.from_bytes(data[pos : pos + 4], "little")
        end = pos + 4 + (head & 0xFFFFFF)
        yield BlockRange(_NAMES[head >> 24], pos, end)
        pos = end


def _walk_netperf12(data: bytes) -> Iterator[BlockRange]:
    pos = 39 + len(_OLD_NAME) + 1 + 4 + 32
    yield BlockRange("Magic", 0, pos)
    (table,) = struct.unpack_from("<i", data, len(data) - 8)
    while pos < table - 1:
        size, metadata_id = struct.unpack_from("<ii", data, pos)
        yield BlockRange("EventBlock" if metadata_id else "MetadataBlock", pos, pos + 4 + size)
        pos += 4 + size
    yield BlockRange("End", pos, len(data))


def _walk_objects(data: bytes) -> Iterator[BlockRange]:
    pos = 32 if data.startswith(b"Nettrace") else 24
    yield BlockRange("Magic", 0, pos)
    while data[pos] != 1:
        start = pos
        (length,) = struct.unpack_from("<i", data, pos + 11)
        name = data[pos + 15 : pos + 15 + length].decode()
        assert data[pos + 15 + length] == 6
        pos += 16 + length
        if name == "Trace":
            pos += 48
        else:
            (size,) = struct.unpack_from("<i", data, pos)
            pos += 4
            pos += -pos % 4 + size
        assert data[pos] == 6
        pos += 1
        yield BlockRange(name, start, pos)
    yield BlockRange("End", pos, len(data))


def load(name: str) -> bytes | None:
    """A trace of the fixtures or, where it lies there, of the shared folder; None when it is nowhere."""
    for folder in (FIXTURES, SHARED / "traces" / "own", SHARED / "traces" / "perfview"):
        for path in (folder / name, folder / f"{name}.gz"):
            if path.exists():
                return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return None
