"""Work and waits → the tables of the report and its sums, of what lies in the window.

Counts are of what was created in the window, times of what lies in it. Names nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.nearest_rank import nearest_rank
from clrevents.analysis.gathering.optional_rows import NONE, nulled, picked
from clrevents.analysis.reports.tasks.open_awaits import AWAIT, CONTINUATION, NOBODY, TASK
from clrevents.analysis.reports.tasks.task_events import TaskEvents
from clrevents.analysis.reports.tasks.task_names import named
from clrevents.analysis.reports.tasks.task_rows import BlockingWait, TaskBlocker, TaskMethod, TaskRun
from clrevents.analysis.reports.tasks.task_work import TaskWork
from clrevents.analysis.shared.samples.blocking_methods import BlockingMethods

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

KINDS: Final = ("task", "continuation", "await")


class TaskTables:
    """The tables of one process."""

    def __init__(
        self,
        context: Context,
        events: TaskEvents,
        work: TaskWork,
        operations: Mapping[int, str],
        raw: bool,
        my_code: bool,
    ) -> None:
        self._context, self._events, self.work = context, events, work
        self._operations = operations
        self.waits = waits = events.blocking
        self.stacks = picked(events.stack, work.created)
        wait_stacks = waits.at_begin("stack_id").astype(np.int64)
        self._created = picked(events.time, work.created)
        self._scheduled = picked(events.time, work.queued)
        self._started, self._ended = picked(events.time, work.started), picked(events.time, work.ended)
        names = BlockingMethods(
            context,
            np.concatenate((self.stacks, wait_stacks)),
            np.concatenate((self._created, waits.start_ns)),
            raw,
            my_code,
        )
        self._methods = [names.method(place) for place in range(len(work))]
        self._blockers = [names.method(place) for place in range(len(work), len(work) + len(waits))]
        self._wait_stacks = wait_stacks
        there = (work.created, work.started)
        self.was_created, self.was_started = (column != NONE for column in there)
        self.was_ended = work.ended != NONE
        self.was_queued = (work.queued != NONE) & self.was_started
        self.failed = picked(events.failed, work.ended) == 1
        window = context.window
        first = np.where(self.was_created, self._created, ALWAYS)
        last = np.where(self.was_ended, self._ended, FOREVER)
        self.inside: Mask = window.meets(first, last)
        self.begun: Mask = window.holds(self._created) & self.was_created
        self.latency: Ints = self._started - self._scheduled
        self._run = np.where(self.was_ended, window.overlap(self._started, self._ended), 0)
        suspended = (work.kind == AWAIT) & self.was_created & self.was_started
        self._suspended = np.where(suspended, window.overlap(self._created, self._started), 0)
        self.waits_begun: Mask = window.holds(waits.start_ns)
        starts, ends = waits.bounds()
        self._lasted: Ints = ends - starts
        self.waited: Ints = window.overlap(starts, ends)
        self.open: Mask = waits.open & window.meets(starts, ends)

    def runs(self) -> ReportTable[TaskRun]:
        """Each task, continuation and await, in order of time."""
        events, work = self._events, self.work
        known = work.parent >= 0
        resumed = (work.kind == AWAIT) & self.was_created
        method_task = picked(events.next, work.created)
        thread, maker = picked(events.thread, work.started), picked(events.thread, work.created)
        return self._context.table(
            TaskRun,
            {
                "row": np.arange(len(work)),
                "parent_row": nulled(work.parent, known),
                "kind": [KINDS[kind] for kind in work.kind.tolist()],
                "task_id": work.id,
                "operation": named(np.where(work.kind == CONTINUATION, NONE, work.id).tolist(), self._operations),
                "parent_task_id": nulled(picked(work.id, np.where(known, work.parent, NONE)), known),
                "created_by": [_creator(parent) for parent in work.parent.tolist()],
                "method_task_id": nulled(method_task, resumed & (method_task != 0)),
                "created_ns": nulled(self._created, self.was_created),
                "scheduled_ns": nulled(self._scheduled, work.queued != NONE),
                "started_ns": nulled(self._started, self.was_started),
                "completed_ns": nulled(self._ended, self.was_ended),
                "latency_ns": nulled(self.latency, self.was_queued),
                "run_ns": nulled(self._ended - self._started, self.was_ended),
                "thread_id": nulled(thread, self.was_started),
                "created_thread_id": nulled(maker, self.was_created),
                "exceptional": nulled(self.failed, (work.kind == TASK) & self.was_ended),
                "ambiguous": work.shared,
                "method": self._methods,
                "stack_id": self.stacks.astype(np.int32),
            },
        )

    def blocking(self) -> ReportTable[BlockingWait]:
        """Each wait that blocks, in order of time."""
        waits, inside = self.waits, self.work.blocked_in
        return self._context.table(
            BlockingWait,
            {
                "thread_id": waits.thread,
                "task_id": waits.at_begin("TaskID").astype(np.int64),
                "start_ns": waits.start_ns,
                "end_ns": nulled(waits.end_ns, waits.ended),
                "duration_ns": nulled(self._lasted, waits.ended | waits.open),
                "open": waits.open,
                "in_row": nulled(inside, inside >= 0),
                "in_task": [_creator(parent) for parent in inside.tolist()],
                "method": self._blockers,
                "stack_id": self._wait_stacks.astype(np.int32),
            },
        )

    def methods(self) -> ReportTable[TaskMethod]:
        """By method and kind, those that wait and run longest first."""
        rows = []
        kinds = self.work.kind.tolist()
        for (method, kind), mine in _groups(np.flatnonzero(self.inside), lambda row: (self._methods[row], kinds[row])):
            latencies = self.latencies(mine)
            rows.append(
                {
                    "method": method,
                    "kind": KINDS[kind],
                    "count": int(self.begun[mine].sum()),
                    "queued": len(latencies),
                    "latency_median_ns": nearest_rank(latencies, 50),
                    "latency_p95_ns": nearest_rank(latencies, 95),
                    "latency_max_ns": nearest_rank(latencies, 100),
                    "run_ns": int(self._run[mine].sum()),
                    "waited_ns": int(self._suspended[mine].sum()) if kind == AWAIT else None,
                    "exceptional": int((self.failed & self.begun)[mine].sum()),
                    "stack_id": int(self.stacks[mine[0]]),
                }
            )
        rows.sort(key=lambda row: (-row["count"], -row["run_ns"]))
        return self._context.summed(TaskMethod, rows)

    def blockers(self) -> ReportTable[TaskBlocker]:
        """By the method that blocks, the longest waiting first."""
        waits = self.waits
        known = waits.ended | waits.open
        inside = self._context.window.meets(waits.start_ns, np.where(known, waits.bounds()[1], FOREVER))
        total = int(self.waited.sum())
        rows = []
        for method, mine in _groups(np.flatnonzero(inside), lambda row: self._blockers[row]):
            lengths = self._lasted[mine][known[mine]]
            waited = int(self.waited[mine].sum())
            rows.append(
                {
                    "method": method,
                    "count": int(self.waits_begun[mine].sum()),
                    "waited_ns": waited,
                    "share": waited / total if total else None,
                    "max_ns": int(lengths.max()) if len(lengths) else None,
                    "open": int(self.open[mine].sum()),
                    "threads": len(set(waits.thread[mine].tolist())),
                    "in_tasks": int((self.waits_begun & (self.work.blocked_in >= 0))[mine].sum()),
                    "stack_id": int(self._wait_stacks[mine[0]]),
                }
            )
        rows.sort(key=lambda row: (-row["waited_ns"], -row["count"]))
        return self._context.summed(TaskBlocker, rows)

    def latencies(self, rows: Ints) -> Ints:
        """The latencies of those of these rows that were created in the window and queued, the shortest first."""
        return np.sort(self.latency[rows[(self.begun & self.was_queued)[rows]]])

    def of(self, kind: int) -> Mask:
        """Those of one kind that were created in the window."""
        found: Mask = self.begun & (self.work.kind == kind)
        return found


def _creator(parent: int) -> str:
    return "task" if parent >= 0 else "thread" if parent == NOBODY else "unknown"


def _groups(rows: Ints, key: Any) -> Iterable[tuple[Any, Ints]]:
    found: dict[Any, list[int]] = {}
    for row in rows.tolist():
        found.setdefault(key(row), []).append(row)
    return [(of, np.array(mine, dtype=np.int64)) for of, mine in found.items()]
