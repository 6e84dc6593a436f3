"""Damages copies of a trace in five seeded ways, and knows which of the original's blocks each damage hits.

Finds blocks by their envelopes, so that what the library says about a damaged copy is judged from outside.
"""

from __future__ import annotations

import gzip
import random
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, Literal

import attrs

from project_files import FIXTURES, SHARED
from stream_blocks import Block, blocks_of, head_size

Way = Literal["cut", "flip", "zero", "drop", "insert"]
WAYS: Final[tuple[Way, ...]] = ("cut", "flip", "zero", "drop", "insert")
COPIES: Final[dict[Way, int]] = {"cut": 100, "flip": 100, "zero": 50, "drop": 50, "insert": 50}
ZEROED, DROPPED, INSERTED = 4096, 1024, 777


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

    def hits(self, block: Block) -> bool:
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
    """The blocks of an undamaged stream, and what stands in front of them and behind, by byte range."""

    def __init__(self, data: bytes) -> None:
        head, found = head_size(data), list(blocks_of(data))
        last = found[-1].end if found else head
        self.all = [Block("Magic", 0, 0, 0, head, head), *found]
        if last < len(data):
            self.all.append(Block("End", last, last, last, len(data), len(data)))
        self._starts = [b.start for b in self.all]

    def at(self, offset: int) -> Block:
        return self.all[bisect_right(self._starts, offset) - 1]

    def hit(self, damage: Damage) -> list[Block]:
        return [b for b in self.all if damage.hits(b)]


def load(name: str) -> bytes | None:
    """A trace of the fixtures or, where it lies there, of the shared folder; None when it is nowhere."""
    for folder in (FIXTURES, SHARED / "traces" / "own", SHARED / "traces" / "perfview"):
        for path in (folder / name, folder / f"{name}.gz"):
            if path.exists():
                return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return None
