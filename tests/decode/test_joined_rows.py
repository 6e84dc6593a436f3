"""Rows of several releases make the header columns that their parts make one by one."""

from __future__ import annotations

import pytest

import costly_containers
from clrevents.decode.header_columns import HEADERS, Known
from clrevents.decode.rows import joined_rows
from clrevents.decode.stream.stream import Stream
from clrevents.testing.builder import TraceBuilder


def regions() -> bytes:
    """NetTrace 6 with a sequence point after every three events, which have stacks, labels, threads and processes."""
    return b"".join(costly_containers.endless(5))


def some_activities() -> bytes:
    """Four regions of one event; the second and the last have an activity."""
    made = TraceBuilder(format="nettrace4").thread(1)
    for number in (0, 7, 0, 9):
        made.activity(bytes(15) + bytes([number])).raw("P", 1, name="E").sequence_point()
    return made.build()


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_columns_of_many_releases_are_those_of_each(name: str) -> None:
    stream = Stream()
    parts = [rows for rows in (*stream.feed(regions()), *stream.close()) if len(rows)]
    assert len(parts) == 5
    known = Known(stream.kinds.all, stream.clock, 77)
    make = HEADERS[name].make
    together = make(joined_rows(parts), known)
    assert len(together) == 15
    assert together.tolist() == [value for rows in parts for value in make(rows, known).tolist()]


def test_activities_of_some_releases() -> None:
    stream = Stream()
    parts = [rows for rows in (*stream.feed(some_activities()), *stream.close()) if len(rows)]
    assert [rows.activities is None for rows in parts] == [True, False, True, False]
    known = Known(stream.kinds.all, stream.clock, None)
    column = HEADERS["activity_id"].make(joined_rows(parts), known).tolist()
    assert [None if value is None else value[-1] for value in column] == [None, 7, None, 9]
