"""Methods: code that is loaded, unloaded, compiled, or there when a session starts or ends.

The payloads that symbol resolution is based on. The address map itself is built in `symbols`.
"""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RundownKeyword, RuntimeKeyword
from clrevents.schema.method_flags import JitAllocFlag, MethodFields, VerboseMethodFields
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.types import Counted, UInt16, UInt32, UInt64, UnicodeString, by


@event(
    RUNTIME,
    id=72,
    version=0,
    aliases=("Method/MethodDetails",),
    keywords=RuntimeKeyword.MethodDiagnostic,
    level=4,
)
class MethodDetails_V0:
    """The identity of a method and its type arguments, sent before events that refer to it by MethodID."""

    MethodID: UInt64
    TypeID: UInt64
    MethodToken: UInt32
    TypeParameterCount: UInt32
    LoaderModuleID: UInt64
    TypeParameters: Annotated[Counted[UInt64], by("TypeParameterCount")]


@event(
    RUNTIME,
    id=141,
    version=0,
    aliases=("Method/Load",),
    keywords=RuntimeKeyword.Jit | RuntimeKeyword.NGen,
    level=4,
)
class MethodLoad_V0(MethodFields):
    """Code of a method is ready to run: jitted or precompiled."""


@event(RUNTIME, id=141, version=1)
class MethodLoad_V1(MethodLoad_V0):
    """Code of a method is ready to run: jitted or precompiled. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=141, version=2)
class MethodLoad_V2(MethodLoad_V1):
    """Code of a method is ready to run: jitted or precompiled. Adds ReJITID."""

    ReJITID: UInt64


@event(
    RUNTIME,
    id=142,
    version=0,
    aliases=("Method/Unload",),
    keywords=RuntimeKeyword.Jit | RuntimeKeyword.NGen,
    level=4,
)
class MethodUnload_V0(MethodFields):
    """Code of a method was unloaded with its module or loader."""


@event(RUNTIME, id=142, version=1)
class MethodUnload_V1(MethodUnload_V0):
    """Code of a method was unloaded with its module or loader. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=142, version=2)
class MethodUnload_V2(MethodUnload_V1):
    """Code of a method was unloaded with its module or loader. Adds ReJITID."""

    ReJITID: UInt64


@event(
    RUNTIME,
    id=143,
    version=0,
    aliases=("Method/LoadVerbose",),
    keywords=RuntimeKeyword.Jit | RuntimeKeyword.NGen,
    level=4,
)
class MethodLoadVerbose_V0(VerboseMethodFields):
    """A method's code is ready to run; dynamic, generic and helper methods, or all at level 5."""


@event(RUNTIME, id=143, version=1)
class MethodLoadVerbose_V1(MethodLoadVerbose_V0):
    """A method's code is ready to run; dynamic, generic and helper methods, or all at level 5. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=143, version=2)
class MethodLoadVerbose_V2(MethodLoadVerbose_V1):
    """A method's code is ready to run; dynamic, generic and helper methods, or all at level 5. Adds ReJITID."""

    ReJITID: UInt64


@event(
    RUNTIME,
    id=144,
    version=0,
    aliases=("Method/UnloadVerbose",),
    keywords=RuntimeKeyword.Jit | RuntimeKeyword.NGen,
    level=4,
)
class MethodUnloadVerbose_V0(VerboseMethodFields):
    """A method's code was unloaded; dynamic and generic methods, or all at level 5."""


@event(RUNTIME, id=144, version=1)
class MethodUnloadVerbose_V1(MethodUnloadVerbose_V0):
    """A method's code was unloaded; dynamic and generic methods, or all at level 5. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=144, version=2)
class MethodUnloadVerbose_V2(MethodUnloadVerbose_V1):
    """A method's code was unloaded; dynamic and generic methods, or all at level 5. Adds ReJITID."""

    ReJITID: UInt64


@event(RUNTIME, id=145, version=0, aliases=("Method/JittingStarted",), keywords=RuntimeKeyword.Jit, level=5)
class MethodJittingStarted_V0:
    """The JIT started compiling a method."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodToken: UInt32
    MethodILSize: UInt32
    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString


@event(RUNTIME, id=145, version=1)
class MethodJittingStarted_V1(MethodJittingStarted_V0):
    """The JIT started compiling a method. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNTIME,
    id=146,
    version=0,
    aliases=("Method/MemoryAllocatedForJitCode",),
    keywords=RuntimeKeyword.Jit,
    level=5,
)
class MethodJitMemoryAllocatedForCode_V0:
    """Memory was allocated for a method's code and read-only data; sizes in bytes."""

    MethodID: UInt64
    ModuleID: UInt64
    JitHotCodeRequestSize: UInt64
    JitRODataRequestSize: UInt64
    AllocatedSizeForJitCode: UInt64
    JitAllocFlag: Annotated[JitAllocFlag, UInt32]
    ClrInstanceID: UInt16


@event(
    RUNDOWN,
    id=141,
    version=0,
    aliases=("Method/DCStart",),
    keywords=RundownKeyword.JitRundown | RundownKeyword.NGenRundown,
    level=4,
)
class MethodDCStart_V0(MethodFields):
    """A method that existed when the session started."""


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
class MethodDCEnd_V0(MethodFields):
    """A method that existed when the session ended."""


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
class MethodDCStartVerbose_V0(VerboseMethodFields):
    """A method that existed when the session started, with its name."""


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
class MethodDCEndVerbose_V0(VerboseMethodFields):
    """A method that existed when the session ended, with its name."""


@event(RUNDOWN, id=144, version=1)
class MethodDCEndVerbose_V1(MethodDCEndVerbose_V0):
    """A method that existed when the session ended, with its name. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=144, version=2)
class MethodDCEndVerbose_V2(MethodDCEndVerbose_V1):
    """A method that existed when the session ended, with its name. Adds ReJITID."""

    ReJITID: UInt64
