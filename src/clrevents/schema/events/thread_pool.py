"""The thread pool: how many workers there are and why that changes, work items, threads for I/O completions.

The last events are from before .NET 4; current runtimes do not send them.
"""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event, struct
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import ThreadAdjustmentReason
from clrevents.schema.types import Boolean, Double, Pointer, UInt16, UInt32

THREADING = EventGroup(RUNTIME, RuntimeKeyword.Threading, level=4)
THREADING_VERBOSE = EventGroup(RUNTIME, RuntimeKeyword.Threading, level=5)


@struct
class WorkerThreadFields:
    """How many worker threads there are, and how many of them rest."""

    ActiveWorkerThreadCount: UInt32
    RetiredWorkerThreadCount: UInt32
    ClrInstanceID: UInt16


WORKERS = THREADING._replace(task="ThreadPoolWorkerThread", fields=(WorkerThreadFields,))
WORKERS.event(50, "ThreadPoolWorkerThreadStart", "A thread pool worker started.")
WORKERS.event(51, "ThreadPoolWorkerThreadStop", "A thread pool worker stopped.")
WORKERS.event(57, "ThreadPoolWorkerThreadWait", "A thread pool worker starts waiting for work.")
RETIREMENTS = WORKERS._replace(task="ThreadPoolWorkerThreadRetirement")
RETIREMENTS.event(52, "ThreadPoolWorkerThreadRetirementStart", "A thread pool worker was retired.")
RETIREMENTS.event(53, "ThreadPoolWorkerThreadRetirementStop", "A retired thread pool worker was put back into use.")


@event(THREADING, id=54, version=0, aliases=("ThreadPoolWorkerThreadAdjustment/Sample",))
class ThreadPoolWorkerThreadAdjustmentSample_V0:
    """The hill climbing algorithm measured throughput, in work items per second."""

    Throughput: Double
    ClrInstanceID: UInt16


@event(THREADING, id=55, version=0, aliases=("ThreadPoolWorkerThreadAdjustment/Adjustment",))
class ThreadPoolWorkerThreadAdjustmentAdjustment_V0:
    """The target number of workers changed, and why; throughput in work items per second."""

    AverageThroughput: Double
    NewWorkerThreadCount: UInt32
    Reason: Annotated[ThreadAdjustmentReason, UInt32]
    ClrInstanceID: UInt16


@event(THREADING_VERBOSE, id=56, version=0, aliases=("ThreadPoolWorkerThreadAdjustment/Stats",))
class ThreadPoolWorkerThreadAdjustmentStats_V0:
    """State of the hill climbing algorithm; Duration in seconds, throughput in work items per second."""

    Duration: Double
    Throughput: Double
    ThreadWave: Double
    ThroughputWave: Double
    ThroughputErrorEstimate: Double
    AverageThroughputErrorEstimate: Double
    ThroughputRatio: Double
    Confidence: Double
    NewControlSetting: Double
    NewThreadWaveMagnitude: UInt16
    ClrInstanceID: UInt16


@event(THREADING, id=59, version=0)
class ThreadPoolMinMaxThreads_V0:
    """The minimum and maximum number of thread pool threads, at startup and on changes."""

    MinWorkerThreads: UInt16
    MaxWorkerThreads: UInt16
    MinIOCompletionThreads: UInt16
    MaxIOCompletionThreads: UInt16
    ClrInstanceID: UInt16


@event(THREADING_VERBOSE, id=60, version=0, aliases=("ThreadPoolWorkingThreadCount/Start",))
class ThreadPoolWorkingThreadCount_V0:
    """The number of thread pool threads currently working."""

    Count: UInt32
    ClrInstanceID: UInt16


TRANSFERS = RuntimeKeyword.Threading | RuntimeKeyword.ThreadTransfer


@event(RUNTIME, id=61, version=0, aliases=("ThreadPool/Enqueue",), keywords=TRANSFERS, level=5)
class ThreadPoolEnqueue_V0:
    """A work item was queued to the thread pool; its ThreadPoolDequeue has the same WorkID."""

    WorkID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=62, version=0, aliases=("ThreadPool/Dequeue",), keywords=TRANSFERS, level=5)
class ThreadPoolDequeue_V0:
    """A thread pool worker dequeued a work item; its ThreadPoolEnqueue has the same WorkID."""

    WorkID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=63, version=0, aliases=("ThreadPool/IOEnqueue",), keywords=TRANSFERS, level=5)
class ThreadPoolIOEnqueue_V0:
    """An I/O operation was queued; its ThreadPoolIODequeue has the same NativeOverlapped."""

    NativeOverlapped: Pointer
    Overlapped: Pointer
    MultiDequeues: Boolean
    ClrInstanceID: UInt16


@event(RUNTIME, id=64, version=0, aliases=("ThreadPool/IODequeue",), keywords=TRANSFERS, level=5)
class ThreadPoolIODequeue_V0:
    """An I/O completion was dequeued; its ThreadPoolIOEnqueue has the same NativeOverlapped."""

    NativeOverlapped: Pointer
    Overlapped: Pointer
    ClrInstanceID: UInt16


@event(THREADING_VERBOSE, id=65, version=0, aliases=("ThreadPool/IOPack",))
class ThreadPoolIOPack_V0:
    """The managed state of an I/O operation was bound to a native OVERLAPPED structure."""

    NativeOverlapped: Pointer
    Overlapped: Pointer
    ClrInstanceID: UInt16


@struct
class LegacyWorkerFields:
    """The worker threads of the pool."""

    WorkerThreadCount: UInt32
    RetiredWorkerThreads: UInt32


LEGACY_WORKERS = THREADING._replace(fields=(LegacyWorkerFields,))
LEGACY_WORKERS.event(
    40, "WorkerThreadCreate", "A thread pool worker was created; from runtimes before ThreadPoolWorkerThreadStart."
)
LEGACY_WORKERS.event(
    41, "WorkerThreadTerminate", "A thread pool worker ended; from runtimes before ThreadPoolWorkerThreadStop."
)
LEGACY_WORKERS.event(
    42,
    "WorkerThreadRetire",
    "A thread pool worker was retired; from runtimes before ThreadPoolWorkerThreadRetirementStart.",
)
LEGACY_WORKERS.event(
    43, "WorkerThreadUnretire", "A retired thread pool worker was put back into use; from old runtimes."
)


@event(THREADING, id=48, version=0)
class ThreadpoolSuspensionSuspendThread_V0:
    """The thread pool suspended a thread; CpuUtilization in percent. From old runtimes."""

    ClrThreadID: UInt32
    CpuUtilization: UInt32


@event(THREADING, id=49, version=0)
class ThreadpoolSuspensionResumeThread_V0:
    """The thread pool resumed a suspended thread; CpuUtilization in percent. From old runtimes."""

    ClrThreadID: UInt32
    CpuUtilization: UInt32


@struct
class LegacyIOFields:
    """The I/O threads of the pool."""

    IOThreadCount: UInt32
    RetiredIOThreads: UInt32


LEGACY_IO = THREADING._replace(fields=(LegacyIOFields, InstanceFields))
LEGACY_IO.event(44, "IOThreadCreate", "A thread for I/O completions was created.", alias="IOThreadCreation/Start")
LEGACY_IO.event(45, "IOThreadTerminate", "A thread for I/O completions terminated.", alias="IOThreadCreation/Stop")
LEGACY_IO.event(46, "IOThreadRetire", "A thread for I/O completions was retired.", alias="IOThreadRetirement/Start")
LEGACY_IO.event(
    47,
    "IOThreadUnretire",
    "A retired thread for I/O completions was put back into use.",
    alias="IOThreadRetirement/Stop",
)
