"""Show whether the thread pool is starved, and by whom."""

from __future__ import annotations

from typing import Final

import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.model.declaration import ReportDeclaration, StackParameters
from clrevents.analysis.framework.model.needs import Need, met
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note, count_of, time_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import Ints, nearest_rank
from clrevents.analysis.reports.pool import pool_events
from clrevents.analysis.reports.pool.pool_events import latencies
from clrevents.analysis.reports.pool.pool_rows import (
    PoolAdjustment,
    PoolFacts,
    PoolLimits,
    PoolShortage,
    PoolSize,
    PoolThroughput,
    QueuedItem,
    QueueLatency,
    QueueLength,
)
from clrevents.analysis.reports.pool.starvation import (
    BlockedWorkers,
    Circumstances,
    Conclusion,
    metrics_of_blocking,
    shortages,
)
from clrevents.analysis.shared.blocking.known_waits import (
    IDLE,
    WAIT_HEADERS,
    WAIT_SELECTORS,
    BlockingMethod,
    FoundWaits,
    WaitFeed,
    WaitTables,
)
from clrevents.analysis.shared.events.gc_suspensions import stops_recorded
from clrevents.analysis.shared.samples.off_processor import SWITCH
from clrevents.schema.registry import SAMPLE, TPL

_LOCKED: Final = Need("waits for locks", ("ContentionStart", "ContentionStop"), 0x4000, 4)
"""Not what this report is about; but without it, and without samples and names, nobody blocked is no proof."""
_SAMPLED: Final = Need("what workers do", ("ThreadSample", SWITCH), 0, 4, SAMPLE)
"""Without it, workers are known to be blocked from events alone."""
_STARTED: Final = Need("when tasks start", ("TaskStarted",), 0x2, 4, TPL)
"""Without it, a task that never started may have."""
_KEPT: Final = {**pool_events.POOL_COLUMNS, **pool_events.ITEM_COLUMNS}

_ANY: Final = "the thread pool"
_SIZE: Final = "how the pool changed its number of workers"
_QUEUE: Final = "how long work waited for a worker"
_BLOCKED: Final = "what blocked workers"
_NATIVE: Final = tuple(
    event.partition("/")[2] for source in pool_events.SOURCES[2:] for event in (source.enqueue, source.dequeue)
)
_WORK: Final = tuple(event for source in pool_events.SOURCES[:1] for event in (source.enqueue, source.dequeue))
_TASKS: Final = ("TaskScheduled", "TaskStarted")
_OWN: Final = tuple(name.partition("/")[2] for name in pool_events.POOL_COLUMNS)
_NEEDS: Final = (
    Need(
        _ANY,
        (*_OWN, *_NATIVE, *_WORK, *(f"{TPL}/{name}" for name in _TASKS)),
        0x10000,
        4,
        essential=True,
    ),
    Need(_SIZE, _OWN, 0x10000, 4),
    Need(_QUEUE, (*_TASKS, *_WORK, *(f"runtime/{name}" for name in _NATIVE)), 0x3, 4, TPL),
    Need(_BLOCKED, ("ThreadSample", f"{TPL}/TaskWaitBegin"), 0, 4, SAMPLE),
)
_METRICS: Final = (
    time_of("starved_total", "How long the pool was starved.", "less", evidence="inferred"),
    time_of("blocked_total", "How long all workers together were blocked.", "less", evidence="sample"),
    count_of("blocked_workers", "How many workers were blocked at any time.", windows=False, evidence="sample"),
    count_of("adjustments", "How often the pool changed its goal."),
    count_of(
        "raises",
        "How often it raised its goal because work waited, or because workers blocked until tasks were done.",
        "less",
    ),
    count_of("workers_max", "The most workers at any time.", merge="max", windows=False),
    count_of("items", "Work items that were queued and taken, by `latency_source`."),
    time_of("latency_p50", "The median time in the queue.", "less", merge="none", windows=False),
    time_of("latency_p99", "The 99th percentile of the time in the queue.", "less", merge="none", windows=False),
    time_of(
        "latency_max", "The longest time in the queue.", "less", merge="max", windows=False, hides="queue/latency_ns"
    ),
    count_of("items_before", "Items taken in the trace but queued before it or unseen.", lossy="unknown"),
    count_of("items_never", "Items queued but not taken in the trace.", "less", lossy="unknown"),
)
_CHARTS: Final = (
    ChartDeclaration(
        "workers",
        "How many workers the pool wanted and had, how many of them were blocked, and how much work waited.",
        (Panel("sizes", "time_ns", "count", by="what"), Panel("length", "time_ns", "items", by="source")),
    ),
    ChartDeclaration(
        "latency",
        "How long each work item waited, at the time it was queued; if there are very many, the longest.",
        (Panel("queue", "enqueued_ns", "latency_ns", "point", by="source"),),
    ),
)


@answer(
    name="pool",
    summary="verdict culprit since_ns until_ns blocked_workers latency_p50 latency_max workers_max min_workers",
    charts=_CHARTS,
)
class PoolReport(Answer[PoolFacts]):
    """Whether the thread pool is starved, by whom, since when, and how long work waits for a worker.

    The verdict is `starved` if the pool raised its goal twice or more, over at least half a second, because queued work
    was not being picked up (the reasons Starvation and CooperativeBlocking), while at least half of its workers were
    blocked at most of these moments. It is `unknown` if the trace shows only one of these two signs, if pool events
    were not recorded or were lost, or if work waited for half a second for another cause; otherwise `healthy`.

    A worker is blocked while it waits for a lock, a handle, a monitor, a task, a thread or time, as found by the report
    `waits`, but not while it has nothing to do. `blockers` are the methods that blocked workers, as in that report.

    The number of workers includes idle ones. The goal is how many workers the pool wants to have at work.

    A work item waits from the event that queued it until a thread took it; the two events are paired by its id, first
    in first out. Tasks with a thread of their own are left out. Each source of events has its own rows; metrics are
    based on `work`, otherwise on `task`, otherwise on `native`, because several sources may record the same item.

    In a window, an item counts where it was queued. The verdict is about all shortages that reach into the window.
    """

    blockers: ReportTable[BlockingMethod] = table("Each method that blocks workers of the pool, the longest first.")
    shortages: ReportTable[PoolShortage] = table("When work was stuck for long, and who blocked the workers then.")
    adjustments: ReportTable[PoolAdjustment] = table("Each change of the goal, and why.")
    latencies: ReportTable[QueueLatency] = table("How long work waited in the queue, by the events that recorded it.")
    throughput: ReportTable[PoolThroughput] = table("What hill climbing measured, and its state where recorded.")
    limits: ReportTable[PoolLimits] = table("The configured numbers of threads.")
    sizes: ReportTable[PoolSize] = table("Numbers of threads over time.", bulk=True)
    length: ReportTable[QueueLength] = table("How many items waited over time.", bulk=True)
    queue: ReportTable[QueuedItem] = table("Each work item that waited.", bulk=True)


class PoolCollector(Collector[PoolReport]):
    """Keeps a few columns of the pool's events, of work items and of waits, and runs of equal samples."""

    selectors = tuple(dict.fromkeys((*_KEPT, *WAIT_SELECTORS)))
    headers = WAIT_HEADERS
    stacks = True

    def __init__(self, asked: StackParameters) -> None:
        self._asked = asked
        self._feed = WaitFeed()
        self._kept = Kept()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._feed.take(chunk)
        self._kept.take(narrowed(chunk, _KEPT))

    def finish(self, context: Context) -> PoolReport:
        """Give the answer."""
        events = self._kept.all(_KEPT, context.nothing)
        pool = pool_events.PoolEvents(events)
        answer_parts = self._feed.finish(context, self._asked.raw, self._asked.my_code)
        workers = pool.workers() | answer_parts.workers
        waits = [w for w in answer_parts.waits if w.thread in workers and w.inside is None and w.kind != IDLE]
        blocked = BlockedWorkers.of(waits)
        limits = pool.limits()
        least = int(limits["min_workers"][0]) if len(limits["min_workers"]) else None
        goals = pool.goals(least)
        items = [pool_events.items_of(s, events[s.enqueue], events[s.dequeue]) for s in pool_events.SOURCES]
        items = [one for one in items if len(one)]
        best = next((one for one in items if one.source != "io"), None)
        waited = None if best is None else latencies(best, context.window.holds(best.begins))
        around = Circumstances(
            shown=_SIZE not in context.unknown,
            raises=sum(goal.raised for goal in goals),
            longest_ns=None if waited is None else nearest_rank(waited, 100),
            min_workers=least,
            max_workers=int(limits["max_workers"][-1]) if least is not None else None,
            latency_source=None if best is None else best.source,
        )
        # PortableThreadPool.Blocking.cs: as many as there are processors are added without a delay.
        at_once = least + context.info.processors if least is not None and context.info.processors else 0
        conclusion = Conclusion(
            context, shortages(goals, pool.existing(), blocked, at_once), blocked, around, self._asked.raw
        )
        adjustments = context.table(PoolAdjustment, pool.adjustments(goals))
        sizes = context.table(PoolSize, _sizes(pool, blocked))
        return context.answer(
            PoolReport,
            facts=conclusion.facts(),
            metrics={
                **_of_waits(context, answer_parts, conclusion, blocked),
                **_changed(context, adjustments, sizes, [goal.time for goal in goals if goal.raised]),
                **_queued(context, best, waited),
            },
            notes=[*conclusion.notes(), *_notes(items)],
            blockers=WaitTables(context, waits).methods(),
            shortages=conclusion.table(),
            adjustments=adjustments,
            latencies=pool_events.latency_table(context, items),
            throughput=context.table(PoolThroughput, pool.throughput()),
            limits=context.table(PoolLimits, limits),
            sizes=sizes,
            length=pool_events.length_table(context, items),
            queue=pool_events.item_table(context, items),
        )


def _sizes(pool: pool_events.PoolEvents, blocked: BlockedWorkers) -> dict[str, list[int | str]]:
    """All numbers of threads over time; those that change at one moment follow one another in order of names."""
    rows: list[tuple[int, str, int]] = []
    for what, times, numbers in pool.sizes():
        rows += [(time, what, count) for time, count in zip(times.tolist(), numbers.tolist(), strict=True)]
    moments = {*blocked.starts.tolist(), *blocked.ends.tolist()}
    rows += [(time, "blocked", blocked.at(time)) for time in sorted(moments)]
    rows.sort(key=lambda row: row[:2])
    return {name: [row[place] for row in rows] for place, name in enumerate(("time_ns", "what", "count"))}


def _of_waits(
    context: Context, waits: FoundWaits, conclusion: Conclusion, blocked: BlockedWorkers
) -> dict[str, Metric | int | None]:
    """What is known from waits."""
    if _BLOCKED in context.unknown and not waits.waits:
        return {"starved_total": None, "blocked_total": None, "blocked_workers": None}
    starved = None if conclusion.verdict == "unknown" else conclusion.starved_ns
    some = (
        not (context.named and stops_recorded(context))
        or _SIZE in context.unknown
        or any(met(need, context.kinds) == "unknown" for need in (_LOCKED, _SAMPLED))
    )
    if not blocked.waits and some:
        return {"starved_total": starved, "blocked_total": None, "blocked_workers": None}
    return {"starved_total": starved, **metrics_of_blocking(context, blocked, waits, some)}


def _changed(
    context: Context, adjustments: ReportTable[PoolAdjustment], sizes: ReportTable[PoolSize], raised: list[int]
) -> dict[str, int | None]:
    """What is known from the pool's own events."""
    if _SIZE in context.unknown:
        return {"adjustments": None, "raises": None, "workers_max": None}
    workers = [row.count for row in sizes if row.what == "workers"]
    return {
        "adjustments": len(adjustments),
        "raises": int(context.window.holds(np.array(raised, dtype=np.int64)).sum()),
        "workers_max": max(workers, default=None),
    }


def _queued(context: Context, best: pool_events.Items | None, waited: Ints | None) -> dict[str, int | None]:
    """What the best source says about items, and how long those of the window waited."""
    names = ("items", "latency_p50", "latency_p99", "latency_max", "items_before", "items_never")
    if best is not None and best.source == "task" and met(_STARTED, context.kinds) == "unknown":
        return dict.fromkeys(names)
    if best is None or waited is None:
        quiet = _QUEUE not in context.unknown
        return {name: 0 if quiet and name.startswith("items") else None for name in names}
    inside = context.window.holds(best.begins)
    numbers = (
        len(waited),
        *(nearest_rank(waited, percent) for percent in (50, 99, 100)),
        int((inside & (best.enqueued < 0)).sum()),
        int((inside & (best.dequeued < 0)).sum()),
    )
    return dict(zip(names, numbers, strict=True))


def _notes(sources: list[pool_events.Items]) -> list[Note]:
    notes = []
    for items in sources:
        if items.own_threads:
            text = f"{counted(items.own_threads, 'task')} with a thread of their own left out"
            notes.append(Note("own-threads", "info", text, ("queue",), {"tasks": items.own_threads}))
        if items.schedulers > 1:
            text = f"tasks of {items.schedulers} schedulers: some may have waited in their scheduler's own queue"
            notes.append(Note("schedulers", "info", text, ("queue",), {"schedulers": items.schedulers}))
    return notes


REPORT: Final = ReportDeclaration(
    answer=PoolReport,
    question="Is the thread pool starved, and by whom?",
    topic="waiting",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=PoolCollector,
    in_part={
        **dict.fromkeys(("blocked_total", "starved_total", "raises", "blocked_workers", "items"), "at least"),
        **dict.fromkeys(
            ("workers_max", "items_before", "items_never", "latency_p50", "latency_p99", "latency_max"), "unknown"
        ),
    },
    parameters=StackParameters,
    shown=("kind", "evidence", "count", "waited_ns", "max_ns", "open", "threads", "method"),
    examples=(
        ("Is the pool starved, and by whom?", "clrevents pool app.nettrace"),
        ("When did the pool change its number of workers, and why?", "clrevents pool app.nettrace --table adjustments"),
        ("How long does work wait for a worker?", "clrevents pool app.nettrace --table latencies"),
        ("Which items waited longest?", "clrevents pool app.nettrace --table queue --sort latency_ns"),
        ("Fail if it was starved:", "clrevents pool app.nettrace --assert 'starved_total==0'"),
    ),
)
