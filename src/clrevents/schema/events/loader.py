"""Assemblies, application domains and modules: loaded, unloaded, or there when a session starts or ends."""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, event, extended, struct
from clrevents.schema.keywords import RundownKeyword, RuntimeKeyword
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.runtime_flags import AppDomainFlags, AssemblyFlags, ModuleFlags
from clrevents.schema.types import Guid, UInt16, UInt32, UInt64, UnicodeString

LOADER_RUNDOWN = EventGroup(RUNDOWN, RundownKeyword.LoaderRundown, level=4)


@struct
class PdbFields:
    """Adds the identity of its PDBs."""

    ManagedPdbSignature: Guid
    ManagedPdbAge: UInt32
    ManagedPdbBuildPath: UnicodeString
    NativePdbSignature: Guid
    NativePdbAge: UInt32
    NativePdbBuildPath: UnicodeString


@struct
class BuildFields:
    """Adds NativeBuildID."""

    NativeBuildID: UnicodeString


@struct
class AppDomainFields:
    """An application domain."""

    AppDomainID: UInt64
    AppDomainFlags: Annotated[AppDomainFlags, UInt32]
    AppDomainName: UnicodeString


@struct
class IndexFields:
    """Adds AppDomainIndex and ClrInstanceID."""

    AppDomainIndex: UInt32
    ClrInstanceID: UInt16


@struct
class ModuleFields:
    """A module and the paths of its files."""

    ModuleID: UInt64
    AssemblyID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNTIME, id=149, version=0, aliases=("Loader/ModuleDCStartV2",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleDCStartV2_V0(ModuleFields):
    """A module that was loaded when the session started; from runtimes without the rundown provider."""


@event(RUNTIME, id=150, version=0, aliases=("Loader/ModuleDCStopV2",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleDCEndV2_V0(ModuleFields):
    """A module that was loaded when the session ended; from runtimes without the rundown provider."""


@struct
class DomainModuleFields:
    """A module in a domain, and the paths of its files."""

    ModuleID: UInt64
    AssemblyID: UInt64
    AppDomainID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNTIME, id=151, version=0, aliases=("Loader/DomainModuleLoad",), keywords=RuntimeKeyword.Loader, level=4)
class DomainModuleLoad_V0(DomainModuleFields):
    """A module was loaded into an application domain."""


DomainModuleLoad_V1 = extended(DomainModuleLoad_V0, InstanceFields)


@event(RUNTIME, id=152, version=0, aliases=("Loader/ModuleLoad",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleLoad_V0(ModuleFields):
    """A module was loaded."""


ModuleLoad_V1 = extended(ModuleLoad_V0, InstanceFields, keywords=RuntimeKeyword.Loader | RuntimeKeyword.PerfTrack)
ModuleLoad_V2 = extended(ModuleLoad_V1, PdbFields)


ModuleLoad_V3 = extended(ModuleLoad_V2, BuildFields)


@event(RUNTIME, id=153, version=0, aliases=("Loader/ModuleUnload",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleUnload_V0(ModuleFields):
    """A module was unloaded."""


ModuleUnload_V1 = extended(ModuleUnload_V0, InstanceFields, keywords=RuntimeKeyword.Loader | RuntimeKeyword.PerfTrack)
ModuleUnload_V2 = extended(ModuleUnload_V1, PdbFields)


@struct
class FirstAssemblyFields:
    """An assembly, as the first version of its events had it."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString


@event(RUNTIME, id=154, version=0, aliases=("Loader/AssemblyLoad",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyLoad_V0(FirstAssemblyFields):
    """An assembly was loaded."""


@struct
class AssemblyFields:
    """An assembly, with the binding that loaded it."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    BindingID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(RUNTIME, id=154, version=1, aliases=("Loader/AssemblyLoad",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyLoad_V1(AssemblyFields):
    """An assembly was loaded; BindingID identifies the bind."""


@event(RUNTIME, id=155, version=0, aliases=("Loader/AssemblyUnload",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyUnload_V0(FirstAssemblyFields):
    """An assembly was unloaded."""


@event(RUNTIME, id=155, version=1, aliases=("Loader/AssemblyUnload",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyUnload_V1(AssemblyFields):
    """An assembly was unloaded; BindingID identifies the bind that had loaded it."""


@event(RUNTIME, id=156, version=0, aliases=("Loader/AppDomainLoad",), keywords=RuntimeKeyword.Loader, level=4)
class AppDomainLoad_V0(AppDomainFields):
    """An application domain was created."""


AppDomainLoad_V1 = extended(AppDomainLoad_V0, IndexFields)


@event(RUNTIME, id=157, version=0, aliases=("Loader/AppDomainUnload",), keywords=RuntimeKeyword.Loader, level=4)
class AppDomainUnload_V0(AppDomainFields):
    """An application domain was unloaded."""


AppDomainUnload_V1 = extended(AppDomainUnload_V0, IndexFields)


@event(LOADER_RUNDOWN, id=155, version=0, aliases=("Loader/AssemblyDCStart",))
class AssemblyDCStart_V0(FirstAssemblyFields):
    """An assembly that was loaded when the session started."""


@event(LOADER_RUNDOWN, id=155, version=1, aliases=("Loader/AssemblyDCStart",))
class AssemblyDCStart_V1(AssemblyFields):
    """An assembly that was loaded when the session started; BindingID identifies the bind."""


@event(LOADER_RUNDOWN, id=156, version=0, aliases=("Loader/AssemblyDCStop",))
class AssemblyDCEnd_V0(FirstAssemblyFields):
    """An assembly that was loaded when the session ended."""


@event(LOADER_RUNDOWN, id=156, version=1, aliases=("Loader/AssemblyDCStop",))
class AssemblyDCEnd_V1(AssemblyFields):
    """An assembly that was loaded when the session ended; BindingID identifies the bind."""


@event(LOADER_RUNDOWN, id=157, version=0, aliases=("Loader/AppDomainDCStart",))
class AppDomainDCStart_V0(AppDomainFields):
    """An application domain that existed when the session started."""


AppDomainDCStart_V1 = extended(AppDomainDCStart_V0, IndexFields)


@event(LOADER_RUNDOWN, id=158, version=0, aliases=("Loader/AppDomainDCStop",))
class AppDomainDCEnd_V0(AppDomainFields):
    """An application domain that existed when the session ended."""


AppDomainDCEnd_V1 = extended(AppDomainDCEnd_V0, IndexFields)


@event(LOADER_RUNDOWN, id=151, version=0, aliases=("Loader/DomainModuleDCStart",))
class DomainModuleDCStart_V0(DomainModuleFields):
    """A module in an application domain when the session started."""


DomainModuleDCStart_V1 = extended(DomainModuleDCStart_V0, InstanceFields)


@event(LOADER_RUNDOWN, id=152, version=0, aliases=("Loader/DomainModuleDCStop",))
class DomainModuleDCEnd_V0(DomainModuleFields):
    """A module in an application domain when the session ended."""


DomainModuleDCEnd_V1 = extended(DomainModuleDCEnd_V0, InstanceFields)


@event(LOADER_RUNDOWN, id=153, version=0, aliases=("Loader/ModuleDCStart",))
class ModuleDCStart_V0(ModuleFields):
    """A module that was loaded when the session started."""


ModuleDCStart_V1 = extended(
    ModuleDCStart_V0, InstanceFields, keywords=RundownKeyword.LoaderRundown | RundownKeyword.PerfTrackRundown
)
ModuleDCStart_V2 = extended(ModuleDCStart_V1, PdbFields)


@event(LOADER_RUNDOWN, id=154, version=0, aliases=("Loader/ModuleDCStop",))
class ModuleDCEnd_V0(ModuleFields):
    """A module that was loaded when the session ended."""


ModuleDCEnd_V1 = extended(
    ModuleDCEnd_V0, InstanceFields, keywords=RundownKeyword.LoaderRundown | RundownKeyword.PerfTrackRundown
)
ModuleDCEnd_V2 = extended(ModuleDCEnd_V1, PdbFields)


ModuleDCEnd_V3 = extended(ModuleDCEnd_V2, BuildFields)
