"""Garbage collections: triggered, started and ended, the suspension of threads, and the state of the heap afterwards.

The decisions of a collection are in `gc_history`.
"""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Bytes, Int32, UInt16, UInt32, UInt64, UnicodeString, by

DYNAMIC_EVENTS = EventGroup(
    RUNTIME,
    RuntimeKeyword.GC
    | RuntimeKeyword.GCHandle
    | RuntimeKeyword.GCHeapDump
    | RuntimeKeyword.GCSampledObjectAllocationHigh
    | RuntimeKeyword.GCHeapSurvivalAndMovement
    | RuntimeKeyword.ManagedHeapCollect
    | RuntimeKeyword.GCHeapAndTypeNames
    | RuntimeKeyword.GCSampledObjectAllocationLow,
    level=4,
)


class GCReason(OpenEnum):
    """Why a collection was triggered (manifest: GCReasonMap, up to 9; source: `gc_reason`, gc/gc.h)."""

    AllocSmall = 0
    Induced = 1
    LowMemory = 2
    Empty = 3
    AllocLarge = 4
    OutOfSpaceSmallObjectHeap = 5
    OutOfSpaceLargeObjectHeap = 6
    InducedNoForce = 7
    Stress = 8
    InducedLowMemory = 9
    InducedCompacting = 10
    LowMemoryHost = 11
    PMFullGC = 12
    LowMemoryHostBlocking = 13
    BGCTuningSmallObjectHeap = 14
    BGCTuningLargeObjectHeap = 15
    BGCStepping = 16
    InducedAggressive = 17


class GCType(OpenEnum):
    """Whether a collection runs concurrently with the program (manifest: GCTypeMap; source: `gc_etw_type`, gc/gc.h)."""

    NonConcurrentGC = 0
    BackgroundGC = 1
    ForegroundGC = 2


@event(RUNTIME, id=1, version=0, aliases=("GC/Start",), keywords=RuntimeKeyword.GC, level=4)
class GCStart_V0:
    """A collection started; Count is its number."""

    Count: UInt32
    Reason: Annotated[GCReason, UInt32]


@event(RUNTIME, id=1, version=1, aliases=("GC/Start",), keywords=RuntimeKeyword.GC, level=4)
class GCStart_V1:
    """A collection started; Count is its number, Depth the oldest generation collected."""

    Count: UInt32
    Depth: UInt32
    Reason: Annotated[GCReason, UInt32]
    Type: Annotated[GCType, UInt32]
    ClrInstanceID: UInt16


@event(RUNTIME, id=1, version=2)
class GCStart_V2(GCStart_V1):
    """A collection started. Adds ClientSequenceNumber, which identifies collections requested by a tool."""

    ClientSequenceNumber: UInt64


@event(RUNTIME, id=2, version=0, aliases=("GC/Stop",), keywords=RuntimeKeyword.GC, level=4)
class GCEnd_V0:
    """A collection ended; Count is the number from its GCStart, Depth the generation collected."""

    Count: UInt32
    Depth: UInt16


@event(RUNTIME, id=2, version=1, aliases=("GC/Stop",), keywords=RuntimeKeyword.GC, level=4)
class GCEnd_V1:
    """A collection ended; Count is the number from its GCStart, Depth the generation collected."""

    Count: UInt32
    Depth: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=4, version=0, aliases=("GC/HeapStats",), keywords=RuntimeKeyword.GC, level=4)
class GCHeapStats_V0:
    """The heap after a collection: size and promoted bytes of each generation, and counts of special objects."""

    GenerationSize0: UInt64
    TotalPromotedSize0: UInt64
    GenerationSize1: UInt64
    TotalPromotedSize1: UInt64
    GenerationSize2: UInt64
    TotalPromotedSize2: UInt64
    GenerationSize3: UInt64
    TotalPromotedSize3: UInt64
    FinalizationPromotedSize: UInt64
    FinalizationPromotedCount: UInt64
    PinnedObjectCount: UInt32
    SinkBlockCount: UInt32
    GCHandleCount: UInt32


@event(RUNTIME, id=4, version=1)
class GCHeapStats_V1(GCHeapStats_V0):
    """The heap after a collection: size and promoted bytes of each generation. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=4, version=2)
class GCHeapStats_V2(GCHeapStats_V1):
    """The heap after a collection: size and promoted bytes of each generation. Adds the pinned object heap."""

    GenerationSize4: UInt64
    TotalPromotedSize4: UInt64


GC = EventGroup(RUNTIME, RuntimeKeyword.GC, level=4, task="GC", fields=(object, InstanceFields))
GC_THREAD = GC._replace(later=RuntimeKeyword.GC | RuntimeKeyword.Threading)
GC_THREAD.event(11, "GCCreateConcurrentThread", "The thread for background collections was created.")
GC_THREAD.event(12, "GCTerminateConcurrentThread", "The thread for background collections terminated.")


@event(RUNTIME, id=35, version=0, aliases=("GC/Triggered",), keywords=RuntimeKeyword.GC, level=4)
class GCTriggered_V0:
    """A collection was triggered, and why."""

    Reason: Annotated[GCReason, UInt32]
    ClrInstanceID: UInt16


@event(DYNAMIC_EVENTS, id=39, version=0, aliases=("GC/DynamicTraceEvent",))
class GCDynamicEvent_V0:
    """An event defined by the GC itself: a name, and data whose format depends on the name."""

    Name: UnicodeString
    DataSize: UInt32
    Data: Annotated[Bytes, by("DataSize")]
    ClrInstanceID: UInt16


class GCSuspendEEReason(OpenEnum):
    """Why managed threads were suspended (manifest: GCSuspendEEReasonMap, up to 7).

    Source: `ThreadSuspend::SUSPEND_REASON`, vm/threadsuspend.h. The manifest still calls 3 SuspendForCodePitching,
    as early runtimes did; the name remains as an alias.
    """

    SuspendOther = 0
    SuspendForGC = 1
    SuspendForAppDomainShutdown = 2
    SuspendForRejit = 3
    SuspendForCodePitching = 3
    SuspendForShutdown = 4
    SuspendForDebugger = 5
    SuspendForGCPrep = 6
    SuspendForDebuggerSweep = 7
    SuspendForProfiler = 8


GC.event(3, "GCRestartEEEnd", "Managed threads have been resumed after a suspension.")
GC.event(7, "GCRestartEEBegin", "The runtime starts resuming managed threads.")
GC.event(8, "GCSuspendEEEnd", "All managed threads are suspended.")


@event(RUNTIME, id=9, version=0, aliases=("GC/SuspendEEStart",), keywords=RuntimeKeyword.GC, level=4)
class GCSuspendEEBegin_V0:
    """The runtime starts suspending managed threads, and why."""

    Reason: Annotated[GCSuspendEEReason, UInt16]


@event(RUNTIME, id=9, version=1, aliases=("GC/SuspendEEStart",), keywords=RuntimeKeyword.GC, level=4)
class GCSuspendEEBegin_V1:
    """The runtime starts suspending managed threads, and why. Count: collections so far, -1 if not for a GC."""

    Reason: Annotated[GCSuspendEEReason, UInt32]
    Count: Int32
    ClrInstanceID: UInt16
