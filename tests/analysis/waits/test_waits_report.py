"""The report on waits: what events tell, what samples show beside them, and what is a part of something else."""

from __future__ import annotations

from functools import partial

import pytest

import clrevents
from built_waits import CALLBACK, ENTER, USER, named, signaled, start, stop, task_done, task_wait, waiting
from clrevents.analysis.shared.blocking.known_waits import can_await
from clrevents.events import ThreadCreated_V0, ThreadFlags, ThreadTerminated_V0
from clrevents.testing.builder import TraceBuilder
from project_files import fixture
from reading import asked, numbers_of

told = partial(asked, "waits")

WAIT, MONITOR, RESULT, POOL, GATE, SLEEP = 0x4000, 0x4100, 0x4200, 0x4300, 0x4400, 0x4500


def methods() -> TraceBuilder:
    builder = named(TraceBuilder())
    builder.method_load("System.Threading.WaitHandle", "WaitOneNoCheck", address=WAIT)
    builder.method_load("System.Threading.Monitor", "Wait", address=MONITOR)
    builder.method_load("System.Threading.Tasks.Task", "InternalWait", address=RESULT)
    builder.method_load("System.Threading.LowLevelLifoSemaphore", "WaitForSignal", address=POOL)
    builder.method_load("System.Threading.PortableThreadPool+GateThread", "GateThreadStart", address=GATE)
    return builder.method_load("System.Threading.Thread", "Sleep", address=SLEEP)


def test_a_wait_for_a_handle() -> None:
    builder = methods().thread(7).at(1000).event(waiting(), (WAIT, USER, CALLBACK)).at(4000).event(signaled())
    found = told(builder.rundown())
    (row,) = found.waits
    assert (row.kind, row.start_ns, row.end_ns, row.duration_ns, row.evidence) == ("handle", 1000, 4000, 3000, "event")
    assert (row.method, row.waiting_in) == ("App.Program.Work()", "System.Threading.WaitHandle.WaitOneNoCheck")
    assert numbers_of(found, "count", "waited_total", "event_total", "task_count") == (1, 3000, 3000, None)
    assert numbers_of(told(builder, end=2000), "count", "waited_total") == (1, 1000)
    assert numbers_of(told(builder, start=2000), "count", "waited_total") == (0, 2000)


@pytest.mark.parametrize(
    ("stack", "source", "kind"),
    [
        ((), 0, "handle"),
        ((), 1, "monitor"),
        ((MONITOR, USER), 1, "monitor"),
        ((ENTER, USER), 0, "lock"),
        ((MONITOR, RESULT, USER), 1, "task"),
        ((WAIT, GATE, CALLBACK), 0, "idle"),
    ],
)
def test_the_stack_tells_what_a_handle_is_for(stack: tuple[int, ...], source: int, kind: str) -> None:
    builder = methods().thread(7).at(1000).event(waiting(source), stack).at(4000).event(signaled())
    (row,) = told(builder.rundown()).waits
    assert (row.kind, row.task_wait) == (kind, kind == "task")


def test_a_wait_inside_a_contention_counts_once() -> None:
    builder = methods().thread(7).at(1000).event(start(), (ENTER, USER))
    for at in (2000, 3000):
        builder.at(at).event(waiting(), (ENTER, USER)).at(at + 900).event(signaled())
    builder.at(5000).event(stop(4000.0)).at(6000).event(waiting(), (WAIT, USER)).at(6500).event(signaled())
    found = told(builder.rundown())
    assert [(row.kind, row.inside) for row in found.waits] == [
        ("lock", None),
        ("lock", "lock"),
        ("lock", "lock"),
        ("handle", None),
    ]
    assert numbers_of(found, "count", "waited_total", "nested_count") == (2, 4500, 2)
    assert {row.kind: (row.count, row.waited_ns) for row in found.kinds} == {"lock": (1, 4000), "handle": (1, 500)}


def test_blocking_on_a_task_is_counted_and_an_await_is_not() -> None:
    builder = methods().thread(7).at(1000)
    task_wait(builder, 20, 2, (USER, CALLBACK))
    task_wait(builder.at(2000), 21, 1, (RESULT, USER, CALLBACK))
    builder.at(3000).event(start(), (ENTER, USER)).at(3500).event(stop(500.0))
    task_done(builder.thread(8).at(4000), 20)
    task_done(builder.thread(8).at(4500), 21)
    task_done(builder.thread(7).at(9000), 21)
    found = told(builder.rundown())
    assert [(row.kind, row.task_id, row.duration_ns, row.inside) for row in found.waits] == [
        ("task", 21, 7000, None),
        ("lock", None, 500, "task"),
    ]
    assert numbers_of(found, "count", "waited_total", "task_count", "task_total") == (1, 7000, 1, 7000)
    assert found.facts.sync_over_async == "App.Program.Work()"
    (method,) = found.methods
    assert (method.method, method.task_wait, method.share) == ("App.Program.Work()", True, 1.0)
    (note,) = [note for note in found.notes if note.id == "sync-over-async"]
    assert note.numbers == {"waits": 1, "threads": 1, "waited_ns": 7000}


def test_samples_show_waits_to_the_middle_between_them() -> None:
    builder = methods().thread(7)
    for at in range(1000, 11_000, 1000):
        waits = 4000 <= at < 8000
        builder.at(at).sample(*((SLEEP, USER) if waits else (USER,)), kind=1 if waits else 2)
    found = told(builder.rundown())
    (row,) = found.waits
    assert (row.kind, row.start_ns, row.end_ns, row.evidence) == ("sleep", 3500, 7500, "sample")
    assert found.metrics["waited_total"].evidence == "sample"
    assert numbers_of(found, "count", "waited_total", "event_total", "sampled_total") == (None, 4000, None, 4000)
    assert [(row.count, row.max_ns) for row in found.methods] == [(None, None)]


def test_samples_say_nothing_where_events_do() -> None:
    builder = methods().thread(7)
    for at in range(1000, 20_000, 1000):
        if at == 5000:
            builder.at(4600).event(waiting(), (WAIT, USER))
        if at == 15_000:
            builder.at(14_400).event(signaled())
        builder.at(at).sample(WAIT, USER, kind=1)
    found = told(builder.rundown())
    assert [(row.start_ns, row.end_ns, row.evidence) for row in found.waits] == [
        (500, 4600, "sample"),
        (4600, 14_400, "event"),
        (14_400, 19_000, "sample"),
    ]
    assert numbers_of(found, "waited_total", "event_total", "sampled_total") == (18_500, 9800, 8700)


def test_idle_workers_are_in_no_sum() -> None:
    builder = methods().thread(7)
    for at in range(1000, 11_000, 1000):
        builder.at(at).sample(POOL, CALLBACK, kind=1)
    found = told(builder.rundown())
    # Samples do not show waits for locks on every runtime, and contentions were not recorded.
    assert numbers_of(found, "count", "waited_total", "idle_total") == (None, None, 9500)
    assert [(row.kind, row.share) for row in found.methods] == [("idle", None)]
    assert len(found.threads) == 0


def created(thread: int, number: int) -> ThreadCreated_V0:
    return ThreadCreated_V0(1000 + number, 1, ThreadFlags(0), number, thread, 0)


@pytest.mark.parametrize("name", ["waits", "locks"])
@pytest.mark.parametrize("told_by", ["an event", "its id, used again", "samples"])
def test_no_wait_lasts_longer_than_its_thread(name: str, told_by: str) -> None:
    """One that ended inside its wait waits until then, and is not open."""
    builder = methods().thread(1).at(500).event(created(7, 1))
    for at in range(1000, 40_000, 1000):
        if at == 3000:
            builder.thread(7).at(2100).event(start(), (ENTER, USER))
        if at == 10_000 and told_by != "samples":
            ends = ThreadTerminated_V0(1001, 1, 0) if told_by == "an event" else created(7, 2)
            builder.thread(1).at(9500).event(ends)
        if told_by == "samples" and at < 9000:
            builder.thread(7).at(at).sample(USER, kind=1)
        builder.thread(8).at(at).sample(USER, kind=2)
    found = asked(name, builder.rundown())
    rows = found.contentions if name == "locks" else [row for row in found.waits if row.kind == "lock"]
    assert [(row.start_ns, row.end_ns, row.duration_ns, row.open) for row in rows] == [(2100, None, 7400, False)]
    total = found.metrics["waited_total"]
    assert (total.value, total.low, total.high) == (7400, 7400, None)
    assert not any(note.id == "still-waiting" for note in found.notes)


def test_what_goes_on_at_the_end_counts_until_tracing_stopped() -> None:
    builder = methods().thread(7).at(1000).event(waiting(), (WAIT, USER))
    builder.thread(8).at(2_001_000).event(start(), (ENTER, USER))
    found = told(builder.at(9_000_000).rundown())
    assert [(row.end_ns, row.duration_ns, row.open) for row in found.waits] == [
        (None, 2_000_000, True),
        (None, 0, True),
    ]
    assert numbers_of(found, "count", "waited_total", "unfinished") == (2, 2_000_000, 2)
    assert [(found.metrics[name].low, found.metrics[name].high) for name in ("waited_total", "count")] == [
        (2_000_000, None),
        (2, None),
    ]
    assert [(row.waited_ns, row.max_ns, row.open) for row in found.methods] == [(2_000_000, 2_000_000, 1), (0, 0, 1)]
    (note,) = [note for note in found.notes if note.id == "still-waiting"]
    assert note.numbers == {"threads": 2, "longest_ns": 2_000_000}


@pytest.mark.parametrize("name", ["net10-convoy", "net10-starvation"])
def test_a_wait_for_a_lock_is_as_long_as_the_report_on_locks_says(name: str) -> None:
    """To the nanosecond, also in halves of the trace: the runtime's own measure counts in both."""
    with clrevents.open(fixture(name)) as trace:
        for window in ({}, {"end": "50%"}, {"start": "50%"}):
            answers = trace.reports("locks", "waits", **window)
            mine = sum(
                row.waited_ns for row in answers["waits"].methods if row.kind == "lock" and row.evidence == "event"
            )
            assert mine == answers["locks"].metrics["waited_total"].value, window


def test_samples_do_not_show_that_there_was_no_wait_for_a_task() -> None:
    builder = methods().thread(7)
    for at in range(1000, 5000, 1000):
        builder.at(at).sample(SLEEP, USER, kind=1)
    counted = told(builder.rundown()).metrics["task_count"]
    assert (counted.value, counted.evidence) == (None, "sample")


def test_what_is_inside_a_contention_whose_begin_is_lost_counts_once() -> None:
    builder = methods().thread(7)
    builder.at(2000).event(waiting(), (ENTER, USER)).at(2900).event(signaled()).at(5000).event(stop(4000.0))
    found = told(builder.rundown())
    assert [(row.kind, row.duration_ns, row.inside) for row in found.waits] == [
        ("lock", 900, "lock"),
        ("lock", 4000, None),
    ]
    assert numbers_of(found, "waited_total", "nested_count") == (4000, 1)


def test_samples_inside_a_contention_whose_begin_is_lost_count_once() -> None:
    builder = methods().thread(7)
    for at in range(2000, 5000, 1000):
        builder.at(at).sample(ENTER, USER, kind=1)
    found = told(builder.at(5000).event(stop(4000.0)).rundown())
    assert numbers_of(found, "waited_total", "event_total", "sampled_total") == (4000, 4000, 0)


@pytest.mark.parametrize(
    ("method", "can"),
    [
        ("Shop.Orders.Load(int)", True),
        ("Shop.Orders.DisposeAsync()", True),
        ("Shop.Orders.<Load>g__Get|0_0()", True),
        ("Program.<Main>(string[])", False),
        ("Shop.Orders..ctor(Func<Task>)", False),
        ("Shop.Orders.get_Count()", False),
        ("Shop.Orders.System.IDisposable.Dispose()", False),
    ],
)
def test_which_methods_could_await(method: str, can: bool) -> None:
    assert can_await(method) == can
