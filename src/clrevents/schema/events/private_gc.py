"""Garbage collections, from the private provider: background phases, marking, handles and finalizers.

Most of these events moved to the runtime provider.
"""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event, extended, struct
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


@struct
class HeapFields:
    """A heap."""

    HeapNum: UInt32


MARKS = GC_PRIVATE._replace(task="GC", fields=(HeapFields, InstanceFields))
MARKS.event(7, "PrvGCMarkStackRoots", "Objects of a heap reachable from stacks have been marked. Now a runtime event.")
MARKS.event(
    8,
    "PrvGCMarkFinalizeQueueRoots",
    "Objects reachable from a heap's finalizer queue have been marked. Now a runtime event.",
)
MARKS.event(9, "PrvGCMarkHandles", "Objects of a heap reachable from GC handles have been marked. Now a runtime event.")
MARKS.event(
    10, "PrvGCMarkCards", "Objects of a heap reachable from older generations have been marked. Now a runtime event."
)


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


@struct
class AllocWaitFields:
    """An allocation that waits."""

    Reason: UInt32
    ClrInstanceID: UInt16


BACKGROUND = GC_PRIVATE._replace(task="GC", fields=(InstanceFields,))
BACKGROUND.event(11, "BGCBegin", "A background collection started.")
BACKGROUND.event(
    12,
    "BGC1stNonConEnd",
    "The first non-concurrent phase of a background collection ended.",
    alias="GC/BGC1stNonCondStop",
)
BACKGROUND.event(13, "BGC1stConEnd", "The first concurrent phase of a background collection ended.")
BACKGROUND.event(14, "BGC2ndNonConBegin", "The second non-concurrent phase of a background collection started.")
BACKGROUND.event(15, "BGC2ndNonConEnd", "The second non-concurrent phase of a background collection ended.")
BACKGROUND.event(16, "BGC2ndConBegin", "The second concurrent phase of a background collection started.")
BACKGROUND.event(17, "BGC2ndConEnd", "The second concurrent phase of a background collection ended.")
BACKGROUND.event(18, "BGCPlanEnd", "The plan phase of a background collection ended.")
BACKGROUND.event(19, "BGCSweepEnd", "The sweep phase of a background collection ended.")
BACKGROUND.event(
    23, "BGCAllocWaitBegin", "An allocation starts waiting for the background collection.", AllocWaitFields
)
BACKGROUND.event(24, "BGCAllocWaitEnd", "An allocation stopped waiting for the background collection.", AllocWaitFields)


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


@event(GC_PRIVATE, id=26, version=0)
class BGC1stSweepEnd_V0:
    """The first sweep of a background collection ended for one generation."""

    GenNumber: UInt32
    ClrInstanceID: UInt16
