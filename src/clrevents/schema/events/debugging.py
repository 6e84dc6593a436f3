"""The runtime's debugger support, its stress log, and stacks as separate events, as in ETW.

EventPipe stores stacks in its blocks and never sends these. The manifest gives Stack two addresses; an EventPipe writer
would write one.
"""

from clrevents.schema.event import EventGroup, InstanceFields, event, extended, struct
from clrevents.schema.keywords import PrivateKeyword, RundownKeyword, RuntimeKeyword, StressKeyword
from clrevents.schema.registry import PRIVATE, RUNDOWN, RUNTIME, STRESS
from clrevents.schema.types import AnsiString, Pointer, UInt8, UInt16, UInt32

DEBUGGER = EventGroup(RUNTIME, RuntimeKeyword.Debugger, level=4)
DEBUGGER.event(240, "DebugIPCEventStart", "The runtime starts handling a debugger request.")
DEBUGGER.event(241, "DebugIPCEventEnd", "The runtime finished handling a debugger request.")
DEBUGGER.event(242, "DebugExceptionProcessingStart", "The debugger support starts processing an exception.")
DEBUGGER.event(243, "DebugExceptionProcessingEnd", "The debugger support finished processing an exception.")


@event(STRESS, id=0, version=0, aliases=("StressLog/Start",), level=4)
class StressLogEvent_V0:
    """A line of the runtime's stress log."""

    Facility: UInt32
    LogLevel: UInt8
    Message: AnsiString


StressLogEvent_V1 = extended(StressLogEvent_V0, InstanceFields)


@struct
class StackWalkFields:
    """A stack, as Windows writes it."""

    ClrInstanceID: UInt16
    Reserved1: UInt8
    Reserved2: UInt8
    FrameCount: UInt32
    Stack: Pointer


@event(RUNTIME, id=82, version=0, aliases=("ClrStack/Walk",), keywords=RuntimeKeyword.Stack, level=0)
class CLRStackWalk_V0(StackWalkFields):
    """The stack of the preceding event: FrameCount addresses. Only in ETW sessions, never sent by EventPipe."""


@event(RUNDOWN, id=0, version=0, aliases=("ClrStack/Walk",), keywords=RundownKeyword.Stack, level=0)
class CLRStackWalkDCStart_V0(StackWalkFields):
    """The stack of the preceding rundown event. Only in ETW sessions, never sent by EventPipe."""


@event(PRIVATE, id=151, version=0, aliases=("ClrStack/Walk",), keywords=PrivateKeyword.Stack, level=0)
class CLRStackWalkPrivate_V0(StackWalkFields):
    """The stack of the preceding private event. Only in ETW sessions, never sent by EventPipe."""


@event(STRESS, id=1, version=0, aliases=("ClrStack/Walk",), keywords=StressKeyword.Stack, level=0)
class CLRStackWalkStress_V0(StackWalkFields):
    """The stack of the preceding stress log event. Only in ETW sessions, never sent by EventPipe."""
