"""Enums that several families of GC events share. Declares them; decides nothing."""

from clrevents.schema.flags import OpenEnum


class GCAllocationKind(OpenEnum):
    """Which part of the heap an allocation went to (manifest: GCAllocationKindMap)."""

    Small = 0
    Large = 1
    Pinned = 2


class GCHandleKind(OpenEnum):
    """What a GC handle does (manifest: GCHandleKindMap)."""

    WeakShort = 0
    WeakLong = 1
    Strong = 2
    Pinned = 3
    Variable = 4
    RefCounted = 5
    Dependent = 6
    AsyncPinned = 7
    SizedRef = 8


class GCRootKind(OpenEnum):
    """Where a root was found (manifest: GCRootKindMap)."""

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
