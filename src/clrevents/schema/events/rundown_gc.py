"""Settings of the GC, from the rundown provider."""

from clrevents.schema.event import event
from clrevents.schema.registry import RUNDOWN
from clrevents.schema.types import UInt16, UInt32, UInt64


@event(RUNDOWN, id=10, version=0, aliases=("GC/SettingsRundown",), level=4)
class GCSettingsRundown_V0:
    """The GC's configuration, listed in the rundown; limits and budgets in bytes."""

    HardLimit: UInt64
    LOHThreshold: UInt64
    PhysicalMemoryConfig: UInt64
    Gen0MinBudgetConfig: UInt64
    Gen0MaxBudgetConfig: UInt64
    HighMemPercentConfig: UInt32
    BitSettings: UInt32
    ClrInstanceID: UInt16
