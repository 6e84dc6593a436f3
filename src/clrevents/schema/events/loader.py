"""Loading and unloading of modules."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import ModuleFlags
from clrevents.schema.types import Guid, UInt16, UInt32, UInt64, UnicodeString


@event(RUNTIME, id=149, version=0, aliases=("Loader/ModuleDCStartV2",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleDCStartV2_V0:
    """A module that was loaded when the session started; from runtimes without the rundown provider."""

    ModuleID: UInt64
    AssemblyID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNTIME, id=150, version=0, aliases=("Loader/ModuleDCStopV2",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleDCEndV2_V0:
    """A module that was loaded when the session ended; from runtimes without the rundown provider."""

    ModuleID: UInt64
    AssemblyID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNTIME, id=151, version=0, aliases=("Loader/DomainModuleLoad",), keywords=RuntimeKeyword.Loader, level=4)
class DomainModuleLoad_V0:
    """A module was loaded into an application domain."""

    ModuleID: UInt64
    AssemblyID: UInt64
    AppDomainID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNTIME, id=151, version=1)
class DomainModuleLoad_V1(DomainModuleLoad_V0):
    """A module was loaded into an application domain. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=152, version=0, aliases=("Loader/ModuleLoad",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleLoad_V0:
    """A module was loaded."""

    ModuleID: UInt64
    AssemblyID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNTIME, id=152, version=1, keywords=RuntimeKeyword.Loader | RuntimeKeyword.PerfTrack)
class ModuleLoad_V1(ModuleLoad_V0):
    """A module was loaded. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=152, version=2)
class ModuleLoad_V2(ModuleLoad_V1):
    """A module was loaded. Adds the identity of its PDBs."""

    ManagedPdbSignature: Guid
    ManagedPdbAge: UInt32
    ManagedPdbBuildPath: UnicodeString
    NativePdbSignature: Guid
    NativePdbAge: UInt32
    NativePdbBuildPath: UnicodeString


@event(RUNTIME, id=152, version=3)
class ModuleLoad_V3(ModuleLoad_V2):
    """A module was loaded. Adds NativeBuildID."""

    NativeBuildID: UnicodeString


@event(RUNTIME, id=153, version=0, aliases=("Loader/ModuleUnload",), keywords=RuntimeKeyword.Loader, level=4)
class ModuleUnload_V0:
    """A module was unloaded."""

    ModuleID: UInt64
    AssemblyID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNTIME, id=153, version=1, keywords=RuntimeKeyword.Loader | RuntimeKeyword.PerfTrack)
class ModuleUnload_V1(ModuleUnload_V0):
    """A module was unloaded. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=153, version=2)
class ModuleUnload_V2(ModuleUnload_V1):
    """A module was unloaded. Adds the identity of its PDBs."""

    ManagedPdbSignature: Guid
    ManagedPdbAge: UInt32
    ManagedPdbBuildPath: UnicodeString
    NativePdbSignature: Guid
    NativePdbAge: UInt32
    NativePdbBuildPath: UnicodeString
