"""Start and end of the method rundown, its IL-to-native maps, and settings of the GC.

An EventPipe session ends with the DCEnd flavours: 148 first, then methods and maps, then 146.
"""

from clrevents.schema.event import EventGroup, InstanceFields, event
from clrevents.schema.keywords import RundownKeyword
from clrevents.schema.registry import RUNDOWN
from clrevents.schema.runtime_flags import ILToNativeMapFields, ILVersionFields
from clrevents.schema.types import UInt16, UInt32, UInt64

RUNDOWN_MARKS = (
    RundownKeyword.JitRundown
    | RundownKeyword.JittedMethodILToNativeMapRundown
    | RundownKeyword.NGenRundown
    | RundownKeyword.LoaderRundown
)

MARKS = EventGroup(RUNDOWN, RUNDOWN_MARKS, level=4, task="Method", fields=(object, InstanceFields))
MARKS.event(145, "DCStartComplete", "End of the rundown at the start of a session.")
MARKS.event(146, "DCEndComplete", "End of the rundown at the end of a session.")
MARKS.event(147, "DCStartInit", "Start of the rundown at the start of a session.")
MARKS.event(148, "DCEndInit", "Start of the rundown at the end of a session.")

NATIVE_MAPS = EventGroup(
    RUNDOWN,
    RundownKeyword.JittedMethodILToNativeMapRundown,
    level=5,
    fields=(ILToNativeMapFields, ILVersionFields),
)
NATIVE_MAPS.event(
    149,
    "MethodDCStartILToNativeMap",
    "IL-to-native map of a method; listed at the start of a session.",
    alias="Method/ILToNativeMapDCStart",
)
NATIVE_MAPS.event(
    150,
    "MethodDCEndILToNativeMap",
    "IL-to-native map of a method; listed at the end of a session.",
    alias="Method/ILToNativeMapDCStop",
)


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
