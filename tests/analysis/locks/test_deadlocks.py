"""Deadlocks: circles of threads that wait for one another's locks when tracing stops, and how long open waits count."""

from __future__ import annotations

from functools import partial

from built_waits import USER, named, start, stop
from clrevents.testing.builder import TraceBuilder
from reading import asked, numbers_of

told = partial(asked, "locks")


def circle_of_three() -> TraceBuilder:
    """Thread 7 waits for 8, 8 for 9 and 9 for 7; 6 waits for 7 besides. An event at 10,000 ends the recording."""
    builder = named(TraceBuilder())
    builder.thread(7).at(1000).event(start(0x80, 8), (USER,))
    builder.thread(8).at(2000).event(start(0x90, 9), (USER,))
    builder.thread(6).at(2500).event(start(0x70, 7))
    builder.thread(9).at(3000).event(start(0x70, 7))
    builder.thread(5).at(9000).event(start(0x50)).at(10_000).event(stop(1000.0))
    return builder.at(5_000_000).rundown()


def test_three_threads_that_wait_for_one_another_are_a_deadlock() -> None:
    found = told(circle_of_three())
    assert [(r.deadlock, r.thread_id, r.lock_id, r.owner_thread_id, r.waited_ns) for r in found.deadlocks] == [
        (1, 7, 0x80, 8, 9000),
        (1, 8, 0x90, 9, 8000),
        (1, 9, 0x70, 7, 7000),
    ]
    assert found.deadlocks[0].method == "App.Program.Work()"
    assert numbers_of(found, "deadlocks", "count", "waited_total", "unfinished") == (1, 5, 32_500, 4)
    assert "thread 7 in App.Program.Work() waits for lock 0x80 of thread 8" in str(found.facts.deadlock)
    (note,) = [note for note in found.notes if note.id == "deadlock"]
    assert (note.severity, note.numbers) == ("error", {"deadlocks": 1, "threads": 3, "longest_ns": 9000})
    assert "error: 1 deadlock" in repr(found)


def test_open_waits_count_until_tracing_stopped_and_not_into_the_rundown() -> None:
    found = told(circle_of_three())
    total = found.metrics["waited_total"]
    assert (total.value, total.low, total.high) == (32_500, 32_500, None)
    assert [(row.lock_id, row.waited_ns, row.max_ns, row.open) for row in found.locks] == [
        (0x70, 14_500, 7500, 2),
        (0x80, 9000, 9000, 1),
        (0x90, 8000, 8000, 1),
        (0x50, 1000, 1000, 0),
    ]
    assert sum(row.share or 0 for row in found.locks) == 1
    assert len(found.unmet("waited_total<1s", "waited_total>0s")) == 1


def test_without_owners_nobody_knows_of_a_deadlock() -> None:
    builder = TraceBuilder().thread(7).at(1000).event(start(0)).thread(8).at(2000).event(start(0))
    unknown = told(builder).metrics["deadlocks"]
    assert (unknown.value, unknown.reason) == (None, "the events do not name locks")
