"""Fields, enums and flags that several families of events share: of methods, exceptions, collections, modules.

Declares them; decides nothing.
"""

from __future__ import annotations

from enum import nonmember
from typing import Annotated

from clrevents.schema.event import struct
from clrevents.schema.flags import BitField, OpenEnum, OpenFlag
from clrevents.schema.types import Counted, Int32, UInt8, UInt16, UInt32, UInt64, UnicodeString, by


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


class OptimizationTier(OpenEnum):
    """How hard the JIT worked on a piece of code: bits 7-9 of MethodFlags, which the manifest's map lacks.

    Source: `PrepareCodeConfig::JitOptimizationTier`, vm/method.hpp. 6 and 7 are InstrumentedTier and
    InstrumentedTierOptimized there; the names here are those of the runtime's debugger interface.
    """

    Unknown = 0
    MinOptJitted = 1
    Optimized = 2
    QuickJitted = 3
    OptimizedTier1 = 4
    OptimizedTier1OSR = 5
    QuickJittedInstrumented = 6
    OptimizedTier1Instrumented = 7


class MethodExtent(OpenEnum):
    """The part of a method's code: hot (run frequently) or cold (the rest)."""

    Hot = 0
    Cold = 1


class MethodFlags(OpenFlag):
    """The kind of a method and of its code (manifest: MethodFlagsMap; tier and extent from the runtime source)."""

    Dynamic = 0x1
    Generic = 0x2
    HasSharedGenericCode = 0x4
    Jitted = 0x8
    JitHelper = 0x10
    ProfilerRejectedPrecompiledCode = 0x20
    ReadyToRunRejectedPrecompiledCode = 0x40

    # As a non-member, so that type checkers see what reading it gives.
    tier = nonmember(BitField(7, 3, OptimizationTier))
    extent = nonmember(BitField(28, 4, MethodExtent))


class JitAllocFlag(OpenFlag):
    """Alignment requested by the JIT (no map in the manifest; source: `CorJitAllocMemFlag`, inc/corjit.h)."""

    Code16ByteAligned = 0x1
    RoData16ByteAligned = 0x2
    Code32ByteAligned = 0x4
    RoData32ByteAligned = 0x8
    RoData64ByteAligned = 0x10


class TieredCompilationFlags(OpenFlag):
    """Settings of tiered compilation (manifest: TieredCompilationSettingsFlagsMap)."""

    QuickJit = 0x1
    QuickJitForLoops = 0x2
    TieredPGO = 0x4
    ReadyToRun = 0x8


@struct
class MethodFields:
    """Where a method's code is: the fields of all events about it."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodStartAddress: UInt64
    MethodSize: UInt32
    MethodToken: UInt32
    MethodFlags: Annotated[MethodFlags, UInt32]


@struct
class VerboseMethodFields(MethodFields):
    """The same, with the method's name."""

    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString


@struct
class ILToNativeMapFields:
    """Which native offset each IL offset of a method has."""

    MethodID: UInt64
    ReJITID: UInt64
    MethodExtent: Annotated[MethodExtent, UInt8]
    CountOfMapEntries: UInt16
    ILOffsets: Annotated[Counted[Int32], by("CountOfMapEntries")]
    NativeOffsets: Annotated[Counted[UInt32], by("CountOfMapEntries")]
    ClrInstanceID: UInt16


@struct
class ILVersionFields:
    """Adds ILVersionID."""

    ILVersionID: UInt64
