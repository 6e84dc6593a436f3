"""The keywords that enable events, one enum per provider (manifest: `keywords`, without the suffix `Keyword`).

The manifest has no event sources; what the base library declares of its own stands here too (source: the nested class
`Keywords` of each). The sample profiler has no keywords.
"""

from collections.abc import Mapping
from typing import Final

from clrevents.schema.flags import OpenFlag
from clrevents.schema.registry import MONO, PRIVATE, RUNDOWN, RUNTIME, STRESS, TPL


class RuntimeKeyword(OpenFlag):
    """Keywords of Microsoft-Windows-DotNETRuntime."""

    GC = 0x1
    GCHandle = 0x2
    AssemblyLoader = 0x4
    Loader = 0x8
    Jit = 0x10
    NGen = 0x20
    StartEnumeration = 0x40
    EndEnumeration = 0x80
    Security = 0x400
    AppDomainResourceManagement = 0x800
    JitTracing = 0x1000
    Interop = 0x2000
    Contention = 0x4000
    Exception = 0x8000
    Threading = 0x10000
    JittedMethodILToNativeMap = 0x20000
    OverrideAndSuppressNGenEvents = 0x40000
    Type = 0x80000
    GCHeapDump = 0x100000
    GCSampledObjectAllocationHigh = 0x200000
    GCHeapSurvivalAndMovement = 0x400000
    ManagedHeapCollect = 0x800000
    GCHeapAndTypeNames = 0x1000000
    GCSampledObjectAllocationLow = 0x2000000
    PerfTrack = 0x20000000
    Stack = 0x40000000
    ThreadTransfer = 0x80000000
    Debugger = 0x100000000
    Monitoring = 0x200000000
    CodeSymbols = 0x400000000
    EventSource = 0x800000000
    Compilation = 0x1000000000
    CompilationDiagnostic = 0x2000000000
    MethodDiagnostic = 0x4000000000
    TypeDiagnostic = 0x8000000000
    JitInstrumentationData = 0x10000000000
    Profiler = 0x20000000000
    WaitHandle = 0x40000000000
    AllocationSampling = 0x80000000000


class RundownKeyword(OpenFlag):
    """Keywords of Microsoft-Windows-DotNETRuntimeRundown."""

    GCRundown = 0x1
    LoaderRundown = 0x8
    JitRundown = 0x10
    NGenRundown = 0x20
    StartRundown = 0x40
    EndRundown = 0x100
    AppDomainResourceManagementRundown = 0x800
    Threading = 0x10000
    JittedMethodILToNativeMapRundown = 0x20000
    OverrideAndSuppressNGenEventsRundown = 0x40000
    PerfTrackRundown = 0x20000000
    Stack = 0x40000000
    Compilation = 0x1000000000


class PrivateKeyword(OpenFlag):
    """Keywords of Microsoft-Windows-DotNETRuntimePrivate."""

    GCPrivate = 0x1
    Binding = 0x2
    NGenForceRestore = 0x4
    PrivateFusion = 0x8
    LoaderHeapPrivate = 0x10
    SecurityPrivate = 0x400
    InteropPrivate = 0x2000
    GCHandlePrivate = 0x4000
    MulticoreJitPrivate = 0x20000
    JittedMethodRichDebugInfo = 0x40000
    PerfTrackPrivate = 0x20000000
    Stack = 0x40000000
    Startup = 0x80000000
    DynamicTypeUsage = 0x20


class StressKeyword(OpenFlag):
    """Keywords of Microsoft-Windows-DotNETRuntimeStress."""

    Stack = 0x40000000


class MonoKeyword(OpenFlag):
    """Keywords of Microsoft-DotNETRuntimeMonoProfiler."""

    GC = 0x1
    GCHandle = 0x2
    Loader = 0x8
    Jit = 0x10
    Contention = 0x4000
    Exception = 0x8000
    Threading = 0x10000
    GCHeapDump = 0x100000
    GCAllocation = 0x200000
    GCMoves = 0x400000
    GCHeapCollect = 0x800000
    GCFinalization = 0x1000000
    GCResize = 0x2000000
    GCRoot = 0x4000000
    GCHeapDumpVTableClassReference = 0x8000000
    MethodTracing = 0x20000000
    TypeLoading = 0x8000000000
    Monitor = 0x10000000000


class TplKeyword(OpenFlag):
    """Keywords of System.Threading.Tasks.TplEventSource (source: `TplEventSource.Keywords`)."""

    TaskTransfer = 0x1
    Tasks = 0x2
    Parallel = 0x4
    AsyncCausalityOperation = 0x8
    AsyncCausalityRelation = 0x10
    AsyncCausalitySynchronousWork = 0x20
    TaskStops = 0x40
    TasksFlowActivityIds = 0x80
    AsyncMethod = 0x100
    TasksSetActivityIds = 0x10000
    Debug = 0x20000
    DebugActivityId = 0x40000


KEYWORDS: Final[Mapping[str, type[OpenFlag]]] = {
    RUNTIME: RuntimeKeyword,
    RUNDOWN: RundownKeyword,
    STRESS: StressKeyword,
    PRIVATE: PrivateKeyword,
    MONO: MonoKeyword,
    TPL: TplKeyword,
}
"""The enum of each provider that has one, by the provider's full name."""

SESSION_BITS: Final = 0xF << 44
"""Bits that event sources add to the keywords of all their events; they say nothing about the events."""


def keyword_names(provider: str, mask: int) -> tuple[str, ...]:
    """The names of a mask's bits, lowest first; a bit without a name as hex: `("GC", "0x200")`."""
    enum = KEYWORDS.get(provider)
    names = {} if enum is None else {int(member): member.name for member in enum}
    bits = (1 << place for place in range(mask.bit_length()))
    return tuple(names.get(bit) or f"{bit:#x}" for bit in bits if mask & bit)
