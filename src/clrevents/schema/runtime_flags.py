"""Enums and flags that several families of events share, of exceptions, collections, loading and the pool.

Declares them; decides nothing. Those of methods are in method_flags.py.
"""

from __future__ import annotations

from clrevents.schema.flags import OpenEnum, OpenFlag


class ExceptionThrownFlags(OpenFlag):
    """Properties of a thrown exception (manifest: ExceptionThrownFlagsMap; source: eventtracebase.h)."""

    HasInnerException = 0x1
    Nested = 0x2
    ReThrown = 0x4
    CorruptedState = 0x8
    CLSCompliant = 0x10


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


class AppDomainFlags(OpenFlag):
    """The kind of an application domain (manifest: AppDomainFlagsMap)."""

    Default = 0x1
    Executable = 0x2
    Shared = 0x4


class AssemblyFlags(OpenFlag):
    """The kind of an assembly (manifest: AssemblyFlagsMap, up to 0x8).

    Source: `LoaderStructs::AssemblyFlags`, inc/eventtracebase.h.
    """

    DomainNeutral = 0x1
    Dynamic = 0x2
    Native = 0x4
    Collectible = 0x8
    ReadyToRun = 0x10


class ModuleFlags(OpenFlag):
    """The kind of a module (manifest: ModuleFlagsMap; source: `ModuleFlags`, eventtracebase.h)."""

    DomainNeutral = 0x1
    Native = 0x2
    Dynamic = 0x4
    Manifest = 0x8
    IbcOptimized = 0x10
    ReadyToRunModule = 0x20
    PartialReadyToRunModule = 0x40


class ModuleRangeType(OpenFlag):
    """The kind of code or data in a range (manifest: ModuleRangeTypeMap)."""

    ColdRange = 0x4


class ThreadAdjustmentReason(OpenEnum):
    """Why the thread pool changes its target number of workers (manifest: ThreadAdjustmentReasonMap, up to 7).

    Source: `PortableThreadPool.HillClimbing.StateOrTransition`.
    """

    Warmup = 0
    Initializing = 1
    RandomMove = 2
    ClimbingMove = 3
    ChangePoint = 4
    Stabilizing = 5
    Starvation = 6
    ThreadTimedOut = 7
    CooperativeBlocking = 8
