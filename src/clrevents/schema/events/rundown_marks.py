"""Start and end of the method rundown, its IL-to-native maps, and settings of the GC.

An EventPipe session ends with the DCEnd flavours: 148 first, then methods and maps, then 146.
"""

from clrevents.schema.event import EventGroup, InstanceFields, event, extended
from clrevents.schema.keywords import RundownKeyword
from clrevents.schema.registry import RUNDOWN
from clrevents.schema.runtime_flags import ILToNativeMapFields
from clrevents.schema.types import UInt16, UInt32, UInt64

NATIVE_MAP = EventGroup(RUNDOWN, RundownKeyword.JittedMethodILToNativeMapRundown, level=5)

RUNDOWN_MARKS = (
    RundownKeyword.JitRundown
    | RundownKeyword.JittedMethodILToNativeMapRundown
    | RundownKeyword.NGenRundown
    | RundownKeyword.LoaderRundown
)


@event(RUNDOWN, id=145, version=0, aliases=("Method/DCStartComplete",), keywords=RUNDOWN_MARKS, level=4)
class DCStartComplete_V0:
    """End of the rundown at the start of a session."""


DCStartComplete_V1 = extended(DCStartComplete_V0, InstanceFields)


@event(RUNDOWN, id=146, version=0, aliases=("Method/DCStopComplete",), keywords=RUNDOWN_MARKS, level=4)
class DCEndComplete_V0:
    """End of the rundown at the end of a session."""


DCEndComplete_V1 = extended(DCEndComplete_V0, InstanceFields)


@event(RUNDOWN, id=147, version=0, aliases=("Method/DCStartInit",), keywords=RUNDOWN_MARKS, level=4)
class DCStartInit_V0:
    """Start of the rundown at the start of a session."""


DCStartInit_V1 = extended(DCStartInit_V0, InstanceFields)


@event(RUNDOWN, id=148, version=0, aliases=("Method/DCStopInit",), keywords=RUNDOWN_MARKS, level=4)
class DCEndInit_V0:
    """Start of the rundown at the end of a session."""


DCEndInit_V1 = extended(DCEndInit_V0, InstanceFields)


@event(NATIVE_MAP, id=149, version=0, aliases=("Method/ILToNativeMapDCStart",))
class MethodDCStartILToNativeMap_V0(ILToNativeMapFields):
    """IL-to-native map of a method; listed at the start of a session."""


@event(RUNDOWN, id=149, version=1)
class MethodDCStartILToNativeMap_V1(MethodDCStartILToNativeMap_V0):
    """IL-to-native map of a method; listed at the start of a session. Adds ILVersionID."""

    ILVersionID: UInt64


@event(NATIVE_MAP, id=150, version=0, aliases=("Method/ILToNativeMapDCStop",))
class MethodDCEndILToNativeMap_V0(ILToNativeMapFields):
    """IL-to-native map of a method; listed at the end of a session."""


@event(RUNDOWN, id=150, version=1)
class MethodDCEndILToNativeMap_V1(MethodDCEndILToNativeMap_V0):
    """IL-to-native map of a method; listed at the end of a session. Adds ILVersionID."""

    ILVersionID: UInt64


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
