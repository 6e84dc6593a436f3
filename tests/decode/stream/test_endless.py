"""A trace may go on for ever: what is defined again costs neither memory nor more time, and is what it was."""

from __future__ import annotations

import gc
import struct
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clrevents
import costly_containers as costly
from clrevents import Decoder, Limits
from clrevents.decode.clock import Clock
from clrevents.decode.container.blocks import SequencePoint, ThreadNumbers, ThreadRow
from clrevents.decode.header_columns import HEADERS, Known
from clrevents.decode.kernels.header_scan import Tally, arranged
from clrevents.decode.stream.losses import LossLog
from clrevents.decode.stream.resolver import ThreadTable
from clrevents.decode.stream.stream import Stream
from clrevents.encode.values import EventRecord, MetadataRecord
from clrevents.encode.values import ThreadRow as ThreadRecord
from clrevents.rewrite import redact
from counting import operations, peak

pytestmark = pytest.mark.full

SIZES = (1000, 4000, 16000)
# What a few blocks need, however much came before.
LITTLE = 200_000


def test_a_month_of_the_same_kinds_threads_stacks_and_labels_stays_flat() -> None:
    decoder = Decoder(limits=Limits(metadata=100, threads=100))
    events = 0
    blocks = []
    for point, piece in enumerate(costly.endless(4_000)):
        for batch in decoder.feed(piece):
            events += len(batch)
            for event in batch:
                assert (event.thread_id, event.process_id, event.payload["x"]) == (90 + event.id, 7, 0)
                assert event.stack == ((7, 8), (9,))[event.time_ns // 10 % 2]
                assert dict(event.labels) == ({"key": "value"} if event.id == 11 else {})
        if point in (1000, 2999, 3999):
            gc.collect()
            blocks.append(sys.getallocatedblocks())
        if point == 2999:
            tracemalloc.start()
    try:
        gc.collect()
        # A fresh process holds 13,000 here, one that did much before up to 26,000; an object a piece is 28,000 more.
        assert tracemalloc.get_traced_memory()[0] < 32_000
    finally:
        tracemalloc.stop()
    assert events == 3 * 4_000
    assert decoder.problems == ()
    assert decoder.losses == ()
    assert max(blocks) - blocks[0] < 1000


def test_kinds_and_threads_that_come_again_are_the_ones_that_they_were() -> None:
    stream = Stream()
    places = []
    for piece in costly.endless(50):
        places += [rows.thread_places.tolist() for rows in stream.feed(piece) if rows.thread_places is not None]
    stream.close()
    # The second event has labels that override its level.
    assert [(kind.key.name, kind.row.level) for kind in stream.kinds.all] == [
        ("E0", 0),
        ("E1", 0),
        ("E2", 0),
        ("E1", 3),
    ]
    assert [row.thread_id for row in stream.threads.all] == [100, 101, 102]
    assert places == [[0, 1, 2]] * 50


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
def test_a_row_that_comes_again_is_reported_where_it_is() -> None:
    sink, writer = costly.six()
    places: list[int] = []
    for turn in range(3):
        writer.metadata([MetadataRecord(1, "P", turn % 2, 0, "EventA")])
        writer.threads([ThreadRecord(1, 10 + turn % 2, name="worker A")])
        writer.events([EventRecord(1, turn, 1)])
    writer.end()
    data = sink.getvalue()
    for text in (b"EventA", b"worker A"):
        at = -1
        while (at := data.find(text, at + 1)) >= 0:
            places.append(at)
    trace = clrevents.open(data, errors="salvage")
    # The first and third descriptions are equal: each redefines the one before it.
    assert [(event.id, event.thread_id) for event in trace.events()] == [(0, 10), (1, 11), (0, 10)]
    found = [problem.offset for problem in trace.problems if problem.kind.startswith("redefined-")]
    assert len(found) == 4
    rows = [places[1], places[4], places[2], places[5]]
    assert all(offset is not None and 0 < row - offset < 20 for offset, row in zip(found, rows, strict=True))


def test_two_threads_with_equal_descriptions_stay_two() -> None:
    table = ThreadTable(Limits())
    for _ in range(3):
        assert [table.define(ThreadRow(index)) for index in (1, 2)] == [None, None]
        assert {table.find(1), table.find(2)} == {0, 1}
        table.forget()
    assert len(table.all) == 2


def test_a_thread_that_came_again_after_damage_lost_its_first_events_itself() -> None:
    table = ThreadTable(Limits())
    log = LossLog(Limits(), table)
    log.begin(Clock(0, 1, None), 6)
    table.define(ThreadRow(1, 100))
    log.damaged()
    place = table.remove(1)
    assert place == 0
    log.numbers.forget(place)
    table.define(ThreadRow(5, 100))
    assert table.find(5) == place
    assert not list(log.sequence_point(SequencePoint(9, ThreadNumbers(struct.pack("<QI", 5, 3)), 0), 0))
    assert (log.lost, log.missing) == (3, 0)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("make", [costly.many_kinds, costly.many_threads])
@pytest.mark.parametrize("reader", ["stream", "tally", "decoder"])
def test_a_sequence_point_costs_nothing_for_what_was_defined_before(
    make: Callable[[int, int], tuple[bytes, bytes]], reader: str, count: int
) -> None:
    before, after = make(count, 2)
    half = len(after) // 2
    stream: Any = Decoder("P/E*") if reader == "decoder" else Stream(tally=Tally(10) if reader == "tally" else None)
    list(stream.feed(before + after[:half]))

    def step() -> None:
        for rows in stream.feed(after[half:]):
            if reader == "stream":
                known = Known(stream.kinds.all, stream.clock, None)
                assert [len(header.make(rows, known)) for header in HEADERS.values()] == [1] * len(HEADERS)

    assert peak(step) < LITTLE
    assert len(stream_of(stream).kinds.table) < 5000 or make is costly.many_threads


def stream_of(reader: Any) -> Stream:
    stream: Stream = reader if isinstance(reader, Stream) else reader._stream
    return stream


def test_few_rows_of_many_kinds_are_grouped_without_looking_at_each_kind() -> None:
    kinds = np.array([199_999, 5, 199_999, 70_000])
    order, groups = arranged(kinds)
    assert [(kind, order[part].tolist()) for kind, part in groups] == [(5, [1]), (70_000, [3]), (199_999, [0, 2])]
    assert peak(lambda: arranged(kinds)) < LITTLE


@pytest.mark.parametrize("make", [costly.many_kinds, costly.many_threads])
def test_copies_cost_nothing_for_what_was_defined_before(
    make: Callable[[int, int], tuple[bytes, bytes]], tmp_path: Path
) -> None:
    def work(count: int, points: int) -> int:
        with clrevents.open(b"".join(make(count, points))) as trace:
            return operations(lambda: redact(trace, tmp_path / "out.nettrace", key=b"k"))

    each = [(work(count, 40) - work(count, 20)) / 20 for count in (1000, 4000)]
    assert each[1] < 1.5 * each[0]
