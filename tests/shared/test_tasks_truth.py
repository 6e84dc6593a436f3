"""The report on tasks, held against raw events on every trace that has them, and against what programs said."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import Any

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents
from clrevents.analysis import read_samples
from clrevents.analysis.reports.tasks import TasksReport
from clrevents.schema.registry import ASYNC as PROFILER
from pdb_lines import PdbLines

SCENARIOS = SHARED / "scenarios"
SMALL = [
    shared for shared in traces("traces/own", "traces/perfview", "scenarios") if shared.path.stat().st_size < 3_000_000
]
ASYNC = ("net10-async-11", "net8-async-44", "net31-async-44")
STARVED = ("net11-starvation-31", "net10-starvation-11", "net8-starvation-44", "net31-starvation-44")
SYNCHRONOUS, ASYNCHRONOUS = 1, 2

pytestmark = [needs_shared, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def scenario(name: str) -> tuple[TasksReport, dict[str, Any], list[Any]]:
    truth = json.loads((SCENARIOS / f"{name}.truth.json").read_text())
    with clrevents.open(SCENARIOS / f"{name}.nettrace.gz") as trace:
        return trace.report("tasks"), truth, raw(trace)


def raw(trace: clrevents.Trace) -> list[Any]:
    """The events of tasks, in a loop that knows nothing of reports."""
    return [event for event in trace.events() if event.provider == "System.Threading.Tasks.TplEventSource"]


def named(events: list[Any], name: str) -> list[Any]:
    return [event for event in events if event.name == name]


def continuation(event: Any) -> int:
    """The id of what was queued, whose field .NET Core 3.1 misspells."""
    payload = event.payload
    found: int = payload.ContinueWithTaskId if hasattr(payload, "ContinueWithTaskId") else payload.ContinuwWithTaskId
    return found


@pytest.mark.parametrize("name", ["net11-async-31", *ASYNC])
def test_the_tree_of_calls_is_that_of_the_program(name: str) -> None:
    found, truth, _ = scenario(name)
    rows = {row.row: row for row in found.tasks if row.kind == "continuation"}
    assert len(rows) == truth["calls"] == 121
    children: dict[int | None, list[int]] = defaultdict(list)
    for row in rows.values():
        children[row.parent_row].append(row.row)
    (root,) = children[None]
    assert rows[root].created_by == "thread"
    level, levels = [root], []
    while level:
        levels.append(len(level))
        assert {len(children[row]) for row in level} <= {0, truth["fan"]}
        level = [child for row in level for child in children[row]]
    assert levels == [truth["fan"] ** depth for depth in range(truth["depth"] + 1)]


@pytest.mark.parametrize("name", ASYNC)
def test_awaits_and_continuations_of_a_tree(name: str) -> None:
    found, _, events = scenario(name)
    counts = Counter(event.name for event in events)
    assert counts["AwaitTaskContinuationScheduled"] == counts["TaskWaitContinuationStarted"] == 121
    assert counts["TaskWaitContinuationComplete"] == 243 == 121 + 122
    metrics = {name: metric.value for name, metric in found.metrics.items()}
    assert (metrics["awaits"], metrics["continuations"], metrics["tasks"]) == (121, 121, 0)
    assert (metrics["blocking_count"], metrics["unstarted"], metrics["unknown_creators"]) == (1, 0, 0)
    assert found.coverage == "full"
    # What awaits the kids of a call, or its delay, is created by that call's own continuation.
    kinds = {row.row: row.kind for row in found.tasks}
    parents = Counter(row.parent_row for row in found.tasks if row.kind == "await")
    assert len(parents) == 121
    assert {kinds[row] for row in parents if row is not None} == {"continuation"}
    assert all(row.method == "Scenarios.Tree(...)" for row in found.tasks)


@pytest.mark.parametrize("name", STARVED)
def test_who_blocks_on_tasks(name: str) -> None:
    found, truth, _ = scenario(name)
    calls = truth["blocking_calls"]
    metrics = {name: metric.value for name, metric in found.metrics.items()}
    # The awaits of .NET 11 are in no event of TPL.
    awaits = 0 if name.startswith("net11") else calls
    metrics["awaits"] = metrics["awaits"] or 0
    assert [metrics[of] for of in ("blocking_count", "tasks", "awaits", "continuations")] == [
        calls,
        calls,
        awaits,
        calls,
    ]
    (blocker,) = [row for row in found.blockers if row.in_tasks]
    assert blocker.method == found.facts.sync_over_async == truth["culprit"] + "(int)"
    assert (blocker.count, blocker.in_tasks) == (calls, calls)
    tasks = {row.row: row for row in found.tasks}
    assert {tasks[row.in_row or 0].kind for row in found.blocking} == {"task"}
    assert len({row.in_row for row in found.blocking}) == calls
    # Each task awaits in the code that it calls itself, and that queues once more.
    chain = [tasks[row.parent_row].kind for row in tasks.values() if row.parent_row is not None]
    assert Counter(chain) == Counter({"task": awaits, "await": awaits})


@pytest.mark.parametrize("shared", SMALL, ids=lambda shared: shared.name)
def test_tasks_are_those_of_the_events(shared: Shared) -> None:
    with clrevents.open(shared.path, errors="salvage") as trace:
        found, events, lost = trace.report("tasks"), raw(trace), bool(trace.losses)
        waits = trace.report("waits")
    begins = named(events, "TaskWaitBegin")
    behaviors = Counter(event.payload.Behavior for event in begins)
    if found.coverage == "none":
        assert not begins
        assert not named(events, "TaskScheduled")
        return
    awaits = found.metrics["awaits"]
    if shared.name.startswith("net11"):
        # The runtime's own are in no event of tasks.
        assert (awaits.value or 0, awaits.high) == (behaviors[ASYNCHRONOUS], None)
    else:
        assert awaits.value == behaviors[ASYNCHRONOUS]
    assert found.metrics["blocking_count"].value == behaviors[SYNCHRONOUS]
    blocked = [(row.thread_id, row.start_ns, row.end_ns) for row in found.blocking]
    told = [row for row in waits.waits if row.kind == "task" and row.evidence == "event" and row.task_id is not None]
    assert blocked == [(row.thread_id, row.start_ns, row.end_ns) for row in told]
    if lost:
        return
    # A task, from where it was scheduled.
    scheduled = {event.payload.TaskID: event.time_ns for event in named(events, "TaskScheduled")}
    latencies = [
        (event.payload.TaskID, event.time_ns - scheduled[event.payload.TaskID], event.thread_id)
        for event in named(events, "TaskStarted")
        if event.payload.TaskID in scheduled
    ]
    rows = [row for row in found.tasks if row.kind == "task" and row.latency_ns is not None]
    assert sorted(latencies) == sorted((row.task_id, row.latency_ns, row.thread_id) for row in rows)
    # A continuation, from where it was queued.
    queued = {continuation(event): event.time_ns for event in named(events, "AwaitTaskContinuationScheduled")}
    latencies = [
        (event.payload.TaskID, event.time_ns - queued[event.payload.TaskID], event.thread_id)
        for event in named(events, "TaskWaitContinuationStarted")
    ]
    rows = [row for row in found.tasks if row.kind == "continuation" and row.latency_ns is not None]
    assert sorted(latencies) == sorted((row.task_id, row.latency_ns, row.thread_id) for row in rows)
    # What ran on a thread, by a bracket that knows nothing of kinds.
    ended = Counter(
        (event.thread_id, event.payload.TaskID, event.time_ns)
        for event in events
        if event.name in ("TaskCompleted", "TaskWaitContinuationComplete")
    )
    assert all(
        ended[row.thread_id, row.task_id, row.completed_ns] for row in found.tasks if row.completed_ns is not None
    )


def test_each_await_of_a_server_resumes() -> None:
    with clrevents.open(SHARED / "traces/own/net10-web.nettrace.gz") as trace:
        found, events = trace.report("tasks"), raw(trace)
    ends = Counter((event.thread_id, event.time_ns) for event in named(events, "TaskWaitEnd"))
    awaits = [row for row in found.tasks if row.kind == "await"]
    assert len(awaits) + len(found.blocking) == 4453 == ends.total()
    assert not any(row.ambiguous for row in awaits)
    resumed = Counter((row.thread_id, row.started_ns) for row in awaits)
    blocked = Counter((row.thread_id, row.end_ns) for row in found.blocking)
    assert resumed + blocked == ends
    # Several methods await one task. Who is queued is told by the event next to the begin, except for one task's.
    queued = [row for row in awaits if row.scheduled_ns is not None]
    assert Counter(row.task_id for row in queued).most_common(2)[0] == (54, 32)
    assert len(queued) == 37
    for row in queued:
        assert row.created_ns is not None
        assert row.started_ns is not None
        assert row.scheduled_ns is not None
        assert row.created_ns < row.scheduled_ns < row.started_ns


def test_logical_stacks_of_a_starved_program() -> None:
    """What its tasks do is under what started them, and nothing but stacks changes."""
    with clrevents.open(SCENARIOS / "net10-starvation-11.nettrace.gz") as trace:
        physical, logical = read_samples(trace), read_samples(trace, logical=True)
    for name in ("time_ns", "weight", "thread", "state"):
        assert (getattr(physical, name) == getattr(logical, name)).all()
    frames = [frame.name.partition("(")[0] for frame in logical.frames]
    waited = Counter[str]()
    for stack, weight in zip(logical.stack.tolist(), logical.weight.tolist(), strict=True):
        names = [frames[frame] for frame in logical.frame_ids(stack)]
        if "Scenarios.SyncOverAsync" in names:
            assert names.index("Scenarios.SyncOverAsync") < names.index("Scenarios.Starvation")
            waited[names[-1]] += weight
    assert set(waited) == {"Scenarios.Main"}
    # The samples of 19 waits, which events say lasted 25,067 ms.
    assert 25_000e6 < waited.total() < 25_150e6


@pytest.mark.parametrize("name", ["net11-async-31", *ASYNC])
def test_logical_stacks_of_a_tree_end_in_main(name: str) -> None:
    with clrevents.open(SCENARIOS / f"{name}.nettrace.gz") as trace:
        found = read_samples(trace, "tpl/AwaitTaskContinuationScheduled", logical=True)
    frames = [frame.name.partition("(")[0] for frame in found.frames]
    stacks = Counter(tuple(frames[frame] for frame in found.frame_ids(stack)) for stack in found.stack.tolist())
    assert {stack[-1] for stack in stacks} == {"Scenarios.Main"}
    # The first call is made outside tasks. Its kids are below it, and recursion from there on is shown once.
    assert sorted(stacks.values()) == [1, 3, 117]
    created = "Scenarios.Tree.lambda_0" if name.startswith("net11") else "async Scenarios.Tree"
    assert {stack[0] for stack, count in stacks.items() if count > 1} == {created}


NET11 = SHARED / "net11"
MARKED = {"Chain": 112, "Leaf": 55, "Request": 48, "Throws": 26, "Stream": 24, "Locked": 24, "Catches": 8}
LINES = {
    ("Chain", 49): 32,
    ("Chain", 50): 80,
    ("FanOut", 62): 8,
    ("Leaf", 74): 55,
    ("Throws", 86): 8,
    ("Throws", 87): 18,
}
LINES |= {("Catches", 95): 8, ("Cancelled", 106): 8, ("Cached", 116): 8, ("Stream", 125): 24, ("Consumes", 134): 24}
LINES |= {("Locked", 142): 24, ("Request", 154): 24, ("Request", 155): 24}
BEHIND = {("Chain", 49): ("after", 0), ("Chain", 50): ("after", 1), ("Throws", 86): ("throw", 0)}
BEHIND |= {("Request", 154): ("after", 0), ("Request", 155): ("after", 1)}
MARKED |= {"Cancelled": 8, "Cached": 8, "FanOut": 8}


def net11(name: str) -> tuple[TasksReport, list[Any]]:
    with clrevents.open(NET11 / f"{name}.nettrace.gz") as trace:
        return trace.report("tasks"), sorted(trace.events("AsyncTruth/Mark"), key=lambda event: event.time_ns)


def method(row: Any) -> str:
    return str(row.method).partition("(")[0].removeprefix("AsyncTree.")


@pytest.mark.parametrize("name", ["async-runtime", "async-state", "async-runtime-both"])
def test_awaits_of_the_async_profiler_are_those_of_the_program(name: str) -> None:
    found, marks = net11(name)
    awaits = [row for row in found.tasks if row.kind == "await"]
    resumed = Counter(method(row) for row in awaits if row.started_ns is not None)
    assert {name: resumed[name] for name in MARKED} == MARKED
    assert Counter(mark.payload.method for mark in marks if mark.payload.what == "before") == MARKED
    started = defaultdict(list)
    for row in awaits:
        if row.started_ns is not None:
            started[method(row), row.thread_id].append(row)
    late = []
    for mark in marks:
        if mark.payload.what in ("after", "throw"):
            rows = started[mark.payload.method, mark.thread_id]
            last = max((row for row in rows if row.started_ns <= mark.time_ns), key=lambda row: row.started_ns)
            late.append(mark.time_ns - last.started_ns)
            assert last.completed_ns is None or mark.time_ns <= last.completed_ns
            assert last.exceptional if mark.payload.what == "throw" else not last.exceptional
    after = sorted(late)
    assert max(after) <= 5_000_000
    assert sum(1 for ns in after if ns <= 100_000) >= 0.95 * len(after)
    # What a fault or a cancellation is to those that await it.
    ends = Counter((method(row), row.outcome) for row in awaits if row.outcome in ("faulted", "cancelled"))
    assert ends == {("Throws", "faulted"): 26 - 8, ("Catches", "faulted"): 8, ("Cancelled", "cancelled"): 8}
    assert Counter(method(row) for row in awaits if row.exceptional) == {"Throws": 26}


@pytest.mark.parametrize("name", ["async-runtime", "async-state"])
def test_awaits_of_the_async_profiler_are_trees(name: str) -> None:
    found, marks = net11(name)
    rows = {row.row: row for row in found.tasks}
    # Who awaits whom: each call of Chain the one that is a level deeper, and Main or Request the first.
    depths = Counter(
        mark.payload.value for mark in marks if mark.payload.what == "before" and mark.payload.method == "Chain"
    )
    awaited = {row.awaiter_row: row for row in rows.values() if row.awaiter_row is not None}
    levels: Counter[int] = Counter()
    for row in rows.values():
        if method(row) == "Chain":
            level, below = 0, awaited.get(row.row)
            while below is not None:
                assert method(below) == "Chain"
                level, below = level + 1, awaited.get(below.row)
            levels[level] += 1
            assert row.awaiter_row is not None
            assert method(rows[row.awaiter_row]) in ("Chain", "Main", "Request")
    assert levels == depths
    sites = {(method(row), row.native_offset if row.state is None else row.state) for row in rows.values()}
    assert Counter(name for name, _ in sites if name in ("Chain", "Request", "Throws")) == {
        "Chain": 2,
        "Request": 2,
        "Throws": 2,
    }
    assert None not in {site for _, site in sites}
    # What was created while something else ran is its child, which had begun by then.
    for row in rows.values():
        if row.parent_row is not None:
            parent = rows[row.parent_row]
            assert parent.thread_id == row.created_thread_id
            assert parent.started_ns <= row.created_ns
            assert parent.completed_ns is None or row.created_ns <= parent.completed_ns


def test_awaits_are_at_the_lines_where_the_source_awaits() -> None:
    source = (NET11 / "src" / "AsyncTree.cs").read_text().splitlines()
    lines = PdbLines(SHARED / "runtimes" / "apps" / "asynctree-runtime" / "AsyncTree.pdb")
    awaiting: defaultdict[str, list[int]] = defaultdict(list)
    inside = ""
    for number, line in enumerate(source, 1):
        if declared := re.search(r"static async \S+ (\w+)\(", line):
            inside = declared[1]
        awaiting[inside] += [number] * len(re.findall(r"\bawait\b", line.partition("//")[0]))
    found: dict[str, list[tuple[str, int, int | None, int]]] = {}
    for name in ("async-runtime", "async-state"):
        with clrevents.open(NET11 / f"{name}.nettrace.gz") as trace:
            tokens = {of.name: of.token for of in trace.methods if of.namespace == "AsyncTree"}
            rows = [row for row in trace.report("tasks").tasks if row.kind == "await"]
        found[name] = [
            (
                method(row),
                awaiting[method(row)][row.state]
                if row.state is not None
                else lines.line(tokens[method(row)], row.il_offset),
                row.thread_id,
                row.started_ns,
            )
            for row in rows
        ]
    sites = [Counter((of, line) for of, line, *_ in found[name]) for name in found]
    # The runtime's offsets and the states of state machines are the same lines; how often Main awaits is a race.
    assert all(line in awaiting[of] for counts in sites for of, line in counts)
    assert [{site: n for site, n in counts.items() if site[0] != "Main"} for counts in sites] == [LINES, LINES]
    assert [{line for of, line in counts if of == "Main"} for counts in sites] == [set(range(168, 176))] * 2
    # What the program said next on the thread is what stands behind that await.
    _, marks = net11("async-runtime")
    for of, line, thread, started in found["async-runtime"]:
        if started is not None and (of, line) in BEHIND:
            mark = next(one for one in marks if one.thread_id == thread and one.time_ns >= started)
            value = min(mark.payload.value, 1) if of == "Chain" else mark.payload.value
            assert (mark.payload.method, mark.payload.what, value) == (of, *BEHIND[of, line])


def test_both_sources_of_awaits_are_counted_once() -> None:
    alone, both = (net11(name)[0] for name in ("async-runtime", "async-runtime-both"))
    assert alone.metrics["awaits"].value == both.metrics["awaits"].value == 409
    assert (alone.metrics["tasks"].value, both.metrics["tasks"].value) == (None, 0)
    assert (alone.metrics["blocking_count"].value, both.metrics["blocking_count"].value) == (None, 1)


@pytest.mark.parametrize("name", ["async-runtime-least", "async-state-least"])
def test_resumptions_alone_tell_no_awaits_that_began(name: str) -> None:
    found, _ = net11(name)
    assert {metric.value for metric in found.metrics.values()} == {None}
    assert len(found.tasks) == sum(row.started for row in found.methods) == 207
    assert {(row.count, row.waited_ns, row.run_ns) for row in found.methods} == {(None, None, None)}
    assert {(row.created_ns, row.completed_ns) for row in found.tasks} == {(None, None)}
    assert found.coverage == "partial"
    # What would tell more on this runtime; events of tasks would not.
    missing = [note for note in found.notes if note.id == "not-recorded"]
    assert missing[-1].touches == ("when awaits begin that .NET 11 runs itself",)
    assert {note.record for note in missing} == {f"{PROFILER}:0x3ffff:4"}


@pytest.mark.parametrize(("name", "awaits"), [("async-runtime-tpl", 24), ("async-state-tpl", 353)])
def test_events_of_tasks_tell_a_lower_bound_of_awaits(name: str, awaits: int) -> None:
    found, _ = net11(name)
    count = found.metrics["awaits"]
    assert (count.value, count.low, count.high) == (awaits, awaits, None)
    assert found.coverage == "partial"
    (missing,) = [note for note in found.notes if note.id == "not-recorded"]
    assert missing.record == f"{PROFILER}:0x3ffff:4"


def test_what_an_earlier_session_left_is_nothing_of_this_recording() -> None:
    with clrevents.open(NET11 / "second-session.nettrace.gz") as trace:
        found = trace.report("tasks")
    assert {metric.value for metric in found.metrics.values()} == {None}
    assert (found.coverage, len(found.tasks), found.notes[0].id) == ("none", 0, "left-behind")
