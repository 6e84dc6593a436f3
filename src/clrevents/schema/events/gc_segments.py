"""Memory of the heap: creation and release of segments, and the ranges of generations."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Pointer, UInt8, UInt16, UInt32, UInt64


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


@event(RUNTIME, id=5, version=1)
class GCCreateSegment_V1(GCCreateSegment_V0):
    """A heap segment of Size bytes was created at Address. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=6, version=0, aliases=("GC/FreeSegment",), keywords=RuntimeKeyword.GC, level=4)
class GCFreeSegment_V0:
    """The heap segment at Address was freed."""

    Address: UInt64


@event(RUNTIME, id=6, version=1)
class GCFreeSegment_V1(GCFreeSegment_V0):
    """The heap segment at Address was freed. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNTIME,
    id=23,
    version=0,
    aliases=("GC/GenerationRange",),
    keywords=RuntimeKeyword.GCHeapSurvivalAndMovement,
    level=4,
)
class GCGenerationRange_V0:
    """A memory range of one generation: its start, and its used and reserved bytes."""

    Generation: UInt8
    RangeStart: Pointer
    RangeUsedLength: UInt64
    RangeReservedLength: UInt64
    ClrInstanceID: UInt16
