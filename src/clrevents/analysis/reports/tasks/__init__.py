"""Show tasks and awaits: what started them, and what blocks on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from clrevents._util.words import counted, duration_text
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.model.declaration import MY_CODE, RAW, ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need, met
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note, count_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import Gathered, Ints, nearest_rank
from clrevents.analysis.reports.tasks import task_work
from clrevents.analysis.reports.tasks.task_tables import (
    BlockingWait,
    TaskBlocker,
    TaskMethod,
    TaskRun,
    TasksFacts,
    TaskTables,
)
from clrevents.analysis.shared.blocking.known_waits import can_await
from clrevents.analysis.shared.events.async_awaits import (
    AWAITED_EVENTS,
    RESUMED_EVENTS,
    RUN_EVENTS,
    RUNTIMES,
    Thrown,
    also_needed,
)
from clrevents.analysis.shared.events.event_spans import VERSION_EVENTS, ends_recorded, versions_of
from clrevents.analysis.shared.samples.leaf_states import BlockingMethods
from clrevents.schema.registry import TPL

_MOST: Final = 4_000_000
_BEGINS: Final = "tasks, continuations and awaits"
_RESUMPTIONS: Final = "when awaits resume and waits for tasks end"
_RUNS: Final = "what threads run, and so what creates what outside tasks"
_ENDS: Final = "when tasks complete"
_BEGIN_EVENTS: Final = ("TaskWaitBegin", "TaskScheduled", "AwaitTaskContinuationScheduled", "TaskStarted")
_NEEDS: Final = (
    Need(_BEGINS, (*_BEGIN_EVENTS, *AWAITED_EVENTS, *RESUMED_EVENTS), 0x3, 4, TPL, essential=True),
    Need(_RESUMPTIONS, ("TaskWaitEnd", *RESUMED_EVENTS), 0x2, 5, TPL),
    Need(_RUNS, ("TaskWaitContinuationComplete", *RUN_EVENTS), 0x40, 5, TPL),
    Need(_ENDS, ("TaskCompleted", "TaskWaitContinuationComplete", *RUN_EVENTS), 0x42, 4, TPL),
)
_OF_TASKS: Final = (
    Need("when tasks start", ("TaskStarted",), 0x2, 4, TPL),
    Need("when tasks end", ("TaskCompleted",), 0x40, 4, TPL),
)
_TASKS: Final = Need("tasks", _BEGIN_EVENTS, 0x3, 4, TPL)
_EXCEPTIONS: Final = Need("exceptions", ("ExceptionThrown",), 0x8000, 2)
_THROWN: Final = "runtime/ExceptionThrown"
_EXCEPTION_COLUMNS: Final = {_THROWN: ("time_ns", "thread_id", "stack_id", "ExceptionType")}
_LEFT_BEHIND: Final = Note(
    "left-behind", "warning", "all of its async events are from an earlier session: nothing is known of this recording"
)
_AWAITER: Final = "System.Runtime.CompilerServices.TaskAwaiter."
_METRICS: Final = (
    count_of("count", "Tasks, continuations and awaits that were created.", needs=(RUNTIMES.what,)),
    count_of("tasks", "Tasks among them."),
    # One whose await is missing seems to be of none.
    count_of("continuations", "Continuations among them, without those of awaits.", lossy="unknown"),
    count_of("awaits", "Awaits among them that suspended their method.", needs=(RUNTIMES.what,)),
    count_of("exceptional", "Tasks among them that ended with an exception.", "less"),
    time_of("latency_median", "The median latency of the queue.", "less", "none", windows=False),
    time_of("latency_p95", "The 95th percentile of the latency.", "less", "none", windows=False),
    time_of("latency_max", "The longest latency.", "less", "max"),
    count_of("blocking_count", "Waits for tasks that blocked a thread.", "less"),
    time_of("blocking_total", "How long all threads together were blocked by them.", "less"),
    count_of("unstarted", "What was created but did not start or resume in the trace.", lossy="unknown"),
    count_of(
        "unknown_creators", "What was created by an unknown creator.", needs=(_RESUMPTIONS, _RUNS), lossy="unknown"
    ),
)
_NAMES: Final = tuple(metric.name for metric in _METRICS)
_CHART: Final = ChartDeclaration(
    "latency",
    "How long tasks and continuations waited in the queue, and how long threads were blocked, over time.",
    (
        Panel("tasks", "scheduled_ns", "latency_ns", "point", by="kind"),
        Panel("blocking", "start_ns", "duration_ns", "point", by="in_task"),
    ),
)


@parameters
class TasksParameters:
    """How methods are named, and how much is kept."""

    most: int = parameter(_MOST, "How many events to keep; later ones are only counted.")
    raw: bool = RAW
    my_code: bool = MY_CODE


@answer(
    name="tasks",
    summary="count latency_median latency_max blocking_count blocking_total sync_over_async exceptional",
    charts=(_CHART,),
)
class TasksReport(Answer[TasksFacts]):
    """Which tasks, continuations and awaits ran, what created each, how long they queued, and what blocks on tasks.

    A task is scheduled, starts and completes. An await that suspends its method begins, and resumes when the awaited
    task is done; an await that finds the task done writes no event and is not included. A continuation is what
    `Task.Yield` and a program's own awaiters queue. Each of these is a row of the table `tasks`, and `parent_row` is
    what its thread was running when it was created, so the rows are a forest of who started what, not of who waits for
    the result.

    The latency is the time from being queued to beginning to run; an await has one only if its continuation was queued,
    not called directly by whatever completed the task. If one task has several awaits, the events show neither whose
    continuation is queued nor which of them resumes. Which one resumed becomes known when the method awaits again or
    completes; otherwise the resumption is a row of its own without a start, and these rows are `ambiguous`.

    A wait blocks if its thread does nothing until the task is done, as with `Task.Wait`, `Task.Result` and an awaiter's
    `GetResult` (sync over async). The fact `sync_over_async` names the method that did this longest. The report `waits`
    has these waits, too, along with all others.

    .NET 11's async profiler records more of awaits, with less cost: which method awaits where (`state` or
    `native_offset`), which await waits for it (`awaiter_row`), and how what it waited for ended (`outcome`, if
    exceptions were recorded). Where its sub-events are, awaits and what they resume are from these alone, so nothing is
    counted twice; their `task_id` is that of the dispatcher that runs the chain. A method that an exception passes
    through has resumed, too. What threads had not yet written when tracing stopped is missing.

    Without the events of level 5, it is unknown when an await resumes and what a thread runs. Creators are then known,
    by ids, only for what tasks create in their own code. After lost events, creators are unknown until it is certain
    again what the thread runs; unknown ones are counted.

    At most `most` events, with the frames of async stacks, are kept; later ones are only counted, and no sums are given
    then.

    A window counts what was created in it, and the parts of times inside it. A row is lossy if events of its threads
    were lost meanwhile; a sum, if any were lost in the window.
    """

    methods: ReportTable[TaskMethod] = table("Each method that creates tasks or continuations, or awaits.")
    blockers: ReportTable[TaskBlocker] = table("Each method that blocks a thread until a task is done.")
    tasks: ReportTable[TaskRun] = table("Each task, continuation and await, in order of time.", bulk=True)
    blocking: ReportTable[BlockingWait] = table("Each wait that blocks a thread, in order of time.", bulk=True)


class TasksCollector(Collector[TasksReport]):
    """Keeps a few columns of each event."""

    selectors = (*task_work.TASK_COLUMNS, _THROWN, *VERSION_EVENTS)
    headers = ("time_ns", "thread_id", "stack_id")
    stacks = True

    def __init__(self, asked: TasksParameters) -> None:
        self._asked = asked
        self._kept = Kept()
        self._thrown = Kept(_EXCEPTION_COLUMNS)
        self._room = asked.most
        self._left_out = 0
        self._versions: set[int] = set()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._versions |= versions_of(chunk.events)
        self._thrown.take(narrowed(chunk, _EXCEPTION_COLUMNS))
        chunk = narrowed(chunk, task_work.TASK_COLUMNS)
        if not any(map(len, chunk.events.values())):
            return
        places, sizes = (np.concatenate(of) for of in zip(*map(_sizes, chunk.events.values()), strict=True))
        order = np.argsort(places)
        kept = int(np.searchsorted(np.cumsum(sizes[order]), self._room, "right"))
        self._room = self._room - int(sizes.sum()) if kept == len(order) else 0
        if kept < len(order):
            self._left_out += len(order) - kept
            chunk = _before(chunk, int(places[order[kept]]))
        if kept:
            self._kept.take(chunk)

    def finish(self, context: Context) -> TasksReport:
        """Give the answer."""
        kept = self._kept.all(task_work.TASK_COLUMNS, context.nothing)
        events = task_work.TaskEvents.of(kept, context, self._exceptions(context, kept))
        work = task_work.task_work(events, context.holes)
        tables = TaskTables(
            context,
            events,
            work,
            task_work.task_names(kept[task_work.OPERATION_BEGIN], self._asked.raw),
            self._asked.raw,
            self._asked.my_code,
        )
        blockers = tables.blockers()
        worst = next((row for row in blockers if row.waited_ns and can_await(row.method)), None)
        known = bool((work.parent != task_work.UNKNOWN).any())
        return context.answer(
            TasksReport,
            facts=TasksFacts(
                sync_over_async=None if worst is None else worst.method,
                creators="threads" if work.by_thread else "ids" if known else "none",
                left_out=self._left_out,
            ),
            metrics=dict.fromkeys(_NAMES) if self._left_out else _metrics(context, tables),
            lacking=also_needed(self._versions),
            cannot=_LEFT_BEHIND if not (tables.begins_told or tables.profiled or len(events)) else None,
            notes=[*_limit(self._left_out, self._asked.most), *_notes(context, tables)],
            methods=tables.methods(),
            blockers=blockers,
            tasks=tables.runs(),
            blocking=tables.blocking(),
        )

    def _exceptions(self, context: Context, kept: Mapping[str, Gathered]) -> Thrown | None:
        """What was thrown, where awaits are known that it may have left."""
        if met(_EXCEPTIONS, context.kinds) == "unknown" or not any(len(kept[name]) for name in RESUMED_EVENTS):
            return None
        events = self._thrown.all((_THROWN,), context.nothing)[_THROWN]
        times, stacks, threads = (events.numbers(name) for name in ("time_ns", "stack_id", "thread_id"))
        names = BlockingMethods(context, stacks.astype(np.int64), times, threads, raw=False)
        awaited = [any(name.startswith(_AWAITER) for name in names.names(place)) for place in range(len(events))]
        types = [type or "" for type in events.cells("ExceptionType")]
        return list(zip(times.tolist(), threads.tolist(), types, awaited, strict=True))


def _sizes(events: Gathered) -> tuple[Ints, Ints]:
    """The places of events, and how much each may add to the tables: any frame of a chain may be an await."""
    ends = events.column("Frames").offsets if "Frames" in events.table else None
    return events.places, np.ones(len(events), dtype=np.int64) if ends is None else 1 + np.diff(ends).astype(np.int64)


def _before(chunk: ReportChunk, place: int) -> ReportChunk:
    """The events of a chunk that come before a place in it."""
    events = {name: rows.only(np.flatnonzero(rows.places < place)) for name, rows in chunk.events.items()}
    return attrs.evolve(chunk, events=events)


def _limit(left_out: int, most: int) -> list[Note]:
    if not left_out:
        return []
    events = counted(left_out, "event")
    text = f"there are {events} beyond the {most:,} that are kept; tables end there, and sums are not given"
    numbers = {"left_out": left_out, "kept": most}
    return [Note("too-many-events", "warning", text, ("tasks",), numbers, "ask with a larger `most`")]


def _metrics(context: Context, tables: TaskTables) -> dict[str, Metric | int | None]:
    tasks_known = met(_TASKS, context.kinds) != "unknown"
    if _BEGINS in context.unknown or not (tasks_known or (tables.profiled and tables.begins_told)):
        return dict.fromkeys(_NAMES)
    begun = tables.begun
    # The events that say that tasks resume are recorded together with those that they start.
    resumes_known = context.unknown.isdisjoint((_RESUMPTIONS, _RUNS))
    unstarted = int((begun & ~tables.was_started).sum())
    failures_known = all(met(need, context.kinds) != "unknown" for need in _OF_TASKS)
    latencies = tables.latencies(np.flatnonzero(begun))
    count, awaits = int(begun.sum()), int(tables.of(task_work.AWAIT).sum())
    metrics: dict[str, Metric | int | None] = {
        "count": context.metric("count", count, least=True) if tables.profiled else count,
        "tasks": int(tables.of(task_work.TASK).sum()) if tasks_known else None,
        "continuations": int(tables.of(task_work.CONTINUATION).sum()) if tasks_known else None,
        "awaits": context.metric("awaits", awaits, least=True) if tables.profiled else awaits,
        "exceptional": int((begun & tables.failed).sum()) if failures_known else None,
        "blocking_count": int(tables.waits_begun.sum()) if tasks_known else None,
        "blocking_total": _blocked(context, tables),
        "unstarted": context.metric("unstarted", unstarted, most=not resumes_known)
        if resumes_known or tables.was_started.any()
        else None,
        "unknown_creators": int((begun & (tables.work.parent == task_work.UNKNOWN)).sum()),
        "latency_median": nearest_rank(latencies, 50),
        "latency_p95": nearest_rank(latencies, 95),
        "latency_max": nearest_rank(latencies, 100),
    }
    if tasks_known and not failures_known and met(_OF_TASKS[0], context.kinds) == "unknown":
        # What is queued may be told only by its start.
        for name in ("count", "tasks", "continuations"):
            number = metrics[name]
            if isinstance(number, int):
                metrics[name] = context.metric(name, number or None, least=number > 0)
    untold = not resumes_known and bool((begun & (tables.work.kind != task_work.TASK)).any())
    if untold or not len(latencies):
        reason = "not recorded when all of them began to run" if untold else "nothing that was queued began to run"
        for name in ("latency_median", "latency_p95", "latency_max"):
            metrics[name] = context.metric(name, None, reason=reason)
    return metrics


def _blocked(context: Context, tables: TaskTables) -> Metric | None:
    if not ends_recorded(context):
        return None
    return context.metric("blocking_total", int(tables.waited.sum()), least=bool(tables.open.any()))


def _notes(context: Context, tables: TaskTables) -> list[Note]:
    notes, work = [], tables.work
    blocked = tables.waited > 0
    if blocked.any():
        count, waited = int(tables.waits_begun.sum()), int(tables.waited.sum())
        least = "at least " if tables.open.any() else ""
        text = f"sync over async: {counted(count, 'wait')} for tasks blocked threads for {least}{duration_text(waited)}"
        numbers = {"waits": count, "waited_ns": waited}
        notes.append(Note("sync-over-async", "warning", text, ("blocking_total",), numbers, "await the tasks instead"))
    waiting = int(tables.open.sum())
    if waiting:
        text = f"{counted(waiting, 'thread')} still waited for a task when tracing stopped: sums are lower bounds"
        notes.append(Note("still-waiting", "warning", text, ("blocking_total",), {"threads": waiting}))
    unknown = int((tables.begun & (work.parent == task_work.UNKNOWN)).sum())
    if unknown:
        text = f"what created {counted(unknown, 'row')} is unknown"
        if not work.by_thread:
            text += ": the events of level 5, which show what runs on a thread, were not recorded"
        notes.append(Note("unknown-creators", "info", text, ("parent_row",), {"rows": unknown}))
    shared = int((tables.inside & work.shared).sum())
    if shared:
        text = f"{counted(shared, 'row')} of awaits could not be identified: several methods awaited the same task"
        notes.append(Note("ambiguous", "info", text, ("tasks",), {"rows": shared}))
    if work.unclear:
        text = f"{counted(work.unclear, 'continuation')} was queued for an unknown await"
        text = text if work.unclear == 1 else text.replace(" was ", " were ")
        notes.append(Note("unclear", "info", text, ("scheduled_ns",), {"continuations": work.unclear}))
    if tables.profiled:
        stacks = context.names.awaits
        ends = sorted({until for _, until in stacks.known.values()}) if stacks is not None else []
        when = " to ".join(dict.fromkeys(map(duration_text, (ends[0], ends[-1])))) if ends else "an unknown moment"
        text = (
            f"awaits are known until {when}, by thread: what ran later may not have been written, and counts are bounds"
        )
        notes.append(Note("known-awaits", "info", text, ("count", "awaits", "tasks"), {"threads": len(ends)}))
    later = int(tables.later.sum())
    if later:
        text = (
            f"{counted(later, 'await')} of state machines that await others may have begun later than given: they "
            "count from when the innermost suspended"
        )
        notes.append(Note("awaits-since", "info", text, ("waited_ns", "created_ns"), {"awaits": later}))
    unbegun = int((tables.inside & tables.begins_told & ~tables.was_created).sum())
    if unbegun or work.unmatched:
        text = (
            f"{counted(unbegun, 'row')} began before the trace or where events are missing, and "
            f"{counted(work.unmatched, 'end')} in the whole trace have no start"
        )
        notes.append(Note("unmatched", "info", text, ("tasks",), {"rows": unbegun, "ends": work.unmatched}))
    return notes


REPORT: Final = ReportDeclaration(
    answer=TasksReport,
    question="Which tasks and awaits ran, what started them, and what blocks on tasks?",
    topic="waiting",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=TasksCollector,
    in_part={
        "blocking_total": "at least",
        "latency_max": "at least",
        **dict.fromkeys(("latency_median", "latency_p95", "unstarted", "unknown_creators"), "unknown"),
    },
    parameters=TasksParameters,
    shown=("kind", "count", "started", "latency_median_ns", "latency_max_ns", "run_ns", "waited_ns", "method"),
    examples=(
        ("Which methods create tasks, and how long do these queue?", "clrevents tasks app.nettrace"),
        ("Who blocks on tasks?", "clrevents tasks app.nettrace --table blockers"),
        ("Which tasks queued longest?", "clrevents tasks app.nettrace --table tasks --sort latency_ns"),
        ("Which waits block, and what do they hold up?", "clrevents tasks app.nettrace --table blocking"),
        ("Fail if anything blocks on tasks:", "clrevents tasks app.nettrace --assert 'blocking_count=0'"),
    ),
)
