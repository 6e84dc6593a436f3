"""What a recorder says of its recording, where the runtime's bytes do not."""

from clrevents.schema.event import event
from clrevents.schema.registry import OWN
from clrevents.schema.types import UInt32, UnicodeString


@event(OWN, id=24, version=0)
class EventsFiltered_V0:
    """Of a provider, only these events were recorded (OnlyThese is 1), or all but these: `PROVIDER:ID,ID…`."""

    OnlyThese: UInt32
    FilteredEvents: UnicodeString
