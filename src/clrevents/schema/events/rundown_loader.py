"""Modules that exist at the start or end of a session, from the rundown provider."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RundownKeyword
from clrevents.schema.registry import RUNDOWN
from clrevents.schema.runtime_flags import ModuleFlags
from clrevents.schema.types import Guid, UInt16, UInt32, UInt64, UnicodeString


@event(
    RUNDOWN, id=151, version=0, aliases=("Loader/DomainModuleDCStart",), keywords=RundownKeyword.LoaderRundown, level=4
)
class DomainModuleDCStart_V0:
    """A module in an application domain when the session started."""

    ModuleID: UInt64
    AssemblyID: UInt64
    AppDomainID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNDOWN, id=151, version=1)
class DomainModuleDCStart_V1(DomainModuleDCStart_V0):
    """A module in an application domain when the session started. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(
    RUNDOWN, id=152, version=0, aliases=("Loader/DomainModuleDCStop",), keywords=RundownKeyword.LoaderRundown, level=4
)
class DomainModuleDCEnd_V0:
    """A module in an application domain when the session ended."""

    ModuleID: UInt64
    AssemblyID: UInt64
    AppDomainID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNDOWN, id=152, version=1)
class DomainModuleDCEnd_V1(DomainModuleDCEnd_V0):
    """A module in an application domain when the session ended. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=153, version=0, aliases=("Loader/ModuleDCStart",), keywords=RundownKeyword.LoaderRundown, level=4)
class ModuleDCStart_V0:
    """A module that was loaded when the session started."""

    ModuleID: UInt64
    AssemblyID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNDOWN, id=153, version=1, keywords=RundownKeyword.LoaderRundown | RundownKeyword.PerfTrackRundown)
class ModuleDCStart_V1(ModuleDCStart_V0):
    """A module that was loaded when the session started. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=153, version=2)
class ModuleDCStart_V2(ModuleDCStart_V1):
    """A module that was loaded when the session started. Adds the identity of its PDBs."""

    ManagedPdbSignature: Guid
    ManagedPdbAge: UInt32
    ManagedPdbBuildPath: UnicodeString
    NativePdbSignature: Guid
    NativePdbAge: UInt32
    NativePdbBuildPath: UnicodeString


@event(RUNDOWN, id=154, version=0, aliases=("Loader/ModuleDCStop",), keywords=RundownKeyword.LoaderRundown, level=4)
class ModuleDCEnd_V0:
    """A module that was loaded when the session ended."""

    ModuleID: UInt64
    AssemblyID: UInt64
    ModuleFlags: Annotated[ModuleFlags, UInt32]
    Reserved1: UInt32
    ModuleILPath: UnicodeString
    ModuleNativePath: UnicodeString


@event(RUNDOWN, id=154, version=1, keywords=RundownKeyword.LoaderRundown | RundownKeyword.PerfTrackRundown)
class ModuleDCEnd_V1(ModuleDCEnd_V0):
    """A module that was loaded when the session ended. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNDOWN, id=154, version=2)
class ModuleDCEnd_V2(ModuleDCEnd_V1):
    """A module that was loaded when the session ended. Adds the identity of its PDBs."""

    ManagedPdbSignature: Guid
    ManagedPdbAge: UInt32
    ManagedPdbBuildPath: UnicodeString
    NativePdbSignature: Guid
    NativePdbAge: UInt32
    NativePdbBuildPath: UnicodeString


@event(RUNDOWN, id=154, version=3)
class ModuleDCEnd_V3(ModuleDCEnd_V2):
    """A module that was loaded when the session ended. Adds NativeBuildID."""

    NativeBuildID: UnicodeString
