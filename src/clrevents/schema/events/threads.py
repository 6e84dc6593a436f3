"""Creation of threads, and the duration of a processor yield."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Double, Pointer, UInt16


@event(RUNTIME, id=58, version=0, keywords=RuntimeKeyword.Threading, level=4)
class YieldProcessorMeasurement_V0:
    """How long the processor's yield instruction takes, in nanoseconds; used to scale spin waits."""

    ClrInstanceID: UInt16
    NsPerYield: Double
    EstablishedNsPerYield: Double


@event(
    RUNTIME,
    id=70,
    version=0,
    aliases=("Thread/Creating",),
    keywords=RuntimeKeyword.Threading | RuntimeKeyword.ThreadTransfer,
    level=4,
)
class ThreadCreating_V0:
    """A thread is about to be created; its ThreadRunning has the same ID."""

    ID: Pointer
    ClrInstanceID: UInt16


@event(
    RUNTIME,
    id=71,
    version=0,
    aliases=("Thread/Running",),
    keywords=RuntimeKeyword.Threading | RuntimeKeyword.ThreadTransfer,
    level=4,
)
class ThreadRunning_V0:
    """A created thread starts running; the creator's ThreadCreating has the same ID."""

    ID: Pointer
    ClrInstanceID: UInt16
