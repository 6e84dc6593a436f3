"""The law of samples on every trace: thread by thread, `top` gives out the time that its samples cover, and no more.

What they cover is worked out here anew, from the times of samples and of the sampler's stops.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Final

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents
from clrevents.analysis import read_samples
from reading import opened

pytestmark = needs_shared

TRACES: Final = traces("traces/own", "traces/perfview", "scenarios", "rare")
_LARGEST: Final = 8_000_000


def covered(trace: clrevents.Trace) -> dict[int, int]:
    """How much of the time from its first to its last sample is covered, by thread."""
    times: dict[int, list[int]] = defaultdict(list)
    rows = trace.table("ThreadSample", columns=("time_ns", "thread_id"))
    for time, thread in zip(rows.column("time_ns").tolist(), rows.column("thread_id").tolist(), strict=True):
        times[thread].append(time)
    firsts = list(zip(rows.column("thread_id").tolist(), rows.column("time_ns").tolist(), strict=True))[: 1 << 14]
    last: dict[int, int] = {}
    gaps = []
    for thread, time in firsts:
        if thread in last and time > last[thread]:
            gaps.append(time - last[thread])
        last[thread] = time
    gaps.sort()
    period = gaps[(len(gaps) - 1) // 2] if gaps else 0
    begins = trace.table("runtime/GCSuspendEEBegin", columns=("time_ns", "Reason", "Count"))
    columns = (begins.column(name).tolist() for name in ("time_ns", "Reason", "Count"))
    stops = [time for time, reason, count in zip(*columns, strict=True) if reason not in (1, 6) and count == -1]
    late = [(low, high) for low, high in pairwise(stops) if 2 * period < high - low <= 10 * period]
    found = {}
    for thread, mine in times.items():
        total = place = 0
        for low, high in pairwise(mine):
            while place < len(late) and late[place][1] <= low:
                place += 1
            apart, at = high - low, place
            while at < len(late) and late[at][0] < high:
                apart -= min(high, late[at][1]) - max(low, late[at][0])
                at += 1
            total += high - low if apart <= 3 * period else min(high - low, 2 * (3 * period // 2))
        found[thread] = total
    return found


@pytest.mark.full
@pytest.mark.parametrize("shared", TRACES, ids=str)
def test_thread_by_thread_samples_weigh_what_they_cover(shared: Shared) -> None:
    if shared.path.stat().st_size > _LARGEST:
        pytest.skip("too large for every sample in a loop")
    with opened(shared.path) as trace:
        expected = covered(trace)
        samples, report = read_samples(trace), trace.report("top")
    seen = samples.seen()
    given: dict[int, int] = defaultdict(int)
    for place, weight in zip(seen.thread.tolist(), seen.weight.tolist(), strict=True):
        given[seen.threads[place].thread_id or 0] += weight
    assert dict(given) == expected
    total = report.metrics["total"].value
    assert (total or 0) == sum(expected.values())
    rows = {row.name: row.exclusive_ns or 0 for row in report.methods}
    assert sum(rows.values()) == samples.total
    assert rows.get("[not sampled]", 0) == samples.unsampled_total
    unsampled = report.metrics["unsampled_total"]
    if unsampled.reason == "events are missing that it depends on":
        assert {"losses", "no-end"} & {note.id for note in report.notes}
    else:
        assert (unsampled.value or 0) == samples.unsampled_total


def test_before_net_5_nobody_knows_what_ran_and_the_time_on_the_clock_is_right() -> None:
    with clrevents.open(SHARED / "scenarios" / "net31-cpu-44.nettrace.gz") as trace:
        running, top, threads = trace.report("top", running=True), trace.report("top"), trace.report("threads")
    assert running.coverage == "none"
    reason = "samples of this runtime do not show whether a thread ran managed code"
    assert {(metric.value, metric.reason) for metric in running.metrics.values()} == {(None, reason)}
    assert {row.running_ns for row in top.methods} == {None}
    assert (top.metrics["standing"].value, top.metrics["standing"].reason) == (None, reason)
    (burn,) = [row for row in top.methods if row.name == "Scenarios.Burn(int)"]
    assert 5_800_000_000 < (burn.inclusive_ns or 0) < 5_970_000_000
    for name in ("running_total", "native_total", "gc_suspended_total"):
        metric = threads.metrics[name]
        assert metric.value is None
        assert metric.reason == reason
    assert {row.running_ns for row in threads.threads} == {None}


def test_before_net_5_sampled_waits_are_lower_bounds() -> None:
    with clrevents.open(SHARED / "scenarios" / "net31-states-44.nettrace.gz") as trace:
        waits, pool = trace.report("waits"), trace.report("pool")
    # Waits for handles and for tasks were not recorded as events, so that sum is a lower bound too.
    for name in ("waited_total", "sampled_total", "event_total"):
        metric = waits.metrics[name]
        assert metric.value is not None
        assert (metric.low, metric.high) == (metric.value, None)
    assert "hidden-waits" in [note.id for note in waits.notes]
    for name in ("blocked_total", "blocked_workers"):
        assert pool.metrics[name].value is None
        assert pool.metrics[name].reason == "samples of this runtime may hide waits, such as Thread.Sleep"
