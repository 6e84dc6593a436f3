"""Mono: compilation of methods."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Counted, Pointer, UInt8, UInt32, UInt64, UnicodeString, by


class MonoJitCodeBufferType(OpenEnum):
    """What code in a buffer is for (manifest: JitCodeBufferTypeMap, up to 6; source: `MonoProfilerCodeBufferType`)."""

    Method = 0
    MethodTrampoline = 1
    UnboxTrampoline = 2
    IMTTrampoline = 3
    GenericsTrampoline = 4
    SpecificTrampoline = 5
    Helper = 6
    Monitor = 7
    DelegateInvoke = 8
    ExceptionHandling = 9


@event(MONO, id=8, version=0, keywords=MonoKeyword.Jit, level=4)
class MonoProfilerJitBegin_V0:
    """Mono: the JIT starts compiling a method."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodToken: UInt32


@event(MONO, id=9, version=0, keywords=MonoKeyword.Jit, level=4)
class MonoProfilerJitFailed_V0:
    """Mono: the JIT failed to compile a method."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodToken: UInt32


@event(MONO, id=10, version=0, keywords=MonoKeyword.Jit, level=4)
class MonoProfilerJitDone_V0:
    """Mono: the JIT compiled a method."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodToken: UInt32


@struct
class MonoProfilerJitDoneValue:
    """One type argument."""

    Type: UInt8
    ClassID: UInt64


@event(MONO, id=10, version=1)
class MonoProfilerJitDone_V1(MonoProfilerJitDone_V0):
    """Mono: the JIT compiled a method. Adds its type arguments."""

    Count: UInt32
    Values: Annotated[Counted[MonoProfilerJitDoneValue], by("Count")]


@event(MONO, id=11, version=0, keywords=MonoKeyword.Jit, level=4)
class MonoProfilerJitChunkCreated_V0:
    """Mono: the JIT allocated a chunk of memory for code; its size is in bytes."""

    ChunkID: Pointer
    ChunkSize: UInt64


@event(MONO, id=12, version=0, keywords=MonoKeyword.Jit, level=4)
class MonoProfilerJitChunkDestroyed_V0:
    """Mono: the JIT freed a chunk of code memory."""

    ChunkID: Pointer


@event(MONO, id=13, version=0, keywords=MonoKeyword.Jit, level=4)
class MonoProfilerJitCodeBuffer_V0:
    """Mono: the JIT filled a buffer with code; its size in bytes, and the purpose of the code."""

    BufferID: Pointer
    BufferSize: UInt64
    BufferType: Annotated[MonoJitCodeBufferType, UInt8]


@event(MONO, id=62, version=0, keywords=MonoKeyword.Jit, level=5)
class MonoProfilerJitDoneVerbose_V0:
    """Mono: the JIT compiled a method, with its name."""

    MethodID: UInt64
    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString
