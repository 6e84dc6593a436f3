"""Tiered compilation: its settings, its pauses, its background thread."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RundownKeyword, RuntimeKeyword
from clrevents.schema.method_flags import TieredCompilationFlags
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.types import UInt16, UInt32


@event(
    RUNTIME,
    id=280,
    version=0,
    aliases=("TieredCompilation/Settings",),
    keywords=RuntimeKeyword.Compilation,
    level=4,
)
class TieredCompilationSettings_V0:
    """How tiered compilation is set up, sent at start-up."""

    ClrInstanceID: UInt16
    Flags: Annotated[TieredCompilationFlags, UInt32]


@event(
    RUNTIME,
    id=281,
    version=0,
    aliases=("TieredCompilation/Pause",),
    keywords=RuntimeKeyword.Compilation,
    level=4,
)
class TieredCompilationPause_V0:
    """New methods are being called, so promotion to a higher tier waits."""

    ClrInstanceID: UInt16


@event(
    RUNTIME,
    id=282,
    version=0,
    aliases=("TieredCompilation/Resume",),
    keywords=RuntimeKeyword.Compilation,
    level=4,
)
class TieredCompilationResume_V0:
    """Promotion to a higher tier goes on; NewMethodCount methods were called for the first time meanwhile."""

    ClrInstanceID: UInt16
    NewMethodCount: UInt32


@event(
    RUNTIME,
    id=283,
    version=0,
    aliases=("TieredCompilation/BackgroundJitStart",),
    keywords=RuntimeKeyword.Compilation,
    level=4,
)
class TieredCompilationBackgroundJitStart_V0:
    """The background thread began to compile methods at a higher tier."""

    ClrInstanceID: UInt16
    PendingMethodCount: UInt32


@event(
    RUNTIME,
    id=284,
    version=0,
    aliases=("TieredCompilation/BackgroundJitStop",),
    keywords=RuntimeKeyword.Compilation,
    level=4,
)
class TieredCompilationBackgroundJitStop_V0:
    """The background thread stopped compiling; what is left waits for its next turn."""

    ClrInstanceID: UInt16
    PendingMethodCount: UInt32
    JittedMethodCount: UInt32


@event(
    RUNDOWN,
    id=280,
    version=0,
    aliases=("TieredCompilationRundown/SettingsDCStart",),
    keywords=RundownKeyword.Compilation,
    level=4,
)
class TieredCompilationSettingsDCStart_V0:
    """How tiered compilation is set up, listed in the rundown."""

    ClrInstanceID: UInt16
    Flags: Annotated[TieredCompilationFlags, UInt32]
