"""Creation of threads, the duration of a processor yield, waits for wait handles and monitors."""

from typing import Annotated

from clrevents.schema.event import InstanceFields, event
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


@event(RUNTIME, id=70, version=0, aliases=("Thread/Creating",), keywords=TRANSFERS, level=4)
class ThreadCreating_V0:
    """A thread is about to be created; its ThreadRunning has the same ID."""

    ID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=71, version=0, aliases=("Thread/Running",), keywords=TRANSFERS, level=4)
class ThreadRunning_V0:
    """A created thread starts running; the creator's ThreadCreating has the same ID."""

    ID: Pointer
    ClrInstanceID: UInt16


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
