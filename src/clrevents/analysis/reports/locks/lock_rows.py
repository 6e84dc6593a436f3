"""The rows of the report on locks, and its facts."""

from __future__ import annotations

from typing import Final

from clrevents.analysis.framework.vocabulary.row_class import (
    CodeName,
    CodeText,
    Count,
    DurationNs,
    Flag,
    Handle,
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

_OPEN: Final = (
    "How many waits were still going on when tracing stopped; if any, times are lower bounds. Null if unknown."
)


@row(since="start_ns", threads=("thread_id", "owner_thread_id"))
class DeadlockedThread(Row):
    """A thread in a deadlock: it waited for a lock until tracing stopped, and so did the thread that held it."""

    deadlock: Ordinal = column(
        "Which deadlock: rows with the same number form one cycle, in the order of who waits for whom."
    )
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

    lock_id: Handle | None = column(
        "The runtime's id of the lock; null for all locks whose id was not recorded, taken together."
    )
    native: Flag = column("A lock of the runtime itself, not of the program.", importance=3)
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs | None = column(
        "How long all threads together waited; null if no length is known.", importance=0
    )
    away_ns: DurationNs | None = column(
        "How long they were off their processors meanwhile; null unless the kernel recorded it.", importance=3
    )
    share: Ratio | None = column("Its share of all waiting of its kind, native or not; null if that is 0.")
    max_ns: DurationNs | None = column("The longest wait.")
    open: Count | None = column(_OPEN, importance=3)
    threads: Count = column("How many threads waited.")
    most_waiters: Count | None = column("The most threads that waited at once; null if the lock is unknown.")
    method: CodeName | None = column("The method that waited longest; null if unknown.", importance=0)
    holder: CodeName | None = column(
        "The method that held the lock longest while others waited, in the whole trace; null without samples.",
        importance=1,
    )
    clr_instance_id: Ordinal = column("The runtime in the process that the lock belongs to.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Contention(SpanRow):
    """One wait of a thread for a lock that another thread holds."""

    lock_id: Handle | None = column("The runtime's id of the lock; null if the event does not tell it.")
    native: Flag = column("A lock of the runtime itself, not of the program.")
    thread_id: ThreadId = column("The thread that waited.")
    owner_thread_id: ThreadId | None = column("The thread that held the lock when the wait began; null if unknown.")
    start_ns: Ns | None = column("When the wait began; null if unknown.")
    end_ns: Ns | None = column("When it ended; null if unknown.")
    duration_ns: DurationNs | None = column("How long it lasted, as the runtime measured it; null if unknown.")
    away_ns: DurationNs | None = column(
        "How long it was off the processor from start to end; null unless the kernel recorded it.", importance=3
    )
    open: Flag = column("It was still going on when tracing stopped: its duration is a lower bound.")
    method: CodeName | None = column("The method that waited; null if unknown.")
    owner_method: CodeName | None = column(
        "What the owner did meanwhile, from a sample in between or equal ones before and after; null without these."
    )
    stack_id: StackId = column("The call stack that waited, 0 for none.", hidden=True)
    owner_stack_id: StackId | None = column("The stack of `owner_method`.", hidden=True)
    clr_instance_id: Ordinal = column("The runtime in the process that the lock belongs to.", hidden=True)


@row
class WaitingMethod(Row):
    """A method that waited for locks: the first one of the stack outside System.Threading."""

    method: CodeName | None = column("The method; null for stacks without names.")
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs | None = column("How long it waited, on all threads; null if no length is known.")
    share: Ratio | None = column("Its share of all waiting; null if that is 0.")
    max_ns: DurationNs | None = column("The longest wait.")
    open: Count | None = column(_OPEN)
    threads: Count = column("How many threads waited.")
    locks: Count = column("How many locks it waited for; all unknown ones count as one.")
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row
class WaitingThread(Row):
    """A thread that waited for locks."""

    thread_id: ThreadId = column("The thread.")
    thread_name: Word | None = column("Its name; null if unknown.")
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs | None = column("How long it waited; null if no length is known.")
    away_ns: DurationNs | None = column(
        "How long it was off the processor meanwhile; null unless the kernel recorded it.", importance=3
    )
    share: Ratio | None = column("Its share of all waiting; null if that is 0, or where events are missing.")
    max_ns: DurationNs | None = column("The longest wait.")
    open: Count | None = column(_OPEN)


@row
class LockOwner(Row):
    """A thread that others waited for."""

    lock_id: Handle | None = column("The lock; null if not recorded.")
    owner_thread_id: ThreadId | None = column("The thread that held it when others began to wait; null if unknown.")
    count: Count = column("How many contentions began.")
    waited_ns: DurationNs | None = column(
        "How long the threads waited that found it held by this owner, though others may have held it later; null if "
        "no length is known."
    )
    open: Count | None = column(_OPEN)
    owner_method: CodeName | None = column("What it was seen doing most often when they began; null without a sample.")


@row
class LockHolder(Row):
    """What was done while a lock was held and others waited for it, from samples."""

    lock_id: Handle | None = column("The lock.")
    held_ns: DurationNs = column("How long samples show this stack, while others waited.")
    share: Ratio | None = column("Its share of what samples show of this lock; null if that is 0.")
    threads: Count = column("How many threads were seen doing this.")
    method: CodeName | None = column(
        "The method that held the lock, or one it had called: the innermost one outside System.Threading."
    )
    doing: CodeName | None = column("The innermost method.")
    stack_id: StackId = column("One of its call stacks.", hidden=True)


@row(span=("start_ns", "end_ns"))
class Convoy(SpanRow):
    """A period in which threads waited for one lock in turn, most of the time several at once."""

    lock_id: Handle | None = column("The lock; null if not recorded: then the waiting method stands for it.")
    start_ns: Ns = column("When the first one began to wait.")
    end_ns: Ns = column("When the last one ended.")
    count: Count = column("How many contentions there were.")
    threads: Count = column("How many threads waited.")
    most_waiters: Count = column("The most threads that waited at once.")
    waited_ns: DurationNs = column("How long they waited in total.")
    away_ns: DurationNs | None = column(
        "How long they were off their processors meanwhile; null unless the kernel recorded it.", importance=3
    )
    crowded_ns: DurationNs = column("How long at least two waited at once.")
    max_ns: DurationNs = column("The longest wait.")
    handovers: Count = column("How often one that had waited was next to hold the lock, as far as recorded.")
    evidence: Word = column("`event` if the lock and its owners were recorded, otherwise `inferred`.")
    method: CodeName | None = column("The method that waited longest; null if unknown.")
    owner_method: CodeName | None = column("What was done longest while the lock was held; null without samples.")


@row
class LocksFacts:
    """The facts of a report on locks."""

    deadlock: CodeText | None = column("Which threads are in the first deadlock; null if there is none.")
    locks_told: Flag | None = column("Whether it was recorded which lock threads waited for; null without contentions.")
    sampling_period_ns: DurationNs | None = column(
        "The median time between two samples of a thread; null without samples."
    )
