"""A thread that ends while it waits, and no event tells of it: samples of the others go on, of it there are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_threads_report import ENTER, MS, WAIT, asleep, begun, contends, reported, sampled, waits

from clrevents.testing.builder import TraceBuilder


def waits_for_a_handle(builder: TraceBuilder) -> TraceBuilder:
    return waits(asleep(builder, 7, 10, 11, 12, leaf=WAIT), 7, 10, None)


def waits_for_a_lock(builder: TraceBuilder) -> TraceBuilder:
    return contends(asleep(builder, 7, 10, 11, 12, leaf=ENTER), 7, 10)


@pytest.mark.parametrize("waiting", [waits_for_a_handle, waits_for_a_lock])
def test_neither_its_life_nor_its_wait_goes_on(waiting: Callable[[TraceBuilder], TraceBuilder]) -> None:
    report = reported(sampled(waiting(begun()), 8, *range(10, 100)))
    (thread,) = [row for row in report.threads if row.thread_id == 7]
    # Its last sample, at 12, holds for a period and a half.
    assert (thread.start_ns, thread.end_ns, thread.end_evidence) == (10 * MS, 13.5 * MS, "inferred")
    (piece,) = [row for row in report.intervals if row.thread_id == 7]
    assert (piece.start_ns, piece.end_ns, piece.evidence, piece.open) == (10 * MS, 13.5 * MS, "inferred", False)


@pytest.mark.parametrize(
    ("seen", "others"),
    [
        # The sampler itself stops soon after: nobody knows.
        ((10, 11, 12), (*range(10, 20), 99)),
        # The thread is in samples until the end.
        (tuple(range(10, 100)), tuple(range(10, 100))),
        # The sampler never sees this thread.
        ((), tuple(range(10, 100))),
        ((10, 11, 12), ()),
    ],
)
def test_other_threads_that_wait_wait_on(seen: tuple[int, ...], others: tuple[int, ...]) -> None:
    builder = contends(asleep(begun(), 7, *seen, leaf=ENTER), 7, 12)
    report = reported(sampled(sampled(builder, 8, *others), 9, 99))
    last = [row for row in report.intervals if row.thread_id == 7][-1]
    assert (last.end_ns, last.open) == (99 * MS, True)
