"""Which code of a method runs: tiered compilation, its settings and pauses, and lookups of precompiled code."""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event
from clrevents.schema.keywords import RundownKeyword, RuntimeKeyword
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.runtime_flags import TieredCompilationFlags
from clrevents.schema.types import UInt16, UInt32, UInt64, UnicodeString

COMPILATION = EventGroup(RUNTIME, RuntimeKeyword.Compilation, level=4)
COMPILATION_DIAGNOSTIC = EventGroup(RUNTIME, RuntimeKeyword.CompilationDiagnostic, level=4)
COMPILATION_RUNDOWN = EventGroup(RUNDOWN, RundownKeyword.Compilation, level=4)


@event(COMPILATION, id=280, version=0, aliases=("TieredCompilation/Settings",))
class TieredCompilationSettings_V0:
    """Settings of tiered compilation, sent at startup."""

    ClrInstanceID: UInt16
    Flags: Annotated[TieredCompilationFlags, UInt32]


@event(COMPILATION, id=281, version=0, aliases=("TieredCompilation/Pause",))
class TieredCompilationPause_V0(InstanceFields):
    """Promotion to a higher tier is paused because new methods are being called."""


@event(COMPILATION, id=282, version=0, aliases=("TieredCompilation/Resume",))
class TieredCompilationResume_V0:
    """Promotion to a higher tier resumes; NewMethodCount methods were called for the first time meanwhile."""

    ClrInstanceID: UInt16
    NewMethodCount: UInt32


@event(COMPILATION, id=283, version=0, aliases=("TieredCompilation/BackgroundJitStart",))
class TieredCompilationBackgroundJitStart_V0:
    """The background thread started compiling methods at a higher tier."""

    ClrInstanceID: UInt16
    PendingMethodCount: UInt32


@event(COMPILATION, id=284, version=0, aliases=("TieredCompilation/BackgroundJitStop",))
class TieredCompilationBackgroundJitStop_V0:
    """The background thread stopped compiling; the remaining methods wait for its next turn."""

    ClrInstanceID: UInt16
    PendingMethodCount: UInt32
    JittedMethodCount: UInt32


@event(COMPILATION_RUNDOWN, id=280, version=0, aliases=("TieredCompilationRundown/SettingsDCStart",))
class TieredCompilationSettingsDCStart_V0:
    """Settings of tiered compilation, listed in the rundown."""

    ClrInstanceID: UInt16
    Flags: Annotated[TieredCompilationFlags, UInt32]


@event(COMPILATION_DIAGNOSTIC, id=159, version=0, aliases=("Method/R2RGetEntryPoint",))
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


@event(COMPILATION_DIAGNOSTIC, id=160, version=0, aliases=("Method/R2RGetEntryPointStart",))
class R2RGetEntryPointStart_V0:
    """A lookup of precompiled (ready-to-run) code started."""

    MethodID: UInt64
    ClrInstanceID: UInt16
