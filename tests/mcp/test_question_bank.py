"""Thirty questions about fixtures, each answered by at most three calls, by a script that sees only the text.

What is right comes from raw events, or from what the recorded program says of itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

import clrevents
from clrevents.mcp.desk import Desk
from clrevents.mcp.reply import Reply
from clrevents.mcp.shelf import Roots
from project_files import FIXTURES


def raw(trace: str, *selectors: str) -> list[Any]:
    with clrevents.open(FIXTURES / f"{trace}.nettrace.gz") as opened:
        return [(event, event.payload) for event in opened.events(*selectors)]


def count(trace: str, *selectors: str) -> int:
    return len(raw(trace, *selectors))


class Walk:
    """Counts the calls of a walk."""

    def __init__(self, desk: Desk, trace: str) -> None:
        self._desk, self._path, self.calls = desk, f"{trace}.nettrace.gz", 0

    def __getattr__(self, name: str) -> Callable[..., Reply]:
        def ask(*args: Any, **more: Any) -> Reply:
            self.calls += 1
            path = [] if name == "record" else [self._path]
            return as_read(getattr(self._desk, name)(*path, *args, **more))

        return ask


def as_read(reply: Reply) -> Reply:
    """What is in its text."""
    facts, rows, columns = {}, [], []
    for line in reply.text.split("\n```\n")[1].split("\n"):
        match json.loads(line):
            case {"facts": facts}:
                pass
            case {"columns": columns}:
                pass
            case list(row):
                rows.append(dict(zip(columns, row, strict=True)))
    return replace(reply, facts=facts, rows=rows)


Ask: TypeAlias = Callable[[Walk], Any]


def fact(name: str) -> Ask:
    return lambda walk: walk.overview().facts[name]


def finding(column: str, **asked: Any) -> Ask:
    return lambda walk: walk.findings(**asked).rows[0][column]


def metric(report: str, name: str) -> Ask:
    return lambda walk: walk.report(report).facts["metrics"][name]["value"]


def cell(report: str, column: str, *table: str) -> Ask:
    """Of a table's first row."""
    return lambda walk: walk.report(report, *table).rows[0][column]


def durations(trace: str) -> list[int]:
    return [int(payload.DurationNs) for _, payload in raw(trace, "ContentionStop")]


def most_frequent(trace: str, event: str, field: str) -> Any:
    return Counter(getattr(payload, field) for _, payload in raw(trace, event)).most_common(1)[0][0]


def who_waits(walk: Walk) -> bool:
    rows = walk.frames(focus="System.Threading.Monitor.Wait(object, int)", limit=100).rows
    return any(row["name"] == "Scenarios.SyncOverAsync(int)" for row in rows)


def first_contention(walk: Walk) -> Any:
    handle = cell("locks", "handle", "contentions")(walk)
    return walk.events(handle=handle, selector="ContentionStart").rows[0]["time_ns"]


def most_workers(walk: Walk) -> Any:
    return max(row["workers"] for row in walk.report("pool", "adjustments", limit=100).rows)


def wanted_workers() -> int:
    adjustments = raw(STARVED, "ThreadPoolWorkerThreadAdjustmentAdjustment")
    return max(payload.NewWorkerThreadCount for _, payload in adjustments)


CONVOY, STARVED, GARBAGE, THROWN = "net10-convoy", "net10-starvation", "net10-garbage", "net10-exceptions"
BANK: list[tuple[str, str, Ask, Any]] = [
    ("How many events are in it?", CONVOY, fact("events"), lambda: count(CONVOY)),
    ("Were events lost?", CONVOY, fact("lost"), 0),
    ("Which runtime was it?", "net8-heap", fact("runtime"), "8.0.4"),
    ("What is wrong with it?", STARVED, finding("rule"), "pool.sync_over_async"),
    ("Who blocks the workers?", STARVED, finding("culprit"), "Scenarios.SyncOverAsync(int)"),
    ("What is wrong here?", CONVOY, finding("rule"), "lock.convoy"),
    ("Is there a deadlock?", CONVOY, finding("state", rule="lock.deadlock"), "clear"),
    ("Are exceptions a problem?", GARBAGE, finding("state", rule="exceptions.rate"), "cannot tell"),
    (
        *("How do I record exceptions?", GARBAGE),
        *(lambda walk: "0x8000" in walk.record("exceptions").facts["dotnet-trace"], True),
    ),
    ("Who calls GC.Collect?", GARBAGE, finding("culprit", rule="gc.induced"), "Scenarios.Garbage(Random)"),
    (
        *("How often did threads wait for a lock?", CONVOY),
        *(metric("locks", "count"), lambda: count(CONVOY, "ContentionStart")),
    ),
    ("How long did they wait in all?", CONVOY, metric("locks", "waited_total"), lambda: sum(durations(CONVOY))),
    ("How long was the longest wait?", CONVOY, metric("locks", "waited_max"), lambda: max(durations(CONVOY))),
    (
        *("Which lock was it?", CONVOY),
        *(cell("locks", "lock_id", "locks"), lambda: hex(most_frequent(CONVOY, "ContentionStart", "LockID"))),
    ),
    ("How many collections ran?", GARBAGE, metric("gc", "count"), lambda: count(GARBAGE, "GCStart")),
    (
        *("How many were of generation 2?", GARBAGE),
        lambda walk: sum(row["generation"] == 2 for row in walk.report("gc", limit=100).rows),
        lambda: sum(payload.Depth == 2 for _, payload in raw(GARBAGE, "GCStart")),
    ),
    (
        *("Which type is allocated most?", GARBAGE),
        *(cell("alloc", "type"), lambda: most_frequent(GARBAGE, "GCAllocationTick", "TypeName")),
    ),
    (
        *("How much was allocated?", GARBAGE, metric("alloc", "bytes_total")),
        lambda: sum(payload.AllocationAmount64 for _, payload in raw(GARBAGE, "GCAllocationTick")),
    ),
    (
        *("How many exceptions were thrown?", THROWN),
        *(metric("exceptions", "count"), lambda: count(THROWN, "ExceptionThrown")),
    ),
    (
        *("Which exception is most frequent?", THROWN, cell("exceptions", "type", "groups", "thrown")),
        lambda: most_frequent(THROWN, "ExceptionThrown", "ExceptionType"),
    ),
    (
        *("How often were samples taken?", STARVED, lambda walk: metric("top", "samples")(walk) > 30_000),
        lambda: count(STARVED, "ThreadSample") > 30_000,
    ),
    (
        *("What do threads do most?", STARVED, lambda walk: walk.frames().rows[0]["name"]),
        "System.Threading.Monitor.Wait(object, int)",
    ),
    ("Who is behind that wait?", STARVED, who_waits, True),
    ("How many workers did the pool want at most?", STARVED, most_workers, wanted_workers),
    ("Is the pool starved?", STARVED, lambda walk: walk.report("pool").facts["verdict"], "starved"),
    (
        *("Which events belong to the first contention?", CONVOY, first_contention),
        lambda: raw(CONVOY, "ContentionStart")[0][0].time_ns,
    ),
    ("How many objects are on the heap?", "net8-heap", metric("heap", "nodes"), lambda: _nodes("net8-heap")),
    (
        *("How many P/Invoke stubs were made?", "net10-method-interop", metric("stubs", "count")),
        lambda: count("net10-method-interop", "ILStubGenerated"),
    ),
    (
        *("How many kinds of lock events, in SQL?", CONVOY),
        lambda walk: walk.events(selector="ContentionStop", limit=200).rows[-1]["time_ns"],
        lambda: raw(CONVOY, "ContentionStop")[-1][0].time_ns,
    ),
    ("Do these differ?", CONVOY, lambda walk: walk.compare(f"{CONVOY}.nettrace.gz").facts["alarms"], 0),
]


def _nodes(trace: str) -> int:
    return sum(payload.Count for _, payload in raw(trace, "GCBulkNode"))


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(Roots.of([FIXTURES]))


def test_there_are_thirty() -> None:
    assert len(BANK) == len({question + trace for question, trace, *_ in BANK}) == 30


@pytest.mark.parametrize(("question", "trace", "ask", "truth"), [pytest.param(*one, id=one[0]) for one in BANK])
@pytest.mark.full
def test_a_question_is_answered_in_three_calls(desk: Desk, question: str, trace: str, ask: Ask, truth: Any) -> None:
    walk = Walk(desk, trace)
    assert ask(walk) == (truth() if callable(truth) else truth), question
    assert walk.calls <= 3
