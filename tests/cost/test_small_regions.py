"""A sequence point after each event: columns of many small releases, which wait for each other."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise

import pytest

import clrevents
from clrevents import Decoder, Trace
from clrevents.analysis.framework.run.feeding import feed_reports
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord
from counting import operations
from in_memory import ended

pytestmark = pytest.mark.full

SIZES = (500, 1000, 2000)
WAYS: dict[str, Callable[[Trace], object]] = {
    "headers": lambda trace: trace.headers(columns=["time_ns"]),
    "tables": lambda trace: list(trace.tables()),
}


def regions(n: int) -> bytes:
    writer = NetTrace4Writer(io.BytesIO())
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E", fields=(FieldDescription("x", 9),))])
    for number in range(n):
        writer.events([EventRecord(1, number, 1, number.to_bytes(4, "little"))])
        writer.sequence_point(number)
    return ended(writer)


@pytest.mark.parametrize("way", WAYS)
def test_calls_for_each_region(way: str) -> None:
    read = WAYS[way]
    read(clrevents.open(regions(10)))
    counts = [operations(lambda n=n: read(clrevents.open(regions(n)))) for n in SIZES]  # type: ignore[misc]
    for (few, less), (many, more) in pairwise(zip(SIZES, counts, strict=True)):
        assert more - less < 700 * (many - few)


def live(data: bytes) -> None:
    decoder, feed = Decoder(symbols=True), feed_reports()
    feed.take(decoder, decoder.feed(data))
    feed.take(decoder, decoder.close())
    feed.finish(decoder)


def test_calls_for_each_region_of_a_stream_with_all_reports() -> None:
    live(regions(10))
    counts = [operations(lambda n=n: live(regions(n))) for n in (100, 200, 400)]  # type: ignore[misc]
    for (few, less), (many, more) in pairwise(zip((100, 200, 400), counts, strict=True)):
        # Most events that reports ask for do not occur: none of their names is looked for again in each region.
        assert more - less < 5000 * (many - few)


def test_releases_that_share_a_window_become_one_table() -> None:
    (tables,) = clrevents.open(regions(2000)).tables()
    assert tables["P", "E"]["x"].tolist() == list(range(2000))
