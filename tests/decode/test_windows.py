"""Windows of a stream as one buffer: every payload is found in it, whatever overlaps and whatever is missing."""

from __future__ import annotations

from random import Random
from typing import Any

import attrs
import numpy as np
import pytest

from clrevents.decode.kernels.header_scan import PADDING
from clrevents.decode.rows import joined_windows


@attrs.frozen
class Part:
    """As much of `Rows` as is looked at: windows and their places in the stream, and where payloads begin."""

    bases: Any
    windows: list[bytes]
    offsets: Any
    sizes: list[int]

    @property
    def release(self) -> Part:
        return self


def part_of(stream: bytes, rng: Random) -> Part:
    """Windows in rising order with payloads in each; between two of them nothing, or as much as padding, or more."""
    bases, windows, payloads = [], [], []
    at = rng.randrange(len(stream) // 2)
    for _ in range(rng.randrange(1, 5)):
        end = min(len(stream), at + rng.randrange(600))
        base = at - min(at, rng.randrange(48))
        behind = (stream[end : end + PADDING] + bytes(PADDING))[:PADDING]
        windows.append(stream[base:end] + rng.choice((behind, bytes(PADDING))))
        bases.append(base)
        for _ in range(rng.randrange(4)):
            size = rng.randrange(end - at + 1)
            offset = at + rng.randrange(end - at - size + 1)
            payloads.append((offset, size))
            at = offset + size
        at = end + rng.choice((0, 0, 0, rng.randrange(200), PADDING - 1, PADDING, PADDING + 1))
        if at >= len(stream):
            break
    offsets = np.array([offset for offset, _ in payloads], dtype=np.int64)
    return Part(np.array(bases), windows, offsets, [size for _, size in payloads])


@pytest.mark.parametrize("seed", range(5))
def test_every_payload_is_where_it_should_be(seed: int) -> None:
    rng = Random(seed)
    several = 0
    for _ in range(300):
        stream = bytes(rng.randrange(1, 256) for _ in range(rng.randrange(300, 4000)))
        parts: Any = [part_of(stream, rng) for _ in range(rng.randrange(1, 4))]
        data, offsets, starts = joined_windows(parts)
        sizes = [size for part in parts for size in part.sizes]
        several += len(set((starts - offsets).tolist())) > 1
        assert offsets.tolist() == [offset for part in parts for offset in part.offsets.tolist()]
        for offset, size, start in zip(offsets.tolist(), sizes, starts.tolist(), strict=True):
            assert stream[offset : offset + size] == data[start : start + size]
            assert start + size + PADDING <= len(data)
    assert several > 20


def test_one_window_is_not_copied() -> None:
    window = bytes(range(200))
    rows: Any = Part(np.array([1000]), [window], np.array([1010, 1050]), [4, 4])
    data, offsets, starts = joined_windows([rows, rows])
    assert data is window
    assert starts.tolist() == [10, 50, 10, 50]
    assert (offsets - starts).tolist() == [1000] * 4
