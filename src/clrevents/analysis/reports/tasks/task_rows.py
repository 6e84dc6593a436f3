"""The rows of the report on tasks, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    CodeName,
    Count,
    DurationNs,
    Flag,
    Ns,
    Ordinal,
    Ratio,
    RowNumber,
    StackId,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row


@row(span=("created_ns", "completed_ns"), threads=("created_thread_id", "thread_id"))
class TaskRun(SpanRow):
    """A task, a continuation or an await: something that was made at one place and ran at another."""

    row: RowNumber = column("The number of the row, in order of time.", hidden=True)
    parent_row: RowNumber | None = column("The row of what created it; null if nothing did, or if unknown.")
    kind: Word = column("`task`, `continuation` (queued by itself, as by `Task.Yield`) or `await`.")
    task_id: Ordinal = column("The id of the task or continuation; of an await, of the task that is awaited.")
    operation: CodeName | None = column(
        "What the runtime calls the task, of an await the awaited one, such as `async Work`; null unless recorded.",
        hidden=True,
    )
    parent_task_id: Ordinal | None = column(
        "The `task_id` of what created it; null where `parent_row` is.", hidden=True
    )
    created_by: Word = column(
        "What created it: `task` (the row `parent_row`), `thread` (code outside all tasks) or `unknown`."
    )
    method_task_id: Ordinal | None = column(
        "Of an await, the task of the method that awaits; null for others, or if the runtime does not tell.",
        hidden=True,
    )
    created_ns: Ns | None = column("When it was created, or the await began; null if the trace does not tell.")
    scheduled_ns: Ns | None = column("When it was queued to run; null for an await that resumed without a queue.")
    started_ns: Ns | None = column("When it began to run, or the await resumed; null if the trace does not tell.")
    completed_ns: Ns | None = column("When its code returned; null if the trace does not tell.")
    latency_ns: DurationNs | None = column("From scheduled to started; null where either is unknown.")
    run_ns: DurationNs | None = column(
        "From started to completed, with all that ran inside; null if either is unknown."
    )
    thread_id: ThreadId | None = column("The thread that ran it; null if it did not start.")
    created_thread_id: ThreadId | None = column("The thread that created it; null if unknown.", hidden=True)
    exceptional: Flag | None = column("The task ended with an exception; null for others, or without an end.")
    ambiguous: Flag = column(
        "Several awaits of the task resumed, and the trace does not tell which of them this one is.", hidden=True
    )
    method: CodeName | None = column(
        "The method that created it: the first one of the stack outside System.Threading; null if unknown."
    )
    stack_id: StackId = column("The call stack that created it, 0 for none.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class BlockingWait(SpanRow):
    """A thread blocks until a task is done."""

    thread_id: ThreadId = column("The thread that was blocked.")
    task_id: Ordinal = column("The task that it waited for.")
    start_ns: Ns | None = column("When the wait began.")
    end_ns: Ns | None = column("When it ended; null if the trace does not tell.")
    duration_ns: DurationNs | None = column("How long it lasted; null if the trace does not tell.")
    open: Flag = column("It went on when tracing stopped: it lasted at least so long.")
    in_row: RowNumber | None = column("The row of the task, continuation or await that was held up; null if none was.")
    in_task: Word = column(
        "What was held up: `task` (the row `in_row`), `thread` (code outside all tasks) or `unknown`."
    )
    method: CodeName | None = column("The method that blocks: the first one outside System.Threading; null if unknown.")
    stack_id: StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class TaskMethod(Row):
    """A method that creates tasks or continuations, or that awaits."""

    method: CodeName | None = column("The method; null for stacks without names.")
    kind: Word = column("`task`, `continuation` or `await`.")
    count: Count = column("How many it created.")
    queued: Count = column("How many of them were queued and began to run.")
    latency_median_ns: DurationNs | None = column("Their median latency, by the nearest rank; null if none was queued.")
    latency_p95_ns: DurationNs | None = column("The latency that 95 % are no longer than, by the nearest rank.")
    latency_max_ns: DurationNs | None = column("The longest latency.")
    run_ns: DurationNs = column("How long they ran, with all that ran inside.")
    waited_ns: DurationNs | None = column("Of awaits, the time from the begins to the resumptions; null for others.")
    exceptional: Count = column("How many tasks ended with an exception.")
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row
class TaskBlocker(Row):
    """A method that blocks its thread until a task is done."""

    method: CodeName | None = column("The method; null for stacks without names.")
    count: Count = column("How many waits began.")
    waited_ns: DurationNs = column("How long it waited, on all threads.")
    share: Ratio | None = column("Its share of all such waiting; null if there was none.")
    max_ns: DurationNs | None = column("The longest wait; null if the trace tells no length.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.")
    threads: Count = column("How many threads waited in it.")
    in_tasks: Count = column("How many of the waits held up a task, a continuation or what an await resumed.")
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row
class TasksFacts:
    """The circumstances of a report on tasks."""

    sync_over_async: CodeName | None = column("The method that blocked on tasks longest; null if none did.")
    creators: Word = column(
        "How creators are known: `threads` (by what each thread ran), `ids` (only those of tasks) or `none`."
    )
    left_out: Count = column("How many events are not in the tables, because there are too many.")
