"""The rows of the report on the thread pool, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import Row, SpanRow, column, row


@row(at="time_ns", threads=("thread_id",))
class PoolAdjustment(Row):
    """A change of the pool's goal: the number of workers it wants to have at work."""

    time_ns: cells.Ns = column("When.")
    reason: cells.Word = column("Why, in the runtime's words: see docs/pool.md; a number if the reason has no name.")
    workers: cells.Count = column("The new goal.")
    change: cells.CountChange | None = column("The difference from the previous goal; null if unknown.")
    throughput: cells.Number | None = column(
        "The average throughput measured by the pool, in work items per second; null if unknown."
    )
    thread_id: cells.ThreadId | None = column("The thread that changed it, usually not a worker.", hidden=True)


@row(span=("start_ns", "end_ns"))
class PoolShortage(SpanRow):
    """A time in which the pool added worker after worker because queued work was not being picked up."""

    start_ns: cells.Ns = column(
        "When it began: when the last of the workers that were blocked at the pool's first reaction became blocked; "
        "if that is unknown, when the pool first reacted."
    )
    end_ns: cells.Ns = column("When it ended: when the goal went down to stay, otherwise when the pool last raised it.")
    duration_ns: cells.DurationNs = column("How long.")
    verdict: cells.Word = column("`starved` if its workers are known to have been blocked, otherwise `unknown`.")
    reason: cells.Word = column("Why the pool added most of the workers.")
    raises: cells.Count = column("How often it raised its goal.")
    workers_before: cells.Count | None = column("The goal before; null if unknown.")
    workers_after: cells.Count = column("The highest goal.")
    blocked_threads: cells.Count | None = column("How many workers were blocked in that time; null if none was seen.")
    kind: cells.Word | None = column(
        "What the workers waited for most of that time, as in the report `waits`; null if unknown."
    )
    method: cells.CodeName | None = column("The method that blocked workers longest in that time; null if unknown.")


@row(at="time_ns")
class PoolSize(Row):
    """A change of one of the pool's numbers."""

    time_ns: cells.Ns = column("When.")
    what: cells.Word = column(
        "`goal`, how many workers the pool wants; `workers`, how many there are, including idle ones; `retired`; "
        "`blocked`, how many wait in the code they run; `working`, how many are at work according to the pool; "
        "`io`, I/O threads."
    )
    count: cells.Count = column("The number from then on.")


@row(at="time_ns", threads=("thread_id",))
class PoolThroughput(Row):
    """What hill climbing measured, and what it concluded."""

    time_ns: cells.Ns = column("When.")
    throughput: cells.Number | None = column("Work items per second since the previous measurement; null if unknown.")
    ratio: cells.Number | None = column("How throughput follows the number of workers: above 0, more workers helped.")
    confidence: cells.Number | None = column("How confident the pool is of that: from 1 on, it is more than noise.")
    control: cells.Number | None = column("The goal that it computed, before rounding.")
    thread_id: cells.ThreadId | None = column("The thread that measured.", hidden=True)


@row(at="time_ns")
class PoolLimits(Row):
    """How many threads were allowed from then on."""

    time_ns: cells.Ns = column("When it was recorded: at the start, or when the program changed it.")
    min_workers: cells.Count = column("The minimum: up to this many workers are created without delay.")
    max_workers: cells.Count = column("The maximum number of workers.")
    min_io: cells.Count = column("The same for threads for I/O.")
    max_io: cells.Count = column("The same for threads for I/O.")


@row(span=("enqueued_ns", "dequeued_ns"))
class QueuedItem(SpanRow):
    """A work item that waited in the queue."""

    source: cells.Word = column(
        "Which events recorded it: `work` (.NET 6 and later) and `native` (before), every item; `task`, tasks; "
        "`io`, I/O."
    )
    work_id: cells.Handle = column("Its id, which later items may reuse; for tasks, the task's number.")
    enqueued_ns: cells.Ns | None = column("When it was queued; null if that was before the trace.")
    dequeued_ns: cells.Ns | None = column("When a thread took it; null if none did in the trace.")
    latency_ns: cells.DurationNs | None = column("How long it waited; null without a start or an end.")


@row(at="time_ns")
class QueueLength(Row):
    """A change in the number of waiting items."""

    time_ns: cells.Ns = column("When.")
    source: cells.Word = column("Which events recorded the items.")
    items: cells.Count | None = column(
        "How many waited from then on, including those that were never taken; null in a part without the beginning."
    )


@row
class QueueLatency(Row):
    """How long items waited, by the events that recorded them. Items count where they were queued."""

    source: cells.Word = column("Which events recorded them.")
    items: cells.Count = column("How many were queued and taken.")
    p50_ns: cells.DurationNs | None = column("The median (nearest rank); null if there are none.")
    p95_ns: cells.DurationNs | None = column("The 95th percentile; null if there are none.")
    p99_ns: cells.DurationNs | None = column("The 99th percentile; null if there are none.")
    max_ns: cells.DurationNs | None = column("The longest; null if there are none.")
    before: cells.Count = column("How many were taken whose queueing was before the trace, or was lost.")
    never: cells.Count = column("How many were queued and never taken in the trace.")


@row
class PoolFacts:
    """The verdict and its basis."""

    verdict: cells.Word = column("`starved`, `healthy` or `unknown`; docs/pool.md has the rule.")
    evidence: tuple[cells.CodeText, ...] = column("Why, one sentence each.")
    since_ns: cells.Ns | None = column("When starvation began; null if it was not starved.")
    until_ns: cells.Ns | None = column("When starvation ended; null if it was not starved.")
    culprit: cells.CodeName | None = column(
        "The method that blocked its workers longest meanwhile; null if it was not starved."
    )
    culprit_stack: tuple[cells.CodeName, ...] = column("A stack on which it did, innermost first.")
    blocked_meanwhile: cells.Count | None = column(
        "How many workers were blocked meanwhile; null if it was not starved."
    )
    reason: cells.Word | None = column("Why the pool added most workers meanwhile; null if it was not starved.")
    min_workers: cells.Count | None = column("The configured minimum of workers; null if unknown.")
    max_workers: cells.Count | None = column("The configured maximum of workers; null if unknown.")
    processors: cells.Count | None = column("How many processors the process may use; null if unknown.")
    latency_source: cells.Word | None = column(
        "Which events the metrics of items are based on; null if there are none."
    )
