"""Suspension and resumption of managed threads, mostly for collections."""

from typing import Annotated

from clrevents.schema.event import InstanceFields, event, extended
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Int32, UInt16, UInt32


class GCSuspendEEReason(OpenEnum):
    """Why managed threads were suspended (manifest: GCSuspendEEReasonMap, up to 7).

    Source: `ThreadSuspend::SUSPEND_REASON`, vm/threadsuspend.h. The manifest still calls 3 SuspendForCodePitching,
    as early runtimes did; the name remains as an alias.
    """

    SuspendOther = 0
    SuspendForGC = 1
    SuspendForAppDomainShutdown = 2
    SuspendForRejit = 3
    SuspendForCodePitching = 3
    SuspendForShutdown = 4
    SuspendForDebugger = 5
    SuspendForGCPrep = 6
    SuspendForDebuggerSweep = 7
    SuspendForProfiler = 8


@event(RUNTIME, id=3, version=0, aliases=("GC/RestartEEStop",), keywords=RuntimeKeyword.GC, level=4)
class GCRestartEEEnd_V0:
    """Managed threads have been resumed after a suspension."""


GCRestartEEEnd_V1 = extended(GCRestartEEEnd_V0, InstanceFields)


@event(RUNTIME, id=7, version=0, aliases=("GC/RestartEEStart",), keywords=RuntimeKeyword.GC, level=4)
class GCRestartEEBegin_V0:
    """The runtime starts resuming managed threads."""


GCRestartEEBegin_V1 = extended(GCRestartEEBegin_V0, InstanceFields)


@event(RUNTIME, id=8, version=0, aliases=("GC/SuspendEEStop",), keywords=RuntimeKeyword.GC, level=4)
class GCSuspendEEEnd_V0:
    """All managed threads are suspended."""


GCSuspendEEEnd_V1 = extended(GCSuspendEEEnd_V0, InstanceFields)


@event(RUNTIME, id=9, version=0, aliases=("GC/SuspendEEStart",), keywords=RuntimeKeyword.GC, level=4)
class GCSuspendEEBegin_V0:
    """The runtime starts suspending managed threads, and why."""

    Reason: Annotated[GCSuspendEEReason, UInt16]


@event(RUNTIME, id=9, version=1, aliases=("GC/SuspendEEStart",), keywords=RuntimeKeyword.GC, level=4)
class GCSuspendEEBegin_V1:
    """The runtime starts suspending managed threads, and why. Count: collections so far, -1 if not for a GC."""

    Reason: Annotated[GCSuspendEEReason, UInt32]
    Count: Int32
    ClrInstanceID: UInt16
