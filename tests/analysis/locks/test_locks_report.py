"""The report on locks: odd orders of events, what belongs to which lock, who held it, convoys."""

from __future__ import annotations

import random
from functools import partial

import pytest

import built_waits
import report_laws
from built_waits import CALLBACK, ENTER, USER, named, start, start_v1, stop, stop_v0
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.reports.locks.lock_tables import HeldLock, LabelledRuns, LockWait, convoys
from clrevents.analysis.shared.events.event_spans import Holding
from clrevents.testing.builder import Format, TraceBuilder
from reading import asked, numbers_of
from tiers import one_in

told = partial(asked, "locks")

STACK = (ENTER, USER, CALLBACK)


def test_a_wait_is_as_long_as_the_runtime_measured_and_lies_where_its_events_are() -> None:
    builder = named(TraceBuilder()).thread(7).at(1000).event(start(0x70, 5), STACK).at(6000).event(stop(4500.0))
    found = told(builder.rundown())
    (row,) = found.contentions
    assert (row.start_ns, row.end_ns, row.duration_ns) == (1000, 6000, 4500)
    assert (row.lock_id, row.thread_id, row.owner_thread_id, row.native, row.lossy) == (0x70, 7, 5, False, False)
    assert row.method == "App.Program.Work()"
    assert numbers_of(found, "count", "waited_total", "waited_max", "waited_median", "locks") == (
        1,
        4500,
        4500,
        4500,
        1,
    )
    half = told(builder, start=1000, end=3500)
    assert numbers_of(half, "count", "waited_total") == (1, 2250)
    assert [r.clipped for r in half.contentions] == [True]
    assert numbers_of(told(builder, start=3500), "count", "waited_total") == (0, 2250)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("impossible", [float("nan"), float("inf"), -1.0, 1e300])
def test_a_length_that_no_time_has_is_not_measured(impossible: float) -> None:
    builder = named(TraceBuilder()).thread(7).at(1000).event(start(0x70, 5), STACK).at(6000).event(stop(impossible))
    assert [row.duration_ns for row in told(builder).contentions] == [5000]
    assert [row.duration_ns for row in told(TraceBuilder().thread(7).at(1000).event(stop(impossible))).contentions] == [
        None
    ]


def test_a_begin_without_an_end_waits_until_tracing_stopped() -> None:
    found = told(TraceBuilder().thread(7).at(1000).event(start()).thread(8).at(5_001_000).event(start(0x80)))
    assert [(r.thread_id, r.end_ns, r.duration_ns) for r in found.contentions] == [(7, None, 5_000_000), (8, None, 0)]
    assert numbers_of(found, "count", "waited_total", "waited_median", "unfinished") == (2, 5_000_000, None, 2)
    assert found.metrics["waited_median"].reason == "no contention began and ended"
    (note,) = [note for note in found.notes if note.id == "still-waiting"]
    assert note.numbers == {"threads": 2, "longest_ns": 5_000_000}


def test_a_begin_that_another_follows_lost_its_end() -> None:
    builder = TraceBuilder().thread(7).at(1000).event(start()).at(2000).event(start(0x80)).at(2500).event(stop(500.0))
    found = told(builder)
    assert [(r.lock_id, r.end_ns) for r in found.contentions] == [(0x70, None), (0x80, 2500)]
    assert numbers_of(found, "count", "waited_total", "unfinished") == (2, 500, 1)
    assert [note.id for note in found.notes if note.id in ("still-waiting", "unmatched")] == ["unmatched"]


def test_versions_without_a_lock_and_without_a_length() -> None:
    builder = TraceBuilder().thread(7).at(1000).event(start_v1()).at(3000).event(stop_v0())
    builder.at(4000).event(start(0x70)).at(4500).event(stop(400.0))
    found = told(builder)
    assert [(r.lock_id, r.owner_thread_id, r.duration_ns) for r in found.contentions] == [
        (None, None, 2000),
        (0x70, None, 400),
    ]
    assert {row.lock_id: row.waited_ns for row in found.locks} == {None: 2000, 0x70: 400}
    assert (found.facts.locks_told, found.metrics["locks"].value) == (False, 1)
    old = told(TraceBuilder().thread(7).at(1000).event(start_v1()).at(3000).event(stop(2000.0)))
    assert (old.metrics["locks"].value, old.metrics["locks"].reason) == (None, "the events do not name locks")
    assert [(row.lock_id, row.most_waiters) for row in old.locks] == [(None, None)]


def test_locks_of_the_runtime_itself_are_apart() -> None:
    builder = TraceBuilder().thread(7).at(1000).event(start(0x70)).at(1500).event(start(0x70, native=True))
    builder.at(1800).event(stop(300.0, native=True)).at(2000).event(stop(1000.0))
    found = told(builder)
    assert numbers_of(found, "count", "waited_total", "native_count", "native_waited_total") == (1, 1000, 1, 300)
    assert [(row.lock_id, row.native, row.waited_ns, row.share) for row in found.locks] == [
        (0x70, False, 1000, 1.0),
        (0x70, True, 300, 1.0),
    ]
    assert [row.waited_ns for row in found.methods] == [row.waited_ns for row in found.threads] == [1000]


def test_a_lock_is_the_same_when_its_object_moves_and_another_in_another_runtime() -> None:
    builder = TraceBuilder()
    for at, thing, runtime in ((1000, 0x500, 0), (2000, 0x900, 0), (3000, 0x500, 1)):
        builder.thread(7).at(at).event(start(0x70, thing=thing, runtime=runtime))
        builder.at(at + 100 + runtime).event(stop(100.0 + runtime, runtime=runtime))
    found = told(builder)
    assert [(row.lock_id, row.clr_instance_id, row.count, row.waited_ns) for row in found.locks] == [
        (0x70, 0, 2, 200),
        (0x70, 1, 1, 101),
    ]


def test_what_the_owner_does_is_told_by_samples_in_or_around_the_wait() -> None:
    builder = named(TraceBuilder()).method_load("App.Program", "Hold", address=0x5000)
    builder.method_load("App.Program", "Later", address=0x6000)
    for at in range(100_000, 1_100_000, 100_000):
        builder.thread(5).at(at).sample(0x5000 if at < 500_000 else 0x6000, CALLBACK)
    builder.thread(7).at(210_000).event(start(0x70, 5), STACK).at(450_000).event(stop(240_000.0))
    builder.at(510_000).event(start(0x70, 5), STACK).at(540_000).event(stop(30_000.0))
    builder.at(610_000).event(start(0x70, 0), STACK).at(900_000).event(stop(290_000.0))
    found = told(builder.rundown())
    assert [row.owner_method for row in found.contentions] == [
        "App.Program.Hold()",
        "App.Program.Later()",
        None,
    ]
    assert [(row.method, row.held_ns) for row in found.holders] == [
        ("App.Program.Hold()", 240_000),
        ("App.Program.Later()", 30_000),
    ]
    assert sum(row.share or 0 for row in found.holders) == pytest.approx(1)
    assert [row.holder for row in found.locks] == ["App.Program.Hold()"]
    assert {(row.owner_thread_id, row.count, row.owner_method) for row in found.owners} == {
        (5, 2, "App.Program.Hold()"),
        (None, 1, None),
    }


@pytest.mark.parametrize(("inner", "taken_in"), [(0x5000, "Outer"), (USER, "Work")])
def test_a_lock_is_taken_in_the_outermost_method_that_is_left_with_it(inner: int, taken_in: str) -> None:
    """Or in the one that others wait in for it, if the holder is inside that."""
    builder = named(TraceBuilder())
    for address, name in ((0x5000, "Hold"), (0x6000, "Run"), (0x7000, "Outer")):
        builder.method_load("App.Program", name, address=address)
    for at in range(100_000, 1_100_000, 100_000):
        builder.thread(5).at(at).sample(*(inner, 0x7000)[: 2 * (at < 500_000)], 0x6000, CALLBACK)
    builder.thread(7).at(210_000).event(start(0x70, 5), STACK).at(450_000).event(stop(240_000.0))
    (held,) = told(builder.rundown()).holders
    assert (held.held_ns, held.taken_in) == (240_000, f"App.Program.{taken_in}()")


def test_percentiles_are_the_nearest_rank() -> None:
    builder = TraceBuilder().thread(7)
    for number in range(1, 11):
        builder.at(number * 1000).event(start()).at(number * 1000 + number).event(stop(float(number)))
    found = told(builder)
    assert numbers_of(found, "waited_median", "waited_p95", "waited_max") == (5, 10, 10)
    (lock,) = found.locks
    assert (lock.max_ns, lock.waited_ns) == (10, 55)


def test_what_samples_show_outside_of_contentions() -> None:
    builder = named(TraceBuilder())
    for at in range(100_000, 1_000_000, 100_000):
        builder.thread(7).at(at).sample(*(STACK if at < 700_000 else STACK[1:]), kind=1 if at < 700_000 else 2)
    builder.at(990_000).event(start(0x70), STACK).at(991_000).event(stop(1000.0))
    found = told(builder.rundown())
    # From half a period before the first sample to the middle between the last one and the next.
    assert numbers_of(found, "sampled_total", "unseen_total") == (600_000, 600_000)
    builder = named(TraceBuilder()).thread(7).at(200_000).event(start(0x70), STACK)
    for at in range(300_000, 1_000_000, 100_000):
        builder.at(at).sample(*STACK, kind=1)
    found = told(builder.at(1_000_000).event(stop(800_000.0)).rundown())
    assert numbers_of(found, "sampled_total", "unseen_total") == (700_000, 0)


def test_samples_of_runtimes_that_cannot_show_a_wait_for_a_lock_say_so() -> None:
    builder = named(TraceBuilder()).thread(7).at(100_000).event(start_v1(), STACK[1:])
    for at in range(200_000, 1_000_000, 100_000):
        builder.at(at).sample(*STACK[1:], kind=1)
    found = told(builder.at(1_000_000).event(stop(900_000.0)).rundown())
    assert numbers_of(found, "sampled_total", "unseen_total") == (None, None)
    assert found.metrics["unseen_total"].reason == "this runtime's samples do not show it"


# Convoys. -----------------------------------------------------------------------------------------------------------


def waits(*told: tuple[int, int, int, int]) -> list[LockWait]:
    """Of threads, owners, begins and ends."""
    return [LockWait(row, thread, owner, start, end, True) for row, (thread, owner, start, end) in enumerate(told)]


CONVOY = ((1, 9, 0, 10), (2, 9, 1, 20), (3, 9, 2, 30), (1, 2, 21, 40), (2, 3, 31, 50))


def test_a_convoy() -> None:
    (found,) = convoys(waits(*CONVOY), owners_told=True)
    assert (found.start_ns, found.end_ns, found.threads, found.most_waiters) == (0, 50, 3, 3)
    assert (found.handovers, found.crowded_ns, len(found.waits)) == (2, 37, 5)
    assert convoys(waits(*CONVOY[:4]), owners_told=True) == [], "only one thread that had waited held it again"
    assert len(convoys(waits(*CONVOY), owners_told=False)) == 1
    # A lock is owned from the moment at which the wait for it ends.
    touching = *CONVOY[:3], (1, 2, 20, 40), (2, 3, 30, 50)
    assert [found.handovers for found in convoys(waits(*touching), owners_told=True)] == [2]
    # When these came back nobody else waited.
    alone = (1, 9, 0, 30), (2, 9, 0, 30), (3, 9, 0, 30), (1, 9, 30, 40), (2, 9, 40, 50)
    assert convoys(waits(*alone), owners_told=False) == []


def test_two_stretches_are_two_convoys_and_small_gaps_part_nothing() -> None:
    later = [(t, o, s + 10_000, e + 10_000) for t, o, s, e in CONVOY]
    near = [(t, o, s + 60, e + 60) for t, o, s, e in CONVOY]
    assert [(c.start_ns, c.end_ns) for c in convoys(waits(*CONVOY, *later), True)] == [(0, 50), (10_000, 10_050)]
    assert [(c.start_ns, c.end_ns) for c in convoys(waits(*CONVOY, *near), True)] == [(0, 110)]


@pytest.mark.parametrize("seed", range(30))
def test_crowding_as_counted_moment_by_moment(seed: int) -> None:
    rng = random.Random(seed)
    told = []
    for thread in range(1, 6):
        at = 0
        for _ in range(rng.randrange(1, 5)):
            at += rng.randrange(1, 6)
            length = rng.randrange(5, 30)
            told.append((thread, rng.randrange(1, 6), at, at + length))
            at += length
    for found in convoys(waits(*told), owners_told=True):
        moments = [sum(w.start_ns <= at < w.end_ns for w in found.waits) for at in range(found.start_ns, found.end_ns)]
        assert found.crowded_ns == sum(count >= 2 for count in moments)
        assert found.most_waiters == max(moments)
        assert 2 * sum(map(bool, moments)) > len(moments)
        assert 2 * found.crowded_ns > sum(map(bool, moments))


# Laws. --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", one_in(3, range(3)))
@pytest.mark.parametrize("format", ["nettrace4", "nettrace6"])
@pytest.mark.parametrize("name", ["locks", "waits"])
def test_events_by_chance_obey_the_laws(name: str, format: Format, seed: int) -> None:
    declaration = find_report(name)
    report_laws.obeys(
        declaration, declaration.parameters(), built_waits.by_chance(format, seed), report_laws.LAWS_OF_CHANCE
    )


def test_runs_added_up_once_are_those_looked_at_one_by_one() -> None:
    """What a holder was seen with, by label: near each edge of a holding, and for long ones in few steps."""
    rng = random.Random(7)
    edges = sorted(rng.sample(range(10_000), 120))
    low, high = edges[::2], edges[1::2]
    labels = [rng.randrange(4) for _ in low]
    runs = LabelledRuns(labels, low, high)
    for _ in range(300):
        start, end = sorted(rng.sample(range(10_000), 2))
        expected: dict[int, list[int]] = {}
        for run, label in enumerate(labels):
            took = min(high[run], end) - max(low[run], start)
            if took > 0:
                expected.setdefault(label, [0, run])[0] += took
        found = runs.took(HeldLock(Holding(1, 7, start, end), 0, len(low), range(len(low))), 0, 10_000)
        assert found == sorted(((label, took, run) for label, (took, run) in expected.items()), key=lambda row: row[2])
