"""What a stream costs is in proportion to its size, whatever it holds: counted, never timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import costly_containers as costly
from clrevents.decode.container import netperf, nettrace6_search
from clrevents.decode.container.blocks import Stacks
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.stacks import StackTable
from clrevents.decode.stream.block_reader import InputBuffer
from clrevents.decode.stream.stream import Stream
from clrevents.errors import ErrorMode
from clrevents.testing.builder import Format, TraceBuilder
from counting import operations

SIZES = (100, 400, 1600)
Make = Callable[[int], bytes]


def read(data: bytes, errors: ErrorMode = "salvage", piece: int = 1 << 20) -> Stream:
    stream = Stream(errors=errors)
    for at in range(0, len(data), piece):
        stream.feed(data[at : at + piece])
    stream.close()
    return stream


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each search of salvage looks at."""
    found: list[int] = []
    heads, candidates = nettrace6_search._heads, netperf._candidates

    def count_heads(window: Any, start: int, stop: int) -> list[int]:
        found.append(stop - start)
        return heads(window, start, stop)

    def count_candidates(data: bytes, start: int, stop: int, end: int) -> list[int]:
        found.append(stop - start)
        return candidates(data, start, stop, end)

    monkeypatch.setattr(nettrace6_search, "_heads", count_heads)
    monkeypatch.setattr(netperf, "_candidates", count_candidates)
    return found


@pytest.mark.parametrize("pieces", SIZES)
@pytest.mark.parametrize("make", [costly.unchained_stacks, costly.distant_ends, costly.broken_records])
def test_salvage_looks_at_each_byte_a_bounded_number_of_times(make: Make, pieces: int, looked: list[int]) -> None:
    data = make(pieces)
    assert operations(lambda: read(data)) < 20 * len(data)
    assert sum(looked) < 4 * len(data)


@pytest.mark.parametrize("make", [costly.unchained_stacks, costly.distant_ends, costly.broken_records])
def test_a_search_in_pieces_finds_the_same(make: Make) -> None:
    data = make(50)
    whole = read(data).problems
    for piece in (1, 97, 4096):
        assert read(data, piece=piece).problems.items == whole.items


@pytest.mark.parametrize("piece", [1, 10, 1000])
def test_bytes_that_a_search_waits_for_are_not_copied_again_and_again(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = 0
    copy = InputBuffer._copy

    def count(self: InputBuffer, before: int, size: int) -> bytes:
        nonlocal copied
        copied += size
        return copy(self, before, size)

    monkeypatch.setattr(InputBuffer, "_copy", count)
    data = costly.unchained_stacks(1000)
    read(data, piece=piece)
    assert copied < 20 * len(data)


def test_lookups_of_stacks_share_what_was_there_before() -> None:
    table = StackTable()
    memory = set()
    for number in range(1000):
        table.add(Stacks(1 + 2 * number, 1, b"", 0, 0, 0))
        lookup = table.lookup()
        memory.add(id(lookup.firsts.base))
        assert lookup.unique(np.array([1 + 2 * number, 2 + 2 * number])).tolist() == [1 + number, -1]
    assert len(memory) < 20


@pytest.mark.parametrize("format", ["nettrace4", "nettrace6"])
@pytest.mark.parametrize("walked", [False, True])
def test_counting_keeps_no_window_for_stacks(format: Format, walked: bool) -> None:
    """Nobody can ask for them, unless they are all to be checked where the region ends."""
    builder = TraceBuilder(format)
    for number in range(2500):
        builder.sample(0x1000 + number, 0x2000)
    data = builder.build()
    window = data[: len(data) * 3 // 4]
    stream = Stream(tally=Tally(10), walk_stacks=walked)
    before = sys.getrefcount(window)
    stream.feed(window)
    assert stream.offset > len(window) // 2
    # The buffer has it, because the block at its end is not complete.
    assert (sys.getrefcount(window) > before + 1) is walked
