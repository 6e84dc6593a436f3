"""Waits for wait handles and monitors."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Pointer, UInt8, UInt16


class WaitHandleWaitSource(OpenEnum):
    """What the thread is waiting for (manifest: WaitHandleWaitSourceMap; source: `WaitSource`, eventtracebase.h)."""

    Unknown = 0
    MonitorWait = 1


@event(RUNTIME, id=301, version=0, aliases=("WaitHandleWait/Start",), keywords=RuntimeKeyword.WaitHandle, level=5)
class WaitHandleWaitStart_V0:
    """A thread starts waiting for a wait handle or a monitor."""

    WaitSource: Annotated[WaitHandleWaitSource, UInt8]
    AssociatedObjectID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=302, version=0, aliases=("WaitHandleWait/Stop",), keywords=RuntimeKeyword.WaitHandle, level=5)
class WaitHandleWaitStop_V0:
    """A thread stopped waiting for a wait handle or a monitor."""

    ClrInstanceID: UInt16
