"""The rows and facts of the report on locks."""

from __future__ import annotations

from typing import Final

from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import Row, SpanRow, column, row

_OPEN: Final = (
    "How many waits were still going on when tracing stopped; if any, times are lower bounds. Null if unknown."
)


@row(since="start_ns", threads=("thread_id", "owner_thread_id"))
class DeadlockedThread(Row):
    """A thread in a deadlock: it waited for a lock until tracing stopped, and so did the thread that held it."""

    deadlock: cells.Ordinal = column(
        "Which deadlock: rows with the same number form one cycle, in the order of who waits for whom."
    )
    thread_id: cells.ThreadId = column("The thread that waited.")
    lock_id: cells.Handle = column("The lock that it waited for.")
    owner_thread_id: cells.ThreadId = column("The thread that held the lock, and waited in the same deadlock.")
    start_ns: cells.Ns = column("When the thread began to wait.")
    waited_ns: cells.DurationNs = column("How long it had waited when tracing stopped.")
    method: cells.CodeName | None = column("The method that waited; null if unknown.")
    stack_id: cells.StackId = column("The call stack that waited, 0 for none.", hidden=True)


@row
class ContendedLock(Row):
    """One lock."""

    lock_id: cells.Handle | None = column(
        "The runtime's id of the lock; null for all locks whose id was not recorded, taken together."
    )
    native: cells.Flag = column("A lock of the runtime itself, not of the program.", importance=3)
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column(
        "How long all threads together waited; null if no length is known.", importance=0
    )
    away_ns: cells.DurationNs | None = column(
        "How long they were off their processors meanwhile; null unless the kernel recorded it.", importance=3
    )
    share: cells.Ratio | None = column("Its share of all waiting of its kind, native or not; null if that is 0.")
    max_ns: cells.DurationNs | None = column("The longest wait.")
    open: cells.Count | None = column(_OPEN, importance=3)
    threads: cells.Count = column("How many threads waited.")
    most_waiters: cells.Count | None = column("The most threads that waited at once; null if the lock is unknown.")
    method: cells.CodeName | None = column("The method that waited longest; null if unknown.", importance=0)
    holder: cells.CodeName | None = column(
        "The method that held the lock longest while others waited, in the whole trace; null without samples.",
        importance=1,
    )
    clr_instance_id: cells.Ordinal = column("The runtime in the process that the lock belongs to.", hidden=True)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class Contention(SpanRow):
    """One wait of a thread for a lock that another thread holds."""

    lock_id: cells.Handle | None = column("The runtime's id of the lock; null if the event does not tell it.")
    native: cells.Flag = column("A lock of the runtime itself, not of the program.")
    thread_id: cells.ThreadId = column("The thread that waited.")
    owner_thread_id: cells.ThreadId | None = column(
        "The thread that held the lock when the wait began; null if unknown."
    )
    start_ns: cells.Ns | None = column("When the wait began; null if unknown.")
    end_ns: cells.Ns | None = column("When it ended; null if unknown.")
    duration_ns: cells.DurationNs | None = column("How long it lasted, as the runtime measured it; null if unknown.")
    away_ns: cells.DurationNs | None = column(
        "How long it was off the processor from start to end; null unless the kernel recorded it.", importance=3
    )
    open: cells.Flag = column("It was still going on when tracing stopped: its duration is a lower bound.")
    method: cells.CodeName | None = column("The method that waited; null if unknown.")
    owner_method: cells.CodeName | None = column(
        "What the owner did meanwhile, from a sample in between or equal ones before and after; null without these."
    )
    stack_id: cells.StackId = column("The call stack that waited, 0 for none.", hidden=True)
    owner_stack_id: cells.StackId | None = column("The stack of `owner_method`.", hidden=True)
    clr_instance_id: cells.Ordinal = column("The runtime in the process that the lock belongs to.", hidden=True)


@row
class WaitingMethod(Row):
    """A method that waited for locks: the first one of the stack outside System.Threading."""

    method: cells.CodeName | None = column("The method; null for stacks without names.")
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column("How long it waited, on all threads; null if no length is known.")
    share: cells.Ratio | None = column("Its share of all waiting; null if that is 0.")
    max_ns: cells.DurationNs | None = column("The longest wait.")
    open: cells.Count | None = column(_OPEN)
    threads: cells.Count = column("How many threads waited.")
    locks: cells.Count = column("How many locks it waited for; all unknown ones count as one.")
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@row
class WaitingThread(Row):
    """A thread that waited for locks."""

    thread_id: cells.ThreadId = column("The thread.")
    thread_name: cells.Word | None = column("Its name; null if unknown.")
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column("How long it waited; null if no length is known.")
    away_ns: cells.DurationNs | None = column(
        "How long it was off the processor meanwhile; null unless the kernel recorded it.", importance=3
    )
    share: cells.Ratio | None = column("Its share of all waiting; null if that is 0, or where events are missing.")
    max_ns: cells.DurationNs | None = column("The longest wait.")
    open: cells.Count | None = column(_OPEN)


@row
class LockOwner(Row):
    """A thread that others waited for."""

    lock_id: cells.Handle | None = column("The lock; null if not recorded.")
    owner_thread_id: cells.ThreadId | None = column(
        "The thread that held it when others began to wait; null if unknown."
    )
    count: cells.Count = column("How many contentions began.")
    waited_ns: cells.DurationNs | None = column(
        "How long the threads waited that found it held by this owner, though others may have held it later; null if "
        "no length is known."
    )
    open: cells.Count | None = column(_OPEN)
    owner_method: cells.CodeName | None = column(
        "What it was seen doing most often when they began; null without a sample."
    )


@row
class LockHolder(Row):
    """What was done while a lock was held and others waited for it, from samples."""

    lock_id: cells.Handle | None = column("The lock.")
    held_ns: cells.DurationNs = column("How long samples show this stack, while others waited.")
    share: cells.Ratio | None = column("Its share of what samples show of this lock; null if that is 0.")
    threads: cells.Count = column("How many threads were seen doing this.")
    method: cells.CodeName | None = column(
        "The method that held the lock, or one it had called: the innermost one outside System.Threading."
    )
    doing: cells.CodeName | None = column("The innermost method.")
    taken_in: cells.CodeName | None = column(
        "The method that took the lock: the innermost that others were seen entering it in; else the outermost that "
        "all stacks of its holders share and that ends when they let go. Null if there is none.",
        hidden=True,
    )
    stack_id: cells.StackId = column("One of its call stacks.", hidden=True)


@row(span=("start_ns", "end_ns"))
class Convoy(SpanRow):
    """A period in which threads waited for one lock in turn, most of the time several at once."""

    lock_id: cells.Handle | None = column("The lock; null if not recorded: then the waiting method stands for it.")
    start_ns: cells.Ns = column("When the first one began to wait.")
    end_ns: cells.Ns = column("When the last one ended.")
    count: cells.Count = column("How many contentions there were.")
    threads: cells.Count = column("How many threads waited.")
    most_waiters: cells.Count = column("The most threads that waited at once.")
    waited_ns: cells.DurationNs = column("How long they waited in total.")
    away_ns: cells.DurationNs | None = column(
        "How long they were off their processors meanwhile; null unless the kernel recorded it.", importance=3
    )
    crowded_ns: cells.DurationNs = column("How long at least two waited at once.")
    max_ns: cells.DurationNs = column("The longest wait.")
    handovers: cells.Count = column("How often one that had waited was next to hold the lock, as far as recorded.")
    evidence: cells.Word = column("`event` if the lock and its owners were recorded, otherwise `inferred`.")
    method: cells.CodeName | None = column("The method that waited longest; null if unknown.")
    owner_method: cells.CodeName | None = column("What was done longest while the lock was held; null without samples.")


@row
class LocksFacts:
    """The facts of a report on locks."""

    deadlock: cells.CodeText | None = column("Which threads are in the first deadlock; null if there is none.")
    locks_told: cells.Flag | None = column(
        "Whether it was recorded which lock threads waited for; null without contentions."
    )
    sampling_period_ns: cells.DurationNs | None = column(
        "The median time between two samples of a thread; null without samples."
    )
