"""The reports on locks and waits, held against raw events on every trace, and against what programs said."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from typing import Any

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents

OWN, SCENARIOS = SHARED / "traces/own", SHARED / "scenarios"
SMALL = [
    shared for shared in traces("traces/own", "traces/perfview", "scenarios") if shared.path.stat().st_size < 3_000_000
]
WORKER = "Scenarios.Convoy.lambda_"


pytestmark = [needs_shared, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def opened(path: Any) -> clrevents.Trace:
    return clrevents.open(path, errors="salvage")


def scenario(name: str) -> tuple[clrevents.Trace, dict[str, Any]]:
    truth = json.loads((SCENARIOS / f"{name}.truth.json").read_text())
    return opened(SCENARIOS / f"{name}.nettrace.gz"), truth


def raw(trace: clrevents.Trace, *names: str) -> list[Any]:
    """Events of the runtime, in a loop that knows nothing of reports."""
    return [event for event in trace.events() if event.name in names]


# Every trace. -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", SMALL, ids=lambda shared: shared.name)
def test_contentions_are_those_of_the_events(shared: Shared) -> None:
    with opened(shared.path) as trace:
        found = trace.report("locks")
        events = raw(trace, "ContentionStart", "ContentionStop")
        if trace.losses:
            return
    open_: dict[int, Any] = {}
    by_lock: Counter[int | None] = Counter()
    by_thread: Counter[int] = Counter()
    pairs = []
    for event in events:
        if event.name == "ContentionStart":
            assert event.thread_id not in open_, "contentions of a thread do not nest"
            open_[event.thread_id] = event
            continue
        begin = open_.pop(event.thread_id)
        length = int(event.payload.DurationNs)
        pairs.append((begin.time_ns, event.time_ns, event.thread_id, length, begin.stack_id))
        # In a trace that others recorded on Windows, two are 0.5 and 0.7 ms longer than from event to event.
        assert abs(event.time_ns - begin.time_ns - length) < (1_000_000 if "win-x64" in shared.name else 200_000)
        by_lock[getattr(begin.payload, "LockID", None)] += length
        by_thread[event.thread_id] += length
    assert not open_
    pairs.sort()
    assert [(r.start_ns, r.end_ns, r.thread_id, r.duration_ns, r.stack_id) for r in found.contentions] == pairs
    if not pairs:
        assert found.metrics["count"].value in (0, None)
        return
    assert found.metrics["count"].value == len(pairs)
    assert found.metrics["waited_total"].value == sum(length for *_, length, _ in pairs)
    assert {row.lock_id: row.waited_ns for row in found.locks} == by_lock
    assert {row.thread_id: row.waited_ns for row in found.threads} == by_thread
    assert (
        sum(row.waited_ns for row in found.methods)
        == sum(row.waited_ns for row in found.owners)
        == sum(by_thread.values())
    )
    assert sum(row.count for row in found.methods) == sum(row.count for row in found.owners) == len(pairs)


@pytest.mark.parametrize("shared", SMALL, ids=lambda shared: shared.name)
def test_waits_of_a_thread_are_counted_once(shared: Shared) -> None:
    """What is counted does not overlap on a thread, and sums agree with it."""
    with opened(shared.path) as trace:
        found = trace.report("waits")
    if found.coverage == "none":
        return
    counted = [row for row in found.waits if row.inside is None]
    by_thread = defaultdict(list)
    for row in counted:
        if row.start_ns is not None and row.end_ns is not None:
            by_thread[row.process_id, row.thread_id].append((row.start_ns, row.end_ns))
    for stretches in by_thread.values():
        stretches.sort()
        for (_, end), (start, _) in itertools.pairwise(stretches):
            assert start >= end
    programs = [row for row in counted if row.kind != "idle"]
    sampled = any(row.evidence == "sample" for row in programs)
    count, waited = found.metrics["count"], found.metrics["waited_total"]
    # How many waits samples show is unknown; those of events are a lower bound.
    assert count.value in (None, len(programs)) or (count.low is not None and count.low <= len(programs))
    assert not sampled or count.value is None or count.low is not None
    # Null where none was seen and none could have been, or where waits may reach over a loss.
    total = sum(row.duration_ns or 0 for row in programs)
    assert waited.value == total or (waited.value is None and (not total or found.coverage == "partial"))
    # Null is none without the ends of waits for tasks.
    assert (found.metrics["nested_count"].value or 0) == len(found.waits) - len(counted)
    for table in (found.methods, found.kinds):
        if any(row.waited_ns is None for row in table):
            assert waited.value is None
            continue
        idle = sum(row.waited_ns for row in table if row.kind == "idle")
        assert sum(row.waited_ns for row in table) - idle == (waited.value or 0)
        assert idle == (found.metrics["idle_total"].value or 0)
    if waited.value is not None or not total:
        assert sum(row.waited_ns for row in found.threads) == (waited.value or 0)


@pytest.mark.parametrize("name", ["net10-all", "net10-starvation-11", "net31-rundown", "net10-async-11", "net10-web"])
def test_task_waits_are_those_that_block(name: str) -> None:
    path = next(shared.path for shared in SMALL if shared.short == name)
    with opened(path) as trace:
        found = trace.report("waits")
        begins = [event for event in raw(trace, "TaskWaitBegin") if event.payload.Behavior == 1]
        ends = {(e.thread_id, e.payload.TaskID): e.time_ns for e in raw(trace, "TaskWaitEnd")}
    wanted = sorted((b.time_ns, ends.get((b.thread_id, b.payload.TaskID)), b.thread_id) for b in begins)
    rows = [(r.start_ns, r.end_ns, r.thread_id) for r in found.waits if r.task_id is not None]
    assert sorted(rows, key=lambda row: (row[0] or 0, row[2])) == wanted


def test_handles_inside_contentions_of_a_trace_with_all_events() -> None:
    with opened(OWN / "net10-all.nettrace.gz") as trace:
        found = trace.report("waits")
        starts = raw(trace, "WaitHandleWaitStart")
        stops = raw(trace, "WaitHandleWaitStop")
    events = [row for row in found.waits if row.evidence == "event"]
    assert (len(starts), len(stops)) == (165, 163)
    assert Counter((row.kind, row.inside) for row in events) == {
        ("lock", "lock"): 153,
        ("lock", None): 5,
        ("idle", None): 9,
        ("join", None): 2,
        ("task", None): 1,
    }
    assert sum(row.end_ns is None for row in events) == 2
    (task,) = [row for row in events if row.kind == "task"]
    assert (task.method, task.duration_ns) == ("Program.Main(string[])", 27_429_006)


# What programs said. ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "contentions", "evidence", "threads"),
    [
        ("net11-convoy-31", 5, "event", 4),
        ("net10-convoy-11", 8, "event", 4),
        ("net8-convoy-44", 8, "event", 4),
        ("net31-convoy-44", 6, "inferred", 4),
    ],
)
def test_a_convoy_is_named_although_few_holds_raise_a_contention(
    name: str, contentions: int, evidence: str, threads: int
) -> None:
    trace, truth = scenario(name)
    with trace:
        found = trace.report("locks")
    assert truth["holds"] == 60
    (convoy,) = found.convoys
    assert (convoy.count, convoy.threads, convoy.evidence) == (contentions, threads, evidence)
    assert found.metrics["count"].value == contentions < truth["holds"]
    assert convoy.waited_ns == found.metrics["waited_total"].value
    assert convoy.method is not None
    assert convoy.method.startswith(WORKER)
    # Threads fight for as long as the program asked the lock to be held, and starting and ending them takes.
    assert (convoy.end_ns - convoy.start_ns) / 1e6 < truth["asked_ms"] * 1.2
    assert convoy.crowded_ns > 0.5 * (convoy.end_ns - convoy.start_ns)
    (note,) = [note for note in found.notes if note.id == "convoy"]
    assert note.numbers == {"convoys": 1, "contentions": contentions}


def phases(trace: clrevents.Trace, kind: str) -> list[tuple[int, int]]:
    """The stretches of one kind that the program wrote."""
    found = []
    begin: dict[Any, int] = {}
    for event in trace.events("*/PhaseStart", "*/PhaseStop"):
        values = [getattr(event.payload, field) for field in type(event.payload).__slots__]
        if values[0] == kind:
            if event.name == "PhaseStart":
                begin[values[1]] = event.time_ns
            else:
                found.append((begin[values[1]], event.time_ns))
    return found


@pytest.mark.parametrize(("name", "count"), [("net11-states-31", 7), ("net10-states-11", 8)])
def test_the_lock_phases_of_a_script_are_its_contentions(name: str, count: int) -> None:
    trace, truth = scenario(name)
    with trace:
        found = trace.report("locks")
        stretches = phases(trace, "lock")
    script = [milliseconds for kind, _, milliseconds in truth["script"] if kind == "lock"]
    rows = list(found.contentions)
    assert len(rows) == len(script) == len(stretches) == count
    for row, (start, end), milliseconds in zip(rows, stretches, script, strict=True):
        assert row.start_ns is not None
        assert row.end_ns is not None
        assert row.duration_ns is not None
        assert start < row.start_ns < row.end_ns < end
        # The rest is the start of the thread that takes the lock.
        assert 0 < milliseconds - row.duration_ns / 1e6 < 5
        assert row.owner_method == "Scenarios.States.lambda_2()"
    assert len({row.thread_id for row in rows}) == 1
    assert found.metrics["convoys"].value == 0
    assert found.metrics["waited_total"].value == sum(row.duration_ns or 0 for row in rows)


@pytest.mark.parametrize("name", ["net11-states-31", "net10-states-11"])
@pytest.mark.parametrize(("kind", "phase"), [("handle", "event"), ("sleep", "sleep")])
def test_phases_of_a_script_are_the_waits_that_samples_show(name: str, kind: str, phase: str) -> None:
    trace, truth = scenario(name)
    with trace:
        found = trace.report("waits")
        stretches = phases(trace, phase)
        scripted = next(e.thread_id for e in trace.events("*/PhaseStart") if e.thread_id != trace.info.process_id)
    script = [(asked, took) for name, asked, took in truth["script"] if name == phase]
    rows = [row for row in found.waits if row.kind == kind and row.thread_id == scripted]
    assert {row.evidence for row in rows} == {"sample"}
    assert {row.method for row in rows} == {"Scenarios.States.lambda_0()"}
    assert len(script) == len(stretches)
    # A phase also makes a timer; its wait is at least as long as what was asked for, or as the phase where that comes
    # early.
    period = found.facts.sampling_period_ns
    assert period is not None
    for (start, end), (asked, took) in zip(stretches, script, strict=True):
        inside = sum(min(r.end_ns or 0, end) - max(r.start_ns or 0, start) for r in rows if _meets(r, start, end))
        assert min(asked, took) * 1e6 - period <= inside <= took * 1e6 + period
    total = sum(row.duration_ns or 0 for row in rows) / 1e6
    assert total == pytest.approx(sum(took for _, took in script), rel=0.03)


def _meets(row: Any, start: int, end: int) -> bool:
    return bool(row.start_ns < end and row.end_ns > start)


@pytest.mark.parametrize(
    "name", ["net11-starvation-31", "net10-starvation-11", "net8-starvation-44", "net31-starvation-44"]
)
def test_the_method_that_blocks_on_tasks_is_found(name: str) -> None:
    trace, truth = scenario(name)
    with trace:
        found = trace.report("waits")
        awaits = sum(event.payload.Behavior == 2 for event in raw(trace, "TaskWaitBegin"))
    rows = [row for row in found.waits if row.task_wait and row.evidence == "event"]
    assert len(rows) == truth["blocking_calls"]
    # The awaits of .NET 11 are in no event of TPL.
    assert awaits == (0 if name.startswith("net11") else truth["blocking_calls"])
    assert {row.method for row in rows} == {f"{truth['culprit']}(int)"}
    assert found.facts.sync_over_async == f"{truth['culprit']}(int)"
    assert len({row.thread_id for row in rows}) == truth["blocking_calls"]
    # Main waits for all of them, for which there is no event; samples show it.
    (main,) = {row.method for row in found.waits if row.task_wait and row.evidence == "sample"}
    assert main is not None
    assert main.startswith("Scenarios.Starvation")
    assert max(row.end_ns or 0 for row in rows) - min(row.start_ns or 0 for row in rows) < truth["elapsed_ms"] * 1e6
