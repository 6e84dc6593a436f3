"""What EventPipe's own providers write: samples of all managed threads, and facts about the process.

The sample profiler periodically stops all managed threads and writes one event for each: the payload says little, the
event's stack is the sample. Facts come once or twice per session; the trace's own description takes precedence.
"""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.registry import SAMPLE
from clrevents.schema.types import UInt32, UnicodeString

PROVIDER = "Microsoft-DotNETCore-EventPipe"


class ThreadSampleType(OpenEnum):
    """What a sampled thread was executing (source: `EventPipeSampleProfilerSampleType`, ep-types-forward.h)."""

    Error = 0
    External = 1
    Managed = 2


@event(SAMPLE, id=0, version=0, aliases=("Thread/Sample",), level=4)
class ThreadSample_V0:
    """A managed thread was sampled: in managed code, or in code that managed code called."""

    Type: Annotated[ThreadSampleType, UInt32]


@event(PROVIDER, id=1, version=0, only_undescribed=True)
class ProcessInfo_V0:
    """The command line of the process."""

    CommandLine: UnicodeString


@event(PROVIDER, id=1, version=1, only_undescribed=True)
class ProcessInfo_V1(ProcessInfo_V0):
    """The command line of the process. Adds OSInformation and ArchInformation."""

    OSInformation: UnicodeString
    ArchInformation: UnicodeString
