"""Ranges of precompiled modules, and named checkpoints of startup."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.flags import OpenEnum, OpenFlag
from clrevents.schema.keywords import PrivateKeyword, RundownKeyword, RuntimeKeyword
from clrevents.schema.registry import PRIVATE, RUNDOWN, RUNTIME
from clrevents.schema.runtime_flags import ModuleRangeType
from clrevents.schema.types import Int64, UInt8, UInt16, UInt32, UInt64, UnicodeString

PERF_TRACK = EventGroup(RUNTIME, RuntimeKeyword.PerfTrack, level=4)
PERF_TRACK_PRIVATE = EventGroup(PRIVATE, PrivateKeyword.PerfTrackPrivate, level=4)


class PrvModuleRangeType(OpenFlag):
    """The kind of code or data in a range (manifest: ModuleRangeTypeMap; source: `ZapVirtualSectionType`)."""

    HotRange = 0x1
    WarmRange = 0x2
    ColdRange = 0x4
    HotColdSortedRange = 0x8


class ModuleRangeIBCType(OpenFlag):
    """Whether profile data ordered a range (manifest: ModuleRangeIBCTypeMap; source: `ZapVirtualSectionType`)."""

    IBCUnprofiledSection = 0x1
    IBCProfiledSection = 0x2


class ModuleRangeSectionType(OpenEnum):
    """The module section that a range is in (manifest: ModuleRangeSectionTypeMap; source: the same)."""

    ModuleSection = 1
    EETableSection = 2
    WriteDataSection = 3
    WriteableDataSection = 4
    DataSection = 5
    RVAStaticsSection = 6
    EEDataSection = 7
    DelayLoadInfoTableEagerSection = 8
    DelayLoadInfoTableSection = 9
    EEReadonlyData = 10
    ReadonlyData = 11
    ClassSection = 12
    CrossDomainInfoSection = 13
    MethodDescSection = 14
    MethodDescWriteableSection = 15
    ExceptionSection = 16
    InstrumentSection = 17
    VirtualImportThunkSection = 18
    ExternalMethodThunkSection = 19
    HelperTableSection = 20
    MethodPrecodeWriteableSection = 21
    MethodPrecodeWriteSection = 22
    MethodPrecodeSection = 23
    Win32ResourcesSection = 24
    HeaderSection = 25
    MetadataSection = 26
    DelayLoadInfoSection = 27
    ImportTableSection = 28
    CodeSection = 29
    CodeHeaderSection = 30
    CodeManagerSection = 31
    UnwindDataSection = 32
    RuntimeFunctionSection = 33
    StubsSection = 34
    StubDispatchDataSection = 35
    ExternalMethodDataSection = 36
    DelayLoadInfoDelayListSection = 37
    ReadonlySharedSection = 38
    ReadonlySection = 39
    ILSection = 40
    GCInfoSection = 41
    ILMetadataSection = 42
    ResourcesSection = 43
    CompressedMapsSection = 44
    DebugSection = 45
    BaseRelocsSection = 46


@struct
class ModuleRangeFields:
    """A range of a module."""

    ClrInstanceID: UInt16
    ModuleID: UInt64
    RangeBegin: UInt32
    RangeSize: UInt32
    RangeType: Annotated[ModuleRangeType, UInt8]


@event(PERF_TRACK, id=158, version=0)
class ModuleRangeLoad_V0(ModuleRangeFields):
    """A range of a precompiled module, as offset and size in bytes."""


@event(PERF_TRACK, id=300, version=0, aliases=("ExecutionCheckpoint/ExecutionCheckpoint",))
class ExecutionCheckpoint_V0:
    """A named checkpoint of runtime startup; Timestamp in ticks of the trace's clock."""

    ClrInstanceID: UInt16
    Name: UnicodeString
    Timestamp: Int64


RANGES = EventGroup(RUNDOWN, RundownKeyword.PerfTrackRundown, level=4, fields=(ModuleRangeFields,))
RANGES.event(
    160,
    "ModuleRangeDCStart",
    "A range of a precompiled module that was loaded when the session started, as offset and size in bytes.",
)
RANGES.event(
    161,
    "ModuleRangeDCEnd",
    "A range of a precompiled module that was loaded when the session ended, as offset and size in bytes.",
)


@event(RUNDOWN, id=300, version=0, aliases=("ExecutionCheckpointRundown/ExecutionCheckpointDCEnd",), level=4)
class ExecutionCheckpointDCEnd_V0:
    """A named checkpoint of runtime startup, listed in the rundown; Timestamp in ticks of the trace's clock."""

    ClrInstanceID: UInt16
    Name: UnicodeString
    Timestamp: Int64


@event(PERF_TRACK_PRIVATE, id=158, version=0, aliases=("ClrPerfTrack/ModuleRangeLoad",))
class ModuleRangeLoadPrivate_V0:
    """A range of a precompiled module, with its section and whether profile data ordered it."""

    ClrInstanceID: UInt16
    ModuleID: UInt64
    RangeBegin: UInt32
    RangeSize: UInt32
    RangeType: Annotated[PrvModuleRangeType, UInt8]
    IBCType: Annotated[ModuleRangeIBCType, UInt8]
    SectionType: Annotated[ModuleRangeSectionType, UInt16]
