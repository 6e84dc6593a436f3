"""Asynchronous methods as .NET 11 and later run them: the sub-events of the async profiler's buffers.

A dispatcher runs one context after the other: it resumes a continuation, which runs until it suspends or completes.
Addresses are in native code: of runtime-async methods where they go on, of state machines where `MoveNext` begins.
"""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.registry import ASYNC
from clrevents.schema.types import Bytes, Counted, Delta, UInt8, UInt32, UInt64, VarInt, VarUInt, by


@event(ASYNC, id=1, version=1, level=4)
class AsyncEvents_V1:
    """A thread's buffer was written; its sub-events are events of their own, with their own times."""

    Length: UInt32
    Buffer: Annotated[Bytes, by("Length")]


@event(ASYNC, id=1000, version=1, level=4)
class AsyncBuffer_V1:
    """A buffer begins, at the time of its first sub-event: whose it is, and how much it holds. Times are in ticks."""

    BufferVersion: UInt8
    BufferSize: UInt32
    ContextId: UInt32
    OSThreadId: UInt64
    EventCount: UInt32
    StartTimestamp: UInt64
    EndTimestamp: UInt64


@event(ASYNC, id=1001, version=1, keywords=0x1, level=4)
class CreateRuntimeAsyncContext_V1:
    """A chain of runtime-async methods suspended for the first time: from now on a dispatcher runs it."""

    ParentDispatcherId: VarUInt
    DispatcherId: VarUInt


@event(ASYNC, id=1002, version=1, keywords=0x2, level=4)
class ResumeRuntimeAsyncContext_V1:
    """A dispatcher resumed a chain of runtime-async methods on this thread."""

    DispatcherId: VarUInt


@event(ASYNC, id=1003, version=1, keywords=0x4, level=4)
class SuspendRuntimeAsyncContext_V1:
    """The running chain of runtime-async methods suspended again."""


@event(ASYNC, id=1004, version=1, keywords=0x8, level=4)
class CompleteRuntimeAsyncContext_V1:
    """The running chain of runtime-async methods has completed."""


@event(ASYNC, id=1005, version=1, keywords=0x10, level=4)
class UnwindRuntimeAsyncException_V1:
    """An exception left so many runtime-async methods."""

    UnwoundFrames: VarUInt


@struct
class RuntimeAsyncFrame:
    """A method that awaits, by an address inside it; 0 is a step without a method."""

    Address: Delta


@struct
class StateMachineAsyncFrame:
    """A method that awaits, by the address of its `MoveNext`, and which await it is at."""

    Address: Delta
    State: VarInt


@event(ASYNC, id=1006, version=1, keywords=0x20, level=4)
class CreateRuntimeAsyncCallstack_V1:
    """Who awaits whom in a chain that suspended for the first time, innermost first; at most 255 frames."""

    CallstackId: UInt8
    ContinuationIndex: UInt8
    FrameCount: UInt8
    ParentDispatcherId: VarUInt
    DispatcherId: VarUInt
    Frames: Annotated[Counted[RuntimeAsyncFrame], by("FrameCount")]


@event(ASYNC, id=1007, version=1, keywords=0x40, level=4)
class ResumeRuntimeAsyncCallstack_V1:
    """Who awaits whom in a chain that goes on, innermost first; at most 255 frames."""

    CallstackId: UInt8
    ContinuationIndex: UInt8
    FrameCount: UInt8
    DispatcherId: VarUInt
    Frames: Annotated[Counted[RuntimeAsyncFrame], by("FrameCount")]


@event(ASYNC, id=1008, version=1, keywords=0x80, level=4)
class SuspendRuntimeAsyncCallstack_V1:
    """Who awaits whom in a chain that suspended, innermost first; at most 255 frames."""

    CallstackId: UInt8
    ContinuationIndex: UInt8
    FrameCount: UInt8
    DispatcherId: VarUInt
    Frames: Annotated[Counted[RuntimeAsyncFrame], by("FrameCount")]


@event(ASYNC, id=1009, version=1, keywords=0x100, level=4)
class ResumeRuntimeAsyncMethod_V1:
    """The next method of the running chain of runtime-async methods goes on."""


@event(ASYNC, id=1010, version=1, keywords=0x200, level=4)
class CompleteRuntimeAsyncMethod_V1:
    """The running runtime-async method has completed."""


@event(ASYNC, id=1011, version=1, keywords=0x400, level=4)
class CreateStateMachineAsyncContext_V1:
    """A chain of async state machines suspended for the first time: from now on a dispatcher runs it."""

    ParentDispatcherId: VarUInt
    DispatcherId: VarUInt


@event(ASYNC, id=1012, version=1, keywords=0x800, level=4)
class ResumeStateMachineAsyncContext_V1:
    """A dispatcher resumed a chain of async state machines on this thread."""

    DispatcherId: VarUInt


@event(ASYNC, id=1013, version=1, keywords=0x1000, level=4)
class SuspendStateMachineAsyncContext_V1:
    """The running chain of async state machines suspended again."""


@event(ASYNC, id=1014, version=1, keywords=0x2000, level=4)
class CompleteStateMachineAsyncContext_V1:
    """The running chain of async state machines has completed."""


@event(ASYNC, id=1015, version=1, keywords=0x4000, level=4)
class UnwindStateMachineAsyncException_V1:
    """An exception left so many async state machines."""

    UnwoundFrames: VarUInt


@event(ASYNC, id=1016, version=1, keywords=0x8000, level=4)
class ResumeStateMachineAsyncCallstack_V1:
    """Who awaits whom in a chain that goes on, innermost first; at most 255 frames."""

    CallstackId: UInt8
    ContinuationIndex: UInt8
    FrameCount: UInt8
    DispatcherId: VarUInt
    Frames: Annotated[Counted[StateMachineAsyncFrame], by("FrameCount")]


@event(ASYNC, id=1017, version=1, keywords=0x10000, level=4)
class ResumeStateMachineAsyncMethod_V1:
    """The next method of the running chain of async state machines goes on."""


@event(ASYNC, id=1018, version=1, keywords=0x20000, level=4)
class CompleteStateMachineAsyncMethod_V1:
    """The running async state machine has completed."""


@event(ASYNC, id=1019, version=1, keywords=0x8000, level=4)
class AppendStateMachineAsyncCallstack_V1:
    """More who await, because they began to after the chain went on: they follow the frames known of its dispatcher."""

    CallstackId: UInt8
    ContinuationIndex: UInt8
    FrameCount: UInt8
    DispatcherId: VarUInt
    Frames: Annotated[Counted[StateMachineAsyncFrame], by("FrameCount")]


@event(ASYNC, id=1020, version=1, level=4)
class ResetAsyncThreadContext_V1:
    """What ran on this thread is no longer so; the contexts that are active follow as if they resumed."""


@event(ASYNC, id=1021, version=1, level=4)
class ResetAsyncContinuationWrapperIndex_V1:
    """The numbers of the wrappers around runtime-async frames start again at 0 on this thread."""


@struct
class AsyncEventForm:
    """A kind of sub-event, its version, and how many bytes the length of its payload takes (0: it has none)."""

    EventId: UInt8
    EventVersion: UInt8
    LengthSize: UInt8


@event(ASYNC, id=1022, version=1, level=4)
class AsyncProfilerMetadata_V1:
    """The clock, the size of buffers, and the kinds of sub-events that this runtime writes."""

    Frequency: VarUInt
    Timestamp: VarUInt
    UtcFileTime: VarUInt
    BufferSize: VarUInt
    WrapperCount: UInt8
    FormCount: UInt8
    Forms: Annotated[Counted[AsyncEventForm], by("FormCount")]


@event(ASYNC, id=1023, version=1, level=4)
class AsyncProfilerSyncClock_V1:
    """The clock, and the same moment as a date (100 ns since 1601)."""

    Timestamp: VarUInt
    UtcFileTime: VarUInt
