"""The report on the thread pool, held against raw events on every trace, and against what programs said."""

from __future__ import annotations

import json
from collections import Counter, deque
from typing import Any

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents

ALL = traces("traces/own", "traces/perfview", "scenarios")
STARVED = ("net10-starvation-11", "net8-starvation-44", "net31-starvation-44", "net11-starvation-31")
QUEUES = {
    "task": ("TaskScheduled", "TaskStarted", "TaskID"),
    "native": ("ThreadPoolEnqueue", "ThreadPoolDequeue", "WorkID"),
}
LONG_RUNNING = 2

pytestmark = [needs_shared, pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")]


def opened(path: Any) -> clrevents.Trace:
    return clrevents.open(path, errors="salvage")


def scenario(name: str) -> Any:
    return SHARED / "scenarios" / f"{name}.nettrace.gz"


def raw(trace: clrevents.Trace, *names: str) -> list[Any]:
    """Events in a loop that knows nothing of reports."""
    there = {f"{kind.provider}/{kind.name}" for kind in trace.event_counts() if kind.name in names}
    return list(trace.events(*sorted(there))) if there else []


@pytest.mark.parametrize("shared", ALL, ids=lambda shared: shared.name)
def test_only_starved_pools_are_starved(shared: Shared) -> None:
    with opened(shared.path) as trace:
        facts = trace.report("pool").facts
    assert (facts.verdict == "starved") == (shared.short in STARVED)


@pytest.mark.parametrize("shared", ALL, ids=lambda shared: shared.name)
def test_items_and_adjustments_are_those_of_the_events(shared: Shared) -> None:
    with opened(shared.path) as trace:
        found = trace.report("pool")
        expected: Counter[Any] = Counter()
        for source, (enqueue, dequeue, key) in QUEUES.items():
            waiting: dict[int, deque[Any]] = {}
            for event in raw(trace, enqueue, dequeue):
                queue = waiting.setdefault(getattr(event.payload, key), deque())
                if event.name == enqueue:
                    queue.append(event)
                    continue
                begin = queue.popleft() if queue else None
                if begin is None or not getattr(begin.payload, "TaskCreationOptions", 0) & LONG_RUNNING:
                    expected[source, None if begin is None else begin.time_ns, event.time_ns] += 1
            for queue in waiting.values():
                for event in queue:
                    expected[source, event.time_ns, None] += 1
        changes = raw(trace, "ThreadPoolWorkerThreadAdjustmentAdjustment")
    assert Counter((row.source, row.enqueued_ns, row.dequeued_ns) for row in found.queue) == expected
    assert [(row.time_ns, row.workers, row.reason, row.thread_id) for row in found.adjustments] == [
        (e.time_ns, e.payload.NewWorkerThreadCount, str(e.payload.Reason), e.thread_id) for e in changes
    ]


@pytest.mark.parametrize(
    ("name", "reason", "seconds"),
    [
        (STARVED[0], "CooperativeBlocking", 1.8),
        (STARVED[1], "CooperativeBlocking", 2.3),
        (STARVED[2], "Starvation", 22.9),
        (STARVED[3], "CooperativeBlocking", 2.8),
    ],
)
def test_the_culprit_of_a_program_that_says_what_it_does(name: str, reason: str, seconds: float) -> None:
    truth = json.loads((SHARED / "scenarios" / f"{name}.truth.json").read_text())
    with opened(scenario(name)) as trace:
        found = trace.report("pool")
    facts = found.facts
    assert facts.culprit == f"{truth['culprit']}(int)"
    assert facts.blocked_meanwhile == truth["blocking_calls"]
    assert facts.reason == reason
    assert facts.culprit in facts.culprit_stack
    (row,) = found.shortages
    assert round(row.duration_ns / 1e9, 1) == seconds
    assert row.duration_ns / 1e6 < truth["elapsed_ms"]
    blocker = found.blockers[0]
    assert (blocker.method, blocker.kind, blocker.threads, blocker.count) == (
        *(facts.culprit, "task"),
        *(truth["blocking_calls"], truth["blocking_calls"]),
    )
    # The later a task was queued, the longer it waited; apart from the first ones, which found a worker.
    waits = [item.latency_ns for item in found.queue if item.latency_ns is not None]
    assert len(waits) == truth["blocking_calls"]
    assert waits[4:] == sorted(waits[4:])
