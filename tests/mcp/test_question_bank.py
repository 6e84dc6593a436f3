"""Thirty questions about fixtures, each answered by at most three calls, by a script that sees only the text.

What is right comes from raw events, or from what the recorded program says of itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

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


def value(reply: Reply, metric: str) -> Any:
    return reply.facts["metrics"][metric]["value"]


def first(reply: Reply, column: str) -> Any:
    return reply.rows[0][column]


CONVOY, STARVED, GARBAGE, THROWN = "net10-convoy", "net10-starvation", "net10-garbage", "net10-exceptions"
BANK: list[tuple[str, str, Callable[[Walk], Any], Callable[[], Any]]] = [
    ("How many events are in it?", CONVOY, lambda w: w.overview().facts["events"], lambda: count(CONVOY)),
    ("Were events lost?", CONVOY, lambda w: w.overview().facts["lost"], lambda: 0),
    ("Which runtime was it?", "net8-heap", lambda w: w.overview().facts["runtime"], lambda: "8.0.4"),
    ("What is wrong with it?", STARVED, lambda w: first(w.findings(), "rule"), lambda: "pool.sync_over_async"),
    (
        "Who blocks the workers?",
        STARVED,
        lambda w: first(w.findings(), "culprit"),
        lambda: "Scenarios.SyncOverAsync(int)",
    ),
    ("What is wrong here?", CONVOY, lambda w: first(w.findings(), "rule"), lambda: "lock.convoy"),
    ("Is there a deadlock?", CONVOY, lambda w: first(w.findings(rule="lock.deadlock"), "state"), lambda: "clear"),
    (
        "Are exceptions a problem?",
        GARBAGE,
        lambda w: first(w.findings(rule="exceptions.rate"), "state"),
        lambda: "cannot tell",
    ),
    (
        "How do I record exceptions?",
        GARBAGE,
        lambda w: "0x8000" in w.record("exceptions").facts["dotnet-trace"],
        lambda: True,
    ),
    (
        "Who calls GC.Collect?",
        GARBAGE,
        lambda w: first(w.findings(rule="gc.induced"), "culprit"),
        lambda: "Scenarios.Garbage(Random)",
    ),
    (
        "How often did threads wait for a lock?",
        CONVOY,
        lambda w: value(w.report("locks"), "count"),
        lambda: count(CONVOY, "ContentionStart"),
    ),
    (
        "How long did they wait in all?",
        CONVOY,
        lambda w: value(w.report("locks"), "waited_total"),
        lambda: int(sum(payload.DurationNs for _, payload in raw(CONVOY, "ContentionStop"))),
    ),
    (
        "How long was the longest wait?",
        CONVOY,
        lambda w: value(w.report("locks"), "waited_max"),
        lambda: int(max(payload.DurationNs for _, payload in raw(CONVOY, "ContentionStop"))),
    ),
    (
        "Which lock was it?",
        CONVOY,
        lambda w: first(w.report("locks", "locks"), "lock_id"),
        lambda: hex(Counter(payload.LockID for _, payload in raw(CONVOY, "ContentionStart")).most_common(1)[0][0]),
    ),
    ("How many collections ran?", GARBAGE, lambda w: value(w.report("gc"), "count"), lambda: count(GARBAGE, "GCStart")),
    (
        "How many were of generation 2?",
        GARBAGE,
        lambda w: sum(row["generation"] == 2 for row in w.report("gc", limit=100).rows),
        lambda: sum(payload.Depth == 2 for _, payload in raw(GARBAGE, "GCStart")),
    ),
    (
        "Which type is allocated most?",
        GARBAGE,
        lambda w: first(w.report("alloc"), "type"),
        lambda: Counter(payload.TypeName for _, payload in raw(GARBAGE, "GCAllocationTick")).most_common(1)[0][0],
    ),
    (
        "How much was allocated?",
        GARBAGE,
        lambda w: value(w.report("alloc"), "bytes_total"),
        lambda: sum(payload.AllocationAmount64 for _, payload in raw(GARBAGE, "GCAllocationTick")),
    ),
    (
        "How many exceptions were thrown?",
        THROWN,
        lambda w: value(w.report("exceptions"), "count"),
        lambda: count(THROWN, "ExceptionThrown"),
    ),
    (
        "Which exception is most frequent?",
        THROWN,
        lambda w: first(w.report("exceptions", "groups", "thrown"), "type"),
        lambda: Counter(payload.ExceptionType for _, payload in raw(THROWN, "ExceptionThrown")).most_common(1)[0][0],
    ),
    (
        "How often were samples taken?",
        STARVED,
        lambda w: value(w.report("top"), "samples") > 30_000,
        lambda: count(STARVED, "ThreadSample") > 30_000,
    ),
    (
        "What do threads do most?",
        STARVED,
        lambda w: first(w.frames(), "name"),
        lambda: "System.Threading.Monitor.Wait(object, int)",
    ),
    (
        "Who is behind that wait?",
        STARVED,
        lambda w: any(
            r["name"] == "Scenarios.SyncOverAsync(int)"
            for r in w.frames(focus="System.Threading.Monitor.Wait(object, int)", limit=100).rows
        ),
        lambda: True,
    ),
    (
        "How many workers did the pool want at most?",
        STARVED,
        lambda w: max(row["workers"] for row in w.report("pool", "adjustments", limit=100).rows),
        lambda: max(
            payload.NewWorkerThreadCount for _, payload in raw(STARVED, "ThreadPoolWorkerThreadAdjustmentAdjustment")
        ),
    ),
    ("Is the pool starved?", STARVED, lambda w: w.report("pool").facts["verdict"], lambda: "starved"),
    (
        "Which events belong to the first contention?",
        CONVOY,
        lambda w: w.events(handle=first(w.report("locks", "contentions"), "handle"), selector="ContentionStart").rows[
            0
        ]["time_ns"],
        lambda: raw(CONVOY, "ContentionStart")[0][0].time_ns,
    ),
    (
        "How many objects are on the heap?",
        "net8-heap",
        lambda w: value(w.report("heap"), "nodes"),
        lambda: _nodes("net8-heap"),
    ),
    (
        "How many P/Invoke stubs were made?",
        "net10-method-interop",
        lambda w: value(w.report("stubs"), "count"),
        lambda: count("net10-method-interop", "ILStubGenerated"),
    ),
    (
        "How many kinds of lock events, in SQL?",
        CONVOY,
        lambda w: w.events(selector="ContentionStop", limit=200).rows[-1]["time_ns"],
        lambda: raw(CONVOY, "ContentionStop")[-1][0].time_ns,
    ),
    ("Do these differ?", CONVOY, lambda w: w.compare(f"{CONVOY}.nettrace.gz").facts["alarms"], lambda: 0),
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
def test_a_question_is_answered_in_three_calls(
    desk: Desk, question: str, trace: str, ask: Callable[[Walk], Any], truth: Callable[[], Any]
) -> None:
    walk = Walk(desk, trace)
    assert ask(walk) == truth(), question
    assert walk.calls <= 3
