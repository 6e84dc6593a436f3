"""Enums that several families of GC events share. Declares them; decides nothing."""

from clrevents.schema.flags import OpenEnum


class GCAllocationKind(OpenEnum):
    """The part of the heap an allocation was made in (manifest: GCAllocationKindMap; source: `gc_oh_num`)."""

    Small = 0
    Large = 1
    Pinned = 2


class GCHandleKind(OpenEnum):
    """The kind of a GC handle (manifest: GCHandleKindMap, up to 8; source: `HandleType`, gc/gcinterface.h).

    9 was the weak reference to a Windows Runtime object before .NET 5.
    """

    WeakShort = 0
    WeakLong = 1
    Strong = 2
    Pinned = 3
    Variable = 4
    RefCounted = 5
    Dependent = 6
    AsyncPinned = 7
    SizedRef = 8
    WeakNativeCom = 9
    WeakInteriorPointer = 10
    CrossReference = 11


class GCBulkRootKind(OpenEnum):
    """Where a heap dump found a root (source: `EtwGCRootKind`, gc/gcinterface.ee.h).

    The manifest has GCRootKindMap here, which belongs to GCMarkWithType: its 3 is Older.
    """

    Stack = 0
    Finalizer = 1
    Handle = 2
    Other = 3


class GCRootKind(OpenEnum):
    """What a collection marked from (manifest: GCRootKindMap; source: `ETW::GC_ROOT_KIND`, gc/env/gcenv.base.h)."""

    Stack = 0
    Finalizer = 1
    Handle = 2
    Older = 3
    SizedRef = 4
    Overflow = 5
    DependentHandle = 6
    NewFQ = 7
    Steal = 8
    BGC = 9
