"""Binding of assemblies, phases of loading, methods, loader heaps, and COM references, from the private provider."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.flags import OpenFlag
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import (
    AnsiString,
    Boolean,
    Bytes,
    Counted,
    Int32,
    Pointer,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UnicodeString,
    by,
)

BINDING = EventGroup(PRIVATE, PrivateKeyword.Binding, level=4)
MULTICORE_JIT_PRIVATE = EventGroup(PRIVATE, PrivateKeyword.MulticoreJitPrivate, level=4)
RICH_DEBUG_INFO = EventGroup(PRIVATE, PrivateKeyword.JittedMethodRichDebugInfo, level=4)
LOADER_HEAP = EventGroup(PRIVATE, PrivateKeyword.LoaderHeapPrivate, level=5)
INTEROP = EventGroup(PRIVATE, PrivateKeyword.InteropPrivate, level=5)


@struct
class AssemblyBindingFields:
    """What each phase of loading and binding an assembly says."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


PHASES = BINDING._replace(task="Binding", fields=(AssemblyBindingFields,))
PHASES.span(159, "BindingPolicyPhaseStart", "the policy phase of an assembly bind")
PHASES.span(161, "BindingNgenPhaseStart", "the native image phase of an assembly bind")
PHASES.event(
    163,
    "BindingLookupAndProbingPhaseStart",
    "Start of the file lookup and probing phase of an assembly bind.",
    alias="Binding/LoopupAndProbingPhaseStart",
)
PHASES.event(164, "BindingLookupAndProbingPhaseEnd", "End of the file lookup and probing phase of an assembly bind.")
PHASES.span(165, "LoaderPhaseStart", "the loader phase of an assembly load")
PHASES.span(167, "BindingPhaseStart", "the binding phase of an assembly load")
PHASES.span(169, "BindingDownloadPhaseStart", "the download phase of an assembly bind")
PHASES.span(171, "LoaderAssemblyInitPhaseStart", "the initialization phase of an assembly load")
PHASES.span(173, "LoaderMappingPhaseStart", "the mapping phase of an assembly load")
PHASES.event(
    175,
    "LoaderDeliverEventsPhaseStart",
    "Start of the phase of an assembly load that notifies debuggers and profilers.",
    alias="Binding/LoaderDeliverEventPhaseStart",
)
PHASES.event(
    176,
    "LoaderDeliverEventsPhaseEnd",
    "End of the phase of an assembly load that notifies debuggers and profilers.",
)


@event(PRIVATE, id=188, version=0, aliases=("NgenBinder/NgenBind",), keywords=PrivateKeyword.PrivateFusion, level=4)
class NgenBindEvent_V0:
    """Why a native image was used or rejected for an assembly."""

    ClrInstanceID: UInt16
    BindingID: UInt64
    ReasonCode: UInt32
    AssemblyName: UnicodeString


@event(BINDING, id=196, version=0, aliases=("Binding/FusionMessage",))
class FusionMessageEvent_V0:
    """A line of the assembly binding log."""

    ClrInstanceID: UInt16
    Prepend: Boolean
    Message: UnicodeString


@event(BINDING, id=197, version=0)
class FusionErrorCodeEvent_V0:
    """An error code of assembly binding, and its category."""

    ClrInstanceID: UInt16
    Category: UInt32
    ErrorCode: UInt32


class RichDebugSource(OpenFlag):
    """Why the JIT recorded where the code of an IL offset is."""

    SequencePoint = 0x1
    StackEmpty = 0x2
    CallSite = 0x4
    NativeEndOffsetUnknown = 0x8
    CallInstruction = 0x10


@struct
class RichInlineNode:
    """A method of an inline tree; Child and Sibling are indexes of other nodes, 0 for none.

    The first node is the compiled method itself. ILOffset is that of the call in its parent, -1 for the first. The JIT
    leaves out calls that it did not inline, and with them what they lead to: not every node is linked.
    """

    Method: Pointer
    ILOffset: Int32
    Child: UInt32
    Sibling: UInt32


@struct
class RichDebugMapping:
    """Where the native code of an IL offset begins; Inlinee is the index of the method's node in the inline tree."""

    ILOffset: Int32
    Inlinee: UInt32
    NativeOffset: UInt32
    Source: Annotated[RichDebugSource, UInt8]


@struct
class RichDebugInfoHead:
    """What each event about a method's rich debug information begins with."""

    ClrInstanceID: UInt16
    MethodID: UInt64
    ReJITID: UInt64
    ILVersionID: UInt64
    ChunkIndex: UInt32
    DataSize: UInt32


@struct
class JittedMethodRichDebugInfoPiece(RichDebugInfoHead):
    """A piece of what does not fit into one event: 40,000 bytes, the last piece has the rest."""

    Data: Annotated[Bytes, by("DataSize")]


@event(RICH_DEBUG_INFO, id=189, version=0, otherwise=JittedMethodRichDebugInfoPiece)
class JittedMethodRichDebugInfo_V0(RichDebugInfoHead):
    """The inline tree and the native-to-IL mapping of a jitted method; bit 31 of ChunkIndex marks the last event."""

    InlineTreeCount: UInt32
    MappingCount: UInt32
    InlineTree: Annotated[Counted[RichInlineNode], by("InlineTreeCount")]
    Mappings: Annotated[Counted[RichDebugMapping], by("MappingCount")]


@event(MULTICORE_JIT_PRIVATE, id=201, version=0, aliases=("ClrMulticoreJit/Common",))
class MulticoreJit_V0:
    """A step of multicore JIT, with strings and numbers whose meaning depends on the step."""

    ClrInstanceID: UInt16
    String1: UnicodeString
    String2: UnicodeString
    Int1: Int32
    Int2: Int32
    Int3: Int32


@event(MULTICORE_JIT_PRIVATE, id=202, version=0, aliases=("ClrMulticoreJit/MethodCodeReturned",))
class MulticoreJitMethodCodeReturned_V0:
    """Multicore JIT returned code that it had compiled before the first call."""

    ClrInstanceID: UInt16
    ModuleID: UInt64
    MethodID: UInt64


@event(PRIVATE, id=191, version=0, level=1)
class FailFast_V0:
    """The process terminates itself (fail fast): message, location and exit codes."""

    FailFastUserMessage: UnicodeString
    FailedEIP: Pointer
    OSExitCode: UInt32
    ClrExitCode: UInt32
    ClrInstanceID: UInt16


@event(LOADER_HEAP, id=310, version=0, aliases=("LoaderHeap/AllocRequest",))
class AllocRequest_V0:
    """Memory was requested from a loader heap; RequestSize in bytes."""

    LoaderHeapPtr: Pointer
    MemoryAddress: Pointer
    RequestSize: UInt32
    Unused1: UInt32
    Unused2: UInt64
    ClrInstanceID: UInt16


@event(INTEROP, id=193, version=0, aliases=("GC/CCWRefCountChangeAnsi",))
class CCWRefCountChangeAnsi_V0:
    """The COM reference count of a managed object changed; older form with ANSI strings."""

    HandleID: Pointer
    ObjectID: Pointer
    COMInterfacePointer: Pointer
    NewRefCount: UInt32
    AppDomainID: UInt64
    ClassName: AnsiString
    NameSpace: AnsiString
    Operation: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=200, version=0, aliases=("GC/CCWRefCountChange",), keywords=PrivateKeyword.InteropPrivate, level=5)
class CCWRefCountChange_V0:
    """The COM reference count of a managed object changed, and by which operation."""

    HandleID: Pointer
    ObjectID: Pointer
    COMInterfacePointer: Pointer
    NewRefCount: UInt32
    AppDomainID: UInt64
    ClassName: UnicodeString
    NameSpace: UnicodeString
    Operation: UnicodeString
    ClrInstanceID: UInt16
