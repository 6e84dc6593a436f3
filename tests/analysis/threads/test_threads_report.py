"""What threads did, on built traces: what wins over what, lives, reused ids, losses, and traces that tell less."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

import clrevents
from clrevents.analysis.reports.threads.thread_rows import ThreadsReport
from clrevents.events import (
    ContentionFlags,
    ContentionStart_V2,
    ContentionStop_V1,
    GCRestartEEEnd_V1,
    GCSuspendEEBegin_V1,
    GCSuspendEEReason,
    RuntimeInformationStart_V0,
    ThreadCreated_V0,
    ThreadFlags,
    ThreadPoolWorkerThreadWait_V0,
    WaitHandleWaitSource,
    WaitHandleWaitStart_V0,
    WaitHandleWaitStop_V0,
)
from clrevents.testing.builder import Format, TraceBuilder

MS = 1_000_000
WORK, SLEEP, WAIT, ENTER, POLL, BLOCK, USER, PARK = (0x1000 * n for n in range(1, 9))
METHODS = (
    (WORK, "Shop", "Work"),
    (SLEEP, "System.Threading.Thread", "Sleep"),
    (WAIT, "System.Threading.WaitHandle", "WaitOneNoCheck"),
    (ENTER, "System.Threading.Monitor", "Enter"),
    (POLL, "System.Threading.Thread", "PollGC"),
    (BLOCK, "System.Threading.Tasks.Task", "InternalWait"),
    (USER, "Shop", "Main"),
    (PARK, "System.Threading.LowLevelLifoSemaphore", "WaitForSignal"),
)
TPL = "System.Threading.Tasks.TplEventSource"
INT = 9


def begun(format: Format = "nettrace4", process_id: int = 1234) -> TraceBuilder:
    builder = TraceBuilder(format, process_id=process_id).thread(99)
    for address, owner, name in METHODS:
        builder.method_load(owner, name, address=address)
    return builder


def sampled(builder: TraceBuilder, thread: int, *milliseconds: int, leaf: int = WORK, kind: int = 2) -> TraceBuilder:
    """A sample at each of these moments."""
    for at in milliseconds:
        builder.thread(thread).at(at * MS).sample(leaf, USER, kind=kind)
    return builder


def asleep(builder: TraceBuilder, thread: int, *milliseconds: int, leaf: int = SLEEP) -> TraceBuilder:
    return sampled(builder, thread, *milliseconds, leaf=leaf, kind=1)


def created(builder: TraceBuilder, at: int, thread: int, index: int = 5, flags: int = 0) -> TraceBuilder:
    record = ThreadCreated_V0(1000 + index, 1, ThreadFlags(flags), index, thread, 0)
    return builder.thread(thread).at(at * MS).event(record)


def waits(builder: TraceBuilder, thread: int, start: int, end: int | None, leaf: int = WAIT) -> TraceBuilder:
    source = WaitHandleWaitSource.Unknown
    builder.thread(thread).at(start * MS).event(WaitHandleWaitStart_V0(source, 0xABC, 0), stack=(leaf, USER))
    if end is not None:
        builder.at(end * MS).event(WaitHandleWaitStop_V0(0))
    return builder


def contends(builder: TraceBuilder, thread: int, at: int) -> TraceBuilder:
    record = ContentionStart_V2(ContentionFlags.Managed, 0, 77, 0xDEF, 8)
    return builder.thread(thread).at(at * MS).event(record, stack=(ENTER, USER))


def enters(builder: TraceBuilder, thread: int, at: int, took: int) -> TraceBuilder:
    return builder.thread(thread).at(at * MS).event(ContentionStop_V1(ContentionFlags.Managed, 0, float(took * MS)))


def stops(builder: TraceBuilder, start: int, end: int, reason: int = 1, thread: int = 50) -> TraceBuilder:
    builder.thread(thread).at(start * MS).event(GCSuspendEEBegin_V1(GCSuspendEEReason(reason), 1, 0))
    return builder.at(end * MS).event(GCRestartEEEnd_V1(0))


def reported(builder: TraceBuilder, **window: Any) -> ThreadsReport:
    with clrevents.open(builder.build()) as trace:
        return trace.report("threads", **window)


def told(report: ThreadsReport, thread: int = 7) -> list[tuple[float, float, str, str]]:
    """Start and end in ms, state and evidence of each interval of a thread."""
    return [(i.start_ns / MS, i.end_ns / MS, i.state, i.evidence) for i in report.intervals if i.thread_id == thread]


def test_samples_hold_until_halfway_and_equal_ones_are_one() -> None:
    report = reported(asleep(sampled(begun(), 7, 10, 11, 12), 7, 13, 14))
    # The last one holds for a period and a half, and the trace ends with it.
    assert told(report) == [(10, 12.5, "running", "sample"), (12.5, 14, "sleep", "sample")]
    assert report.facts.sampling_period_ns == MS
    asleep_row = list(report.intervals)[1]
    assert asleep_row.reason == "System.Threading.Thread.Sleep"


def test_a_long_gap_is_unknown_but_for_a_period_and_a_half_at_its_ends() -> None:
    report = reported(sampled(begun(), 7, 10, 11, 12, 20, 21, 22))
    assert told(report) == [
        (10, 13.5, "running", "sample"),
        (13.5, 18.5, "unknown", "inferred"),
        (18.5, 22, "running", "sample"),
    ]
    assert told(reported(sampled(begun(), 7, 10, 11, 12, 15, 16))) == [(10, 16, "running", "sample")]


def test_events_are_exact_and_a_lock_wins_over_the_handle_in_it() -> None:
    builder = sampled(begun(), 7, 1, 2, 3)
    contends(builder, 7, 4)
    waits(builder, 7, 5, 8)
    waits(builder, 7, 9, 10)
    enters(builder, 7, 12, 8)
    sampled(builder, 7, 13, 14)
    report = reported(builder)
    assert told(report) == [(1, 4, "running", "sample"), (4, 12, "lock", "event"), (12, 14, "running", "sample")]
    lock = list(report.intervals)[1]
    assert (lock.lock_id, lock.owner_thread_id, lock.object_address, lock.reason) == (
        *(77, 8, 0xDEF),
        "System.Threading.Monitor.Enter",
    )
    assert report.metrics["lock_total"].value == 8 * MS
    # Without stops and tasks, other waits may be hidden, and more than these may be waits for tasks.
    assert report.metrics["wait_total"].value is None


@pytest.mark.parametrize(("version", "owner"), [(10, 8), (11, None)])
def test_a_number_of_the_runtime_is_no_thread(version: int, owner: int | None) -> None:
    """Since .NET 11 locks name their owners by it; whose it is, only a creation tells."""
    runtime = RuntimeInformationStart_V0(0, 2, version, 0, 0, 0, version, 0, 0, 0, 0, 1, "", UUID(int=0), "")
    builder = enters(contends(begun().event(runtime), 7, 4), 7, 12, 8)
    (lock,) = [row for row in reported(builder).intervals if row.state == "lock"]
    assert lock.owner_thread_id == owner


def test_samples_of_an_old_runtime_tell_waits_only() -> None:
    runtime = RuntimeInformationStart_V0(0, 2, 3, 0, 0, 0, 3, 0, 0, 0, 0, 1, "", UUID(int=0), "")
    report = reported(asleep(asleep(begun().event(runtime), 7, 10, 11, 12, leaf=WORK), 7, 13, 14))
    assert told(report) == [(10, 12.5, "unknown", "sample"), (12.5, 14, "sleep", "sample")]


def test_a_sample_long_before_an_event_does_not_hold_until_then() -> None:
    assert told(reported(waits(sampled(begun(), 7, 1, 2, 3), 7, 20, 22))) == [
        (1, 4.5, "running", "sample"),
        (4.5, 20, "unknown", "inferred"),
        (20, 22, "wait", "event"),
    ]
    after = waits(sampled(begun(), 8, 1, 2, 3), 7, 4, 6)
    assert told(reported(sampled(after, 7, 20, 21)))[:2] == [(4, 6, "wait", "event"), (6, 18.5, "unknown", "inferred")]


def test_a_handle_wait_of_a_monitor_is_for_the_lock() -> None:
    """.NET 10 waits for a handle when it enters a monitor, with or without an event of contention."""
    builder = waits(sampled(begun(), 7, 1, 2, 3), 7, 4, 9, leaf=ENTER)
    assert told(reported(sampled(builder, 7, 10, 11)))[1] == (4, 9, "lock", "event")


def test_between_two_close_waits_a_thread_runs() -> None:
    builder = sampled(begun(), 8, *range(1, 20))
    waits(builder, 7, 20, 22)
    waits(builder, 7, 24, 26)
    waits(builder, 7, 36, 40)
    assert told(reported(builder)) == [
        (20, 22, "wait", "event"),
        (22, 24, "running", "inferred"),
        (24, 26, "wait", "event"),
        (26, 36, "unknown", "inferred"),
        (36, 40, "wait", "event"),
    ]


def test_a_collection_stops_what_runs_and_not_what_waits() -> None:
    builder = sampled(begun(), 7, 1, 2, 3)
    asleep(builder, 8, 1, 2, 3)
    stops(builder, 4, 9)
    stops(builder, 10, 11, reason=0)
    sampled(builder, 7, 12, 13, 14)
    report = reported(asleep(builder, 8, 12, 13, 14))
    # Nobody can be sampled during a stop, so it separates no samples: 12 - 3 - 5 is still more than three periods.
    assert told(report) == [
        (1, 4, "running", "sample"),
        (4, 4.5, "gc_suspended", "sample"),
        (4.5, 10.5, "unknown", "inferred"),
        (10.5, 14, "running", "sample"),
    ]
    assert told(report, 8)[0] == (1, 4.5, "sleep", "sample")
    assert not any(state == "gc_suspended" for _, _, state, _ in told(report, 8))


def test_a_short_collection_cuts_what_runs() -> None:
    builder = stops(sampled(begun(), 7, 1, 2, 3), 4, 7)
    stops(builder, 8, 9, reason=0)
    assert told(reported(sampled(builder, 7, 9, 10))) == [
        (1, 4, "running", "sample"),
        (4, 7, "gc_suspended", "sample"),
        (7, 10, "running", "sample"),
    ]


def test_a_wait_that_began_before_the_trace() -> None:
    builder = sampled(begun(), 8, 1, 2, 3)
    builder.thread(7).at(9 * MS).event(WaitHandleWaitStop_V0(0))
    report = reported(sampled(builder, 7, 10, 11))
    assert told(report) == [(0, 9, "wait", "inferred"), (9, 11, "running", "sample")]
    known = sampled(begun(), 8, 1, 2, 3)
    enters(known, 7, 9, 4)
    assert told(reported(sampled(known, 7, 10, 11))) == [(5, 9, "lock", "event"), (9, 11, "running", "sample")]


def test_begins_and_ends_without_a_partner_are_counted() -> None:
    builder = waits(begun(), 7, 1, None)
    waits(builder, 7, 5, 6)
    builder.at(8 * MS).event(WaitHandleWaitStop_V0(0))
    report = reported(builder)
    assert report.facts.unmatched == 2
    assert [note.id for note in report.notes if note.id == "unmatched"] == ["unmatched"]
    assert told(report)[-1] == (5, 6, "wait", "event")
    # One that wants a lock does not wait for a handle any more.
    report = reported(sampled(enters(contends(waits(begun(), 7, 1, None), 7, 5), 7, 9, 4), 8, 12, 13))
    assert told(report) == [(1, 5, "wait", "inferred"), (5, 9, "lock", "event")]


def test_samples_only() -> None:
    report = reported(sampled(begun(), 7, 1, 2, 3))
    assert [row.running_ns for row in report.threads] == [2 * MS]
    # A thread that was stopped for a collection seems to run, and one that compiles is not seen.
    running = report.metrics["running_total"]
    assert (running.value, running.low, running.high) == (2 * MS, 0, 2 * MS + 3 * MS)
    assert report.metrics["gc_suspended_total"].value is None
    assert report.coverage == "partial"


def test_an_idle_worker() -> None:
    builder = sampled(begun(), 7, 1, 2, 3)
    builder.at(4 * MS).event(ThreadPoolWorkerThreadWait_V0(1, 0, 0))
    asleep(builder, 7, 5, 6, 7, leaf=PARK)
    report = reported(sampled(builder, 7, 8, 9))
    assert told(report) == [
        (1, 4, "running", "sample"),
        (4, 7.5, "pool_idle", "sample"),
        (7.5, 9, "running", "sample"),
    ]
    assert [row.role for row in report.threads] == ["pool_worker"]
    alone = begun().thread(7).at(MS).event(ThreadPoolWorkerThreadWait_V0(1, 0, 0))
    alone.at(9 * MS).event(ThreadPoolWorkerThreadWait_V0(1, 0, 0))
    assert told(reported(alone)) == [(1, 9, "pool_idle", "inferred")]


def task_wait(builder: TraceBuilder, at: int, behavior: int) -> TraceBuilder:
    fields: dict[str, Any] = {"TaskID": (INT, 3), "Behavior": (INT, behavior)}
    return builder.thread(7).at(at * MS).described(TPL, "TaskWaitBegin", fields, id=10, stack=(BLOCK, USER))


def task_end(builder: TraceBuilder, at: int) -> TraceBuilder:
    return builder.thread(7).at(at * MS).described(TPL, "TaskWaitEnd", {"TaskID": (INT, 3)}, id=11)


def test_a_wait_for_a_task_and_what_is_no_wait() -> None:
    builder = task_wait(sampled(begun(), 7, 1, 2, 3), 4, 1)
    waits(builder, 7, 5, 8)
    task_end(builder, 9)
    report = reported(sampled(builder, 7, 10, 11))
    assert {(i.state, i.task_id) for i in report.intervals if 4 * MS <= i.start_ns < 9 * MS} == {("task_wait", 3)}
    assert report.metrics["task_wait_total"].value == 5 * MS
    awaits = task_end(task_wait(sampled(begun(), 7, 1, 2, 3), 4, 2), 5)
    assert "task_wait" not in {state for *_, state, _ in told(reported(sampled(awaits, 7, 6, 7)))}


def test_a_task_that_its_waiter_runs_itself() -> None:
    builder = sampled(task_wait(sampled(begun(), 7, 1, 2, 3), 4, 1), 7, 5, 6, 7)
    asleep(builder, 7, 8, 9, leaf=BLOCK)
    report = reported(sampled(task_end(builder, 10), 7, 11, 12))
    assert told(report) == [
        (1, 7.5, "running", "sample"),
        (7.5, 10, "task_wait", "event"),
        (10, 12, "running", "sample"),
    ]


def test_no_wait_is_known_without_samples_and_names() -> None:
    """A thread that was created, and nothing else: its row says 0 of nothing that was not recorded."""
    report = reported(created(begun(), 1, 7))
    (row,) = report.threads
    assert {getattr(row, f"{state}_ns") for state in ("lock", "wait", "sleep", "join", "task_wait", "pool_idle")} == {
        None
    }
    assert (row.waiting_ns, row.main_wait) == (None, None)


@pytest.mark.parametrize(("index", "flags", "role"), [(1, 0, "main"), (9, 2, "finalizer"), (9, 4, "pool_worker")])
def test_roles_from_what_the_runtime_says(index: int, flags: int, role: str) -> None:
    builder = created(begun(), 1, 7, index=index, flags=flags)
    assert [row.role for row in reported(sampled(builder, 7, 2, 3)).threads] == [role]


def test_main_is_known_by_its_method() -> None:
    report = reported(sampled(begun(), 7, 1, 2))
    assert [row.role for row in report.threads] == ["main"]
    # The number that the runtime gave says more.
    assert [row.role for row in reported(sampled(created(begun(), 0, 7), 7, 1, 2)).threads] == ["other"]
