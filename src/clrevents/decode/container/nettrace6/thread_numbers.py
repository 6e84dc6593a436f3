"""Thread indexes of NetTrace 6 with their last sequence numbers, as sequence points and removals have them.

Pairs of varints, read many at a time: a block may have millions. What they say of threads is the stream's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.container.blocks import ThreadNumbers
from clrevents.decode.container.window import Cursor

_Numbers: TypeAlias = NDArray[np.uint64]

# Bytes looked at together (each needs some thirty of memory meanwhile), and how few are read one by one in less time.
_BYTES: Final = 1 << 13
_FEW: Final = 1 << 6
# The bytes that a thread index and a sequence number have at most.
_INDEX: Final = 10
_SEQUENCE: Final = 5


def read_numbers(cursor: Cursor, count: int | None = None) -> ThreadNumbers:
    """So many threads with their numbers, or all that there are up to the end. Raises Short."""
    return ThreadNumbers.of(_pieces(cursor, count))


def _pieces(cursor: Cursor, count: int | None) -> Iterator[tuple[_Numbers, _Numbers]]:
    done = 0
    while done < count if count is not None else cursor.left:
        most = cursor.left if count is None else count - done
        read = _together(cursor, most) if cursor.left >= _FEW else None
        if read is None:
            # Of those that are not sound the first raises what is wrong with it.
            read = _one_by_one(cursor, most)
        done += len(read[0])
        yield read


def _one_by_one(cursor: Cursor, most: int) -> tuple[_Numbers, _Numbers]:
    """The next threads and their numbers, at least one. Raises Short."""
    found = [cursor.varint(64, "thread index"), cursor.varint(32, "sequence number")]
    while cursor.left and len(found) < 2 * most:
        found += cursor.varint(64, "thread index"), cursor.varint(32, "sequence number")
    pairs = np.array(found, dtype=np.uint64)
    return pairs[0::2], pairs[1::2]


def _together(cursor: Cursor, most: int) -> tuple[_Numbers, _Numbers] | None:
    """The next threads and their numbers, up to one that is not sound; None if the first is not."""
    raw = np.frombuffer(cursor.data, np.uint8, min(cursor.left, _BYTES), cursor.pos)
    lasts = np.flatnonzero(raw < 128)
    lasts = lasts[: 2 * min(most, len(lasts) // 2)]
    sizes = np.diff(lasts, prepend=-1).reshape(-1, 2)
    wrong = np.flatnonzero((sizes > (_INDEX, _SEQUENCE)).any(axis=1))
    count = int(wrong[0]) if len(wrong) else len(sizes)
    if not count:
        return None
    lengths = sizes[:count].ravel()
    firsts = lasts[: 2 * count] - lengths + 1
    values = (raw[firsts] & 127).astype(np.uint64)
    for place in range(1, int(lengths.max())):
        longer = np.flatnonzero(lengths > place)
        values[longer] |= (raw[firsts[longer] + place] & 127).astype(np.uint64) << np.uint64(7 * place)
    cursor.pos += int(lasts[2 * count - 1]) + 1
    return values[0::2], values[1::2]
