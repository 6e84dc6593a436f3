"""Counts of processor time: windows tile and keep sums, whatever is counted, and so does what is divided of them."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import clrevents
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.shared.processor.counted_events import (
    MANAGED,
    NO_THREAD,
    NOTHING,
    WAITING,
    ThreadWindows,
    divided,
    portion,
)
from clrevents.rewrite import cut
from clrevents.schema.events.recorder import (
    MachineProcessorTime_V0,
    ProcessLimits_V0,
    ProcessorCounting_V0,
    ProcessorTime_V0,
    ProcessProcessorTime_V0,
    ThreadEnd_V0,
    ThreadName_V0,
)
from clrevents.testing.builder import TraceBuilder
from processor_counts import NOBODY
from thread_tiles import tiles

MS = 1_000_000
MAIN = 0x1010
WINDOW = 50 * MS

moments = st.integers(0, 400)
counts = st.lists(
    st.tuples(st.integers(1, 3), moments, st.integers(-1, 90), st.integers(-1, 200), st.integers(-1, 200)), max_size=30
)
lengths = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 60), st.sampled_from((MANAGED, WAITING, NOTHING, 5, 6))))


def windows(rows: list[tuple[int, int, int, int, int]]) -> ThreadWindows:
    thread, *rest = (np.array([row[n] for row in rows], dtype=np.int64) for n in range(5))
    return ThreadWindows.of(thread, *rest)


@given(counts)
@example([(1, 400, 90, 1 << 60, -1), (1, 100, 50, 1 << 62, 1 << 62)])
def test_windows_tile_and_keep_what_was_counted(rows: list[tuple[int, int, int, int, int]]) -> None:
    found = windows(rows)
    assert found.processor.sum() == sum(min(max(row[3], 0), 1 << 40) for row in rows)
    assert found.ready.sum() <= sum(min(max(row[4], 0), 1 << 40) for row in rows)
    for _, mine in found.by_thread():
        assert (found.start[mine][1:] == found.end[mine][:-1]).all()
        length = found.end[mine] - found.start[mine]
        assert (length >= 0).all()
        # All but the first hold what they have.
        assert (found.processor[mine] + found.ready[mine] <= length)[1:].all()


@given(st.lists(st.tuples(moments, moments, st.integers(0, 1 << 40))), st.lists(moments, max_size=5))
def test_portions_add_up(spans: list[tuple[int, int, int]], edges: list[int]) -> None:
    start, end, amount = (np.array(column, dtype=np.int64) for column in ([], [], []))
    if spans:
        start, end = np.sort(np.array([span[:2] for span in spans], dtype=np.int64)).T
        amount = np.array([span[2] for span in spans], dtype=np.int64)
    cuts = [None, *sorted(edges), None]
    parts = [portion(start, end, amount, TimeWindow(*edge)) for edge in pairwise(cuts)]
    assert (sum(parts) == amount).all() if spans else True


@given(counts, lengths)
def test_what_is_divided_is_all_of_a_window_or_nobodys(
    rows: list[tuple[int, int, int, int, int]], samples: list[tuple[int, int, int]]
) -> None:
    found = windows(rows)
    at = dict.fromkeys(range(1, 5), 0)
    thread, start, end, method = [], [], [], []
    for number, length, doing in samples:
        thread.append(number)
        start.append(at[number])
        end.append(at[number] + length)
        method.append(doing)
        at[number] += length
    columns = (np.array(column, dtype=np.int64) for column in (thread, start, end, method))
    thread, *rest = columns
    # What ended threads used goes to those that were never read, here the fourth.
    ended = ThreadWindows(*(np.array([one]) for one in (NO_THREAD, 50, 150, 70, 0)))
    since = np.where(thread == 4, 0, 1 << 40)
    pieces = divided(found, ended, thread, since, *rest)
    found = pieces.windows
    assert found.processor[-1] <= 70
    assert {thread[one] for one in pieces.sample[pieces.window == len(found) - 1]} <= {4}
    assert (pieces.processor >= 0).all()
    assert (pieces.ready >= 0).all()
    shared = np.unique(pieces.window)
    for amount, parts in ((found.processor, pieces.processor), (found.ready, pieces.ready)):
        assert (np.bincount(pieces.window, parts, len(found))[shared] == amount[shared]).all()
    spread = pieces.spread(np.arange(len(pieces.sample)), pieces.sample, len(samples))
    own, _ = pieces.of_samples(len(samples))
    assert len(spread) == len(own) == len(samples)


def trace(*, ready: int = 10 * MS, used: int = 30 * MS, busy: int = 2) -> TraceBuilder:
    """Two threads: one runs for 100 ms and waits for 100, the other is one of the runtime's without samples."""
    builder = TraceBuilder(step_ns=MS)
    builder.thread(NOBODY).at(0).event(ProcessorCounting_V0(1, WINDOW, 2, 2, 0))
    builder.event(ThreadName_V0(7, "Worker")).event(ThreadName_V0(8, ".NET Tiered JIT"))
    for window in range(1, 5):
        builder.thread(7)
        for time in range(50 * window - 48, 50 * window, 2):
            builder.at(time * MS).sample(MAIN)
        builder.thread(NOBODY).at(window * WINDOW)
        if window <= busy:
            builder.event(ProcessorTime_V0(7, WINDOW, used, ready, 3))
        builder.event(ProcessorTime_V0(8, WINDOW, MS, 0, 1))
        builder.event(ProcessProcessorTime_V0(WINDOW, 40 * MS, 2, 0))
    return builder


def test_threads_and_methods_of_a_small_trace() -> None:
    with clrevents.open(trace().build()) as opened:
        threads, top, samples = opened.report("threads"), opened.report("top"), clrevents.analysis.read_samples(opened)
    tiles(threads)
    assert [
        (row.thread_id, row.thread_name, row.role, row.processor_ns, row.ready_ns) for row in threads.threads
    ] == [
        (7, "Worker", "other", 60 * MS, 20 * MS),
        (8, ".NET Tiered JIT", "tiering", 4 * MS, 0),
        (0, None, "ended", (160 - 64) * MS, 0),
    ]  # fmt: skip
    assert threads.metrics["processor_total"].value == 160 * MS
    assert {interval.evidence for interval in threads.intervals if interval.state == "ready"} == {"counted"}
    (row,) = top.methods
    assert (row.processor_ns, row.processor_low_ns, row.processor_high_ns, row.ready_ns) == (
        60 * MS, 60 * MS, 60 * MS, 20 * MS,
    )  # fmt: skip
    assert samples.by_processor().total == 60 * MS
    assert top.facts.used == (
        "0.160 of 0.400 processor-seconds (40 %), compilation 2.50 %; threads waited 20.0 ms for a processor"
    )


def test_what_threads_used_before_they_ended_is_divided_among_their_samples() -> None:
    """In the third window the process used 39 ms more than its threads, and only one has samples that nobody read."""
    builder = trace()
    builder.thread(9)
    for time in range(102, 150, 2):
        builder.at(time * MS).sample(MAIN)
    with clrevents.open(builder.build()) as opened:
        top, threads = opened.report("top"), opened.report("threads")
        alone = opened.report("top", thread_id=9)
    (row,) = top.methods
    assert (row.processor_ns, alone.methods[0].processor_ns) == (99 * MS, 39 * MS)
    assert row.processor_low_ns == row.processor_ns == row.processor_high_ns
    (unassigned,) = [note.numbers["unassigned_ns"] for note in top.notes if note.id == "unassigned"]
    assert row.processor_ns + unassigned == threads.metrics["processor_total"].value
    # The thread's own row stays unknown: nobody counted it.
    assert {one.thread_id: one.processor_ns for one in threads.threads}[9] is None


def test_parts_add_up_to_the_whole() -> None:
    parts = []
    with clrevents.open(trace().build()) as opened:
        for window in ({"end": "0.1s"}, {"start": "0.1s"}):
            sink = BytesIO()
            cut(opened, sink, **window)
            with clrevents.open(sink.getvalue()) as part:
                used = {row.thread_id: row.processor_ns or 0 for row in part.report("threads").threads}
                parts.append((used, sum(row.processor_ns for row in part.report("top").methods)))
    both = [sum(part.get(thread, 0) for part, _ in parts) for thread in (7, 8, 0)]
    assert both == [60 * MS, 4 * MS, 96 * MS]
    # The second part has no sample of the interval that it begins in.
    assert [methods for _, methods in parts] == [30 * MS, 0]


def test_where_ready_time_is_unknown_it_is_not_said_to_be_none() -> None:
    with clrevents.open(trace(ready=-1).build()) as opened:
        threads = opened.report("threads")
    assert threads.metrics["ready_total"].value is None
    assert "waited" not in threads.facts.used
    assert {row.ready_ns for row in threads.threads} == {None}


@pytest.mark.parametrize(
    ("busy_ms", "title", "culprit"),
    [
        (390, "other programs used 230 ms of processor time", "other programs"),
        # The machine did nothing else: the threads of the program itself are too many, or bound to too few processors.
        (160, None, "Worker"),
    ],
)
def test_the_doctor_blames_other_programs(busy_ms: int, title: str | None, culprit: str) -> None:
    builder = trace(ready=35 * MS, used=10 * MS, busy=4)
    builder.event(MachineProcessorTime_V0(4 * WINDOW, 2, busy_ms * MS, 10 * MS, 0, 5)).event(ThreadEnd_V0(8, WINDOW))
    builder.event(ProcessLimits_V0(4 * WINDOW, -1, 100 * MS, -1, 0, 0, 0, -1, -1))
    with clrevents.open(builder.build()) as opened:
        threads = opened.report("threads")
        found = {row.rule: row for row in opened.doctor().findings}["cpu.contended"]
    assert threads.metrics["machine_total"].value == busy_ms * MS
    assert threads.metrics["limit"].value is None
    assert (found.state, found.culprit) == ("found", culprit)
    assert found.title.partition(": ")[2] == (title or "")


def test_an_idle_machine_contends_for_nothing() -> None:
    """What was read on an idle machine: each thread waits a moment for its processor, and nothing limits it."""
    builder = trace(ready=MS, used=45 * MS, busy=4)
    builder.event(MachineProcessorTime_V0(4 * WINDOW, 2, 190 * MS, 210 * MS, 0, 1))
    builder.event(ProcessLimits_V0(4 * WINDOW, 40 * MS, 100 * MS, -1, 2, 0, 0, -1, -1))
    with clrevents.open(builder.build()) as opened:
        found = {row.rule: row.state for row in opened.doctor().findings}
    assert (found["cpu.contended"], found["cpu.limited"]) == ("clear", "clear")
