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
METHOD_DIAGNOSTIC = EventGroup(RUNTIME, RuntimeKeyword.MethodDiagnostic, level=4)

JITTED = RuntimeKeyword.Jit | RuntimeKeyword.NGen
JITTED_RUNDOWN = RundownKeyword.JitRundown | RundownKeyword.NGenRundown


@struct
class ReJITFields:
    """Adds ReJITID."""

    ReJITID: UInt64


@event(METHOD_DIAGNOSTIC, id=72, version=0, aliases=("Method/MethodDetails",))
class MethodDetails_V0:
    """The identity of a method and its type arguments, sent before events that refer to it by MethodID."""

    MethodID: UInt64
    TypeID: UInt64
    MethodToken: UInt32
    TypeParameterCount: UInt32
    LoaderModuleID: UInt64
    TypeParameters: Annotated[Counted[UInt64], by("TypeParameterCount")]


METHODS = EventGroup(RUNTIME, JITTED, level=4, task="Method", fields=(MethodFields, InstanceFields, ReJITFields))
METHODS.event(141, "MethodLoad", "Code of a method is ready to run: jitted or precompiled.")
METHODS.event(142, "MethodUnload", "Code of a method was unloaded with its module or loader.")
NAMED_METHODS = METHODS._replace(fields=(VerboseMethodFields, InstanceFields, ReJITFields))
NAMED_METHODS.event(
    143, "MethodLoadVerbose", "A method's code is ready to run; dynamic, generic and helper methods, or all at level 5."
)
NAMED_METHODS.event(
    144, "MethodUnloadVerbose", "A method's code was unloaded; dynamic and generic methods, or all at level 5."
)


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


METHODS_RUNDOWN = METHODS._replace(provider=RUNDOWN, keywords=JITTED_RUNDOWN)
METHODS_RUNDOWN.event(141, "MethodDCStart", "A method that existed when the session started.")
METHODS_RUNDOWN.event(142, "MethodDCEnd", "A method that existed when the session ended.")
NAMED_METHODS_RUNDOWN = NAMED_METHODS._replace(provider=RUNDOWN, keywords=JITTED_RUNDOWN)
NAMED_METHODS_RUNDOWN.event(
    143, "MethodDCStartVerbose", "A method that existed when the session started, with its name."
)
NAMED_METHODS_RUNDOWN.event(144, "MethodDCEndVerbose", "A method that existed when the session ended, with its name.")
METHODS.event(
    135,
    "DCStartCompleteV2",
    "End of the method list at the start of a session; from runtimes without the rundown provider.",
    object,
)
METHODS.event(
    136,
    "DCEndCompleteV2",
    "End of the method list at the end of a session; from runtimes without the rundown provider.",
    object,
)
METHODS.event(
    137,
    "MethodDCStartV2",
    "A method that existed when the session started; from runtimes without the rundown provider.",
    MethodFields,
)
METHODS.event(
    138,
    "MethodDCEndV2",
    "A method that existed when the session ended; from runtimes without the rundown provider.",
    MethodFields,
)
METHODS.event(
    139,
    "MethodDCStartVerboseV2",
    "A method that existed when the session started, with its name; from runtimes without the rundown provider.",
    VerboseMethodFields,
)
METHODS.event(
    140,
    "MethodDCEndVerboseV2",
    "A method that existed when the session ended, with its name; from runtimes without the rundown provider.",
    VerboseMethodFields,
)
