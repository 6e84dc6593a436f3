"""Start and end of the method rundown, and its IL-to-native maps.

An EventPipe session ends with the DCEnd flavours: 148 first, then methods and maps, then 146.
"""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RundownKeyword
from clrevents.schema.method_flags import MethodExtent
from clrevents.schema.registry import RUNDOWN
from clrevents.schema.types import Counted, Int32, UInt8, UInt16, UInt32, UInt64, by


@event(
    RUNDOWN,
    id=145,
    version=0,
    aliases=("Method/DCStartComplete",),
    keywords=RundownKeyword.JitRundown
    | RundownKeyword.JittedMethodILToNativeMapRundown
    | RundownKeyword.NGenRundown
    | RundownKeyword.LoaderRundown,
    level=4,
)
class DCStartComplete_V0:
    """End of the rundown at the start of a session."""


@event(RUNDOWN, id=145, version=1)
class DCStartComplete_V1(DCStartComplete_V0):
    """End of the rundown at the start of a session. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNDOWN,
    id=146,
    version=0,
    aliases=("Method/DCStopComplete",),
    keywords=RundownKeyword.JitRundown
    | RundownKeyword.JittedMethodILToNativeMapRundown
    | RundownKeyword.NGenRundown
    | RundownKeyword.LoaderRundown,
    level=4,
)
class DCEndComplete_V0:
    """End of the rundown at the end of a session."""


@event(RUNDOWN, id=146, version=1)
class DCEndComplete_V1(DCEndComplete_V0):
    """End of the rundown at the end of a session. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNDOWN,
    id=147,
    version=0,
    aliases=("Method/DCStartInit",),
    keywords=RundownKeyword.JitRundown
    | RundownKeyword.JittedMethodILToNativeMapRundown
    | RundownKeyword.NGenRundown
    | RundownKeyword.LoaderRundown,
    level=4,
)
class DCStartInit_V0:
    """Start of the rundown at the start of a session."""


@event(RUNDOWN, id=147, version=1)
class DCStartInit_V1(DCStartInit_V0):
    """Start of the rundown at the start of a session. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNDOWN,
    id=148,
    version=0,
    aliases=("Method/DCStopInit",),
    keywords=RundownKeyword.JitRundown
    | RundownKeyword.JittedMethodILToNativeMapRundown
    | RundownKeyword.NGenRundown
    | RundownKeyword.LoaderRundown,
    level=4,
)
class DCEndInit_V0:
    """Start of the rundown at the end of a session."""


@event(RUNDOWN, id=148, version=1)
class DCEndInit_V1(DCEndInit_V0):
    """Start of the rundown at the end of a session. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNDOWN,
    id=149,
    version=0,
    aliases=("Method/ILToNativeMapDCStart",),
    keywords=RundownKeyword.JittedMethodILToNativeMapRundown,
    level=5,
)
class MethodDCStartILToNativeMap_V0:
    """IL-to-native map of a method; listed at the start of a session."""

    MethodID: UInt64
    ReJITID: UInt64
    MethodExtent: Annotated[MethodExtent, UInt8]
    CountOfMapEntries: UInt16
    ILOffsets: Annotated[Counted[Int32], by("CountOfMapEntries")]
    NativeOffsets: Annotated[Counted[UInt32], by("CountOfMapEntries")]
    ClrInstanceID: UInt16


@event(RUNDOWN, id=149, version=1)
class MethodDCStartILToNativeMap_V1(MethodDCStartILToNativeMap_V0):
    """IL-to-native map of a method; listed at the start of a session. Adds ILVersionID."""

    ILVersionID: UInt64


@event(
    RUNDOWN,
    id=150,
    version=0,
    aliases=("Method/ILToNativeMapDCStop",),
    keywords=RundownKeyword.JittedMethodILToNativeMapRundown,
    level=5,
)
class MethodDCEndILToNativeMap_V0:
    """IL-to-native map of a method; listed at the end of a session."""

    MethodID: UInt64
    ReJITID: UInt64
    MethodExtent: Annotated[MethodExtent, UInt8]
    CountOfMapEntries: UInt16
    ILOffsets: Annotated[Counted[Int32], by("CountOfMapEntries")]
    NativeOffsets: Annotated[Counted[UInt32], by("CountOfMapEntries")]
    ClrInstanceID: UInt16


@event(RUNDOWN, id=150, version=1)
class MethodDCEndILToNativeMap_V1(MethodDCEndILToNativeMap_V0):
    """IL-to-native map of a method; listed at the end of a session. Adds ILVersionID."""

    ILVersionID: UInt64
