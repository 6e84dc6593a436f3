"""Mono: method calls and their compilation, exceptions, monitors and threads."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Counted, Pointer, UInt8, UInt32, UInt64, UnicodeString, by


class MonoExceptionClauseType(OpenEnum):
    """The kind of an exception handler clause (source: `MonoExceptionEnum`, mono/metadata/metadata.h).

    The manifest's ExceptionClauseTypeMap calls 3 Fault; Mono writes 4.
    """

    None_ = 0
    Filter = 1
    Finally = 2
    Fault = 4


@struct
class MonoMethodFields:
    """A method."""

    MethodID: UInt64


CALLS = EventGroup(MONO, MonoKeyword.MethodTracing, level=4, fields=(MonoMethodFields,))
CALLS.event(29, "MonoProfilerMethodEnter", "Mono: a method was entered.")
CALLS.event(30, "MonoProfilerMethodLeave", "Mono: a method returned.")
CALLS.event(31, "MonoProfilerMethodTailCall", "Mono: a method was left by a tail call.")
CALLS.event(32, "MonoProfilerMethodExceptionLeave", "Mono: a method was left by an exception.")
CALLS.event(33, "MonoProfilerMethodFree", "Mono: a method was freed.")
CALLS.event(34, "MonoProfilerMethodBeginInvoke", "Mono: the runtime starts invoking a method.")
CALLS.event(35, "MonoProfilerMethodEndInvoke", "Mono: the runtime finished invoking a method.")


@event(MONO, id=36, version=0, keywords=MonoKeyword.Exception, level=4)
class MonoProfilerExceptionThrow_V0:
    """Mono: an exception was thrown."""

    TypeID: UInt64
    ObjectID: Pointer


@event(MONO, id=37, version=0, keywords=MonoKeyword.Exception, level=4)
class MonoProfilerExceptionClause_V0:
    """Mono: an exception handler clause runs."""

    ClauseType: Annotated[MonoExceptionClauseType, UInt8]
    ClauseIdx: UInt32
    MethodID: UInt64
    TypeID: UInt64
    ObjectID: Pointer


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


@struct
class MonoJitFields:
    """A method that is compiled, and its token."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodToken: UInt32


JIT = EventGroup(MONO, MonoKeyword.Jit, level=4, fields=(MonoJitFields,))
JIT.event(8, "MonoProfilerJitBegin", "Mono: the JIT starts compiling a method.")
JIT.event(9, "MonoProfilerJitFailed", "Mono: the JIT failed to compile a method.")


@event(MONO, id=10, version=0, keywords=MonoKeyword.Jit, level=4)
class MonoProfilerJitDone_V0(MonoJitFields):
    """Mono: the JIT compiled a method."""


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


@struct
class MonoMonitorFields:
    """An object whose monitor a thread waits for."""

    ObjectID: Pointer


MONITORS = EventGroup(MONO, MonoKeyword.Monitor, level=4, fields=(MonoMonitorFields,))
MONITORS._replace(keywords=MonoKeyword.Monitor | MonoKeyword.Contention).event(
    54, "MonoProfilerMonitorContention", "Mono: a thread starts waiting for a monitor held by another thread."
)
MONITORS.event(55, "MonoProfilerMonitorFailed", "Mono: a thread gave up waiting for a monitor.")
MONITORS.event(56, "MonoProfilerMonitorAcquired", "Mono: a thread acquired the monitor it was waiting for.")


@struct
class MonoThreadFields:
    """A thread."""

    ThreadID: UInt64


THREADS = EventGroup(MONO, MonoKeyword.Threading, level=4, fields=(MonoThreadFields,))
THREADS.event(57, "MonoProfilerThreadStarted", "Mono: a thread started.")


THREADS._replace(level=5).event(58, "MonoProfilerThreadStopping", "Mono: a thread is about to end.")
THREADS.event(59, "MonoProfilerThreadStopped", "Mono: a thread ended.")
THREADS.event(60, "MonoProfilerThreadExited", "Mono: a thread has exited.")


@event(MONO, id=61, version=0, keywords=MonoKeyword.Threading, level=5)
class MonoProfilerThreadName_V0:
    """Mono: a thread was given a name."""

    ThreadID: UInt64
    ThreadName: UnicodeString
