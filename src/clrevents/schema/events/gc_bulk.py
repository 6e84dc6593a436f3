"""Heap dumps and surviving memory: many objects, references, roots or ranges in one event.

Index numbers the events of one dump. Structs are packed: an element may start at any byte.
"""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.flags import OpenFlag
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import GCBulkRootKind
from clrevents.schema.types import Counted, Pointer, UInt8, UInt16, UInt32, UInt64, UnicodeString, by

HEAP_DUMP = EventGroup(RUNTIME, RuntimeKeyword.GCHeapDump, level=4)
HEAP_MOVEMENT = EventGroup(RUNTIME, RuntimeKeyword.GCHeapSurvivalAndMovement, level=4)


class GCRootFlags(OpenFlag):
    """How a root refers to its object (manifest: GCRootFlagsMap; source: `EtwGCRootFlags`, gc/gcinterface.ee.h)."""

    Pinning = 0x1
    WeakRef = 0x2
    Interior = 0x4
    RefCounted = 0x8


@struct
class GCBulkRootEdgeValue:
    """A root and the object it refers to."""

    RootedNodeAddress: Pointer
    GCRootKind: Annotated[GCBulkRootKind, UInt8]
    GCRootFlag: Annotated[GCRootFlags, UInt32]
    GCRootID: Pointer


@event(HEAP_DUMP, id=16, version=0, aliases=("GC/BulkRootEdge",))
class GCBulkRootEdge_V0:
    """Heap dump: roots and the objects they refer to."""

    Index: UInt32
    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkRootEdgeValue], by("Count")]


@struct
class GCBulkRootConditionalWeakTableElementEdgeValue:
    """A key and its value."""

    GCKeyNodeID: Pointer
    GCValueNodeID: Pointer
    GCRootID: Pointer


@event(HEAP_DUMP, id=17, version=0, aliases=("GC/BulkRootConditionalWeakTableElementEdge",))
class GCBulkRootConditionalWeakTableElementEdge_V0:
    """Heap dump: keys of conditional weak tables and the values they keep alive."""

    Index: UInt32
    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkRootConditionalWeakTableElementEdgeValue], by("Count")]


@struct
class GCBulkNodeValue:
    """One object; its references are the next EdgeCount values of GCBulkEdge."""

    Address: Pointer
    Size: UInt64
    TypeID: UInt64
    EdgeCount: UInt64


@event(HEAP_DUMP, id=18, version=0, aliases=("GC/BulkNode",))
class GCBulkNode_V0:
    """Heap dump: objects with their size in bytes, type and number of references."""

    Index: UInt32
    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkNodeValue], by("Count")]


@struct
class GCBulkEdgeValue:
    """One reference."""

    Value: Pointer
    ReferencingFieldID: UInt32


@event(HEAP_DUMP, id=19, version=0, aliases=("GC/BulkEdge",))
class GCBulkEdge_V0:
    """Heap dump: references, in the order of the GCBulkNode objects that contain them."""

    Index: UInt32
    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkEdgeValue], by("Count")]


@struct
class GCBulkSurvivingObjectRangesValue:
    """One range."""

    RangeBase: Pointer
    RangeLength: UInt64


@event(HEAP_MOVEMENT, id=21, version=0, aliases=("GC/BulkSurvivingObjectRanges",))
class GCBulkSurvivingObjectRanges_V0:
    """Memory ranges that survived a collection without being moved; lengths in bytes."""

    Index: UInt32
    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkSurvivingObjectRangesValue], by("Count")]


@struct
class GCBulkMovedObjectRangesValue:
    """One range, with its old and new address."""

    OldRangeBase: Pointer
    NewRangeBase: Pointer
    RangeLength: UInt64


@event(HEAP_MOVEMENT, id=22, version=0, aliases=("GC/BulkMovedObjectRanges",))
class GCBulkMovedObjectRanges_V0:
    """Memory ranges moved by a collection; lengths in bytes."""

    Index: UInt32
    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkMovedObjectRangesValue], by("Count")]


class GCRootCCWFlags(OpenFlag):
    """How COM refers to an object (manifest: GCRootCCWFlagsMap)."""

    Strong = 0x1
    Pegged = 0x2


class GCRootStaticVarFlags(OpenFlag):
    """The kind of a static field (manifest: GCRootStaticVarFlagsMap)."""

    ThreadLocal = 0x1


@struct
class GCBulkRootCCWValue:
    """One object referenced by COM clients."""

    GCRootID: UInt64
    ObjectID: UInt64
    TypeID: UInt64
    IUnknown: UInt64
    RefCount: UInt32
    PeggedRefCount: UInt32
    Flags: Annotated[GCRootCCWFlags, UInt32]


@event(HEAP_DUMP, id=36, version=0, aliases=("GC/BulkRootCCW",))
class GCBulkRootCCW_V0:
    """Heap dump: managed objects referenced by COM clients."""

    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkRootCCWValue], by("Count")]


@struct
class GCBulkRCWValue:
    """One runtime callable wrapper."""

    ObjectID: UInt64
    TypeID: UInt64
    IUnknown: UInt64
    VTable: UInt64
    RefCount: UInt32
    Flags: UInt32


@event(HEAP_DUMP, id=37, version=0, aliases=("GC/BulkRCW",))
class GCBulkRCW_V0:
    """Heap dump: runtime callable wrappers, through which managed code uses COM objects."""

    Count: UInt32
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkRCWValue], by("Count")]


@struct
class GCBulkRootStaticVarValue:
    """One static field."""

    GCRootID: UInt64
    ObjectID: UInt64
    TypeID: UInt64
    Flags: Annotated[GCRootStaticVarFlags, UInt32]
    FieldName: UnicodeString


@event(HEAP_DUMP, id=38, version=0, aliases=("GC/BulkRootStaticVar",))
class GCBulkRootStaticVar_V0:
    """Heap dump: static fields and the objects they refer to."""

    Count: UInt32
    AppDomainID: UInt64
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkRootStaticVarValue], by("Count")]


@event(HEAP_DUMP, id=206, version=0, aliases=("GC/GenAwareBegin",))
class GenAwareBegin_V0:
    """The generation-aware heap dump of collection number Count starts."""

    Count: UInt32
    ClrInstanceID: UInt16


@event(HEAP_DUMP, id=207, version=0, aliases=("GC/GenAwareEnd",))
class GenAwareEnd_V0:
    """The generation-aware heap dump of collection number Count ended."""

    Count: UInt32
    ClrInstanceID: UInt16
