"""The verdict on the thread pool and what it rests on, on traces built for each case."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from built_pool import (
    BLOCKS,
    COMPUTES,
    COOPERATIVE,
    MS,
    ROOT,
    SLEEP,
    STARVATION,
    adjusted,
    dequeued,
    enqueued,
    idle,
    limited,
    named,
    native_item,
    scheduled,
    shortage,
    started,
    worker,
)
from clrevents.analysis.reports.pool import PoolReport
from clrevents.events import (
    IOThreadCreate_V1,
    ThreadPoolWorkerThreadAdjustmentSample_V0,
    ThreadPoolWorkerThreadAdjustmentStats_V0,
)
from clrevents.schema.registry import TPL
from clrevents.testing.builder import TraceBuilder
from reading import asked, numbers_of

told = partial(asked, "pool")

METHOD = "Shop.Orders.GetTotal()"


def test_workers_that_sleep_while_work_waits_are_starved() -> None:
    found = told(shortage().rundown())
    facts = found.facts
    assert (facts.verdict, facts.culprit, facts.blocked_meanwhile, facts.reason) == ("starved", METHOD, 2, "Starvation")
    # Both workers are blocked from half a period before their first sample on, the second one last.
    assert (facts.since_ns, facts.until_ns) == (15 * MS + 12, 850 * MS)
    assert facts.culprit_stack[:2] == ("System.Threading.Thread.Sleep()", METHOD)
    assert (facts.min_workers, facts.max_workers, facts.latency_source) == (2, 100, None)
    (row,) = found.shortages
    assert (row.verdict, row.raises, row.workers_before, row.workers_after) == ("starved", 4, 2, 6)
    assert (row.kind, row.method, row.blocked_threads, row.duration_ns) == ("sleep", METHOD, 2, 835 * MS - 12)
    assert numbers_of(found, "starved_total", "raises", "adjustments", "workers_max") == (835 * MS - 12, 4, 4, 2)
    (blocker,) = found.blockers
    assert (blocker.method, blocker.kind, blocker.threads) == (METHOD, "sleep", 2)
    (note,) = [note for note in found.notes if note.id == "starved"]
    assert "4 times from 2 to 6 workers for Starvation" in note.message
    assert note.numbers == {"raises": 4, "blocked_workers": 2, "duration_ns": 835 * MS - 12}


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        ({"apart_ms": 250, "raises": 3}, "starved"),
        ({"apart_ms": 249, "raises": 3}, "healthy"),
        ({"raises": 1}, "healthy"),
        # Up to four workers come at once: the minimum, and one per processor where others wait for tasks.
        ({"apart_ms": 500, "raises": 2, "reason": COOPERATIVE}, "healthy"),
        ({"apart_ms": 250, "raises": 3, "reason": COOPERATIVE}, "starved"),
        # Hill climbing raises the goal because more workers may help.
        ({"reason": 3}, "healthy"),
        # Half of two workers is enough; without samples of any, nobody knows.
        ({"sampled": 1}, "starved"),
        ({"sampled": 0}, "unknown"),
        ({"stack": (COMPUTES, ROOT), "kind": 2}, "unknown"),
        ({"stack": (0x9999,), "kind": 1}, "unknown"),
        # Two raises that are eleven seconds apart are two shortages, each of no length.
        ({"apart_ms": 11_000, "raises": 2, "sampled": 1}, "healthy"),
    ],
    ids=str,
)
def test_the_rule(case: dict[str, Any], verdict: str) -> None:
    assert told(shortage(**case).rundown()).facts.verdict == verdict


def test_a_goal_that_falls_ends_a_shortage() -> None:
    builder = shortage(raises=3, apart_ms=250, reason=COOPERATIVE)
    adjusted(builder.at(900 * MS), 2, COOPERATIVE)
    found = told(builder.rundown())
    assert found.facts.until_ns == 900 * MS
    assert [(row.time_ns // MS, row.reason, row.workers, row.change) for row in found.adjustments] == [
        (100, "CooperativeBlocking", 3, 1),
        (350, "CooperativeBlocking", 4, 1),
        (600, "CooperativeBlocking", 5, 1),
        (900, "CooperativeBlocking", 2, -3),
    ]
    assert numbers_of(found, "raises", "adjustments") == (3, 4)


@pytest.mark.parametrize(
    ("low_us", "back_to", "until_ms", "raises"), [(500, 5, 1101, 5), (500_001, 5, 600, 3), (500, 4, 600, 3)]
)
def test_a_goal_that_dips_ends_no_shortage(low_us: int, back_to: int, until_ms: int, raises: int) -> None:
    """A blocked worker that returns lowers the goal for a moment: as high again soon, it was no end."""
    builder = shortage(raises=3, apart_ms=250, reason=COOPERATIVE)
    adjusted(builder.at(600 * MS + 1), 3, COOPERATIVE)
    for goal in (back_to, back_to + 1) if back_to == 5 else (back_to,):
        adjusted(builder.at(600 * MS + goal + low_us * 1000), goal, COOPERATIVE)
    adjusted(builder.at(1_101 * MS), 2, COOPERATIVE)
    (row,) = told(builder.rundown()).shortages
    assert (row.end_ns // MS, row.raises) == (until_ms, raises)


def test_a_reason_without_a_name_is_a_number() -> None:
    builder = named(TraceBuilder())
    adjusted(builder.at(100 * MS), 3, 9)
    (row,) = told(builder.rundown()).adjustments
    assert row.reason == "9"


def test_a_window_knows_what_was_before() -> None:
    builder = shortage(raises=4).rundown()
    whole, part = told(builder), told(builder, start=500 * MS, end=700 * MS)
    assert part.facts.verdict == "starved"
    assert part.shortages[0].start_ns == whole.shortages[0].start_ns
    assert part.shortages[0].clipped
    assert numbers_of(part, "starved_total", "raises") == (200 * MS, 1)
    assert told(builder, start=860 * MS).facts.verdict == "healthy"


def test_lost_events_leave_no_healthy_pool() -> None:
    def built(lose: bool) -> TraceBuilder:
        builder = named(TraceBuilder())
        limited(builder.at(1 * MS), 2)
        adjusted(builder.at(5 * MS), 2, 1)
        worker(builder.at(10 * MS), 11, 1).sequence_point()
        if lose:
            builder.at(20 * MS).thread(99).lose(5)
        return idle(builder.at(30 * MS), 11, 1).sequence_point().rundown()

    assert told(built(lose=True)).facts.verdict == "unknown"
    assert told(built(lose=False)).facts.verdict == "healthy"


def test_work_that_waits_long_without_new_workers_is_unknown() -> None:
    def built(ms: int) -> TraceBuilder:
        builder = named(TraceBuilder())
        worker(builder.at(10 * MS), 11, 1)
        scheduled(builder.thread(1).at(20 * MS), 5)
        return started(builder.thread(11).at((20 + ms) * MS), 5).rundown()

    assert told(built(499)).facts.verdict == "healthy"
    facts = told(built(500)).facts
    assert facts.verdict == "unknown"
    assert "500 ms" in facts.evidence[0]


def test_threads_that_are_no_workers_block_nobody() -> None:
    builder = shortage(sampled=0)
    for at in range(20, 900, 10):
        builder.thread(50).at(at * MS).sample(SLEEP, BLOCKS, kind=1)
    found = told(builder.rundown())
    assert (found.facts.verdict, len(found.blockers)) == ("unknown", 0)


def test_workers_of_before_the_trace_are_told_by_their_stacks() -> None:
    builder = named(TraceBuilder())
    for at in range(20, 1200, 10):
        if at in (100, 400, 700):
            adjusted(builder.at(at * MS), 3 + at // 300, STARVATION)
        for thread in (21, 22, 23):
            builder.thread(thread).at(at * MS + thread).sample(SLEEP, BLOCKS, ROOT, kind=1)
    facts = told(builder.rundown()).facts
    # How many there are is unknown at the first raise; then there are as many as the pool wants.
    assert (facts.verdict, facts.blocked_meanwhile, facts.min_workers) == ("starved", 3, None)


def test_numbers_over_time() -> None:
    found = told(shortage(raises=2, apart_ms=20).rundown())
    rows = [(row.time_ns // MS, row.what, row.count) for row in found.sizes]
    assert rows == [
        (11, "workers", 1),
        (12, "workers", 2),
        (15, "blocked", 1),
        (15, "blocked", 2),
        (100, "goal", 3),
        (120, "goal", 4),
        # No later than the trace.
        (210, "blocked", 0),
    ]


def test_what_hill_climbing_measured() -> None:
    builder = TraceBuilder().thread(11).at(10 * MS).event(ThreadPoolWorkerThreadAdjustmentSample_V0(100.0, 0))
    numbers = (0.5, 100.0, 0.0, 0.0, 2.0, 1.0, 0.25, 1.5, 3.75)
    builder.thread(12).event(ThreadPoolWorkerThreadAdjustmentSample_V0(float("nan"), 0))
    builder.thread(11).event(ThreadPoolWorkerThreadAdjustmentStats_V0(*numbers, 1, 0))
    found = told(builder.rundown())
    assert [(r.throughput, r.ratio, r.confidence, r.control) for r in found.throughput] == [
        (100.0, 0.25, 1.5, 3.75),
        (None, None, None, None),
    ]


def test_threads_for_io_and_limits() -> None:
    builder = limited(TraceBuilder().at(1 * MS), 4, 50).at(2 * MS).event(IOThreadCreate_V1(3, 0, 0))
    found = told(builder.rundown())
    assert [(row.what, row.count) for row in found.sizes] == [("io", 3)]
    (row,) = found.limits
    assert (row.min_workers, row.max_workers, row.min_io, row.max_io) == (4, 50, 1, 1000)


# The queue. ---------------------------------------------------------------------------------------------------------


def waited(found: PoolReport, source: str) -> list[tuple[int, int | None]]:
    return [
        (row.work_id, None if row.latency_ns is None else row.latency_ns // MS)
        for row in found.queue
        if row.source == source
    ]


def test_an_id_used_twice_is_first_in_first_out() -> None:
    builder = TraceBuilder()
    for at in (10, 20):
        enqueued(builder.thread(1).at(at * MS), 7)
    enqueued(builder.thread(1).at(25 * MS), 8)
    for at in (40, 90):
        dequeued(builder.thread(2).at(at * MS), 7)
    found = told(builder.rundown())
    assert waited(found, "work") == [(7, 30), (7, 70), (8, None)]
    (row,) = found.latencies
    assert (row.items, row.p50_ns, row.max_ns, row.before, row.never) == (2, 30 * MS, 70 * MS, 0, 1)
    assert numbers_of(found, "items", "latency_p50", "latency_max", "items_before", "items_never") == (
        *(2, 30 * MS, 70 * MS),
        *(0, 1),
    )
    assert [(row.time_ns // MS, row.items) for row in found.length] == [(10, 1), (20, 2), (25, 3), (40, 2), (90, 1)]


def test_what_was_queued_before_the_trace_is_apart() -> None:
    builder = TraceBuilder()
    started(builder.thread(2).at(10 * MS), 5)
    scheduled(builder.thread(1).at(20 * MS), 5)
    started(builder.thread(2).at(50 * MS), 5)
    found = told(builder.rundown())
    assert [(row.enqueued_ns, row.dequeued_ns) for row in found.queue] == [(None, 10 * MS), (20 * MS, 50 * MS)]
    assert numbers_of(found, "items", "latency_max", "items_before", "items_never") == (1, 30 * MS, 1, 0)
    assert [(row.time_ns // MS, row.items) for row in found.length] == [(10, 0), (20, 1), (50, 0)]
    # Counted where it was queued, otherwise where it was taken.
    assert numbers_of(told(builder, end=15 * MS), "items", "items_before") == (0, 1)
    assert numbers_of(told(builder, start=15 * MS), "items", "items_before") == (1, 0)
    assert numbers_of(told(builder, start=30 * MS), "items", "items_before") == (0, 0)
    assert len(told(builder, start=30 * MS).queue) == 1


def test_a_task_with_a_thread_of_its_own_is_in_no_queue() -> None:
    builder = TraceBuilder()
    scheduled(builder.thread(1).at(10 * MS), 5, options=2)
    scheduled(builder.at(11 * MS), 6, options=0x2008)
    for task in (5, 6):
        started(builder.thread(task).at(20 * MS), task)
    found = told(builder.rundown())
    assert waited(found, "task") == [(6, 9)]
    (note,) = [note for note in found.notes if note.id == "own-threads"]
    assert note.numbers == {"tasks": 1}


def test_tasks_of_several_schedulers_are_said_to_be() -> None:
    builder = TraceBuilder()
    for task, scheduler in ((5, 1), (6, 4)):
        scheduled(builder.at(task * MS), task, scheduler=scheduler)
        started(builder.at((task + 1) * MS), task)
    found = told(builder.rundown())
    assert [note.numbers for note in found.notes if note.id == "schedulers"] == [{"schedulers": 2}]


def test_one_source_tells_the_metrics() -> None:
    builder = TraceBuilder()
    native_item(builder.at(10 * MS), 1, taken=False)
    scheduled(builder.at(10 * MS), 5)
    enqueued(builder.at(10 * MS), 9)
    native_item(builder.at(20 * MS), 1, taken=True)
    started(builder.at(30 * MS), 5)
    dequeued(builder.at(40 * MS), 9)
    found = told(builder.rundown())
    assert [(row.source, row.max_ns) for row in found.latencies] == [
        ("work", 30 * MS),
        ("task", 20 * MS),
        ("native", 10 * MS),
    ]
    assert found.facts.latency_source == "work"
    assert numbers_of(found, "items", "latency_max") == (1, 30 * MS)


def test_items_that_a_loss_may_have_touched_are_marked() -> None:
    builder = TraceBuilder()
    scheduled(builder.thread(1).at(10 * MS), 5)
    started(builder.thread(2).at(20 * MS), 5)
    scheduled(builder.thread(1).at(30 * MS), 6).sequence_point()
    builder.thread(1).lose(3)
    started(builder.thread(2).at(50 * MS), 6)
    scheduled(builder.thread(1).at(52 * MS), 7).sequence_point()
    found = told(builder.rundown())
    assert [row.lossy for row in found.queue] == [False, True, True]


def test_an_event_that_lacks_its_id_tells_of_no_item() -> None:
    builder = limited(TraceBuilder(), 2)
    for id, name in ((7, "TaskScheduled"), (8, "TaskStarted")):
        builder.described("System.Threading.Tasks.TplEventSource", name, {"Other": (9, 1)}, id=id)
    found = told(builder.rundown())
    assert (len(found.queue), found.facts.latency_source) == (0, None)


@pytest.mark.parametrize(("code", "value"), [(18, ""), (18, "ab"), (14, 2.5)])
def test_options_of_another_type_are_unknown(code: int, value: object) -> None:
    others = dict.fromkeys(("TaskCreationOptions", "OriginatingTaskSchedulerID"), (code, value))
    builder = limited(TraceBuilder(), 2).described(TPL, "TaskScheduled", {"TaskID": (9, 5), **others}, id=7)
    started(builder, 5)
    assert [row.source for row in told(builder.rundown()).queue] == ["task"]
