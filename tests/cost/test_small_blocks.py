"""Blocks of one event each, without a sequence point: memory and time in proportion to their number."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import clrevents
from clrevents.decode.rows import Rows
from clrevents.decode.stream.stream import Stream
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.values import EventRecord, MetadataRecord
from costly import operations, small_blocks, small_blocks_of_four

SIZES = (2000, 4000, 8000)
MAKERS = [small_blocks, small_blocks_of_four]


def read(data: bytes) -> int:
    with clrevents.open(data) as trace:
        return sum(1 for _ in trace.events())


def peak(data: bytes) -> int:
    tracemalloc.start()
    try:
        stream = Stream()
        rows = [*stream.feed(data), *stream.close()]
        assert sum(map(len, rows)) > 1000
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", MAKERS)
def test_memory_of_each_block(make: Callable[[int], bytes]) -> None:
    read(make(10))
    peaks = [peak(make(n)) for n in SIZES]
    for (few, less), (many, more) in pairwise(zip(SIZES, peaks, strict=True)):
        assert more - less < 600 * (many - few)


@pytest.mark.parametrize("make", MAKERS)
def test_operations_of_each_block(make: Callable[[int], bytes]) -> None:
    read(make(10))
    counts = [operations(lambda n=n: read(make(n))) for n in SIZES]  # type: ignore[misc]
    for (few, less), (many, more) in pairwise(zip(SIZES, counts, strict=True)):
        assert more - less < 400 * (many - few)


def with_stacks(restarts: int, blocks: int, after: int = 0) -> bytes:
    """Blocks of one event whose stack ids start again (without a sequence point) after every `restarts` blocks."""
    sink = io.BytesIO()
    writer = NetTrace4Writer(sink)
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E")])
    for number in range(blocks):
        if number % restarts == 0:
            writer.stacks(1, [[number + 1]])
        # Some larger ones between them.
        writer.events([EventRecord(1, number, 1 + number % 3, stack_id=1)] * (200 if number % 700 == 699 else 1))
    writer.end()
    return sink.getvalue()


@pytest.mark.parametrize("restarts", [1, 100, 256, 300, 10_000])
def test_rows_are_the_same_in_few_pieces(restarts: int) -> None:
    stream = Stream()
    data = with_stacks(restarts, 1500)
    rows: list[Rows] = [*stream.feed(data), *stream.close()]
    (region,) = rows
    numbers = np.repeat(np.arange(1500), [200 if n % 700 == 699 else 1 for n in range(1500)])
    assert region.ticks.tolist() == numbers.tolist()
    assert region.thread_ids.tolist() == (1 + numbers % 3).tolist()
    assert region.capture_threads.tolist() == (1 + numbers % 3).tolist()
    table = region.release.stacks
    stacks = [int.from_bytes(table.data(number) or b"", "little") for number in region.stack_ids.tolist()]
    assert stacks == (numbers // restarts * restarts + 1).tolist()
