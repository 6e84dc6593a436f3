"""Memory and managed threads of application domains."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.flags import OpenFlag
from clrevents.schema.keywords import RundownKeyword, RuntimeKeyword
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.types import UInt16, UInt32, UInt64

APP_DOMAINS = EventGroup(RUNTIME, RuntimeKeyword.AppDomainResourceManagement, level=4)
APP_DOMAIN_THREADS = EventGroup(RUNTIME, RuntimeKeyword.AppDomainResourceManagement | RuntimeKeyword.Threading, level=4)
DOMAIN_THREADS_RUNDOWN = EventGroup(
    RUNDOWN, RundownKeyword.AppDomainResourceManagementRundown | RundownKeyword.Threading, level=4
)


class ThreadFlags(OpenFlag):
    """The role of a managed thread (manifest: ThreadFlagsMap; source: `EtwThreadFlags`, eventtracebase.h)."""

    GCSpecial = 0x1
    Finalizer = 0x2
    ThreadPoolWorker = 0x4


@event(APP_DOMAINS, id=83, version=0, aliases=("AppDomainResourceManagement/MemAllocated",))
class AppDomainMemAllocated_V0:
    """Bytes that an application domain has allocated since it was created."""

    AppDomainID: UInt64
    Allocated: UInt64
    ClrInstanceID: UInt16


@event(APP_DOMAINS, id=84, version=0, aliases=("AppDomainResourceManagement/MemSurvived",))
class AppDomainMemSurvived_V0:
    """Bytes of an application domain, and of the process, that survived the last collection."""

    AppDomainID: UInt64
    Survived: UInt64
    ProcessSurvived: UInt64
    ClrInstanceID: UInt16


@struct
class ManagedThreadFields:
    """A managed thread."""

    ManagedThreadID: UInt64
    AppDomainID: UInt64
    Flags: Annotated[ThreadFlags, UInt32]
    ManagedThreadIndex: UInt32
    OSThreadID: UInt32
    ClrInstanceID: UInt16


@event(APP_DOMAIN_THREADS, id=85, version=0, aliases=("AppDomainResourceManagement/ThreadCreated",))
class ThreadCreated_V0(ManagedThreadFields):
    """A managed thread was created, or a native thread was registered with the runtime."""


@event(APP_DOMAIN_THREADS, id=86, version=0, aliases=("AppDomainResourceManagement/ThreadTerminated",))
class ThreadTerminated_V0:
    """A managed thread ended."""

    ManagedThreadID: UInt64
    AppDomainID: UInt64
    ClrInstanceID: UInt16


@event(APP_DOMAIN_THREADS, id=87, version=0, aliases=("AppDomainResourceManagement/DomainEnter",))
class ThreadDomainEnter_V0:
    """A thread entered an application domain."""

    ManagedThreadID: UInt64
    AppDomainID: UInt64
    ClrInstanceID: UInt16


@event(DOMAIN_THREADS_RUNDOWN, id=159, version=0, aliases=("Loader/ThreadDCStop",))
class ThreadDC_V0(ManagedThreadFields):
    """A managed thread that existed at the end of the session."""
