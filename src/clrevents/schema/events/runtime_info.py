"""Which runtime wrote the trace."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.flags import OpenFlag
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.types import Guid, UInt8, UInt16, UInt32, UnicodeString


class RuntimeSku(OpenFlag):
    """The runtime product (manifest: RuntimeSkuMap; source: `InfoStructs::Sku`, eventtracebase.h)."""

    DesktopClr = 0x1
    CoreClr = 0x2
    Mono = 0x4


class StartupMode(OpenFlag):
    """How the runtime was started (manifest: StartupModeMap; source: `InfoStructs::StartupMode`, eventtracebase.h)."""

    ManagedExe = 0x1
    HostedClr = 0x2
    IjwDll = 0x4
    ComActivated = 0x8
    Other = 0x10


class StartupFlags(OpenFlag):
    """Options set by the host (manifest: StartupFlagsMap, up to 0x400000; source: `STARTUP_FLAGS`, mscoree.idl)."""

    CONCURRENT_GC = 0x1
    LOADER_OPTIMIZATION_SINGLE_DOMAIN = 0x2
    LOADER_OPTIMIZATION_MULTI_DOMAIN = 0x4
    LOADER_SAFEMODE = 0x10
    LOADER_SETPREFERENCE = 0x100
    SERVER_GC = 0x1000
    HOARD_GC_VM = 0x2000
    SINGLE_VERSION_HOSTING_INTERFACE = 0x4000
    LEGACY_IMPERSONATION = 0x10000
    DISABLE_COMMITTHREADSTACK = 0x20000
    ALWAYSFLOW_IMPERSONATION = 0x40000
    TRIM_GC_COMMIT = 0x80000
    ETW = 0x100000
    SERVER_BUILD = 0x200000
    ARM = 0x400000
    SINGLE_APPDOMAIN = 0x800000
    APPX_APP_MODEL = 0x1000000
    DISABLE_RANDOMIZED_STRING_HASHING = 0x2000000


@struct
class RuntimeInformationFields:
    """The runtime, its version and how it was started."""

    ClrInstanceID: UInt16
    Sku: Annotated[RuntimeSku, UInt16]
    BclMajorVersion: UInt16
    BclMinorVersion: UInt16
    BclBuildNumber: UInt16
    BclQfeNumber: UInt16
    VMMajorVersion: UInt16
    VMMinorVersion: UInt16
    VMBuildNumber: UInt16
    VMQfeNumber: UInt16
    StartupFlags: Annotated[StartupFlags, UInt32]
    StartupMode: Annotated[StartupMode, UInt8]
    CommandLine: UnicodeString
    ComObjectGuid: Guid
    RuntimeDllPath: UnicodeString


@event(RUNTIME, id=187, version=0, aliases=("Runtime/Start",), level=4)
class RuntimeInformationStart_V0(RuntimeInformationFields):
    """The runtime's version, how it was started and from where."""


@event(RUNDOWN, id=187, version=0, aliases=("Runtime/Start",), level=4)
class RuntimeInformationDCStart_V0(RuntimeInformationFields):
    """The runtime's version, how it was started and from where; listed in the rundown."""
