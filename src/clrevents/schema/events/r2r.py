"""Ready-to-run: lookups of precompiled code."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt16, UInt32, UInt64, UnicodeString


@event(
    RUNTIME,
    id=159,
    version=0,
    aliases=("Method/R2RGetEntryPoint",),
    keywords=RuntimeKeyword.CompilationDiagnostic,
    level=4,
)
class R2RGetEntryPoint_V0:
    """A lookup of precompiled (ready-to-run) code ended; EntryPoint is 0 if none was found."""

    MethodID: UInt64
    MethodNamespace: UnicodeString
    MethodName: UnicodeString
    MethodSignature: UnicodeString
    EntryPoint: UInt64
    ClrInstanceID: UInt16


@event(RUNTIME, id=159, version=1)
class R2RGetEntryPoint_V1(R2RGetEntryPoint_V0):
    """A lookup of precompiled (ready-to-run) code ended; EntryPoint is 0 if none was found. Adds MethodSize."""

    MethodSize: UInt32


@event(
    RUNTIME,
    id=160,
    version=0,
    aliases=("Method/R2RGetEntryPointStart",),
    keywords=RuntimeKeyword.CompilationDiagnostic,
    level=4,
)
class R2RGetEntryPointStart_V0:
    """A lookup of precompiled (ready-to-run) code started."""

    MethodID: UInt64
    ClrInstanceID: UInt16
