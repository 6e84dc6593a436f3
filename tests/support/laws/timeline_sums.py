"""What reports say in all of each thing that a timeline shows: how many there are, and how long they took together.

Adds up rows of tables one by one; knows nothing of timelines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, TypeAlias

import clrevents
from clrevents.analysis import read_samples

Sums: TypeAlias = dict[tuple[str, int | None, str], tuple[int, int]]
"""By what it is, its thread (None: the process) and its name: how many, and nanoseconds of those that have an end."""

STATES = (
    "running", "native", "lock", "wait", "sleep", "join", "task_wait", "pool_idle", "gc_suspended", "unknown",
)  # fmt: skip


def sums_of_reports(trace: clrevents.Trace) -> Sums:
    """All but calls, counters and events, of one process."""
    found: dict[tuple[str, int | None, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(group: str, thread: int | None, name: str, start: int | None, end: int | None) -> None:
        if start is not None:
            sums = found[group, thread, name]
            sums[0] += 1
            sums[1] += 0 if end is None else end - start

    names = ["threads", "gc", "locks", "jit", "exceptions", "tasks", "requests", "activities"]
    answers: Mapping[str, Any] = trace.reports(*names)
    for row in answers["threads"].intervals:
        add("states", row.thread_id, row.state, row.start_ns, row.end_ns)
    check_states(answers["threads"], found)
    gc = answers["gc"]
    for group, table in (("pauses", gc.suspensions), ("suspensions", gc.other_suspensions)):
        for row in table:
            add(group, None, row.reason or "unknown", row.start_ns, row.end_ns)
    if gc.suspensions and all(row.start_ns is not None for row in gc.suspensions):
        pauses = sum(total for (group, *_), (_, total) in found.items() if group == "pauses")
        paused = gc.metrics["pause_total"]
        # Where a pause is open the sum is a bound, and the drawn ones are a part of it.
        assert pauses == paused.value if paused.low is None else pauses <= paused.low
    for row in gc.collections:
        add("collections", None, f"generation {row.generation}, {row.kind}", row.start_ns, row.end_ns)
    for row in answers["locks"].contentions:
        add("locks", row.thread_id, row.method or "a lock", row.start_ns, row.end_ns)
        if row.owner_thread_id is not None:
            add("held", row.owner_thread_id, "holds a lock", row.start_ns, row.start_ns)
    for row in answers["jit"].compilations:
        add("jit", row.thread_id, row.method, row.start_ns, row.end_ns)
    for row in answers["exceptions"].exceptions:
        add("exceptions", row.thread_id, row.type or "an exception", row.start_ns, row.start_ns)
    for row in answers["tasks"].tasks:
        add("tasks", row.thread_id, row.method or row.kind, row.started_ns, row.completed_ns)
        add("created", row.created_thread_id, row.kind, row.created_ns, row.created_ns)
    for row in answers["requests"].requests:
        name = " ".join(filter(None, (row.method, row.route))) or "a request"
        add("requests", None, name, row.start_ns, row.end_ns)
    for row in answers["activities"].activities:
        add("activities", None, row.name, row.start_ns, row.end_ns)
    return {key: (count, total) for key, (count, total) in found.items()}


def check_states(report: Any, found: Mapping[tuple[str, int | None, str], list[int]]) -> None:
    """The times of threads are also in the table of threads; several can have had the same id."""
    for state in STATES:
        by_thread: dict[int, int] = defaultdict(int)
        for row in report.threads:
            # Null where samples do not show what ran, before .NET 5.
            by_thread[row.thread_id] += getattr(row, f"{state}_ns") or 0
        for thread, total in by_thread.items():
            assert total == (found["states", thread, state][1] if ("states", thread, state) in found else 0)


def sums_of_calls(trace: clrevents.Trace) -> dict[tuple[int | None, str], int]:
    """How long each method was on the stack of each thread, counted once where it is there several times."""
    samples = read_samples(trace)
    found: dict[tuple[int | None, str], int] = defaultdict(int)
    columns = (samples.thread.tolist(), samples.stack.tolist(), samples.weight.tolist())
    for thread, stack, weight in zip(*columns, strict=True):
        for name in {samples.frames[frame].name for frame in samples.frame_ids(stack)}:
            if weight:
                found[samples.threads[thread].thread_id, name] += weight
    return dict(found)


def sums_of_counters(trace: clrevents.Trace) -> dict[str, list[float]]:
    """The values of each series, by its provider, name and tags."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in trace.report("counters").values:
        if row.value is not None:
            found[f"{row.provider}/{row.label}"].append(row.value)
    return dict(found)
