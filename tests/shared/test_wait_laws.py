"""Laws of waits on every trace: what is open is in all sums, and nothing lasts longer than tracing did.

When tracing stopped, and which waits were open then, is worked out here from single events.
"""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest
from shared_files import SHARED, Shared, needs_shared, traces

import clrevents
from clrevents.analysis import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import columns_of
from clrevents.rewrite import cut

pytestmark = needs_shared

TRACES: Final = traces("traces/own", "traces/perfview", "scenarios", "rare")
WAITING: Final = ("threads", "waits", "locks", "pool", "tasks", "requests")
_LARGEST: Final = 3_000_000
_NAMING: Final = ("MethodLoad", "MethodUnload", "MethodILToNativeMap", "Module", "DomainModule", "AppDomain")
_ALSO_NAMING: Final = ("AssemblyLoad", "AssemblyUnload", "RuntimeInformationStart")


def stopped(trace: clrevents.Trace) -> int:
    """When the last event was written that names no code."""
    rows = trace.headers(columns=("time_ns", "provider", "name"))
    last = 0
    columns = (rows[column].tolist() for column in ("time_ns", "provider", "name"))
    for time, provider, name in zip(*columns, strict=True):
        runtime = provider == "Microsoft-Windows-DotNETRuntime"
        names = runtime and (name.startswith(_NAMING) or name in _ALSO_NAMING)
        if not (names or provider.endswith("DotNETRuntimeRundown") or provider == "Universal.System"):
            last = max(last, time)
    return last


def ends_of(table: ReportTable[Any]) -> list[tuple[str, int]]:
    """All ends of spans in a table, by column."""
    known = {column.name for column in columns_of(table.row_class)}
    names = [name for name in ("end_ns", "completed_ns", "dequeued_ns") if name in known]
    return [(name, value) for name in names for value in table.column(name).tolist() if value is not None]


def open_contentions(trace: clrevents.Trace, until: int) -> dict[int, int]:
    """How long each thread had waited for a lock of the program when tracing stopped."""
    begun: dict[int, int] = {}
    for event in trace.events("runtime/ContentionStart", "runtime/ContentionStop"):
        thread, payload = event.thread_id, event.payload
        if int(getattr(payload, "ContentionFlags", 0)) != 0 or thread is None:
            continue
        if event.name == "ContentionStart":
            begun[thread] = event.time_ns
        else:
            begun.pop(thread, None)
    return {thread: until - start for thread, start in begun.items()}


@pytest.mark.full
@pytest.mark.parametrize("shared", TRACES, ids=str)
def test_no_wait_ends_after_tracing_stopped_and_open_ones_are_in_sums(shared: Shared) -> None:
    if shared.path.stat().st_size > _LARGEST:
        pytest.skip("too large for every event as a record")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with clrevents.open(shared.path, errors="salvage") as trace:
            until = stopped(trace)
            answers = trace.reports(*WAITING)
            losses = trace.losses
            waiting = open_contentions(trace, until) if not losses else {}
    late = [
        (name, table.name, column, end)
        for name, answer in answers.items()
        for table in answer.tables()
        for column, end in ends_of(answer.table(table.name))
        if end > until
    ]
    assert not late, f"tracing stopped at {until}"
    lives = [(row.thread_id, row.start_ns, row.end_ns) for row in answers["threads"].threads]
    outlived = [
        row
        for rows in (answers["waits"].waits, answers["locks"].contentions)
        for row in rows
        if row.end_ns is None and row.start_ns is not None and row.duration_ns
        for thread, start, end in lives
        if thread == row.thread_id and start <= row.start_ns < end < row.start_ns + row.duration_ns
    ]
    assert not outlived
    locks = answers["locks"]
    waited = locks.metrics["waited_total"]
    # Where events were lost, what is seen of the waits is no bound of what was: an end may be another wait's.
    lossy = waited.value is None and waited.reason == "events are missing that it depends on"
    assert not lossy or losses
    for table in (locks.locks, locks.methods, locks.threads):
        managed = [row for row in table if not getattr(row, "native", False)]
        told = sum(row.waited_ns for row in managed)
        # Of a wait that reaches over lost events, the total counts what is sure.
        assert lossy or told == (waited.value or 0) or (losses and waited.low is not None and told > waited.low)
    rows: dict[int, int] = defaultdict(int)
    for row in locks.contentions:
        if row.open and not row.native:
            rows[row.thread_id] += row.duration_ns or 0
    assert set(waiting) <= set(rows)
    assert all(rows[thread] == took for thread, took in waiting.items())
    assert sum(waiting.values()) <= (waited.value or 0)
    unended = waited.value is not None and "no-end" in [note.id for note in locks.notes]
    assert lossy or (bool(rows) or bool(losses) or unended) == (waited.low is not None)


def test_two_threads_in_a_deadlock_are_told_first_and_waited_until_tracing_stopped() -> None:
    path = SHARED / "rare" / "net8-deadlock-sick-44.nettrace.gz"
    truth = json.loads(path.with_name("net8-deadlock-sick-44.truth.json").read_text())
    with clrevents.open(path) as trace:
        until, found = stopped(trace), trace.report("locks")
        waiting = open_contentions(trace, until)
    assert sorted(waiting.values()) == [3_357_363_439, 3_357_733_290], truth
    assert [(row.thread_id, row.owner_thread_id) for row in found.deadlocks] == [(27399, 27400), (27400, 27399)]
    assert found.metrics["deadlocks"].value == 1
    assert found.metrics["waited_total"].low == found.metrics["waited_total"].value == sum(waiting.values())
    with clrevents.open(path.with_name("net8-deadlock-healthy-44.nettrace.gz")) as trace:
        # No contention at all: nothing proves that they were recorded.
        assert trace.report("locks").metrics["deadlocks"].value is None


def test_a_cut_counts_open_waits_until_its_end(tmp_path: Path) -> None:
    part = tmp_path / "part.nettrace"
    with clrevents.open(SHARED / "scenarios" / "net10-starvation-11.nettrace.gz") as trace:
        cut(trace, part, end="1.8s")
    with clrevents.open(part) as trace:
        until = min(stopped(trace), 1_800_000_000)
        answers = trace.reports("waits", "tasks", "pool", "threads")
        begun: dict[tuple[int | None, int], int] = {}
        for event in trace.events("tpl/TaskWaitBegin", "tpl/TaskWaitEnd"):
            key = event.thread_id, event.payload.TaskID
            if event.name == "TaskWaitEnd":
                begun.pop(key, None)
            elif int(event.payload.Behavior) == 1:
                begun[key] = event.time_ns
    waited = sum(until - start for start in begun.values())
    assert (len(begun), round(waited / 1e6)) == (15, 11_604)
    assert answers["waits"].facts.sync_over_async == "Scenarios.SyncOverAsync(int)"
    (first, *_) = answers["waits"].methods
    assert (first.method, first.waited_ns, first.open) == ("Scenarios.SyncOverAsync(int)", waited, 15)
    (first, *_) = answers["pool"].blockers
    assert (first.method, first.waited_ns, first.open) == ("Scenarios.SyncOverAsync(int)", waited, 15)
    total = answers["tasks"].metrics["blocking_total"]
    assert (total.value, total.low, total.high) == (waited, waited, None)
    intervals = [row for row in answers["threads"].intervals if row.open]
    assert {(row.state, row.evidence, row.end_ns) for row in intervals} == {("task_wait", "inferred", until)}
