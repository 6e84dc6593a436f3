"""The rows of the report on the thread pool, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    CodeName,
    CodeText,
    Count,
    CountChange,
    DurationNs,
    Handle,
    Ns,
    Number,
    Ordinal,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row


@row(at="time_ns", threads=("thread_id",))
class PoolAdjustment(Row):
    """The pool changed its goal: how many workers it wants to have at work."""

    time_ns: Ns = column("When.")
    reason: Word = column("Why, as the runtime calls it: see docs/pool.md; a number that has no name is given as such.")
    workers: Count = column("The new goal.")
    change: CountChange | None = column("By how many it differs from the one before; null if that is unknown.")
    throughput: Number | None = column(
        "The average throughput that the pool knew of then, in work items per second; null if unknown."
    )
    reason_code: Ordinal = column("The number of the reason.", hidden=True)
    thread_id: ThreadId | None = column("The thread that changed it, which is mostly no worker.", hidden=True)


@row(span=("start_ns", "end_ns"))
class PoolShortage(SpanRow):
    """A time in which the pool added worker after worker, because work waited and nobody took it."""

    start_ns: Ns = column(
        "Since when: the last one of the workers that were blocked when the pool first reacted had been so since then; "
        "where that is unknown, when it first reacted."
    )
    end_ns: Ns = column("Until when: when the goal went down again, otherwise when the pool last raised it.")
    duration_ns: DurationNs = column("How long.")
    verdict: Word = column("`starved` if its workers are known to have been blocked, otherwise `unknown`.")
    reason: Word = column("Why the pool added most of the workers.")
    raises: Count = column("How often it raised its goal.")
    workers_before: Count | None = column("The goal before; null if unknown.")
    workers_after: Count = column("The highest goal.")
    blocked_threads: Count | None = column("How many workers were blocked in that time; null if the trace tells none.")
    kind: Word | None = column("What most of that time was waited for, as in the report `waits`; null if unknown.")
    method: CodeName | None = column("The method that blocked workers longest in that time; null if unknown.")


@row(at="time_ns")
class PoolSize(Row):
    """A number changed."""

    time_ns: Ns = column("When.")
    what: Word = column(
        "`goal`, how many the pool wants; `workers`, how many there are, idle ones included; `retired`; `blocked`, how "
        "many workers wait in code of theirs; `working`, how many the pool says are at work; `io`, threads for I/O."
    )
    count: Count = column("The number from then on.")


@row(at="time_ns", threads=("thread_id",))
class PoolThroughput(Row):
    """What hill climbing measured, and what it made of it."""

    time_ns: Ns = column("When.")
    throughput: Number | None = column("Work items per second since the measurement before; null if unknown.")
    ratio: Number | None = column("How throughput follows the number of workers: above 0, more of them helped.")
    confidence: Number | None = column("How sure the pool is of that: from 1 on, it is more than noise.")
    control: Number | None = column("The goal that it computed, before it is rounded.")
    thread_id: ThreadId | None = column("The thread that measured.", hidden=True)


@row(at="time_ns")
class PoolLimits(Row):
    """How many threads were allowed from then on."""

    time_ns: Ns = column("When it was told: at the start, or when the program changed it.")
    min_workers: Count = column("As many workers are created without delay.")
    max_workers: Count = column("There are never more workers.")
    min_io: Count = column("The same for threads for I/O.")
    max_io: Count = column("The same for threads for I/O.")


@row(span=("enqueued_ns", "dequeued_ns"))
class QueuedItem(SpanRow):
    """A work item that waited in the queue."""

    source: Word = column(
        "What tells of it: `work` and `native`, every item (.NET 6 and later, and before); `task`, tasks; `io`."
    )
    work_id: Handle = column("Its id, which other items may have after it; tasks have their own number.")
    enqueued_ns: Ns | None = column("When it was queued; null if that was before the trace.")
    dequeued_ns: Ns | None = column("When a thread took it; null if none did in the trace.")
    latency_ns: DurationNs | None = column("How long it waited; null without a begin or an end.")


@row(at="time_ns")
class QueueLength(Row):
    """The number of items that wait changed."""

    time_ns: Ns = column("When.")
    source: Word = column("What tells of the items.")
    items: Count = column("How many waited from then on, those that were never taken included.")


@row
class QueueLatency(Row):
    """How long items waited, by what tells of them. Items count where they were queued."""

    source: Word = column("What tells of them.")
    items: Count = column("How many were queued and taken.")
    p50_ns: DurationNs | None = column("The median (nearest rank); null if there are none.")
    p95_ns: DurationNs | None = column("Of 100, 95 waited no longer; null if there are none.")
    p99_ns: DurationNs | None = column("Of 100, 99 waited no longer; null if there are none.")
    max_ns: DurationNs | None = column("The longest; null if there are none.")
    before: Count = column("How many were taken that had been queued before the trace, or whose begin was lost.")
    never: Count = column("How many were queued and never taken in the trace.")


@row
class PoolFacts:
    """The verdict and what it rests on."""

    verdict: Word = column("`starved`, `healthy` or `unknown`; docs/pool.md has the rule.")
    evidence: tuple[CodeText, ...] = column("Why, one sentence each.")
    since_ns: Ns | None = column("Since when it was starved; null if it was not.")
    until_ns: Ns | None = column("Until when; null if it was not.")
    culprit: CodeName | None = column(
        "The method that blocked its workers longest meanwhile; null if it was not starved."
    )
    culprit_stack: tuple[CodeName, ...] = column("A stack on which it did, innermost first.")
    blocked_meanwhile: Count | None = column("How many workers were blocked meanwhile; null if it was not starved.")
    reason: Word | None = column("Why the pool added most workers meanwhile; null if it was not starved.")
    min_workers: Count | None = column("The configured minimum of workers; null if the trace does not tell.")
    max_workers: Count | None = column("The configured maximum of workers; null if the trace does not tell.")
    processors: Count | None = column("How many processors the process may use; null if unknown.")
    latency_source: Word | None = column("Which source the metrics of items are from; null if there is none.")
