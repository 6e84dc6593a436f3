"""Samples as a table, threads in order, and stacks that begin with the innermost frame."""

from __future__ import annotations

import random

from analysis.test_samples import MS, shop, traced
from clrevents.analysis import read_samples
from clrevents.analysis.shared.samples.samples import SampledThread
from hand_made import hand_made


def test_the_rows() -> None:
    builder = shop().thread(7).at(10 * MS).sample(0x2010, 0x1010)
    builder.thread(8).at(11 * MS).sample(0x1010, kind=1)
    builder.thread(7).at(14 * MS).sample(0x3010, 0x2010, 0x1010, kind=1)
    builder.thread(7).at(15 * MS).sample()
    samples = read_samples(traced(builder))
    table = samples.table()
    columns = ["time_ns", "thread_id", "process_id", "weight", "leaf", "stack", "state"]
    assert table.columns == [*columns, "processor_ns", "ready_ns"]
    # No processor time was counted.
    assert {(row["processor_ns"], row["ready_ns"]) for row in table.rows()} == {(None, None)}
    assert table.metadata == {"name": "ThreadSample", "unit": "nanoseconds"}
    main, pay, wait = "Shop.Main()", "Shop.Pay()", "Shop.Wait()"
    assert [tuple(row.values()) for row in table.select(*columns).rows()] == [
        (10 * MS, 7, 1234, 3 * MS // 2, pay, f"{pay}\n{main}", "running"),
        (11 * MS, 8, 1234, 0, main, main, "native"),
        # The first sample after a gap holds from before it was taken.
        (14 * MS - 3 * MS // 2, 7, 1234, 5 * MS // 2, wait, f"{wait}\n{pay}\n{main}", "native"),
        (15 * MS, 7, 1234, 0, "[no stack]", "[no stack]", "running"),
    ]


def test_unknown_threads_are_null_and_weights_keep_their_type() -> None:
    threads = {1: SampledThread(None), 2: SampledThread(9, 8)}
    rows = [(1, 1.5, ("A", "B"), False), (2, 2.0, ("A",), False)]
    table = hand_made(rows, timed=False, threads=threads).table()
    assert list(table.select("thread_id", "process_id", "weight", "stack").rows()) == [
        {"thread_id": None, "process_id": None, "weight": 1.5, "stack": "B\nA"},
        {"thread_id": 9, "process_id": 8, "weight": 2.0, "stack": "A"},
    ]
    empty = hand_made([]).table()
    assert (len(empty), empty.columns) == (0, table.columns)


def test_threads_sort_by_process_then_number_and_none_comes_first() -> None:
    ordered = [
        SampledThread(None),
        SampledThread(3, None, "Main"),
        SampledThread(None, 1),
        SampledThread(2, 1),
        SampledThread(2, 1, "Main"),
        SampledThread(10, 1),
        SampledThread(1, 2),
    ]
    for seed in range(5):
        shuffled = random.Random(seed).sample(ordered, len(ordered))
        assert sorted(shuffled) == ordered
    assert ordered[0] < ordered[1] <= ordered[1]
