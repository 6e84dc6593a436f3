"""Assemblies, application domains and modules: loaded, unloaded, or there when a session starts or ends."""

from typing import Annotated

from clrevents.schema.event import EventGroup, InstanceFields, struct
from clrevents.schema.keywords import RundownKeyword, RuntimeKeyword
from clrevents.schema.registry import RUNDOWN, RUNTIME
from clrevents.schema.runtime_flags import AppDomainFlags, AssemblyFlags, ModuleFlags
from clrevents.schema.types import Guid, UInt16, UInt32, UInt64, UnicodeString


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


@struct
class FirstAssemblyFields:
    """An assembly, as the first version of its events had it."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString


@struct
class AssemblyFields:
    """An assembly, with the binding that loaded it."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    BindingID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString
    ClrInstanceID: UInt16


LOADER = EventGroup(RUNTIME, RuntimeKeyword.Loader, level=4, task="Loader")
LOADER_RUNDOWN = EventGroup(RUNDOWN, RundownKeyword.LoaderRundown, level=4, task="Loader")

MODULES = LOADER._replace(
    fields=(ModuleFields, InstanceFields, PdbFields), later=RuntimeKeyword.Loader | RuntimeKeyword.PerfTrack
)
MODULES.event(152, "ModuleLoad", "A module was loaded.", *MODULES.fields, BuildFields)
MODULES.event(153, "ModuleUnload", "A module was unloaded.")
MODULES_RUNDOWN = LOADER_RUNDOWN._replace(
    fields=MODULES.fields, later=RundownKeyword.LoaderRundown | RundownKeyword.PerfTrackRundown
)
MODULES_RUNDOWN.event(153, "ModuleDCStart", "A module that was loaded when the session started.")
MODULES_RUNDOWN.event(
    154, "ModuleDCEnd", "A module that was loaded when the session ended.", *MODULES.fields, BuildFields
)
LOADER.event(
    149,
    "ModuleDCStartV2",
    "A module that was loaded when the session started; from runtimes without the rundown provider.",
    ModuleFields,
)
LOADER.event(
    150,
    "ModuleDCEndV2",
    "A module that was loaded when the session ended; from runtimes without the rundown provider.",
    ModuleFields,
)

LOADER.event(
    151, "DomainModuleLoad", "A module was loaded into an application domain.", DomainModuleFields, InstanceFields
)
DOMAIN_MODULES_RUNDOWN = LOADER_RUNDOWN._replace(fields=(DomainModuleFields, InstanceFields))
DOMAIN_MODULES_RUNDOWN.event(151, "DomainModuleDCStart", "A module in an application domain when the session started.")
DOMAIN_MODULES_RUNDOWN.event(152, "DomainModuleDCEnd", "A module in an application domain when the session ended.")

FIRST_ASSEMBLIES = LOADER._replace(fields=(FirstAssemblyFields,))
FIRST_ASSEMBLIES.event(154, "AssemblyLoad", "An assembly was loaded.")
FIRST_ASSEMBLIES.event(155, "AssemblyUnload", "An assembly was unloaded.")
FIRST_ASSEMBLIES_RUNDOWN = LOADER_RUNDOWN._replace(fields=(FirstAssemblyFields,))
FIRST_ASSEMBLIES_RUNDOWN.event(155, "AssemblyDCStart", "An assembly that was loaded when the session started.")
FIRST_ASSEMBLIES_RUNDOWN.event(156, "AssemblyDCEnd", "An assembly that was loaded when the session ended.")
ASSEMBLIES = LOADER._replace(fields=(AssemblyFields,))
ASSEMBLIES.event(154, "AssemblyLoad", "An assembly was loaded; BindingID identifies the bind.", version=1)
ASSEMBLIES.event(
    155, "AssemblyUnload", "An assembly was unloaded; BindingID identifies the bind that had loaded it.", version=1
)
ASSEMBLIES_RUNDOWN = LOADER_RUNDOWN._replace(fields=(AssemblyFields,))
ASSEMBLIES_RUNDOWN.event(
    155,
    "AssemblyDCStart",
    "An assembly that was loaded when the session started; BindingID identifies the bind.",
    version=1,
)
ASSEMBLIES_RUNDOWN.event(
    156,
    "AssemblyDCEnd",
    "An assembly that was loaded when the session ended; BindingID identifies the bind.",
    version=1,
)

DOMAINS = LOADER._replace(fields=(AppDomainFields, IndexFields))
DOMAINS.event(156, "AppDomainLoad", "An application domain was created.")
DOMAINS.event(157, "AppDomainUnload", "An application domain was unloaded.")
DOMAINS_RUNDOWN = LOADER_RUNDOWN._replace(fields=(AppDomainFields, IndexFields))
DOMAINS_RUNDOWN.event(157, "AppDomainDCStart", "An application domain that existed when the session started.")
DOMAINS_RUNDOWN.event(158, "AppDomainDCEnd", "An application domain that existed when the session ended.")
