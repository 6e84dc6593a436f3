"""Creation of threads, the duration of a processor yield, waits for wait handles and monitors."""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event, struct
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Double, Pointer, UInt8, UInt16

TRANSFERS = RuntimeKeyword.Threading | RuntimeKeyword.ThreadTransfer


@event(RUNTIME, id=58, version=0, keywords=RuntimeKeyword.Threading, level=4)
class YieldProcessorMeasurement_V0:
    """How long the processor's yield instruction takes, in nanoseconds; used to scale spin waits."""

    ClrInstanceID: UInt16
    NsPerYield: Double
    EstablishedNsPerYield: Double


@struct
class NewThreadFields:
    """A thread that is made."""

    ID: Pointer
    ClrInstanceID: UInt16


CREATION = EventGroup(RUNTIME, TRANSFERS, level=4, task="Thread", fields=(NewThreadFields,))
CREATION.event(70, "ThreadCreating", "A thread is about to be created; its ThreadRunning has the same ID.")
CREATION.event(71, "ThreadRunning", "A created thread starts running; the creator's ThreadCreating has the same ID.")


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
class WaitHandleWaitStop_V0(InstanceFields):
    """A thread stopped waiting for a wait handle or a monitor."""
