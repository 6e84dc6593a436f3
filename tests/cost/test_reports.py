"""Reports of crafted ids, times, threads and processes: as much work for each byte, however they were chosen."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
import costly_reports
from clrevents.analysis.framework.vocabulary.report_table import Hole, Marks
from clrevents.analysis.reports.startup.self_time import NONE, ThreadSpans, depths, self_times
from clrevents.analysis.shared.samples.samples import read_samples
from clrevents.encode.nettrace6 import NetTrace6Writer
from clrevents.encode.values import EventRecord, FieldDescription, MetadataRecord, ThreadRow, TraceHeader
from costly import operations

SIZES = (250, 500, 1000)
pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def work(data: bytes) -> int:
    with clrevents.open(data, errors="salvage") as trace:
        trace.event_counts()
        return operations(lambda: trace.reports())


@pytest.mark.parametrize(
    "make",
    [
        costly_reports.nested_spans,
        costly_reports.crossing_spans,
        costly_reports.equal_ids,
        costly_reports.reversed_times,
        costly_reports.threads_with_turns,
        costly_reports.deep_stacks,
        costly_reports.runtimes,
    ],
    ids=lambda make: make.__name__,
)
def test_operations_of_each_byte(make: Callable[[int], bytes]) -> None:
    work(make(10))
    streams = [make(n) for n in SIZES]
    counts = [work(data) for data in streams]
    for (few, less), (many, more) in pairwise(zip(streams, counts, strict=True)):
        # Of all reports together.
        assert more - less < 5 * (len(many) - len(few))


def test_processes_beyond_the_limit_are_left_out_and_counted() -> None:
    with clrevents.open(costly_reports.processes(130)) as trace:
        found = trace.report("jit")
        (one,) = trace.report("jit", process_id=129).compilations
    assert len(found.compilations) == 100
    assert found.coverage == "partial"
    assert (found.notes[-1].id, found.notes[-1].numbers) == ("too-many-processes", {"processes": 30})
    assert one.process_id == 129


def test_of_many_processes_the_busiest_are_shown_and_no_share_is_of_these_alone() -> None:
    trace = io.BytesIO()
    writer = NetTrace6Writer(trace, TraceHeader(process_id=0, processors=1, sampling_interval_ns=1_000_000))
    writer.metadata([MetadataRecord(1, "Universal.Events", 1, 0, "cpu", fields=(FieldDescription("Value", 21),))])
    writer.threads([ThreadRow(i, i, i) for i in range(1, 151)])
    # The later processes have more of them.
    writer.events([EventRecord(1, at, i, b"\1") for at, i in enumerate(i for i in range(1, 151) for _ in range(i))])
    writer.end()
    with clrevents.open(trace.getvalue()) as opened:
        found, whole = opened.report("top"), read_samples(opened)
        one = opened.report("top", process_id=1)
    assert {row.process_id for row in found.methods} == set(range(51, 151))
    assert {row.share for row in found.methods} == {None}
    total = found.metrics["total"]
    assert (total.value, total.low, total.high) == (10_050_000_000, 10_050_000_000, None)
    assert whole.total == 11_325_000_000
    assert [row.share for row in one.methods] == [1.0]
    assert "too-many-processes" not in {note.id for note in one.notes}


def test_a_trace_with_few_processes_has_all_of_them() -> None:
    with clrevents.open(costly_reports.processes(3)) as trace:
        found = trace.report("jit")
    assert [compiled.process_id for compiled in found.compilations] == [1, 2, 3]
    assert "too-many-processes" not in {note.id for note in found.notes}


def spans(*rows: tuple[int, int, int]) -> ThreadSpans:
    """Of (thread, start, end), in order of their start."""
    thread, start, end = np.array(sorted(rows, key=lambda row: row[1]), dtype=np.int64).reshape(-1, 3).T
    rows_of = np.arange(len(thread))
    return ThreadSpans(rows_of, rows_of, thread.astype(np.uint64), start, end, start, end)


some_spans = st.lists(st.integers(1, 2), max_size=20).flatmap(
    lambda threads: st.permutations(range(2 * len(threads))).map(
        lambda places: [
            (thread, *sorted(pair)) for thread, pair in zip(threads, zip(*[iter(places)] * 2, strict=True), strict=True)
        ]
    )
)


@given(some_spans, st.sets(st.integers(0, 19)))
def test_depths_against_every_other_span(rows: list[tuple[int, int, int]], open_: set[int]) -> None:
    found = spans(*rows)
    for row in open_ & set(range(len(found))):
        # A begin without an end, as `thread_spans` has it.
        found.end[row] = NONE
        found.end_place[row] = found.start_place[row]
    inside = [
        sum(
            bool(other_closed) and other_thread == thread and begin < start < end
            for other_thread, begin, end, other_closed in zip(
                found.thread, found.start_place, found.end_place, found.closed, strict=True
            )
        )
        for thread, start in zip(found.thread, found.start_place, strict=True)
    ]
    assert depths(found).tolist() == inside


@given(some_spans)
def test_self_times_of_spans_that_cross(rows: list[tuple[int, int, int]]) -> None:
    found = spans(*rows)
    expected = np.zeros(len(found), dtype=np.int64)
    for moment in range(2 * len(found)):
        for thread in (1, 2):
            around = (found.thread == thread) & (found.start_ns <= moment) & (moment < found.end_ns)
            if around.any():
                expected[np.flatnonzero(around)[-1]] += 1
    (own,) = self_times([found])
    assert own.within(-100, 100).tolist() == expected.tolist()


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 20), st.integers(0, 5)), max_size=8),
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 20), st.integers(0, 5)), max_size=20),
)
def test_holes_of_many_threads(holes: list[tuple[int, int, int]], rows: list[tuple[int, int, int, int]]) -> None:
    marks = Marks([Hole(thread, 1, start, start + length, "loss") for thread, start, length in holes])
    first, second, start, length = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    expected = [
        any(thread in (a, b) and low <= begin + long and begin <= low + size for thread, low, size in holes)
        for a, b, begin, long in rows
    ]
    threads = first.astype(np.uint64), second.astype(np.uint64)
    assert marks.touched(start, start + length, threads).tolist() == expected


def test_runtimes_beyond_the_limit_are_left_out_and_counted() -> None:
    # Of the first of 100 processes: runtimes 0 to 9, of which the first has one event more.
    with clrevents.open(costly_reports.runtimes(901)) as trace:
        one, other = trace.report("gc", process_id=1), trace.report("gc", process_id=2)
        whole = trace.report("gc")
    assert len(one.other_suspensions) == 2
    assert one.coverage == "partial"
    assert (one.notes[-1].id, one.notes[-1].numbers) == ("too-many-runtimes", {"runtimes": 8})
    assert other.notes[-1].numbers == {"runtimes": 7}
    assert len(whole.other_suspensions) == 200
    with clrevents.open(costly_reports.runtimes(200)) as trace:
        found = trace.report("gc")
    assert len(found.other_suspensions) == 200
    assert "too-many-runtimes" not in [note.id for note in found.notes]
