"""The stress log."""

from clrevents.schema.event import InstanceFields, event, extended
from clrevents.schema.registry import STRESS
from clrevents.schema.types import AnsiString, UInt8, UInt32


@event(STRESS, id=0, version=0, aliases=("StressLog/Start",), level=4)
class StressLogEvent_V0:
    """A line of the runtime's stress log."""

    Facility: UInt32
    LogLevel: UInt8
    Message: AnsiString


StressLogEvent_V1 = extended(StressLogEvent_V0, InstanceFields)
