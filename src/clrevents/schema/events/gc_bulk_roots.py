"""Heap dumps: roots from COM and static fields, and start and end of generation-aware dumps."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.flags import OpenFlag
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Counted, UInt16, UInt32, UInt64, UnicodeString, by


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


@event(RUNTIME, id=36, version=0, aliases=("GC/BulkRootCCW",), keywords=RuntimeKeyword.GCHeapDump, level=4)
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


@event(RUNTIME, id=37, version=0, aliases=("GC/BulkRCW",), keywords=RuntimeKeyword.GCHeapDump, level=4)
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


@event(RUNTIME, id=38, version=0, aliases=("GC/BulkRootStaticVar",), keywords=RuntimeKeyword.GCHeapDump, level=4)
class GCBulkRootStaticVar_V0:
    """Heap dump: static fields and the objects they refer to."""

    Count: UInt32
    AppDomainID: UInt64
    ClrInstanceID: UInt16
    Values: Annotated[Counted[GCBulkRootStaticVarValue], by("Count")]


@event(RUNTIME, id=206, version=0, aliases=("GC/GenAwareBegin",), keywords=RuntimeKeyword.GCHeapDump, level=4)
class GenAwareBegin_V0:
    """The generation-aware heap dump of collection number Count starts."""

    Count: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=207, version=0, aliases=("GC/GenAwareEnd",), keywords=RuntimeKeyword.GCHeapDump, level=4)
class GenAwareEnd_V0:
    """The generation-aware heap dump of collection number Count ended."""

    Count: UInt32
    ClrInstanceID: UInt16
