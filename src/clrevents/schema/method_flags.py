"""Fields, flags and enums that several families of method events share. Declares them; decides nothing."""

from enum import nonmember
from typing import Annotated

from clrevents.schema.event import struct
from clrevents.schema.flags import BitField, OpenEnum, OpenFlag
from clrevents.schema.types import Counted, Int32, UInt8, UInt16, UInt32, UInt64, UnicodeString, by


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
