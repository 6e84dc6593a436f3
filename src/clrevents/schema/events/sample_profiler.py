"""The sample profiler: it periodically stops all managed threads and writes one event for each.

The payload says little; the event's stack is the sample.
"""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.registry import SAMPLE
from clrevents.schema.types import UInt32


class ThreadSampleType(OpenEnum):
    """What a sampled thread was executing (source: `EventPipeSampleProfilerSampleType`, ep-types-forward.h)."""

    Error = 0
    External = 1
    Managed = 2


@event(SAMPLE, id=0, version=0, aliases=("Thread/Sample",), level=4)
class ThreadSample_V0:
    """A managed thread was sampled: in managed code, or in code that managed code called."""

    Type: Annotated[ThreadSampleType, UInt32]
