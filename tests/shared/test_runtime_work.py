"""The runtime's own work as frames: as long as its events say, within the error of sampling."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from shared_files import SHARED, needs_shared

import clrevents
from clrevents.analysis import read_samples

pytestmark = needs_shared

Spans = dict[int, list[tuple[int, int]]]


def union(spans: Iterable[tuple[int, int, int]]) -> Spans:
    """What spans of threads cover, each thread's without overlaps."""
    found: Spans = {}
    for thread, start, end in sorted(spans):
        mine = found.setdefault(thread, [])
        if mine and start <= mine[-1][1]:
            mine[-1] = (mine[-1][0], max(mine[-1][1], end))
        else:
            mine.append((start, end))
    return found


def compiled(trace: clrevents.Trace) -> Spans:
    rows = trace.report("jit").compilations
    return union((row.thread_id, row.start_ns, row.end_ns) for row in rows if row.compile_ns is not None)


def loaded(trace: clrevents.Trace) -> Spans:
    open_: dict[tuple[int, int], int] = {}
    found = []
    for event in trace.events("TypeLoadStart", "TypeLoadStop"):
        key = (event.thread_id, event.payload.TypeLoadStartID)
        if event.name == "TypeLoadStart":
            open_[key] = event.time_ns
        elif key in open_:
            found.append((event.thread_id, open_.pop(key), event.time_ns))
    return union(found)


@pytest.mark.parametrize(
    ("path", "frame", "spans"),
    [
        ("real/csc-net10-allocs", "[jit]", compiled),
        ("real/msbuild-net10", "[jit]", compiled),
        ("requests/net11-shop-full-7", "[jit]", compiled),
        ("traces/own/net10-all", "[type load]", loaded),
        ("net11/net11-all", "[type load]", loaded),
    ],
)
def test_work_takes_the_time_of_its_events(path: str, frame: str, spans: Callable[[clrevents.Trace], Spans]) -> None:
    with clrevents.open(SHARED / f"{path}.nettrace.gz") as trace:
        samples = read_samples(trace).seen()
        (row,) = (row for row in trace.report("top").methods if row.name == frame)
        truth = spans(trace)
    place = next(n for n, one in enumerate(samples.frames) if one.name == frame)
    has = np.array([place in samples.frame_ids(stack) for stack in range(len(samples.offsets) - 1)])[samples.stack]
    assert samples.weight_of(has) == row.inclusive_ns
    expected = 0
    ends = {thread: [end for _, end in mine] for thread, mine in truth.items()}
    columns = (samples.time_ns, samples.weight, samples.thread)
    for start, weight, thread in zip(*(column.tolist() for column in columns), strict=True):
        mine = truth.get(samples.threads[thread].thread_id, [])
        for low, high in mine[bisect_left(ends.get(samples.threads[thread].thread_id, []), start) :]:
            if low >= start + weight:
                break
            expected += max(0, min(high, start + weight) - max(low, start))
    error = 4 * float(np.sqrt((samples.weight[has].astype(float) ** 2).sum()))
    assert row.inclusive_ns == pytest.approx(expected, abs=error)
    assert error < expected
    assert row.running_ns == row.waiting_ns == 0


@pytest.mark.parametrize("path", ["traces/own/net10-all", "net11/net11-all"])
def test_states_last_as_long_as_their_events(path: str) -> None:
    with clrevents.open(SHARED / f"{path}.nettrace.gz") as trace:
        compiling, loading = compiled(trace), loaded(trace)
        both = union((thread, *span) for spans in (compiling, loading) for thread, of in spans.items() for span in of)
        report, compile_total = trace.report("threads"), trace.report("jit").metrics["compile_total"].value
    alive = {row.thread_id for row in report.threads}
    work, either = (
        sum(high - low for thread, of in spans.items() if thread in alive for low, high in of)
        for spans in (compiling, both)
    )
    assert report.metrics["jit_total"].value == work == compile_total
    # What events say of waits inside stays a wait.
    assert report.metrics["type_load_total"].value == pytest.approx(either - work, rel=0.05)
    assert sum(row.total_ns for row in report.states) == sum(row.life_ns for row in report.threads)
