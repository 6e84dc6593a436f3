"""Threads and their last numbers in NetTrace 6: read many at a time, they are what reading one by one gives."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from clrevents.decode.container.blocks import ThreadNumbers
from clrevents.decode.container.nettrace6_rows import read_numbers
from clrevents.decode.container.window import Cursor, Short
from clrevents.encode.values import ThreadRow
from clrevents.schema.codes import BlockKind
from costly import many_threads
from costly_containers import six
from counting import operations

LONGEST = bytes([255] * 9 + [127])
"""An index of ten bytes: all that 64 bits hold, and more."""
PAIRS = st.lists(
    st.sampled_from(
        [
            b"\2\1",
            b"\x81\0\x7f",
            b"\0\xff\xff\xff\xff\x7f",
            LONGEST + b"\x80\x80\x80\x80\x10",
            b"\xac\x02\xff\xff\x03",
        ]
    ),
    max_size=300,
)
ENDS = st.sampled_from([b"", b"\2", b"\x80", LONGEST, bytes([128] * 10 + [1, 1]), b"\1" + bytes([128] * 5 + [1])])


def one_by_one(cursor: Cursor, count: int | None) -> list[tuple[int, int]]:
    found = []
    while cursor.left if count is None else len(found) < count:
        found.append((cursor.varint(64, "thread index"), cursor.varint(32, "sequence number")))
    return found


def outcome(
    read: Callable[[Cursor, int | None], Iterable[tuple[int, int]]], cursor: Cursor, count: int | None
) -> list[tuple[int, int]] | tuple[str, int, int, int]:
    """The pairs, or what is wrong."""
    try:
        return list(read(cursor, count))
    except Short as short:
        return short.what, short.offset, short.needed, short.available


@given(PAIRS, ENDS, st.booleans(), st.sampled_from([b"", b"\2\1" * 40]))
def test_many_at_a_time(pairs: list[bytes], end: bytes, counted: bool, rest: bytes) -> None:
    data = b"\xff" * 3 + b"".join(pairs) + end + rest
    count = len(pairs) + (1 if end else 0) if counted else None
    together, alone = (Cursor(data, 3, len(data), 1000) for _ in range(2))
    expected = outcome(one_by_one, alone, count)
    assert outcome(read_numbers, together, count) == expected
    if isinstance(expected, list):
        assert together.pos == alone.pos


def test_what_follows_the_last_is_not_read() -> None:
    cursor = Cursor(b"\2\1" * (1 << 18), 0, 1 << 19, 0)
    assert set(read_numbers(cursor, 200_000)) == {(2, 1)}
    assert cursor.pos == 400_000


def test_pieces_are_what_there_is_in_order() -> None:
    pairs = [(i * 0x10001 & (1 << 64) - 1, i) for i in range(1 << 17)]
    numbers = ThreadNumbers(b"".join(struct.pack("<QI", *pair) for pair in pairs))
    pieces = list(numbers.pieces())
    assert len(pieces) > 1
    found = [pair for index, number in pieces for pair in zip(index.tolist(), number.tolist(), strict=True)]
    assert found == list(numbers) == pairs


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
def test_losses_are_those_of_known_threads() -> None:
    """Also where a thread comes twice, and where its number steps back in between."""
    sink, writer = six()
    writer.threads([ThreadRow(7, 70), ThreadRow(300, 30)])
    content = struct.pack("<qII", 9, 0, 204) + b"\2\1" * 100 + b"\7\5\xac\2\3\7\2\7\6" + b"\2\1" * 100
    writer.raw_block(BlockKind.SEQUENCE_POINT, content)
    writer.end()
    with clrevents.open(sink.getvalue()) as trace:
        assert not list(trace.events())
        losses = trace.losses
    assert [(loss.thread_id, loss.count) for loss in losses] == [(70, 5), (30, 3), (70, 1)]


def test_a_thread_costs_no_call() -> None:
    """Millions of threads that nothing else is about: a call for every few hundred of them."""
    with clrevents.open(many_threads(200_000)) as trace:
        assert operations(trace.event_counts) < 30_000
