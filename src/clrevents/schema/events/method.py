"""Methods: code that is loaded, unloaded, compiled, or there when a session starts or ends.

The payloads that symbol resolution is based on; the last ones are of runtimes without the rundown provider, which
current ones declare and do not send. The address map itself is built in `symbols`.
"""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event, extended, struct
from clrevents.schema.keywords import RundownKeyword, RuntimeKeyword
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.runtime_flags import JitAllocFlag, MethodFields, VerboseMethodFields
from clrevents.schema.types import Counted, UInt16, UInt32, UInt64, UnicodeString, by

JIT = EventGroup(RUNTIME, RuntimeKeyword.Jit, level=5)

JITTED = RuntimeKeyword.Jit | RuntimeKeyword.NGen
JITTED_RUNDOWN = RundownKeyword.JitRundown | RundownKeyword.NGenRundown


@struct
class ReJITFields:
    """Adds ReJITID."""

    ReJITID: UInt64


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


@event(RUNTIME, id=141, version=0, aliases=("Method/Load",), keywords=JITTED, level=4)
class MethodLoad_V0(MethodFields):
    """Code of a method is ready to run: jitted or precompiled."""


MethodLoad_V1 = extended(MethodLoad_V0, InstanceFields)
MethodLoad_V2 = extended(MethodLoad_V1, ReJITFields)


@event(RUNTIME, id=142, version=0, aliases=("Method/Unload",), keywords=JITTED, level=4)
class MethodUnload_V0(MethodFields):
    """Code of a method was unloaded with its module or loader."""


MethodUnload_V1 = extended(MethodUnload_V0, InstanceFields)
MethodUnload_V2 = extended(MethodUnload_V1, ReJITFields)


@event(RUNTIME, id=143, version=0, aliases=("Method/LoadVerbose",), keywords=JITTED, level=4)
class MethodLoadVerbose_V0(VerboseMethodFields):
    """A method's code is ready to run; dynamic, generic and helper methods, or all at level 5."""


MethodLoadVerbose_V1 = extended(MethodLoadVerbose_V0, InstanceFields)
MethodLoadVerbose_V2 = extended(MethodLoadVerbose_V1, ReJITFields)


@event(RUNTIME, id=144, version=0, aliases=("Method/UnloadVerbose",), keywords=JITTED, level=4)
class MethodUnloadVerbose_V0(VerboseMethodFields):
    """A method's code was unloaded; dynamic and generic methods, or all at level 5."""


MethodUnloadVerbose_V1 = extended(MethodUnloadVerbose_V0, InstanceFields)
MethodUnloadVerbose_V2 = extended(MethodUnloadVerbose_V1, ReJITFields)


@event(JIT, id=145, version=0, aliases=("Method/JittingStarted",))
class MethodJittingStarted_V0:
    """The JIT started compiling a method."""

    MethodID: UInt64
    ModuleID: UInt64
    MethodToken: UInt32
    MethodILSize: UInt32
    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString


MethodJittingStarted_V1 = extended(MethodJittingStarted_V0, InstanceFields)


@event(JIT, id=146, version=0, aliases=("Method/MemoryAllocatedForJitCode",))
class MethodJitMemoryAllocatedForCode_V0:
    """Memory was allocated for a method's code and read-only data; sizes in bytes."""

    MethodID: UInt64
    ModuleID: UInt64
    JitHotCodeRequestSize: UInt64
    JitRODataRequestSize: UInt64
    AllocatedSizeForJitCode: UInt64
    JitAllocFlag: Annotated[JitAllocFlag, UInt32]
    ClrInstanceID: UInt16


@event(RUNDOWN, id=141, version=0, aliases=("Method/DCStart",), keywords=JITTED_RUNDOWN, level=4)
class MethodDCStart_V0(MethodFields):
    """A method that existed when the session started."""


MethodDCStart_V1 = extended(MethodDCStart_V0, InstanceFields)
MethodDCStart_V2 = extended(MethodDCStart_V1, ReJITFields)


@event(RUNDOWN, id=142, version=0, aliases=("Method/DCStop",), keywords=JITTED_RUNDOWN, level=4)
class MethodDCEnd_V0(MethodFields):
    """A method that existed when the session ended."""


MethodDCEnd_V1 = extended(MethodDCEnd_V0, InstanceFields)
MethodDCEnd_V2 = extended(MethodDCEnd_V1, ReJITFields)


@event(RUNDOWN, id=143, version=0, aliases=("Method/DCStartVerbose",), keywords=JITTED_RUNDOWN, level=4)
class MethodDCStartVerbose_V0(VerboseMethodFields):
    """A method that existed when the session started, with its name."""


MethodDCStartVerbose_V1 = extended(MethodDCStartVerbose_V0, InstanceFields)
MethodDCStartVerbose_V2 = extended(MethodDCStartVerbose_V1, ReJITFields)


@event(RUNDOWN, id=144, version=0, aliases=("Method/DCStopVerbose",), keywords=JITTED_RUNDOWN, level=4)
class MethodDCEndVerbose_V0(VerboseMethodFields):
    """A method that existed when the session ended, with its name."""


MethodDCEndVerbose_V1 = extended(MethodDCEndVerbose_V0, InstanceFields)
MethodDCEndVerbose_V2 = extended(MethodDCEndVerbose_V1, ReJITFields)


@event(RUNTIME, id=135, version=0, aliases=("Method/DCStartCompleteV2",), keywords=JITTED, level=4)
class DCStartCompleteV2_V0:
    """End of the method list at the start of a session; from runtimes without the rundown provider."""


@event(RUNTIME, id=136, version=0, aliases=("Method/DCStopCompleteV2",), keywords=JITTED, level=4)
class DCEndCompleteV2_V0:
    """End of the method list at the end of a session; from runtimes without the rundown provider."""


@event(RUNTIME, id=137, version=0, aliases=("Method/DCStartV2",), keywords=JITTED, level=4)
class MethodDCStartV2_V0(MethodFields):
    """A method that existed when the session started; from runtimes without the rundown provider."""


@event(RUNTIME, id=138, version=0, aliases=("Method/DCStopV2",), keywords=JITTED, level=4)
class MethodDCEndV2_V0(MethodFields):
    """A method that existed when the session ended; from runtimes without the rundown provider."""


@event(RUNTIME, id=139, version=0, aliases=("Method/DCStartVerboseV2",), keywords=JITTED, level=4)
class MethodDCStartVerboseV2_V0(VerboseMethodFields):
    """A method that existed when the session started, with its name; from runtimes without the rundown provider."""


@event(RUNTIME, id=140, version=0, aliases=("Method/DCStopVerboseV2",), keywords=JITTED, level=4)
class MethodDCEndVerboseV2_V0(VerboseMethodFields):
    """A method that existed when the session ended, with its name; from runtimes without the rundown provider."""
