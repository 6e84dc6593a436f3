"""What the recorder reads of the operating system's counts, and says of its recording where the runtime does not.

Written by ourselves, on a thread that does not exist. Numbers that count are differences since the last reading,
`IntervalNs` before the event, so that sums over a part of a trace are right; others are of that moment. -1 is unknown;
of a quota or a limit, that there is none.
"""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenFlag
from clrevents.schema.registry import OWN
from clrevents.schema.types import Int64, UInt32, UnicodeString


class NotCounted(OpenFlag):
    """What could not be read."""

    # Ready time and timeslices of threads: their processor time has steps of 10 ms.
    ThreadReady = 1
    # The exact clock of the process: its processor time has steps of 10 ms.
    ProcessClock = 2
    ReadWrite = 4
    # The control group of the process.
    Limits = 8
    Machine = 16


@event(OWN, id=16, version=0)
class ProcessorCounting_V0:
    """How the operating system counts, the interval of readings that was asked for, and what could not be read."""

    StepNs: Int64
    AskedIntervalNs: Int64
    Processors: Int64
    AllowedProcessors: Int64
    Missing: Annotated[NotCounted, UInt32]


@event(OWN, id=17, version=0)
class ThreadName_V0:
    """The name of a thread: when it is first seen, and when its name changed. Linux keeps 15 bytes of a name."""

    OSThreadID: UInt32
    Name: UnicodeString


@event(OWN, id=18, version=0)
class ProcessorTime_V0:
    """What a thread used since it was last read, or since it began, and how long it was ready without a processor."""

    OSThreadID: UInt32
    IntervalNs: Int64
    ProcessorNs: Int64
    ReadyNs: Int64
    Timeslices: Int64


@event(OWN, id=19, version=0)
class ThreadEnd_V0:
    """A thread ended within the last IntervalNs."""

    OSThreadID: UInt32
    IntervalNs: Int64


@event(OWN, id=20, version=0)
class ProcessProcessorTime_V0:
    """What the whole process used, by its own clock. ReadingNs is the processor time of the reading itself."""

    IntervalNs: Int64
    ProcessorNs: Int64
    Threads: Int64
    ReadingNs: Int64


@event(OWN, id=21, version=0)
class ProcessFacts_V0:
    """Memory, major page faults, input and output of the process, and how many processors it may use."""

    IntervalNs: Int64
    ResidentBytes: Int64
    MajorFaults: Int64
    ReadBytes: Int64
    WrittenBytes: Int64
    AllowedProcessors: Int64


@event(OWN, id=22, version=0)
class ProcessLimits_V0:
    """Limits of the process's control group, what it used, and how often a limit stopped it."""

    IntervalNs: Int64
    QuotaNs: Int64
    PeriodNs: Int64
    UsedNs: Int64
    Periods: Int64
    ThrottledPeriods: Int64
    ThrottledNs: Int64
    MemoryLimitBytes: Int64
    MemoryBytes: Int64


@event(OWN, id=23, version=0)
class MachineProcessorTime_V0:
    """Time of all the machine's processors together, and how many threads run or are ready now."""

    IntervalNs: Int64
    Processors: Int64
    BusyNs: Int64
    IdleNs: Int64
    StolenNs: Int64
    Runnable: Int64


@event(OWN, id=24, version=0)
class EventsFiltered_V0:
    """Of a provider, only these events were recorded (OnlyThese is 1), or all but these: `PROVIDER:ID,ID…`."""

    OnlyThese: UInt32
    FilteredEvents: UnicodeString
