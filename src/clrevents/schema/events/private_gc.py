"""Garbage collections, from the private provider. Most of these events moved to the runtime provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Boolean, Int32, UInt16, UInt32, UInt64


@event(PRIVATE, id=1, version=0, aliases=("GC/Decision",), keywords=PrivateKeyword.GCPrivate, level=4)
class GCDecision_V0:
    """Whether a collection compacts or sweeps."""

    DoCompact: Boolean


@event(PRIVATE, id=1, version=1)
class GCDecision_V1(GCDecision_V0):
    """Whether a collection compacts or sweeps. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=2, version=0, aliases=("GC/Settings",), keywords=PrivateKeyword.GCPrivate, level=4)
class GCSettings_V0:
    """Heap settings; segment sizes in bytes."""

    SegmentSize: UInt64
    LargeObjectSegmentSize: UInt64
    ServerGC: Boolean


@event(PRIVATE, id=2, version=1)
class GCSettings_V1(GCSettings_V0):
    """Heap settings; segment sizes in bytes. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=3, version=0, aliases=("GC/Optimized",), keywords=PrivateKeyword.GCPrivate, level=5)
class GCOptimized_V0:
    """A generation's allocation budget was recomputed; in bytes."""

    DesiredAllocation: UInt64
    NewAllocation: UInt64
    GenerationNumber: UInt32


@event(PRIVATE, id=3, version=1)
class GCOptimized_V1(GCOptimized_V0):
    """A generation's allocation budget was recomputed; in bytes. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=4,
    version=1,
    aliases=(
        "GC/PerHeapHistory",
        "GCPerHeapHistory",
    ),
    keywords=PrivateKeyword.GCPrivate,
    level=4,
)
class PrvGCPerHeapHistory_V1:
    """What a collection did in one heap; without the figures, see the runtime provider."""

    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=4,
    version=2,
    aliases=(
        "GC/PerHeapHistory",
        "GCPerHeapHistory",
    ),
    keywords=PrivateKeyword.GCPrivate,
    level=4,
)
class PrvGCPerHeapHistory_V2:
    """What a collection did in one heap; without fields, see the runtime provider."""


@event(
    PRIVATE,
    id=5,
    version=0,
    aliases=(
        "GC/GlobalHeapHistory",
        "GCGlobalHeapHistory",
    ),
    keywords=PrivateKeyword.GCPrivate,
    level=4,
)
class PrvGCGlobalHeapHistory_V0:
    """What a collection decided for all heaps; sizes in bytes. Now a runtime event."""

    FinalYoungestDesired: UInt64
    NumHeaps: Int32
    CondemnedGeneration: UInt32
    Gen0ReductionCount: UInt32
    Reason: UInt32
    GlobalMechanisms: UInt32


@event(PRIVATE, id=5, version=1)
class PrvGCGlobalHeapHistory_V1(PrvGCGlobalHeapHistory_V0):
    """What a collection decided for all heaps; sizes in bytes. Now a runtime event. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=6,
    version=0,
    aliases=(
        "GC/Join",
        "GCJoin",
    ),
    keywords=PrivateKeyword.GCPrivate,
    level=5,
)
class PrvGCJoin_V0:
    """Server GC threads join; JoinTime 0: a wait starts, 1: it ends. Now a runtime event."""

    Heap: UInt32
    JoinTime: UInt32
    JoinType: UInt32


@event(PRIVATE, id=6, version=1)
class PrvGCJoin_V1(PrvGCJoin_V0):
    """Server GC threads join; JoinTime 0: a wait starts, 1: it ends. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=25, version=0, aliases=("GC/FullNotify",), keywords=PrivateKeyword.GCPrivate, level=4)
class GCFullNotify_V0:
    """The program is notified, at its request, that a full collection is imminent."""

    GenNumber: UInt32
    IsAlloc: UInt32


@event(PRIVATE, id=25, version=1)
class GCFullNotify_V1(GCFullNotify_V0):
    """The program is notified, at its request, that a full collection is imminent. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
