"""Methods that exist at the start or end of a session, from the rundown provider.

An EventPipe session ends with the DCEnd flavours: 148 first, then 144 and 150, then 146.
"""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RundownKeyword
from clrevents.schema.method_flags import MethodFlags
from clrevents.schema.registry import RUNDOWN
from clrevents.schema.types import UInt16, UInt32, UInt64, UnicodeString


@event(
    RUNDOWN,
    id=141,
    version=0,
    aliases=("Method/DCStart",),
    keywords=RundownKeyword.JitRundown | RundownKeyword.NGenRundown,
    level=4,
)
class MethodDCStart_V0:
    """A method that existed when the session started."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodStartAddress: UInt64
    MethodSize: UInt32
    MethodToken: UInt32
    MethodFlags: Annotated[MethodFlags, UInt32]


@event(RUNDOWN, id=141, version=1)
class MethodDCStart_V1(MethodDCStart_V0):
    """A method that existed when the session started. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=141, version=2)
class MethodDCStart_V2(MethodDCStart_V1):
    """A method that existed when the session started. Adds ReJITID."""

    ReJITID: UInt64


@event(
    RUNDOWN,
    id=142,
    version=0,
    aliases=("Method/DCStop",),
    keywords=RundownKeyword.JitRundown | RundownKeyword.NGenRundown,
    level=4,
)
class MethodDCEnd_V0:
    """A method that existed when the session ended."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodStartAddress: UInt64
    MethodSize: UInt32
    MethodToken: UInt32
    MethodFlags: Annotated[MethodFlags, UInt32]


@event(RUNDOWN, id=142, version=1)
class MethodDCEnd_V1(MethodDCEnd_V0):
    """A method that existed when the session ended. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=142, version=2)
class MethodDCEnd_V2(MethodDCEnd_V1):
    """A method that existed when the session ended. Adds ReJITID."""

    ReJITID: UInt64


@event(
    RUNDOWN,
    id=143,
    version=0,
    aliases=("Method/DCStartVerbose",),
    keywords=RundownKeyword.JitRundown | RundownKeyword.NGenRundown,
    level=4,
)
class MethodDCStartVerbose_V0:
    """A method that existed when the session started, with its name."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodStartAddress: UInt64
    MethodSize: UInt32
    MethodToken: UInt32
    MethodFlags: Annotated[MethodFlags, UInt32]
    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString


@event(RUNDOWN, id=143, version=1)
class MethodDCStartVerbose_V1(MethodDCStartVerbose_V0):
    """A method that existed when the session started, with its name. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=143, version=2)
class MethodDCStartVerbose_V2(MethodDCStartVerbose_V1):
    """A method that existed when the session started, with its name. Adds ReJITID."""

    ReJITID: UInt64


@event(
    RUNDOWN,
    id=144,
    version=0,
    aliases=("Method/DCStopVerbose",),
    keywords=RundownKeyword.JitRundown | RundownKeyword.NGenRundown,
    level=4,
)
class MethodDCEndVerbose_V0:
    """A method that existed when the session ended, with its name."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodStartAddress: UInt64
    MethodSize: UInt32
    MethodToken: UInt32
    MethodFlags: Annotated[MethodFlags, UInt32]
    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString


@event(RUNDOWN, id=144, version=1)
class MethodDCEndVerbose_V1(MethodDCEndVerbose_V0):
    """A method that existed when the session ended, with its name. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=144, version=2)
class MethodDCEndVerbose_V2(MethodDCEndVerbose_V1):
    """A method that existed when the session ended, with its name. Adds ReJITID."""

    ReJITID: UInt64
