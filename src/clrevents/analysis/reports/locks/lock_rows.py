"""The rows of the report on locks, and its facts."""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.cells import (
    CodeName,
    CodeText,
    Count,
    DurationNs,
    Flag,
    Handle,
    Ns,
    Ordinal,
    Ratio,
    StackId,
    ThreadId,
    Word,
)
from clrevents.analysis.framework.vocabulary.row_class import Row, SpanRow, column, row


@row(since="start_ns", threads=("thread_id", "owner_thread_id"))
class DeadlockedThread(Row):
    """A thread in a deadlock: it waited for a lock until tracing stopped, and so did the thread that held it."""

    deadlock: Ordinal = column("Which deadlock: rows with the same number are one circle, in the order of who waits.")
    thread_id: ThreadId = column("The thread that waited.")
    lock_id: Handle = column("The lock that it waited for.")
    owner_thread_id: ThreadId = column("The thread that held the lock, and waited in the same deadlock.")
    start_ns: Ns = column("When the thread began to wait.")
    waited_ns: DurationNs = column("How long it had waited when tracing stopped.")
    method: CodeName | None = column("The method that waited; null if unknown.")
    stack_id: StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class ContendedLock(Row):
    """One lock."""

    lock_id: Handle | None = column("The runtime's id of the lock; null for all locks that the events do not tell.")
    native: Flag = column("A lock of the runtime itself, not one of the program's.", importance=3)
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs = column("How long all threads together waited.", importance=0)
    share: Ratio | None = column("Its share of all waiting of its kind, native or not; null if that is 0.")
    max_ns: DurationNs | None = column("The longest wait.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.", importance=3)
    threads: Count = column("How many threads waited.")
    most_waiters: Count | None = column("How many waited at once, at most; null if the lock is unknown.")
    method: CodeName | None = column("The method that waited longest; null if unknown.", importance=0)
    holder: CodeName | None = column(
        "The method that held the lock longest while others waited, in the whole trace; null without samples.",
        importance=1,
    )
    clr_instance_id: Ordinal = column("The runtime in the process that the lock is of.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Contention(SpanRow):
    """A thread waits for a lock that another one holds."""

    lock_id: Handle | None = column("The runtime's id of the lock; null if the event does not tell it.")
    native: Flag = column("A lock of the runtime itself, not one of the program's.")
    thread_id: ThreadId = column("The thread that waited.")
    owner_thread_id: ThreadId | None = column("The thread that held the lock at the begin; null if none is known.")
    start_ns: Ns | None = column("When the wait began; null if the trace does not tell.")
    end_ns: Ns | None = column("When it ended; null if the trace does not tell.")
    duration_ns: DurationNs | None = column(
        "How long it lasted, as the runtime measured it; null if the trace does not tell."
    )
    open: Flag = column("It went on when tracing stopped: it lasted at least so long.")
    method: CodeName | None = column("The method that waited; null if unknown.")
    owner_method: CodeName | None = column(
        "What the owner did meanwhile, by a sample in between or equal ones before and after; null without these."
    )
    stack_id: StackId = column("The call stack that waited, 0 for none.", hidden=True)
    owner_stack_id: StackId | None = column("The stack of `owner_method`.", hidden=True)
    clr_instance_id: Ordinal = column("The runtime in the process that the lock is of.", hidden=True)


@row
class WaitingMethod(Row):
    """A method that waited for locks: the first one of the stack outside System.Threading."""

    method: CodeName | None = column("The method; null for stacks without names.")
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs = column("How long it waited, on all threads.")
    share: Ratio | None = column("Its share of all waiting; null if that is 0.")
    max_ns: DurationNs | None = column("The longest wait.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.")
    threads: Count = column("How many threads waited.")
    locks: Count = column("How many locks it waited for; those that events do not tell are one.")
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row
class WaitingThread(Row):
    """A thread that waited for locks."""

    thread_id: ThreadId = column("The thread.")
    thread_name: Word | None = column("Its name; null where the trace has none.", hidden=True)
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs = column("How long it waited.")
    share: Ratio | None = column("Its share of all waiting; null if that is 0.")
    max_ns: DurationNs | None = column("The longest wait.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.")


@row
class LockOwner(Row):
    """A thread for which others waited."""

    lock_id: Handle | None = column("The lock; null where events do not tell it.")
    owner_thread_id: ThreadId | None = column("The thread that held it when others began to wait; null if unknown.")
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs = column("How long others waited that found it so. Others may have held the lock later.")
    open: Count = column("How many waits went on when tracing stopped: times are at least so long.")
    owner_method: CodeName | None = column("What it was seen to do most often at their begin; null without a sample.")


@row
class LockHolder(Row):
    """What was done while a lock was held and others waited for it, by samples."""

    lock_id: Handle | None = column("The lock.")
    held_ns: DurationNs = column("How long samples show this stack, while others waited.")
    share: Ratio | None = column("Its share of what samples show of this lock; null if that is 0.")
    threads: Count = column("How many threads were seen so.")
    method: CodeName | None = column(
        "The method that held the lock, or that it had called: the innermost one outside System.Threading."
    )
    doing: CodeName | None = column("The innermost method.")
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row(span=("start_ns", "end_ns"))
class Convoy(SpanRow):
    """A stretch of time in which threads waited for one lock in turn, most of the time several at once."""

    lock_id: Handle | None = column("The lock; null where events do not tell it, and the waiting method stands for it.")
    start_ns: Ns = column("When the first one began to wait.")
    end_ns: Ns = column("When the last one ended.")
    count: Count = column("How many contentions there were.")
    threads: Count = column("How many threads waited.")
    most_waiters: Count = column("How many waited at once, at most.")
    waited_ns: DurationNs = column("How long they waited, together.")
    crowded_ns: DurationNs = column("How long at least two waited at once.")
    max_ns: DurationNs = column("The longest wait.")
    handovers: Count = column("How often one that had waited was next to hold the lock, as far as events tell.")
    evidence: Word = column("`event` where events tell the lock and its owners, `inferred` where they do not.")
    method: CodeName | None = column("The method that waited longest; null if unknown.")
    owner_method: CodeName | None = column("What was done longest while the lock was held; null without samples.")


@row
class LocksFacts:
    """The circumstances of a report on locks."""

    deadlock: CodeText | None = column("Which threads are in the first deadlock; null if there is none.")
    locks_told: Flag | None = column("Whether events tell which lock threads waited for; null without contentions.")
    sampling_period_ns: DurationNs | None = column("The median time between two samples of a thread; null if none.")
