"""Events of the thread pool, to build traces of."""

from __future__ import annotations

from clrevents.events import (
    ThreadPoolDequeue_V0,
    ThreadPoolEnqueue_V0,
    ThreadPoolMinMaxThreads_V0,
    ThreadPoolWorkerThreadAdjustmentAdjustment_V0,
    ThreadPoolWorkerThreadStart_V0,
    ThreadPoolWorkerThreadWait_V0,
)
from clrevents.schema.registry import TPL
from clrevents.schema.runtime_flags import ThreadAdjustmentReason
from clrevents.testing.builder import TraceBuilder

MS = 1_000_000
STARVATION, COOPERATIVE = 6, 8
WORK = "System.Diagnostics.Eventing.FrameworkEventSource"
SLEEP, BLOCKS, ROOT, COMPUTES = 0x1000, 0x2000, 0x3000, 0x4000
_INT, _LONG = 9, 11
_GATE = 99


def named(builder: TraceBuilder) -> TraceBuilder:
    """Methods of a worker: one that sleeps in code of the program, and one that computes."""
    builder.method_load("System.Threading.Thread", "Sleep", address=SLEEP)
    builder.method_load("Shop.Orders", "GetTotal", address=BLOCKS)
    builder.method_load("Shop.Orders", "Compute", address=COMPUTES)
    return builder.method_load("System.Threading.PortableThreadPool+WorkerThread", "WorkerThreadStart", address=ROOT)


def worker(builder: TraceBuilder, thread: int, count: int) -> TraceBuilder:
    """A worker starts; then there are so many."""
    return builder.thread(thread).event(ThreadPoolWorkerThreadStart_V0(count, 0, 0))


def idle(builder: TraceBuilder, thread: int, count: int) -> TraceBuilder:
    """A worker has nothing to do."""
    return builder.thread(thread).event(ThreadPoolWorkerThreadWait_V0(count, 0, 0))


def adjusted(builder: TraceBuilder, goal: int, reason: int, throughput: float = 0.0) -> TraceBuilder:
    """The pool changes its goal."""
    record = ThreadPoolWorkerThreadAdjustmentAdjustment_V0(throughput, goal, ThreadAdjustmentReason(reason), 0)
    return builder.thread(_GATE).event(record)


def limited(builder: TraceBuilder, least: int, most: int = 100) -> TraceBuilder:
    """The configured numbers of threads."""
    return builder.thread(1).event(ThreadPoolMinMaxThreads_V0(least, most, 1, 1000, 0))


def scheduled(builder: TraceBuilder, task: int, options: int = 0, scheduler: int = 1) -> TraceBuilder:
    """A task is queued."""
    numbers = {
        "OriginatingTaskSchedulerID": scheduler,
        "OriginatingTaskID": 0,
        "TaskID": task,
        "CreatingTaskID": 0,
        "TaskCreationOptions": options,
        "appDomain": 1,
    }
    return builder.described(TPL, "TaskScheduled", {name: (_INT, value) for name, value in numbers.items()}, id=7)


def started(builder: TraceBuilder, task: int) -> TraceBuilder:
    """It begins to run."""
    numbers = {"OriginatingTaskSchedulerID": 1, "OriginatingTaskID": 0, "TaskID": task}
    return builder.described(TPL, "TaskStarted", {name: (_INT, value) for name, value in numbers.items()}, id=8)


def enqueued(builder: TraceBuilder, id: int) -> TraceBuilder:
    """A work item is queued, from .NET 6 on."""
    return builder.described(WORK, "ThreadPoolEnqueueWork", {"workID": (_LONG, id)}, id=30)


def dequeued(builder: TraceBuilder, id: int) -> TraceBuilder:
    """A worker takes it."""
    return builder.described(WORK, "ThreadPoolDequeueWork", {"workID": (_LONG, id)}, id=31)


def native_item(builder: TraceBuilder, id: int, taken: bool) -> TraceBuilder:
    """A work item is queued or taken, before .NET 6."""
    return builder.event((ThreadPoolDequeue_V0 if taken else ThreadPoolEnqueue_V0)(id, 0))


def shortage(
    *,
    raises: int = 4,
    apart_ms: int = 250,
    reason: int = STARVATION,
    stack: tuple[int, ...] = (SLEEP, BLOCKS, ROOT),
    kind: int = 1,
    sampled: int = 2,
    least: int | None = 2,
    builder: TraceBuilder | None = None,
) -> TraceBuilder:
    """Two workers that samples show with this stack every 10 ms, and a pool that raises its goal from 2 on.

    Only the first `sampled` workers have samples. The first raise is at 100 ms.
    """
    made = named(TraceBuilder() if builder is None else builder)
    if least is not None:
        limited(made.at(1 * MS), least)
    for thread in (11, 12):
        worker(made.at(thread * MS), thread, thread - 10)
    steps = {(100 + number * apart_ms): number + 3 for number in range(raises)}
    for at in range(20, 200 + (raises - 1) * apart_ms, 10):
        if at in steps:
            adjusted(made.at(at * MS), steps[at], reason)
        for thread in (11, 12)[:sampled]:
            made.thread(thread).at(at * MS + thread).sample(*stack, kind=kind)
    return made
