"""Stacks as ETW sends them, as events of their own. EventPipe keeps stacks in its blocks and never sends these.

The manifest counts two addresses in Stack; a writer of EventPipe would write one.
"""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword, RundownKeyword, RuntimeKeyword, StressKeyword
from clrevents.schema.registry import PRIVATE, RUNDOWN, RUNTIME, STRESS
from clrevents.schema.types import Pointer, UInt8, UInt16, UInt32


@event(RUNTIME, id=82, version=0, aliases=("ClrStack/Walk",), keywords=RuntimeKeyword.Stack, level=0)
class CLRStackWalk_V0:
    """The stack of the event before it, in ETW sessions only: FrameCount addresses. EventPipe never sends it."""

    ClrInstanceID: UInt16
    Reserved1: UInt8
    Reserved2: UInt8
    FrameCount: UInt32
    Stack: Pointer


@event(RUNDOWN, id=0, version=0, aliases=("ClrStack/Walk",), keywords=RundownKeyword.Stack, level=0)
class CLRStackWalkDCStart_V0:
    """The stack of the rundown event before it, in ETW sessions only. EventPipe never sends it."""

    ClrInstanceID: UInt16
    Reserved1: UInt8
    Reserved2: UInt8
    FrameCount: UInt32
    Stack: Pointer


@event(PRIVATE, id=151, version=0, aliases=("ClrStack/Walk",), keywords=PrivateKeyword.Stack, level=0)
class CLRStackWalkPrivate_V0:
    """The stack of the private event before it, in ETW sessions only. EventPipe never sends it."""

    ClrInstanceID: UInt16
    Reserved1: UInt8
    Reserved2: UInt8
    FrameCount: UInt32
    Stack: Pointer


@event(STRESS, id=1, version=0, aliases=("ClrStack/Walk",), keywords=StressKeyword.Stack, level=0)
class CLRStackWalkStress_V0:
    """The stack of the stress log event before it, in ETW sessions only. EventPipe never sends it."""

    ClrInstanceID: UInt16
    Reserved1: UInt8
    Reserved2: UInt8
    FrameCount: UInt32
    Stack: Pointer
