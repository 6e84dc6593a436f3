"""Thread pool workers: how many there are, and why that changes."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import ThreadAdjustmentReason
from clrevents.schema.types import Double, UInt16, UInt32


@struct
class WorkerThreadFields:
    """How many worker threads there are, and how many of them rest."""

    ActiveWorkerThreadCount: UInt32
    RetiredWorkerThreadCount: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=50, version=0, aliases=("ThreadPoolWorkerThread/Start",), keywords=RuntimeKeyword.Threading, level=4)
class ThreadPoolWorkerThreadStart_V0(WorkerThreadFields):
    """A thread pool worker started."""


@event(RUNTIME, id=51, version=0, aliases=("ThreadPoolWorkerThread/Stop",), keywords=RuntimeKeyword.Threading, level=4)
class ThreadPoolWorkerThreadStop_V0(WorkerThreadFields):
    """A thread pool worker stopped."""


@event(
    RUNTIME,
    id=52,
    version=0,
    aliases=("ThreadPoolWorkerThreadRetirement/Start",),
    keywords=RuntimeKeyword.Threading,
    level=4,
)
class ThreadPoolWorkerThreadRetirementStart_V0(WorkerThreadFields):
    """A thread pool worker was retired."""


@event(
    RUNTIME,
    id=53,
    version=0,
    aliases=("ThreadPoolWorkerThreadRetirement/Stop",),
    keywords=RuntimeKeyword.Threading,
    level=4,
)
class ThreadPoolWorkerThreadRetirementStop_V0(WorkerThreadFields):
    """A retired thread pool worker was put back into use."""


@event(
    RUNTIME,
    id=54,
    version=0,
    aliases=("ThreadPoolWorkerThreadAdjustment/Sample",),
    keywords=RuntimeKeyword.Threading,
    level=4,
)
class ThreadPoolWorkerThreadAdjustmentSample_V0:
    """The hill climbing algorithm measured throughput, in work items per second."""

    Throughput: Double
    ClrInstanceID: UInt16


@event(
    RUNTIME,
    id=55,
    version=0,
    aliases=("ThreadPoolWorkerThreadAdjustment/Adjustment",),
    keywords=RuntimeKeyword.Threading,
    level=4,
)
class ThreadPoolWorkerThreadAdjustmentAdjustment_V0:
    """The target number of workers changed, and why; throughput in work items per second."""

    AverageThroughput: Double
    NewWorkerThreadCount: UInt32
    Reason: Annotated[ThreadAdjustmentReason, UInt32]
    ClrInstanceID: UInt16


@event(
    RUNTIME,
    id=56,
    version=0,
    aliases=("ThreadPoolWorkerThreadAdjustment/Stats",),
    keywords=RuntimeKeyword.Threading,
    level=5,
)
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


@event(RUNTIME, id=57, version=0, aliases=("ThreadPoolWorkerThread/Wait",), keywords=RuntimeKeyword.Threading, level=4)
class ThreadPoolWorkerThreadWait_V0(WorkerThreadFields):
    """A thread pool worker starts waiting for work."""


@event(RUNTIME, id=59, version=0, keywords=RuntimeKeyword.Threading, level=4)
class ThreadPoolMinMaxThreads_V0:
    """The minimum and maximum number of thread pool threads, at startup and on changes."""

    MinWorkerThreads: UInt16
    MaxWorkerThreads: UInt16
    MinIOCompletionThreads: UInt16
    MaxIOCompletionThreads: UInt16
    ClrInstanceID: UInt16


@event(
    RUNTIME,
    id=60,
    version=0,
    aliases=("ThreadPoolWorkingThreadCount/Start",),
    keywords=RuntimeKeyword.Threading,
    level=5,
)
class ThreadPoolWorkingThreadCount_V0:
    """The number of thread pool threads currently working."""

    Count: UInt32
    ClrInstanceID: UInt16
