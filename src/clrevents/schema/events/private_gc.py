"""Garbage collections, from the private provider: background phases, marking, handles and finalizers.

Most of these events moved to the runtime provider.
"""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event, extended
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.runtime_flags import GCHandleKind
from clrevents.schema.types import Boolean, Int32, Pointer, UInt16, UInt32, UInt64, UnicodeString

GC_PRIVATE = EventGroup(PRIVATE, PrivateKeyword.GCPrivate, level=4)
GC_PRIVATE_VERBOSE = EventGroup(PRIVATE, PrivateKeyword.GCPrivate, level=5)


@event(GC_PRIVATE, id=1, version=0, aliases=("GC/Decision",))
class GCDecision_V0:
    """Whether a collection compacts or sweeps."""

    DoCompact: Boolean


GCDecision_V1 = extended(GCDecision_V0, InstanceFields)


@event(GC_PRIVATE, id=2, version=0, aliases=("GC/Settings",))
class GCSettings_V0:
    """Heap settings; segment sizes in bytes."""

    SegmentSize: UInt64
    LargeObjectSegmentSize: UInt64
    ServerGC: Boolean


GCSettings_V1 = extended(GCSettings_V0, InstanceFields)


@event(GC_PRIVATE_VERBOSE, id=3, version=0, aliases=("GC/Optimized",))
class GCOptimized_V0:
    """A generation's allocation budget was recomputed; in bytes."""

    DesiredAllocation: UInt64
    NewAllocation: UInt64
    GenerationNumber: UInt32


GCOptimized_V1 = extended(GCOptimized_V0, InstanceFields)


@event(GC_PRIVATE, id=4, version=1, aliases=("GC/PerHeapHistory", "GCPerHeapHistory"))
class PrvGCPerHeapHistory_V1(InstanceFields):
    """What a collection did in one heap; without the figures, see the runtime provider."""


@event(GC_PRIVATE, id=4, version=2, aliases=("GC/PerHeapHistory", "GCPerHeapHistory"))
class PrvGCPerHeapHistory_V2:
    """What a collection did in one heap; without fields, see the runtime provider."""


@event(GC_PRIVATE, id=5, version=0, aliases=("GC/GlobalHeapHistory", "GCGlobalHeapHistory"))
class PrvGCGlobalHeapHistory_V0:
    """What a collection decided for all heaps; sizes in bytes. Now a runtime event."""

    FinalYoungestDesired: UInt64
    NumHeaps: Int32
    CondemnedGeneration: UInt32
    Gen0ReductionCount: UInt32
    Reason: UInt32
    GlobalMechanisms: UInt32


PrvGCGlobalHeapHistory_V1 = extended(PrvGCGlobalHeapHistory_V0, InstanceFields)


@event(GC_PRIVATE_VERBOSE, id=6, version=0, aliases=("GC/Join", "GCJoin"))
class PrvGCJoin_V0:
    """Server GC threads join; JoinTime 0: a wait starts, 1: it ends. Now a runtime event."""

    Heap: UInt32
    JoinTime: UInt32
    JoinType: UInt32


@event(PRIVATE, id=6, version=1)
class PrvGCJoin_V1(PrvGCJoin_V0):
    """Server GC threads join; JoinTime 0: a wait starts, 1: it ends. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(GC_PRIVATE, id=25, version=0, aliases=("GC/FullNotify",))
class GCFullNotify_V0:
    """The program is notified, at its request, that a full collection is imminent."""

    GenNumber: UInt32
    IsAlloc: UInt32


GCFullNotify_V1 = extended(GCFullNotify_V0, InstanceFields)


@event(GC_PRIVATE, id=7, version=0, aliases=("GC/MarkStackRoots",))
class PrvGCMarkStackRoots_V0:
    """Objects of a heap reachable from stacks have been marked. Now a runtime event."""

    HeapNum: UInt32


PrvGCMarkStackRoots_V1 = extended(PrvGCMarkStackRoots_V0, InstanceFields)


@event(GC_PRIVATE, id=8, version=0, aliases=("GC/MarkFinalizeQueueRoots",))
class PrvGCMarkFinalizeQueueRoots_V0:
    """Objects reachable from a heap's finalizer queue have been marked. Now a runtime event."""

    HeapNum: UInt32


PrvGCMarkFinalizeQueueRoots_V1 = extended(PrvGCMarkFinalizeQueueRoots_V0, InstanceFields)


@event(GC_PRIVATE, id=9, version=0, aliases=("GC/MarkHandles",))
class PrvGCMarkHandles_V0:
    """Objects of a heap reachable from GC handles have been marked. Now a runtime event."""

    HeapNum: UInt32


PrvGCMarkHandles_V1 = extended(PrvGCMarkHandles_V0, InstanceFields)


@event(GC_PRIVATE, id=10, version=0, aliases=("GC/MarkCards",))
class PrvGCMarkCards_V0:
    """Objects of a heap reachable from older generations have been marked. Now a runtime event."""

    HeapNum: UInt32


PrvGCMarkCards_V1 = extended(PrvGCMarkCards_V0, InstanceFields)


@event(GC_PRIVATE_VERBOSE, id=192, version=0, aliases=("GC/FinalizeObject",))
class PrvFinalizeObject_V0:
    """The finalizer of one object is about to run; includes the type name."""

    TypeID: Pointer
    ObjectID: Pointer
    ClrInstanceID: UInt16
    TypeName: UnicodeString


@event(PRIVATE, id=194, version=0, aliases=("GC/SetGCHandle",), keywords=PrivateKeyword.GCHandlePrivate, level=5)
class PrvSetGCHandle_V0:
    """A GC handle was created; sent alongside SetGCHandle of the runtime provider."""

    HandleID: Pointer
    ObjectID: Pointer
    Kind: Annotated[GCHandleKind, UInt32]
    Generation: UInt32
    AppDomainID: UInt64
    ClrInstanceID: UInt16


@event(PRIVATE, id=195, version=0, aliases=("GC/DestroyGCHandle",), keywords=PrivateKeyword.GCHandlePrivate, level=5)
class PrvDestroyGCHandle_V0:
    """A GC handle was freed; sent alongside DestroyGCHandle of the runtime provider."""

    HandleID: Pointer
    ClrInstanceID: UInt16


@event(GC_PRIVATE_VERBOSE, id=199, version=0, aliases=("GC/PinPlugAtGCTime",))
class PinPlugAtGCTime_V0:
    """A memory block kept in place by pinned objects; its addresses, and the gap before it in bytes."""

    PlugStart: Pointer
    PlugEnd: Pointer
    GapBeforeSize: Pointer
    ClrInstanceID: UInt16


@event(GC_PRIVATE, id=11, version=0, aliases=("GC/BGCStart",))
class BGCBegin_V0(InstanceFields):
    """A background collection started."""


@event(GC_PRIVATE, id=12, version=0, aliases=("GC/BGC1stNonCondStop",))
class BGC1stNonConEnd_V0(InstanceFields):
    """The first non-concurrent phase of a background collection ended."""


@event(GC_PRIVATE, id=13, version=0, aliases=("GC/BGC1stConStop",))
class BGC1stConEnd_V0(InstanceFields):
    """The first concurrent phase of a background collection ended."""


@event(GC_PRIVATE, id=14, version=0, aliases=("GC/BGC2ndNonConStart",))
class BGC2ndNonConBegin_V0(InstanceFields):
    """The second non-concurrent phase of a background collection started."""


@event(GC_PRIVATE, id=15, version=0, aliases=("GC/BGC2ndNonConStop",))
class BGC2ndNonConEnd_V0(InstanceFields):
    """The second non-concurrent phase of a background collection ended."""


@event(GC_PRIVATE, id=16, version=0, aliases=("GC/BGC2ndConStart",))
class BGC2ndConBegin_V0(InstanceFields):
    """The second concurrent phase of a background collection started."""


@event(GC_PRIVATE, id=17, version=0, aliases=("GC/BGC2ndConStop",))
class BGC2ndConEnd_V0(InstanceFields):
    """The second concurrent phase of a background collection ended."""


@event(GC_PRIVATE, id=18, version=0, aliases=("GC/BGCPlanStop",))
class BGCPlanEnd_V0(InstanceFields):
    """The plan phase of a background collection ended."""


@event(GC_PRIVATE, id=19, version=0, aliases=("GC/BGCSweepStop",))
class BGCSweepEnd_V0(InstanceFields):
    """The sweep phase of a background collection ended."""


@event(GC_PRIVATE, id=20, version=0, aliases=("GC/BGCDrainMark",))
class BGCDrainMark_V0:
    """A background collection drained its mark list; gives the number of objects."""

    Objects: UInt64
    ClrInstanceID: UInt16


@event(GC_PRIVATE, id=21, version=0, aliases=("GC/BGCRevisit",))
class BGCRevisit_V0:
    """A background collection revisited pages that were written in the meantime, and the objects in them."""

    Pages: UInt64
    Objects: UInt64
    IsLarge: UInt32
    ClrInstanceID: UInt16


@event(GC_PRIVATE, id=22, version=0, aliases=("GC/BGCOverflow",))
class BGCOverflow_V0:
    """The mark stack of a background collection overflowed; objects from Min to Max will be marked again."""

    Min: UInt64
    Max: UInt64
    Objects: UInt64
    IsLarge: UInt32
    ClrInstanceID: UInt16


@event(PRIVATE, id=22, version=1)
class BGCOverflow_V1(BGCOverflow_V0):
    """The mark stack of a background collection overflowed. Adds GenNumber."""

    GenNumber: UInt32


@event(GC_PRIVATE, id=23, version=0, aliases=("GC/BGCAllocWaitStart",))
class BGCAllocWaitBegin_V0:
    """An allocation starts waiting for the background collection."""

    Reason: UInt32
    ClrInstanceID: UInt16


@event(GC_PRIVATE, id=24, version=0, aliases=("GC/BGCAllocWaitStop",))
class BGCAllocWaitEnd_V0:
    """An allocation stopped waiting for the background collection."""

    Reason: UInt32
    ClrInstanceID: UInt16


@event(GC_PRIVATE, id=26, version=0)
class BGC1stSweepEnd_V0:
    """The first sweep of a background collection ended for one generation."""

    GenNumber: UInt32
    ClrInstanceID: UInt16
