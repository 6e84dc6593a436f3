"""Show what threads waited for, and which methods block on tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clrevents._util.words import counted, duration_text
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import ReportDeclaration, StackParameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.vocabulary.answer_values import CODE, Evidence, Metric, Note, count_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.shared.blocking import known_waits
from clrevents.analysis.shared.events.event_spans import ends_recorded, still_waiting
from clrevents.analysis.shared.events.gc_suspensions import STOP_EVENTS, stops_recorded
from clrevents.analysis.shared.samples.off_processor import SWITCH
from clrevents.analysis.shared.weights.sample_runs import TOLERATED
from clrevents.schema.registry import SAMPLE, TPL

_SAMPLED: Final = "waits without events, such as sleeps"
_HANDLES: Final = "both ends of waits for handles and monitors"
_TASKS: Final = "both ends of waits for tasks"
_LOCKED: Final = "both ends of waits for locks"
_ANY: Final = "waits"
_NEEDS: Final = (
    Need(
        _ANY,
        (
            *("ThreadSample", SWITCH),
            *(f"runtime/{name}{end}" for name in ("WaitHandleWait", "Contention") for end in ("Start", "Stop")),
            "tpl/TaskWaitBegin",
        ),
        0,
        4,
        SAMPLE,
        essential=True,
    ),
    Need(_SAMPLED, ("ThreadSample", SWITCH), 0, 4, SAMPLE),
    Need(_HANDLES, ("WaitHandleWaitStart", "WaitHandleWaitStop"), 0x40000000000, 5),
    Need(_TASKS, ("TaskWaitBegin", "TaskWaitEnd"), 0x3, 4, TPL),
    Need(_LOCKED, ("ContentionStart", "ContentionStop"), 0x4000, 4),
)
_SHOWN: Final = (_SAMPLED, CODE)
"""Samples show a wait by the names of its methods."""
_RECORDED: Final = (_HANDLES, _TASKS, _LOCKED)
_ALL: Final = (*_SHOWN, _LOCKED, _TASKS)
"""Before .NET 10 they show no waits for locks."""
_UNNAMED: Final = "without names of methods, threads without work seem to wait"
_METRICS: Final = (
    count_of("count", "Waits of the program that began.", "less", needs=_ALL),
    time_of(
        "waited_total", "How long all threads together waited in them.", "less", needs=_ALL, hides="waits/duration_ns"
    ),
    time_of("event_total", "How much of that was recorded by events.", "less", needs=_RECORDED),
    time_of(
        "sampled_total",
        "How much of that was seen only in samples.",
        "less",
        evidence="sample",
        # Events about a wait do not count here.
        lossy="unknown",
        needs=_SHOWN,
        hides="sample",
    ),
    count_of("task_count", "Waits for tasks that began.", "less", needs=(*_SHOWN, _TASKS)),
    time_of("task_total", "How long threads waited for tasks.", "less", needs=(*_SHOWN, _TASKS)),
    time_of("idle_total", "How long threads of the runtime and workers of the pool were idle.", needs=_SHOWN),
    count_of("nested_count", "Waits that began inside others and are not counted.", needs=_RECORDED),
    count_of(
        "unfinished", "Waits of the program whose end is not in the trace.", "less", needs=_RECORDED, lossy="unknown"
    ),
)


@answer(
    name="waits",
    summary="waited_total task_total idle_total unfinished sync_over_async sampling_period_ns",
)
class WaitsReport(Answer[known_waits.WaitsFacts]):
    """What threads waited for, how long, which methods blocked them, and which of those blocked on tasks.

    The start and end of a wait are recorded for lock contentions, for waits for handles and monitors (.NET 9 and
    later), and for waits for tasks that block a thread; an `await` blocks none and is not counted. Other waits are seen
    in samples, by the methods on the stack: a sampled wait reaches halfway to the samples before and after it, and
    several short ones in succession look like one, so samples give no counts and no longest wait. The column `evidence`
    says which of the two it was.

    Kinds: `lock` (to enter a lock), `handle` (wait handles, events, semaphores), `monitor` (Monitor.Wait), `task`
    (until a task is done), `join`, `sleep`, and `idle`, for pool workers without work and threads of the runtime; idle
    time is not in the sums. A wait inside another one (the handle that a lock uses to wait, a lock inside a task that a
    waiting thread runs) is listed but not counted again.

    The blocking method is the first one of the stack outside System.Threading. A method with `task_wait` blocks until a
    task is done, with `Task.Wait`, `Task.Result` or an awaiter's `GetResult`: asynchronous code would not hold a thread
    meanwhile. The fact `sync_over_async` names the one that did this longest.

    Durations are from event to event; for locks, as measured by the runtime. A wait still going on when tracing stopped
    lasted at least until then: sums, shares and sort order include it up to that point, rows say how many of their
    waits are `open`, and metrics are lower bounds. The report `locks` shows which lock a thread waited for, and who
    held it. Waits for devices and networks are not in this report.

    In a window, a wait counts where it began, with the part of its time inside the window. A wait is lossy if events of
    its thread were lost meanwhile; the sums of a thread, if any of its events were lost in the window; other sums, if
    any events were.
    """

    methods: ReportTable[known_waits.BlockingMethod] = table("Each blocking method, for each kind, longest wait first.")
    kinds: ReportTable[known_waits.WaitKind] = table("All waits of each kind.")
    threads: ReportTable[known_waits.BlockedThread] = table("Each thread that waited, leaving out idle time.")
    waits: ReportTable[known_waits.Wait] = table("Each wait, in order of time.", bulk=True)


class WaitsCollector(Collector[WaitsReport]):
    """Keeps a few columns of each wait, and runs of equal samples."""

    selectors = tuple(dict.fromkeys((*known_waits.WAIT_SELECTORS, SWITCH, *STOP_EVENTS)))
    headers = known_waits.WAIT_HEADERS
    stacks = True

    def __init__(self, asked: StackParameters) -> None:
        self._asked = asked
        self._feed = known_waits.WaitFeed()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._feed.take(chunk)

    def finish(self, context: Context) -> WaitsReport:
        """Give the answer."""
        waits = self._feed.finish(context, self._asked.raw, self._asked.my_code)
        tables = known_waits.WaitTables(context, waits.waits)
        culprit = tables.sync_over_async()
        return context.answer(
            WaitsReport,
            facts=known_waits.WaitsFacts(sync_over_async=culprit, sampling_period_ns=waits.period_ns or None),
            metrics=_metrics(context, tables, waits.hidden),
            notes=_notes(context, tables, waits),
            occurred=_occurred(waits.waits),
            sample_ns=TOLERATED * waits.period_ns,
            methods=tables.methods(),
            kinds=tables.kinds(),
            threads=tables.threads(),
            waits=tables.rows(),
        )


def _metrics(context: Context, tables: known_waits.WaitTables, hidden: bool) -> dict[str, Metric | int | None]:
    if _ANY in context.unknown:
        return dict.fromkeys((metric.name for metric in _METRICS), None)
    programs = tables.programs
    sampled = [wait for wait in programs if wait.evidence == "sample"]
    recorded = [wait for wait in programs if wait.evidence == "event"]
    tasks, idle = tables.of("task"), tables.of("idle")
    samples, seen = _SAMPLED not in context.unknown, tables.waited(sampled)

    def evidence(waits: list[known_waits.KnownWait]) -> Evidence:
        return "sample" if any(wait.evidence == "sample" for wait in waits) else "event"

    def evidence_of(name: str, waits: list[known_waits.KnownWait]) -> Evidence:
        return "sample" if name.startswith("task") and _TASKS in context.unknown else evidence(waits)

    vague = samples and not stops_recorded(context)

    def metric(name: str, value: int, waits: list[known_waits.KnownWait]) -> Metric:
        short = value > 0 and (hidden or (vague and evidence(waits) == "sample"))
        least = name.endswith("total") and (short or any(wait.end is None for wait in waits))
        return context.metric(name, value, evidence_of(name, waits), least=least)

    def count(name: str, waits: list[known_waits.KnownWait]) -> Metric:
        recorded = [wait for wait in waits if wait.evidence == "event"]
        sampled = len(recorded) < len(waits)
        number = tables.count(recorded) if recorded or not sampled else None
        reason = "samples show how long threads waited, not how often" if number is None else None
        return context.metric(
            name, number, evidence_of(name, recorded or waits), reason, least=sampled and bool(recorded)
        )

    # Without the ends of waits for tasks, none of those is known to be open.
    ends = ends_recorded(context)
    sure = [wait for wait in recorded if wait.kind != "task" or ends]
    nested = tables.count(tables.nested())
    unended, untold = tables.count(wait for wait in sure if wait.end is None), context.unknown.intersection(_RECORDED)
    tasks_known = (samples and context.named) or _TASKS not in context.unknown or bool(tasks)
    metrics: dict[str, Metric | int | None] = {
        "count": count("count", programs),
        "waited_total": metric("waited_total", tables.waited(programs), programs),
        "event_total": context.metric(
            "event_total", tables.waited(recorded), least=any(wait.end is None for wait in recorded)
        ),
        "sampled_total": context.metric("sampled_total", seen, least=hidden or (vague and seen > 0))
        if samples
        else None,
        "task_count": count("task_count", tasks) if tasks_known else None,
        "task_total": metric("task_total", tables.waited(tasks), tasks) if tasks_known else None,
        "idle_total": metric("idle_total", tables.waited(idle), idle),
        "nested_count": context.metric(
            "nested_count", nested if nested or ends else None, least=bool(nested and not ends)
        ),
        "unfinished": context.metric(
            "unfinished", unended, least=bool(unended and (untold or len(sure) < len(recorded)))
        ),
    }
    for name in ("waited_total", "sampled_total", "idle_total", *(["task_total"] if _TASKS in context.unknown else [])):
        if hidden and isinstance(one := metrics[name], Metric) and one.value == 0:
            metrics[name] = context.metric(name, None, reason=known_waits.HIDDEN)
    by_events = (wait for wait in programs if wait.evidence == "event" and wait.system_call is None)
    if not context.named and any(wait.kind in ("handle", "monitor") for wait in by_events):
        for name in ("count", "waited_total", "event_total", "unfinished"):
            metrics[name] = context.metric(name, None, reason=_UNNAMED)
    return metrics


def _occurred(waits: Iterable[known_waits.KnownWait]) -> set[str]:
    """The metrics of whose waits the trace has some, in the window or not."""
    names: set[str] = set()
    for wait in waits:
        if wait.kind == known_waits.IDLE:
            names.add("idle_total")
        elif wait.inside is None:
            names |= {"count", "waited_total", "event_total" if wait.evidence == "event" else "sampled_total"}
    return names


def _notes(context: Context, tables: known_waits.WaitTables, waits: known_waits.FoundWaits) -> list[Note]:
    notes = []
    if waits.stopped_ns:
        text = (
            f"threads were off their processors for {duration_text(waits.stopped_ns)} because they were stopped, for "
            "collections or by the sample profiler; these are no waits"
        )
        notes.append(Note("stopped", "info", text, ("waits",), {"stopped_ns": waits.stopped_ns}))
    tasks = tables.of("task")
    culprit = tables.sync_over_async()
    if culprit is not None:
        count = tables.count(wait for wait in tasks if wait.evidence == "event")
        threads = len({wait.thread for wait in tasks})
        waited = tables.waited(tasks)
        least = "at least " if any(wait.end is None for wait in tasks) else ""
        text = (
            f"sync over async: {counted(count, 'wait') if count else 'waits'} for tasks blocked "
            f"{counted(threads, 'thread')} for "
            f"{least}{duration_text(waited)}, most of it in {culprit.partition('(')[0]}"
        )
        numbers = {"waits": count, "threads": threads, "waited_ns": waited}
        notes.append(Note("sync-over-async", "warning", text, ("task_total",), numbers, "await the tasks instead"))
    waiting = [wait for wait in tables.programs if wait.goes_on]
    if waiting:
        notes.append(still_waiting(len(waiting), max(wait.length or 0 for wait in waiting)))
    if waits.hidden:
        notes.append(
            Note(
                "hidden-waits",
                "info",
                f"{known_waits.HIDDEN}: sums are lower bounds",
                ("waits", "waited_total", "sampled_total"),
            )
        )
    if any(wait.evidence == "sample" for wait in tables.programs):
        text = "waits with the evidence `sample` are as exact as the sampling period, and short ones may be missing"
        notes.append(Note("sampled", "info", text, ("waits", "waited_total")))
    return notes


REPORT: Final = ReportDeclaration(
    answer=WaitsReport,
    question="What did threads wait for, and which methods blocked them?",
    topic="waiting",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=WaitsCollector,
    in_part={"*": "unknown", "task_total": "at least"},
    parameters=StackParameters,
    shown=("kind", "evidence", "count", "waited_ns", "max_ns", "open", "threads", "method"),
    examples=(
        ("Which methods block threads?", "clrevents waits app.nettrace"),
        ("How long did threads wait for each kind of thing?", "clrevents waits app.nettrace --table kinds"),
        ("Which threads waited longest?", "clrevents waits app.nettrace --table threads"),
        ("When was each wait?", "clrevents waits app.nettrace --table waits --start 2s --end 3s"),
        ("Fail if anything blocks on tasks:", "clrevents waits app.nettrace --assert 'task_total==0'"),
    ),
)
