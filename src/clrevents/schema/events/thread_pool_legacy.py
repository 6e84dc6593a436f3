"""Thread pool events from before .NET 4. Declared by current runtimes, but not sent."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt32


@event(RUNTIME, id=40, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadCreate_V0:
    """A thread pool worker was created; from runtimes before ThreadPoolWorkerThreadStart."""

    WorkerThreadCount: UInt32
    RetiredWorkerThreads: UInt32


@event(RUNTIME, id=41, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadTerminate_V0:
    """A thread pool worker ended; from runtimes before ThreadPoolWorkerThreadStop."""

    WorkerThreadCount: UInt32
    RetiredWorkerThreads: UInt32


@event(RUNTIME, id=42, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadRetire_V0:
    """A thread pool worker was retired; from runtimes before ThreadPoolWorkerThreadRetirementStart."""

    WorkerThreadCount: UInt32
    RetiredWorkerThreads: UInt32


@event(RUNTIME, id=43, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadUnretire_V0:
    """A retired thread pool worker was put back into use; from old runtimes."""

    WorkerThreadCount: UInt32
    RetiredWorkerThreads: UInt32


@event(RUNTIME, id=48, version=0, keywords=RuntimeKeyword.Threading, level=4)
class ThreadpoolSuspensionSuspendThread_V0:
    """The thread pool suspended a thread; CpuUtilization in percent. From old runtimes."""

    ClrThreadID: UInt32
    CpuUtilization: UInt32


@event(RUNTIME, id=49, version=0, keywords=RuntimeKeyword.Threading, level=4)
class ThreadpoolSuspensionResumeThread_V0:
    """The thread pool resumed a suspended thread; CpuUtilization in percent. From old runtimes."""

    ClrThreadID: UInt32
    CpuUtilization: UInt32
