"""The rows of the report on waits, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    CodeName,
    Count,
    DurationNs,
    Flag,
    Ns,
    Ordinal,
    Ratio,
    StackId,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Wait(SpanRow):
    """One wait of one thread."""

    thread_id: ThreadId = column("The thread that waited.")
    kind: Word = column(
        "What it waited for: `lock`, `handle`, `monitor`, `task`, `join`, `sleep` or `idle`; where the kernel recorded "
        "it and no method tells more, `futex`, `input`, `output`, `disk`, `page_fault` or `kernel`."
    )
    start_ns: Ns | None = column("When the wait began; null if the trace does not tell.")
    end_ns: Ns | None = column("When it ended; null if the trace does not tell.")
    duration_ns: DurationNs | None = column(
        "How long it lasted; null if the trace does not tell. Of samples, several short waits may be one row."
    )
    open: Flag = column("It went on when tracing stopped: it lasted at least so long.")
    evidence: Word = column("`event` if events tell it, `sample` if samples show that it waited.")
    task_wait: Flag = column("The thread blocks until a task is done.")
    task_id: Ordinal | None = column("The task's number; null if unknown.", hidden=True)
    inside: Word | None = column(
        "What the wait is a part of, and so is not counted again: `lock` or `task`; null for most."
    )
    method: CodeName | None = column("The method that blocks: the first one outside System.Threading; null if unknown.")
    waiting_in: CodeName | None = column("The method that waits for it; null if none is known.", hidden=True)
    system_call: Word | None = column("The system call that it waited in; null unless the kernel recorded it.")
    stack_id: StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class WaitKind(Row):
    """All waits of one kind, but for those inside others."""

    kind: Word = column("What threads waited for.")
    evidence: Word = column("`event` or `sample`.")
    count: Count | None = column("How many began; null for samples, which do not tell waits apart.")
    waited_ns: DurationNs = column("How long all threads together waited.")
    max_ns: DurationNs | None = column("The longest wait; null if no event tells its length.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.")
    threads: Count = column("How many threads waited.")


@row
class BlockingMethod(Row):
    """A method that blocks its thread."""

    method: CodeName | None = column("The method; null for stacks without names.", importance=0)
    kind: Word = column("What it waits for.", importance=1)
    task_wait: Flag = column("It blocks until a task is done, which asynchronous code need not do.")
    evidence: Word = column("`event` or `sample`.", importance=3)
    count: Count | None = column("How many waits began; null for samples, which do not tell waits apart.", importance=1)
    waited_ns: DurationNs = column("How long it waited, on all threads.", importance=0)
    share: Ratio | None = column("Its share of all waiting in this report but `idle`; null for that.")
    max_ns: DurationNs | None = column("The longest wait; null if no event tells its length.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.")
    threads: Count = column("How many threads waited in it.")
    waiting_in: CodeName | None = column("The method that it waits in, of one of its stacks.", hidden=True)
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row
class BlockedThread(Row):
    """A thread that waited."""

    thread_id: ThreadId = column("The thread.")
    thread_name: Word | None = column("Its name; null where the trace has none.", hidden=True)
    count: Count | None = column("How many waits of the program began; null if only samples show some of them.")
    waited_ns: DurationNs = column("How long it waited.")
    max_ns: DurationNs | None = column("The longest wait; null if no event tells its length.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.")
    method: CodeName | None = column("The method that waited longest on it; null if unknown.")


@row
class WaitsFacts:
    """The circumstances of a report on waits."""

    sync_over_async: Word | None = column("The method that blocked on tasks longest; null if none did.")
    sampling_period_ns: DurationNs | None = column("The median time between two samples of a thread; null if none.")
