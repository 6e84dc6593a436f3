"""Results of the JIT: inlining, tail calls, IL-to-native maps, profile data."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import ILToNativeMapFields, ILVersionFields
from clrevents.schema.types import AnsiString, Boolean, Bytes, UInt16, UInt32, UInt64, UnicodeString, by

JIT_TRACING = EventGroup(RUNTIME, RuntimeKeyword.JitTracing, level=5)
JIT_INSTRUMENTATION_DATA = EventGroup(RUNTIME, RuntimeKeyword.JitInstrumentationData, level=4)


class TailCallType(OpenEnum):
    """How a tail call was compiled (manifest: TailCallTypeMap; source: `CorInfoTailCall`, inc/corinfo.h)."""

    OptimizedTailCall = 0
    RecursiveLoop = 1
    HelperAssistedTailCall = 2


@event(JIT_TRACING, id=185, version=0, aliases=("Method/InliningSucceeded",))
class MethodJitInliningSucceeded_V0:
    """The JIT inlined a call."""

    MethodBeingCompiledNamespace: UnicodeString
    MethodBeingCompiledName: UnicodeString
    MethodBeingCompiledNameSignature: UnicodeString
    InlinerNamespace: UnicodeString
    InlinerName: UnicodeString
    InlinerNameSignature: UnicodeString
    InlineeNamespace: UnicodeString
    InlineeName: UnicodeString
    InlineeNameSignature: UnicodeString
    ClrInstanceID: UInt16


@event(JIT_TRACING, id=186, version=0, aliases=("Method/InliningFailedAnsi",))
class MethodJitInliningFailedAnsi_V0:
    """The JIT did not inline a call. Superseded by MethodJitInliningFailed."""

    MethodBeingCompiledNamespace: UnicodeString
    MethodBeingCompiledName: UnicodeString
    MethodBeingCompiledNameSignature: UnicodeString
    InlinerNamespace: UnicodeString
    InlinerName: UnicodeString
    InlinerNameSignature: UnicodeString
    InlineeNamespace: UnicodeString
    InlineeName: UnicodeString
    InlineeNameSignature: UnicodeString
    FailAlways: Boolean
    FailReason: AnsiString
    ClrInstanceID: UInt16


@event(JIT_TRACING, id=188, version=0, aliases=("Method/TailCallSucceeded",))
class MethodJitTailCallSucceeded_V0:
    """The JIT compiled a call as a tail call."""

    MethodBeingCompiledNamespace: UnicodeString
    MethodBeingCompiledName: UnicodeString
    MethodBeingCompiledNameSignature: UnicodeString
    CallerNamespace: UnicodeString
    CallerName: UnicodeString
    CallerNameSignature: UnicodeString
    CalleeNamespace: UnicodeString
    CalleeName: UnicodeString
    CalleeNameSignature: UnicodeString
    TailPrefix: Boolean
    TailCallType: Annotated[TailCallType, UInt32]
    ClrInstanceID: UInt16


@event(JIT_TRACING, id=189, version=0, aliases=("Method/TailCallFailedAnsi",))
class MethodJitTailCallFailedAnsi_V0:
    """The JIT did not compile a call as a tail call. Superseded by MethodJitTailCallFailed."""

    MethodBeingCompiledNamespace: UnicodeString
    MethodBeingCompiledName: UnicodeString
    MethodBeingCompiledNameSignature: UnicodeString
    CallerNamespace: UnicodeString
    CallerName: UnicodeString
    CallerNameSignature: UnicodeString
    CalleeNamespace: UnicodeString
    CalleeName: UnicodeString
    CalleeNameSignature: UnicodeString
    TailPrefix: Boolean
    FailReason: AnsiString
    ClrInstanceID: UInt16


NATIVE_MAPS = EventGroup(
    RUNTIME,
    RuntimeKeyword.JittedMethodILToNativeMap,
    level=5,
    task="Method",
    fields=(ILToNativeMapFields, ILVersionFields),
)
NATIVE_MAPS.event(
    190, "MethodILToNativeMap", "IL-to-native map of a method. IL offsets -1, -2, -3: no mapping, prolog, epilog."
)


@event(JIT_TRACING, id=191, version=0, aliases=("Method/TailCallFailed",))
class MethodJitTailCallFailed_V0:
    """The JIT did not compile a call as a tail call, and why."""

    MethodBeingCompiledNamespace: UnicodeString
    MethodBeingCompiledName: UnicodeString
    MethodBeingCompiledNameSignature: UnicodeString
    CallerNamespace: UnicodeString
    CallerName: UnicodeString
    CallerNameSignature: UnicodeString
    CalleeNamespace: UnicodeString
    CalleeName: UnicodeString
    CalleeNameSignature: UnicodeString
    TailPrefix: Boolean
    FailReason: UnicodeString
    ClrInstanceID: UInt16


@event(JIT_TRACING, id=192, version=0, aliases=("Method/InliningFailed",))
class MethodJitInliningFailed_V0:
    """The JIT did not inline a call, and why. FailAlways: the callee is never inlined."""

    MethodBeingCompiledNamespace: UnicodeString
    MethodBeingCompiledName: UnicodeString
    MethodBeingCompiledNameSignature: UnicodeString
    InlinerNamespace: UnicodeString
    InlinerName: UnicodeString
    InlinerNameSignature: UnicodeString
    InlineeNamespace: UnicodeString
    InlineeName: UnicodeString
    InlineeNameSignature: UnicodeString
    FailAlways: Boolean
    FailReason: UnicodeString
    ClrInstanceID: UInt16


@event(JIT_INSTRUMENTATION_DATA, id=297, version=0, aliases=("JitInstrumentationData/InstrumentationData",))
class JitInstrumentationData_V0:
    """Profile data of instrumented code, in chunks numbered from 0 by MethodFlags; bit 31 marks the last."""

    ClrInstanceID: UInt16
    MethodFlags: UInt32
    DataSize: UInt32
    MethodID: UInt64
    Data: Annotated[Bytes, by("DataSize")]


@event(JIT_INSTRUMENTATION_DATA, id=298, version=0, aliases=("JitInstrumentationDataVerbose/InstrumentationData",))
class JitInstrumentationDataVerbose_V0:
    """Profile data of instrumented code, in chunks numbered from 0 by MethodFlags; bit 31 marks the last."""

    ClrInstanceID: UInt16
    MethodFlags: UInt32
    DataSize: UInt32
    MethodID: UInt64
    ModuleID: UInt64
    MethodToken: UInt32
    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString
    Data: Annotated[Bytes, by("DataSize")]
