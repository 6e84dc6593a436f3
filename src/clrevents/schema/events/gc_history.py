"""What a collection decided and did, per heap and globally, and how its threads marked.

The reason codes have no map in the manifest, so they stay numbers.
"""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import GCRootKind
from clrevents.schema.types import Counted, Int32, Pointer, UInt16, UInt32, UInt64, by, pad


class GCBucketKind(OpenEnum):
    """What was counted by size: free list items, or plugs to be placed (manifest: GCBucketKindMap)."""

    FLItem = 0
    Plug = 1


@struct
class GCPerHeapHistoryValue:
    """One generation, before and after; sizes in bytes."""

    SizeBefore: Pointer
    FreeListBefore: Pointer
    FreeObjBefore: Pointer
    SizeAfter: Pointer
    FreeListAfter: Pointer
    FreeObjAfter: Pointer
    In: Pointer
    PinnedSurv: Pointer
    NonePinnedSurv: Pointer
    NewAllocation: Pointer


@event(RUNTIME, id=204, version=3, aliases=("GC/PerHeapHistory",), keywords=RuntimeKeyword.GC, level=4)
class GCPerHeapHistory_V3:
    """What a collection decided and did in one heap, and the sizes of each generation in bytes."""

    ClrInstanceID: UInt16
    FreeListAllocated: Pointer
    FreeListRejected: Pointer
    EndOfSegAllocated: Pointer
    CondemnedAllocated: Pointer
    PinnedAllocated: Pointer
    PinnedAllocatedAdvance: Pointer
    RunningFreeListEfficiency: UInt32
    CondemnReasons0: UInt32
    CondemnReasons1: UInt32
    CompactMechanisms: UInt32
    ExpandMechanisms: UInt32
    HeapIndex: UInt32
    ExtraGen0Commit: Pointer
    Count: UInt32
    Values: Annotated[Counted[GCPerHeapHistoryValue], by("Count")]


@event(RUNTIME, id=205, version=2, aliases=("GC/GlobalHeapHistory",), keywords=RuntimeKeyword.GC, level=4)
class GCGlobalHeapHistory_V2:
    """What a collection decided for all heaps; sizes in bytes, MemoryPressure in percent."""

    FinalYoungestDesired: UInt64
    NumHeaps: Int32
    CondemnedGeneration: UInt32
    Gen0ReductionCount: UInt32
    Reason: UInt32
    GlobalMechanisms: UInt32
    ClrInstanceID: UInt16
    PauseMode: UInt32
    MemoryPressure: UInt32


@event(RUNTIME, id=205, version=3)
class GCGlobalHeapHistory_V3(GCGlobalHeapHistory_V2):
    """What a collection decided for all heaps. Adds CondemnReasons0 and CondemnReasons1."""

    CondemnReasons0: UInt32
    CondemnReasons1: UInt32


@struct
class GCGlobalHeapHistoryValue:
    """The duration of one phase, in microseconds."""

    Time: UInt32


@event(RUNTIME, id=205, version=4)
class GCGlobalHeapHistory_V4(GCGlobalHeapHistory_V3):
    """What a collection decided for all heaps. Adds the duration of its phases, in microseconds."""

    Count: UInt32
    Values: Annotated[Counted[GCGlobalHeapHistoryValue], by("Count")]


@struct
class GCLOHCompactValue:
    """One heap; times in microseconds. The compiler aligns the fields to the pointer size."""

    TimePlan: UInt32
    TimeCompact: UInt32
    TimeRelocate: UInt32
    TotalRefs: Annotated[Pointer, pad(0, 4)]
    ZeroRefs: Pointer


@event(RUNTIME, id=208, version=0, aliases=("GC/LOHCompact",), keywords=RuntimeKeyword.GC, level=4)
class GCLOHCompact_V0:
    """The large object heap was compacted; per heap, times in microseconds."""

    ClrInstanceID: UInt16
    Count: UInt16
    Values: Annotated[Counted[GCLOHCompactValue], by("Count")]


@struct
class GCFitBucketInfoValue:
    """One size class: count and total bytes. The compiler pads the index to four bytes."""

    Index: UInt16
    Count: Annotated[UInt32, pad(2, 2)]
    Size: Pointer


@event(RUNTIME, id=209, version=0, aliases=("GC/FitBucketInfo",), keywords=RuntimeKeyword.GC, level=5)
class GCFitBucketInfo_V0:
    """Free space and the memory to be placed in it, by size class, when compaction was planned; in bytes."""

    ClrInstanceID: UInt16
    BucketKind: Annotated[GCBucketKind, UInt16]
    TotalSize: UInt64
    Count: UInt16
    Values: Annotated[Counted[GCFitBucketInfoValue], by("Count")]


@struct
class MarkFields:
    """A heap whose roots were marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


MARKS = EventGroup(RUNTIME, RuntimeKeyword.GC, level=4, task="GC", fields=(MarkFields,))
MARKS.event(25, "GCMarkStackRoots", "Objects of a heap reachable from stacks have been marked.")
MARKS.event(26, "GCMarkFinalizeQueueRoots", "Objects of a heap reachable from the finalizer queue have been marked.")
MARKS.event(27, "GCMarkHandles", "Objects of a heap reachable from GC handles have been marked.")
MARKS.event(
    28,
    "GCMarkOlderGenerationRoots",
    "Objects of a heap reachable from older generations have been marked.",
    alias="GC/MarkCards",
)


@event(RUNTIME, id=202, version=0, aliases=("GC/Mark", "GC/MarkWithType"), keywords=RuntimeKeyword.GC, level=4)
class GCMarkWithType_V0:
    """Objects of a heap reachable from one kind of root have been marked; Bytes is the promoted size."""

    HeapNum: UInt32
    ClrInstanceID: UInt16
    Type: Annotated[GCRootKind, UInt32]
    Bytes: UInt64


@event(RUNTIME, id=203, version=2, aliases=("GC/Join",), keywords=RuntimeKeyword.GC, level=5)
class GCJoin_V2:
    """Server GC threads join. JoinTime 0: a wait starts, 1: it ends; Heap 100, 200: all threads continue."""

    Heap: UInt32
    JoinTime: UInt32
    JoinType: UInt32
    ClrInstanceID: UInt16
    JoinID: Int32
