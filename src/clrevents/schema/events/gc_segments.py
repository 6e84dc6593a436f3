"""Memory of the heap: segments, ranges of generations, handles and pinned objects, finalizers."""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event, extended
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import GCHandleKind
from clrevents.schema.types import Pointer, UInt8, UInt16, UInt32, UInt64, UnicodeString

SURVIVAL = EventGroup(RUNTIME, RuntimeKeyword.GCHeapSurvivalAndMovement, level=4)


class GCSegmentType(OpenEnum):
    """The purpose of a heap segment (manifest: GCSegmentTypeMap; source: `gc_etw_segment_type`, gc/gc.h)."""

    SmallObjectHeap = 0
    LargeObjectHeap = 1
    ReadOnlyHeap = 2
    PinnedObjectHeap = 3


@event(RUNTIME, id=5, version=0, aliases=("GC/CreateSegment",), keywords=RuntimeKeyword.GC, level=4)
class GCCreateSegment_V0:
    """A heap segment of Size bytes was created at Address."""

    Address: UInt64
    Size: UInt64
    Type: Annotated[GCSegmentType, UInt32]


GCCreateSegment_V1 = extended(GCCreateSegment_V0, InstanceFields)


@event(RUNTIME, id=6, version=0, aliases=("GC/FreeSegment",), keywords=RuntimeKeyword.GC, level=4)
class GCFreeSegment_V0:
    """The heap segment at Address was freed."""

    Address: UInt64


GCFreeSegment_V1 = extended(GCFreeSegment_V0, InstanceFields)


@event(SURVIVAL, id=23, version=0, aliases=("GC/GenerationRange",))
class GCGenerationRange_V0:
    """A memory range of one generation: its start, and its used and reserved bytes."""

    Generation: UInt8
    RangeStart: Pointer
    RangeUsedLength: UInt64
    RangeReservedLength: UInt64
    ClrInstanceID: UInt16


@event(RUNTIME, id=30, version=0, aliases=("GC/SetGCHandle",), keywords=RuntimeKeyword.GCHandle, level=4)
class SetGCHandle_V0:
    """A GC handle was created; it refers to ObjectID."""

    HandleID: Pointer
    ObjectID: Pointer
    Kind: Annotated[GCHandleKind, UInt32]
    Generation: UInt32
    AppDomainID: UInt64
    ClrInstanceID: UInt16


@event(RUNTIME, id=31, version=0, aliases=("GC/DestoryGCHandle",), keywords=RuntimeKeyword.GCHandle, level=4)
class DestroyGCHandle_V0:
    """A GC handle was freed."""

    HandleID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=33, version=0, aliases=("GC/PinObjectAtGCTime",), keywords=RuntimeKeyword.GC, level=5)
class PinObjectAtGCTime_V0:
    """A pinned object was found during a collection; its size is in bytes."""

    HandleID: Pointer
    ObjectID: Pointer
    ObjectSize: UInt64
    TypeName: UnicodeString
    ClrInstanceID: UInt16


@event(RUNTIME, id=13, version=0, aliases=("GC/FinalizersStop",), keywords=RuntimeKeyword.GC, level=4)
class GCFinalizersEnd_V0:
    """The finalizer thread finished running Count finalizers."""

    Count: UInt32


GCFinalizersEnd_V1 = extended(GCFinalizersEnd_V0, InstanceFields)


@event(RUNTIME, id=14, version=0, aliases=("GC/FinalizersStart",), keywords=RuntimeKeyword.GC, level=4)
class GCFinalizersBegin_V0:
    """The finalizer thread started running finalizers."""


GCFinalizersBegin_V1 = extended(GCFinalizersBegin_V0, InstanceFields)


@event(RUNTIME, id=29, version=0, aliases=("GC/FinalizeObject",), keywords=RuntimeKeyword.GC, level=5)
class FinalizeObject_V0:
    """The finalizer of one object is about to run."""

    TypeID: Pointer
    ObjectID: Pointer
    ClrInstanceID: UInt16
