"""The rows of the report on waits, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.row_class import (
    CodeName,
    Count,
    DurationNs,
    Flag,
    Ns,
    Ordinal,
    Ratio,
    Row,
    SpanRow,
    StackId,
    ThreadId,
    Word,
    column,
    row,
)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Wait(SpanRow):
    """One wait of one thread."""

    thread_id: ThreadId = column("The thread that waited.")
    kind: Word = column(
        "What it waited for: `lock`, `handle`, `monitor`, `task`, `join`, `sleep` or `idle`; where the kernel recorded "
        "it and no method tells more, `futex`, `input`, `output`, `disk`, `page_fault` or `kernel`."
    )
    start_ns: Ns | None = column("When the wait began; null if unknown.")
    end_ns: Ns | None = column("When it ended; null if unknown.")
    duration_ns: DurationNs | None = column(
        "How long it lasted; null if unknown. From samples, several short waits may be one row."
    )
    open: Flag = column("It was still going on when tracing stopped: its duration is a lower bound.")
    evidence: Word = column("`event` if recorded, `sample` if seen in samples.")
    task_wait: Flag = column("Whether the thread blocks until a task is done.")
    task_id: Ordinal | None = column("The task's number; null if unknown.", hidden=True)
    inside: Word | None = column(
        "What the wait is part of, and so is not counted again: `lock` or `task`; usually null."
    )
    method: CodeName | None = column("The blocking method: the first one outside System.Threading; null if unknown.")
    waiting_in: CodeName | None = column("The method that does the waiting for it; null if unknown.", hidden=True)
    system_call: Word | None = column("The system call that it waited in; null unless the kernel recorded it.")
    stack_id: StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class WaitKind(Row):
    """All waits of one kind, except those inside others."""

    kind: Word = column("What threads waited for.")
    evidence: Word = column("`event` or `sample`.")
    count: Count | None = column("How many began; null for samples, which do not separate waits.")
    waited_ns: DurationNs | None = column("How long all threads together waited; null if no length is known.")
    max_ns: DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: Count = column("How many waits were still going on when tracing stopped; if any, times are lower bounds.")
    threads: Count = column("How many threads waited.")


@row
class BlockingMethod(Row):
    """A method that blocks its thread."""

    method: CodeName | None = column("The method; null for stacks without names.", importance=0)
    kind: Word = column("What it waits for.", importance=1)
    task_wait: Flag = column("Whether it blocks until a task is done, which asynchronous code need not do.")
    evidence: Word = column("`event` or `sample`.", importance=3)
    count: Count | None = column("How many waits began; null for samples, which do not separate waits.", importance=1)
    waited_ns: DurationNs | None = column(
        "How long it waited, on all threads; null if no length is known.", importance=0
    )
    share: Ratio | None = column(
        "Its share of all waiting in this report except `idle`; null for `idle`, or if no length is known."
    )
    max_ns: DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: Count = column("How many waits were still going on when tracing stopped; if any, times are lower bounds.")
    threads: Count = column("How many threads waited in it.")
    waiting_in: CodeName | None = column("The method that does the waiting, from one of its stacks.", hidden=True)
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row
class BlockedThread(Row):
    """A thread that waited."""

    thread_id: ThreadId = column("The thread.")
    thread_name: Word | None = column("Its name; null if unknown.")
    count: Count | None = column("How many waits of the program began; null if some were seen only in samples.")
    waited_ns: DurationNs | None = column("How long it waited; null if no length is known.")
    max_ns: DurationNs | None = column("The longest wait; null if no length was recorded.")
    open: Count = column("How many waits were still going on when tracing stopped; if any, times are lower bounds.")
    method: CodeName | None = column("The method that waited longest on it; null if unknown.")


@row
class WaitsFacts:
    """The facts of a report on waits."""

    sync_over_async: Word | None = column("The method that blocked on tasks longest and could await; null if none.")
    sampling_period_ns: DurationNs | None = column(
        "The median time between two samples of a thread; null without samples."
    )
