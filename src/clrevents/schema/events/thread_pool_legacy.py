"""Threads for I/O completions; and thread pool events from before .NET 4, which current runtimes do not send."""

from clrevents.schema.event import InstanceFields, event, extended, struct
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt32


@struct
class LegacyWorkerFields:
    """The worker threads of the pool."""

    WorkerThreadCount: UInt32
    RetiredWorkerThreads: UInt32


@event(RUNTIME, id=40, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadCreate_V0(LegacyWorkerFields):
    """A thread pool worker was created; from runtimes before ThreadPoolWorkerThreadStart."""


@event(RUNTIME, id=41, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadTerminate_V0(LegacyWorkerFields):
    """A thread pool worker ended; from runtimes before ThreadPoolWorkerThreadStop."""


@event(RUNTIME, id=42, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadRetire_V0(LegacyWorkerFields):
    """A thread pool worker was retired; from runtimes before ThreadPoolWorkerThreadRetirementStart."""


@event(RUNTIME, id=43, version=0, keywords=RuntimeKeyword.Threading, level=4)
class WorkerThreadUnretire_V0(LegacyWorkerFields):
    """A retired thread pool worker was put back into use; from old runtimes."""


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


@struct
class LegacyIOFields:
    """The I/O threads of the pool."""

    IOThreadCount: UInt32
    RetiredIOThreads: UInt32


@event(RUNTIME, id=44, version=0, aliases=("IOThreadCreation/Start",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadCreate_V0(LegacyIOFields):
    """A thread for I/O completions was created."""


IOThreadCreate_V1 = extended(IOThreadCreate_V0, InstanceFields)


@event(RUNTIME, id=45, version=0, aliases=("IOThreadCreation/Stop",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadTerminate_V0(LegacyIOFields):
    """A thread for I/O completions terminated."""


IOThreadTerminate_V1 = extended(IOThreadTerminate_V0, InstanceFields)


@event(RUNTIME, id=46, version=0, aliases=("IOThreadRetirement/Start",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadRetire_V0(LegacyIOFields):
    """A thread for I/O completions was retired."""


IOThreadRetire_V1 = extended(IOThreadRetire_V0, InstanceFields)


@event(RUNTIME, id=47, version=0, aliases=("IOThreadRetirement/Stop",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadUnretire_V0(LegacyIOFields):
    """A retired thread for I/O completions was put back into use."""


IOThreadUnretire_V1 = extended(IOThreadUnretire_V0, InstanceFields)
