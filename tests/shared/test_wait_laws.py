"""Laws of waits on every trace: what is open is in all sums, and nothing lasts longer than tracing did.

When tracing stopped, and which waits were open then, is worked out here from single events.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import pytest
from shared_files import Shared, needs_shared, traces

import clrevents
from clrevents.analysis import ReportTable
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from reading import opened

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
    with opened(shared.path) as trace:
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
