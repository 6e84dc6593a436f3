"""The rows and facts of the report on tasks, and work and waits → its tables and sums, of what lies in the window.

Counts are of what was created in the window, times of what lies in it. Names nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, SpanRow, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import NONE, Array, Ints, Mask, grouped, nearest_rank, nulled, picked
from clrevents.analysis.reports.tasks.task_work import AWAIT, CONTINUATION, NOBODY, TASK, TaskEvents, TaskWork
from clrevents.analysis.shared.events.async_awaits import AwaitSites
from clrevents.analysis.shared.events.event_spans import longest_first
from clrevents.analysis.shared.samples.leaf_states import BlockingMethods


@table_row(span=("created_ns", "completed_ns"), threads=("created_thread_id", "thread_id"))
class TaskRun(SpanRow):
    """A task, a continuation or an await: something created in one place and run in another."""

    row: cells.RowNumber = column("The number of the row, in order of time.", hidden=True)
    parent_row: cells.RowNumber | None = column("The row of what created it; null if nothing did, or if unknown.")
    kind: cells.Word = column("`task`, `continuation` (queued by itself, as by `Task.Yield`) or `await`.")
    task_id: cells.Ordinal = column(
        "The id of the task or continuation; for an await, of the awaited task, or of the dispatcher of its chain."
    )
    operation: cells.CodeName | None = column(
        "The task's name, for an await that of the awaited task, such as `async Work`; null unless recorded.",
        hidden=True,
    )
    parent_task_id: cells.Ordinal | None = column(
        "The `task_id` of what created it; null if `parent_row` is.", hidden=True
    )
    created_by: cells.Word = column(
        "What created it: `task` (the row `parent_row`), `thread` (code outside all tasks) or `unknown`."
    )
    method_task_id: cells.Ordinal | None = column(
        "For an await, the task of the awaiting method; null for others, or if not recorded.",
        hidden=True,
    )
    created_ns: cells.Ns | None = column("When it was created, or the await began; null if unknown.")
    scheduled_ns: cells.Ns | None = column("When it was queued to run; null for an await that resumed without a queue.")
    started_ns: cells.Ns | None = column("When it began to run, or the await resumed; null if unknown.")
    completed_ns: cells.Ns | None = column("When its code returned; null if unknown.")
    latency_ns: cells.DurationNs | None = column("From scheduled to started; null if either is unknown.")
    run_ns: cells.DurationNs | None = column(
        "From started to completed, including everything run inside; null if either is unknown."
    )
    thread_id: cells.ThreadId | None = column("The thread that ran it; null if it did not start.")
    created_thread_id: cells.ThreadId | None = column("The thread that created it; null if unknown.", hidden=True)
    exceptional: cells.Flag | None = column(
        "Whether the task, or the method that an await resumed, ended with an exception; null if it did not end or for "
        "others."
    )
    outcome: cells.Word | None = column(
        "How what an await waited for ended: `result`, `faulted` or `cancelled`; null unless recorded.", hidden=True
    )
    queued: cells.Flag | None = column(
        "Whether a worker of the pool took an await from the queue and resumed it, not what ended the awaited task; "
        "null unless recorded.",
        hidden=True,
    )
    awaiter_row: cells.RowNumber | None = column(
        "The row of the await that waits for the method of this one; null unless recorded.", hidden=True
    )
    state: cells.Ordinal | None = column(
        "Which await of its method it is, of a state machine; null for others.", hidden=True
    )
    native_offset: cells.Ordinal | None = column(
        "Where in its native code an await resumes, of a runtime-async method; null for others.", hidden=True
    )
    il_offset: cells.Ordinal | None = column("The same in the method's IL; null unless recorded.", hidden=True)
    ambiguous: cells.Flag = column(
        "Several awaits of the task resumed, and it is unknown which of them this one is.", hidden=True
    )
    method: cells.CodeName | None = column(
        "The method that created it: the first one of the stack outside System.Threading; null if unknown. Of awaits "
        "that the async profiler recorded, the method that awaits."
    )
    stack_id: cells.StackId = column("The call stack that created it, 0 for none.", hidden=True)


@table_row(span=("start_ns", "end_ns"), threads=("thread_id",))
class BlockingWait(SpanRow):
    """One wait that blocks a thread until a task is done."""

    thread_id: cells.ThreadId = column("The thread that was blocked.")
    task_id: cells.Ordinal = column("The task that it waited for.")
    start_ns: cells.Ns | None = column("When the wait began.")
    end_ns: cells.Ns | None = column("When it ended; null if unknown.")
    duration_ns: cells.DurationNs | None = column("How long it lasted; null if unknown.")
    open: cells.Flag = column("It was still going on when tracing stopped: its duration is a lower bound.")
    in_row: cells.RowNumber | None = column(
        "The row of the task, continuation or await that was held up; null if none was."
    )
    in_task: cells.Word = column(
        "What was held up: `task` (the row `in_row`), `thread` (code outside all tasks) or `unknown`."
    )
    method: cells.CodeName | None = column(
        "The blocking method: the first one outside System.Threading; null if unknown."
    )
    stack_id: cells.StackId = column("The call stack that waited, 0 for none.", hidden=True)


@table_row
class TaskMethod(Row):
    """A method that creates tasks or continuations, or that awaits."""

    method: cells.CodeName | None = column("The method; null for stacks without names.", importance=0)
    kind: cells.Word = column("`task`, `continuation` or `await`.", importance=1)
    count: cells.Count | None = column("How many it created; null if that was not recorded.", importance=1)
    queued: cells.Count = column("How many of them were queued and began to run.")
    started: cells.Count = column("How many began to run or resumed in the window, wherever they were created.")
    latency_median_ns: cells.DurationNs | None = column(
        "Their median latency, by nearest rank; null if none was queued.", importance=1
    )
    latency_p95_ns: cells.DurationNs | None = column("The 95th percentile of the latency, by nearest rank.")
    latency_max_ns: cells.DurationNs | None = column("The longest latency.")
    run_ns: cells.DurationNs | None = column(
        "How long they ran, including everything run inside; null if no end of those that ran is known."
    )
    waited_ns: cells.DurationNs | None = column(
        "For awaits, the total time from start to resumption; null for others, or if no start or resumption is known."
    )
    open: cells.Count | None = column(
        "How many still ran, or were awaited, when tracing stopped: the times include them until then, as lower "
        "bounds. Null if it is unknown whether they ended."
    )
    exceptional: cells.Count | None = column(
        "How many tasks, or methods that awaits resumed, ended with an exception; null if no end is known."
    )
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@table_row
class TaskBlocker(Row):
    """A method that blocks its thread until a task is done."""

    method: cells.CodeName | None = column("The method; null for stacks without names.")
    count: cells.Count = column("How many waits began.")
    waited_ns: cells.DurationNs | None = column("How long it waited, on all threads; null if no length is known.")
    share: cells.Ratio | None = column(
        "Its share of all blocking waits; null if there were none, or no length is known."
    )
    max_ns: cells.DurationNs | None = column("The longest wait; null if unknown.")
    open: cells.Count = column(
        "How many waits were still going on when tracing stopped; if any, times are lower bounds."
    )
    threads: cells.Count = column("How many threads waited in it.")
    in_tasks: cells.Count = column("How many of the waits held up a task, a continuation or a resumed await.")
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@table_row
class TasksFacts:
    """The facts of a report on tasks."""

    sync_over_async: cells.CodeName | None = column(
        "The method that could await and blocked on tasks longest; null if none did."
    )
    creators: cells.Word = column(
        "How creators are known: `threads` (by what each thread ran), `ids` (only those of tasks) or `none`."
    )
    left_out: cells.Count = column("How many events are not in the tables because there are too many.")


KINDS: Final = ("task", "continuation", "await")
OUTCOMES: Final = ("result", "faulted", "cancelled")
_QUEUE: Final = "System.Threading.Tasks.AwaitTaskContinuation.System.Threading.IThreadPoolWorkItem.Execute("
_OF_AWAITS: Final = ("outcome", "awaiter_row", "state", "native_offset", "il_offset")


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
            np.concatenate((picked(events.thread, work.created), waits.thread)),
            raw,
            my_code,
        )
        self._methods = [names.method(place) for place in range(len(work))]
        self._queued = self._taken_from_queue(raw)
        self._sites = None if events.awaits is None else AwaitSites.of(events.awaits, context, raw, my_code)
        self.profiled = self._sites is not None
        """Whether the async profiler recorded any await."""
        self.begins_told = events.begins_told
        """Whether it was recorded when awaits began; the async profiler may only tell that they resumed."""
        self._profiled: Mask = (work.kind == AWAIT) & self.profiled
        """What the async profiler recorded: its `id` is the number of an await."""
        if self._sites is not None:
            for place in np.flatnonzero(self._profiled).tolist():
                self._methods[place] = self._sites.methods[int(work.id[place])]
        self._blockers = [names.method(place) for place in range(len(work), len(work) + len(waits))]
        self._wait_stacks = wait_stacks
        there = (work.created, work.started)
        self.was_created, self.was_started = (column != NONE for column in there)
        self.was_ended = work.ended != NONE
        self.was_queued = (work.queued != NONE) & self.was_started
        self.failed = picked(events.failed, work.ended) == 1
        self._left_by_exception: Ints = np.where((work.kind == TASK) & self.was_ended, self.failed, NONE)
        if events.awaits is not None:
            self._left_by_exception += np.where(self._profiled, self._of_await(events.awaits.failed) + 1, 0)
        window = context.window
        first = np.where(self.was_created, self._created, ALWAYS)
        last = np.where(self.was_ended, self._ended, FOREVER)
        self.inside: Mask = window.meets(first, last)
        self.begun: Mask = window.holds(self._created) & self.was_created
        self.latency: Ints = self._started - self._scheduled
        task, awaited = work.kind == TASK, (work.kind == AWAIT) & self.was_created
        running = self._going_on(task & self.was_started, self.was_ended, self._started)
        # The last buffers of threads are not written: what an await resumed in them is not known to go on.
        suspended = self._going_on(awaited & ~self._profiled, self.was_started, self._created)
        # Finding that reads all headers once more.
        stopped = np.int64(context.known_ns if running.any() or suspended.any() else 0)
        self._ran: Mask = self.was_ended | running
        self._run = np.where(self._ran, window.overlap(self._started, np.where(running, stopped, self._ended)), 0)
        self._resumed: Mask = (awaited & self.was_started) | suspended
        self._suspended = np.where(
            self._resumed,
            window.overlap(self._created, np.where(suspended, stopped, self._started)),
            0,
        )
        self.going_on: Mask = running | suspended
        unended = np.where(work.kind == AWAIT, awaited & ~self.was_started, self.was_started & ~self.was_ended)
        self._unsure: Mask = unended & ~self.going_on
        self.waits_begun: Mask = window.holds(waits.start_ns)
        starts, ends = waits.bounds()
        self._lasted: Ints = ends - starts
        self.waited: Ints = window.overlap(starts, ends)
        self.open: Mask = waits.open & window.meets(starts, ends)

    def _taken_from_queue(self, raw: bool) -> list[bool | None]:
        """Of awaits whose resumption has a stack, whether the pool's queue is on it."""
        events, work = self._events, self.work
        stacks = picked(events.stack, work.started)
        resumed = np.flatnonzero((work.kind == AWAIT) & (work.started != NONE) & (stacks > 0))
        queued: list[bool | None] = [None] * len(work)
        if events.awaits is None and len(resumed):
            times, threads = self._started[resumed], picked(events.thread, work.started)[resumed]
            names = BlockingMethods(self._context, stacks[resumed], times, threads, raw)
            at = {
                stack: any(f.name.startswith(_QUEUE) for f in names.frames(stack)) for stack in set(names.of.tolist())
            }
            for place, stack in zip(resumed.tolist(), names.of.tolist(), strict=True):
                queued[place] = at[stack]
        return queued

    def _going_on(self, begun: Mask, ended: Mask, since: Ints) -> Mask:
        """Which of those that begun went on when tracing stopped; none if the trace has no ends, or may lack theirs."""
        if not (begun & ended).any() or not (begun & ~ended).any():
            return np.zeros(len(begun), dtype=np.bool_)
        missing = self._context.marks.touched(since, np.full(len(since), FOREVER))
        going_on: Mask = begun & ~ended & ~missing & (since < self._context.known_ns)
        return going_on

    def runs(self) -> ReportTable[TaskRun]:
        """Each task, continuation and await, in order of time."""
        events, work, operations = self._events, self.work, self._operations
        known = work.parent >= 0
        tasks = np.where((work.kind == CONTINUATION) | self._profiled, NONE, work.id)
        resumed = (work.kind == AWAIT) & self.was_created
        method_task = picked(events.next, work.created)
        thread, maker = picked(events.thread, work.started), picked(events.thread, work.created)
        return self._context.table(
            TaskRun,
            {
                "row": np.arange(len(work)),
                "parent_row": nulled(work.parent, known),
                "kind": [KINDS[kind] for kind in work.kind.tolist()],
                "task_id": self._ids(),
                "operation": [operations.get(task) for task in tasks.tolist()],
                "parent_task_id": nulled(picked(self._ids(), np.where(known, work.parent, NONE)), known),
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
                "exceptional": nulled(self._left_by_exception == 1, self._left_by_exception != NONE),
                "queued": self._queued,
                **self._of_awaits(),
                "ambiguous": work.shared,
                "method": self._methods,
                "stack_id": self.stacks.astype(np.int32),
            },
        )

    def _ids(self) -> Ints:
        """What each piece is called: awaits that the async profiler recorded, by their dispatcher."""
        awaits = self._events.awaits
        return (
            self.work.id
            if awaits is None
            else np.where(self._profiled, self._of_await(awaits.dispatcher), self.work.id)
        )

    def _of_await(self, values: Ints) -> Ints:
        """A value of each piece that is an await that the async profiler recorded; -1 for others."""
        of_pieces = np.full(len(self.work), NONE, dtype=np.int64)
        of_pieces[self._profiled] = values[self.work.id[self._profiled]]
        return of_pieces

    def _of_awaits(self) -> dict[str, Cells]:
        """The columns that only awaits have that the async profiler recorded."""
        awaits, sites = self._events.awaits, self._sites
        if awaits is None or sites is None:
            return dict.fromkeys(_OF_AWAITS, [None] * len(self.work))
        row = np.full(len(awaits) + 1, NONE, dtype=np.int64)
        row[self.work.id[self._profiled]] = np.flatnonzero(self._profiled)
        numbers = self._of_await(np.arange(len(awaits))).tolist()
        outcome, state, awaiter = (self._of_await(of) for of in (awaits.outcome, awaits.state, row[awaits.awaiter]))
        return {
            "outcome": [None if of == NONE else OUTCOMES[of] for of in outcome.tolist()],
            "awaiter_row": nulled(awaiter, awaiter != NONE),
            "state": nulled(state, state != NONE),
            "native_offset": [None if number == NONE else sites.native[number] for number in numbers],
            "il_offset": [None if number == NONE else sites.il[number] for number in numbers],
        }

    @property
    def later(self) -> Mask:
        """Awaits that may have begun later than their chain suspended, among those created in the window."""
        awaits = self._events.awaits
        if awaits is None:
            return np.zeros(len(self.work), dtype=np.bool_)
        later: Mask = self.begun & (self._of_await(awaits.later.astype(np.int64)) == 1)
        return later

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
        inside = np.flatnonzero(self.inside).tolist()
        for (method, kind), places in grouped(inside, lambda row: (self._methods[row], kinds[row])).items():
            pieces = np.array(places)
            latencies = self.latencies(pieces)
            rows.append(
                TaskMethod(
                    method=method,
                    kind=KINDS[kind],
                    count=int(self.begun[pieces].sum()) if kind != AWAIT or self.begins_told else None,
                    queued=len(latencies),
                    started=int((self._context.window.holds(self._started) & self.was_started)[pieces].sum()),
                    latency_median_ns=nearest_rank(latencies, 50),
                    latency_p95_ns=nearest_rank(latencies, 95),
                    latency_max_ns=nearest_rank(latencies, 100),
                    run_ns=_sum(self._run[pieces], self._ran[pieces], self.was_started[pieces]),
                    waited_ns=_sum(self._suspended[pieces], self._resumed[pieces], self.was_created[pieces])
                    if kind == AWAIT and self.was_created[pieces].any()
                    else None,
                    open=_sum(self.going_on[pieces], self.going_on[pieces], self._unsure[pieces]),
                    exceptional=_sum(
                        ((self._left_by_exception == 1) & self.begun)[pieces],
                        self.was_ended[pieces],
                        self.was_started[pieces],
                    )
                    if kind == TASK or self._profiled[pieces].any()
                    else 0,
                    stack_id=int(self.stacks[pieces[0]]),
                )
            )
        rows.sort(key=lambda row: (-(row.count or row.started), -(row.run_ns or 0)))
        return self._context.summed(TaskMethod, rows)

    def blockers(self) -> ReportTable[TaskBlocker]:
        """By the method that blocks, longest wait first."""
        waits = self.waits
        known = waits.ended | waits.open
        inside = self._context.window.meets(waits.start_ns, np.where(known, waits.bounds()[1], FOREVER))
        total = int(self.waited.sum())
        rows = []
        for method, places in grouped(np.flatnonzero(inside).tolist(), self._blockers.__getitem__).items():
            pieces = np.array(places)
            lengths = self._lasted[pieces][known[pieces]]
            waited = int(self.waited[pieces].sum())
            rows.append(
                TaskBlocker(
                    method=method,
                    count=int(self.waits_begun[pieces].sum()),
                    waited_ns=waited if len(lengths) else None,
                    share=waited / total if total and len(lengths) else None,
                    max_ns=int(lengths.max()) if len(lengths) else None,
                    open=int(self.open[pieces].sum()),
                    threads=len(set(waits.thread[pieces].tolist())),
                    in_tasks=int((self.waits_begun & (self.work.blocked_in >= 0))[pieces].sum()),
                    stack_id=int(self._wait_stacks[pieces[0]]),
                )
            )
        return self._context.summed(TaskBlocker, longest_first(rows))

    def latencies(self, rows: Ints) -> Ints:
        """The latencies of those of these rows that were created in the window and queued, the shortest first."""
        return np.sort(self.latency[rows[(self.begun & self.was_queued)[rows]]])

    def of(self, kind: int) -> Mask:
        """Those of one kind that were created in the window."""
        mask: Mask = self.begun & (self.work.kind == kind)
        return mask


def _sum(values: Array, known: Mask, some: Mask) -> int | None:
    """The sum of what is known; None where there is something, of which nothing is known."""
    return None if some.any() and not known.any() else int(values.sum())


def _creator(parent: int) -> str:
    return "task" if parent >= 0 else "thread" if parent == NOBODY else "unknown"
