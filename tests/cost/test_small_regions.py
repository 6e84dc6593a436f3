"""A sequence point after each event: columns of many small releases, which wait for each other."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise

import pytest

import clrevents
from clrevents import Trace
from clrevents.encode.nettrace4 import NetTrace4Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord
from costly import operations

SIZES = (500, 1000, 2000)
WAYS: dict[str, Callable[[Trace], object]] = {
    "headers": lambda trace: trace.headers(columns=["time_ns"]),
    "tables": lambda trace: list(trace.tables()),
}


def regions(n: int) -> bytes:
    sink = io.BytesIO()
    writer = NetTrace4Writer(sink)
    writer.metadata([MetadataRecord(1, "P", 1, 0, "E", fields=(FieldDescription("x", 9),))])
    for number in range(n):
        writer.events([EventRecord(1, number, 1, number.to_bytes(4, "little"))])
        writer.sequence_point(number)
    writer.end()
    return sink.getvalue()


@pytest.mark.parametrize("way", WAYS)
def test_calls_for_each_region(way: str) -> None:
    read = WAYS[way]
    read(clrevents.open(regions(10)))
    counts = [operations(lambda n=n: read(clrevents.open(regions(n)))) for n in SIZES]  # type: ignore[misc]
    for (few, less), (many, more) in pairwise(zip(SIZES, counts, strict=True)):
        assert more - less < 700 * (many - few)


def test_releases_that_share_a_window_become_one_table() -> None:
    (tables,) = clrevents.open(regions(2000)).tables()
    assert tables["P", "E"]["x"].tolist() == list(range(2000))
