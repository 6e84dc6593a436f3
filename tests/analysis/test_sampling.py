"""How long samples hold: what of a thread's time they cover, and what is nobody's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clrevents
from clrevents.analysis import read_samples
from clrevents.analysis.shared.weights.sample_runs import Sampling, period_of
from clrevents.events import GCSuspendEEBegin_V1, GCSuspendEEReason
from clrevents.testing.builder import TraceBuilder

MS = 1_000_000


def methods() -> TraceBuilder:
    builder = TraceBuilder()
    builder.method_load("App.Program", "Main", address=0x1000)
    return builder.method_load("App.Program", "Work", address=0x2000)


def sampled(builder: TraceBuilder, thread: int, *times: int) -> TraceBuilder:
    for time in times:
        builder.thread(thread).at(time * MS).sample(0x2010, 0x1010)
    return builder


def stopped_by_the_sampler(builder: TraceBuilder, *times: int) -> TraceBuilder:
    for time in times:
        builder.thread(99).at(time * MS).event(GCSuspendEEBegin_V1(GCSuspendEEReason(0), -1, 0))
    return builder


def top(builder: TraceBuilder, **options: Any) -> tuple[dict[str, Any], dict[str, tuple[int, int]]]:
    with clrevents.open(builder.build()) as trace:
        report = trace.report("top", **options)
    numbers = {name: report.metrics[name].value for name in ("samples", "total", "unsampled_total")}
    return numbers, {row.name: (row.exclusive_ns, row.samples) for row in report.methods}


def test_samples_that_stop_for_one_thread_cover_three_periods_of_the_gap() -> None:
    builder = methods()
    for time in range(1, 40):
        builder = sampled(builder, 8, time)
        if time <= 10 or time >= 30:
            builder = sampled(builder, 7, time)
    numbers, rows = top(builder, thread_id=7)
    assert numbers == {"samples": 20, "total": 21 * MS, "unsampled_total": 17 * MS}
    assert rows["App.Program.Work()"] == (21 * MS, 20)
    assert rows["[not sampled]"] == (17 * MS, 0)


@pytest.mark.parametrize(("pause", "covered"), [(3, 3), (4, 3), (9, 3), (40, 3)])
def test_samples_that_stop_for_all_threads_are_nobodys_time_too(pause: int, covered: int) -> None:
    times = (*range(1, 11), *range(10 + pause, 20 + pause))
    builder = sampled(sampled(methods(), 7, *times), 8, *times)
    numbers, _ = top(builder, thread_id=7)
    assert numbers["total"] == (18 + covered) * MS
    assert numbers["unsampled_total"] == (pause - covered) * MS


def test_of_a_gap_the_samples_at_its_two_ends_cover_as_much_in_every_report() -> None:
    """One method waits before it and another one runs after it: each has a period and a half of it."""
    builder = methods().method_load("System.Threading.Thread", "Sleep", address=0x3000)
    for time in (*range(1, 11), *range(30, 41)):
        builder.thread(8).at(time * MS).sample(0x1010)
        leaf, kind = (0x3010, 1) if time <= 10 else (0x2010, 2)
        builder.thread(7).at(time * MS + 1).sample(leaf, 0x1010, kind=kind)
    _, rows = top(builder, thread_id=7)
    half = 3 * MS // 2
    assert rows["System.Threading.Thread.Sleep()"][0] == 9 * MS + half
    assert rows["App.Program.Work()"][0] == 10 * MS + half
    with clrevents.open(builder.build()) as trace:
        answers = trace.reports("threads", "waits")
    spans = [(row.state, row.start_ns, row.end_ns) for row in answers["threads"].intervals if row.thread_id == 7]
    first, last = MS + 1, 40 * MS + 1
    assert spans[:3] == [
        ("sleep", first, 10 * MS + 1 + half),
        ("unknown", 10 * MS + 1 + half, 30 * MS + 1 - half),
        ("running", 30 * MS + 1 - half, max(last, spans[2][2])),
    ]
    (sleep,) = answers["waits"].waits
    assert (sleep.kind, sleep.end_ns) == ("sleep", 10 * MS + 1 + half)


def test_a_sampler_that_was_late_separates_no_samples() -> None:
    ticks = (*range(1, 11), *range(18, 28))
    builder = stopped_by_the_sampler(sampled(methods(), 7, *ticks), *ticks)
    assert top(builder)[0] == {"samples": 20, "total": 26 * MS, "unsampled_total": 0}
    late = (*range(1, 11), *range(22, 32))
    builder = stopped_by_the_sampler(sampled(methods(), 7, *late), *late)
    assert top(builder)[0] == {"samples": 20, "total": 21 * MS, "unsampled_total": 9 * MS}


def test_time_that_no_sample_covers_is_no_sample_and_in_no_state() -> None:
    builder = sampled(methods(), 7, *range(1, 11), *range(30, 41))
    with clrevents.open(builder.build()) as trace:
        samples = read_samples(trace)
        assert (len(samples), samples.count, samples.unsampled_total) == (22, 21, 17 * MS)
        assert samples.seen().total == samples.total - samples.unsampled_total
        assert samples.in_states("running").unsampled_total == 0
        assert len(samples.table()) == 21
        (interval,) = [row for row in trace.report("threads").intervals if row.state == "unknown"]
    assert interval.duration_ns == samples.unsampled_total


def test_the_period_is_the_median_of_threads_own_gaps() -> None:
    thread, time = np.array([1, 2, 1, 2, 1]), np.array([0, 1, 10, 21, 40])
    assert period_of(thread, time) == 20
    sampling = Sampling.of(thread, time, time[:0])
    until, since = sampling.sides(np.array([0, 0]), np.array([60, 100]))
    assert (until.tolist(), since.tolist()) == ([60, 30], [60, 70])


def test_one_sample_has_no_period_and_covers_nothing() -> None:
    builder = sampled(methods(), 7, 10)
    assert top(builder)[0] == {"samples": 1, "total": 0, "unsampled_total": 0}
    with clrevents.open(builder.build()) as trace:
        assert trace.report("threads").facts.sampling_period_ns is None
