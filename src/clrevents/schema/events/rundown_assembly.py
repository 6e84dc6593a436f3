"""Assemblies and application domains that exist at the start or end of a session, from the rundown provider."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RundownKeyword
from clrevents.schema.registry import RUNDOWN
from clrevents.schema.runtime_flags import AppDomainFlags, AssemblyFlags
from clrevents.schema.types import UInt16, UInt32, UInt64, UnicodeString


@event(RUNDOWN, id=155, version=0, aliases=("Loader/AssemblyDCStart",), keywords=RundownKeyword.LoaderRundown, level=4)
class AssemblyDCStart_V0:
    """An assembly that was loaded when the session started."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString


@event(RUNDOWN, id=155, version=1, aliases=("Loader/AssemblyDCStart",), keywords=RundownKeyword.LoaderRundown, level=4)
class AssemblyDCStart_V1:
    """An assembly that was loaded when the session started; BindingID identifies the bind."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    BindingID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(RUNDOWN, id=156, version=0, aliases=("Loader/AssemblyDCStop",), keywords=RundownKeyword.LoaderRundown, level=4)
class AssemblyDCEnd_V0:
    """An assembly that was loaded when the session ended."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString


@event(RUNDOWN, id=156, version=1, aliases=("Loader/AssemblyDCStop",), keywords=RundownKeyword.LoaderRundown, level=4)
class AssemblyDCEnd_V1:
    """An assembly that was loaded when the session ended; BindingID identifies the bind."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    BindingID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(RUNDOWN, id=157, version=0, aliases=("Loader/AppDomainDCStart",), keywords=RundownKeyword.LoaderRundown, level=4)
class AppDomainDCStart_V0:
    """An application domain that existed when the session started."""

    AppDomainID: UInt64
    AppDomainFlags: Annotated[AppDomainFlags, UInt32]
    AppDomainName: UnicodeString


@event(RUNDOWN, id=157, version=1)
class AppDomainDCStart_V1(AppDomainDCStart_V0):
    """An application domain that existed when the session started. Adds AppDomainIndex and ClrInstanceID."""

    AppDomainIndex: UInt32
    ClrInstanceID: UInt16


@event(RUNDOWN, id=158, version=0, aliases=("Loader/AppDomainDCStop",), keywords=RundownKeyword.LoaderRundown, level=4)
class AppDomainDCEnd_V0:
    """An application domain that existed when the session ended."""

    AppDomainID: UInt64
    AppDomainFlags: Annotated[AppDomainFlags, UInt32]
    AppDomainName: UnicodeString


@event(RUNDOWN, id=158, version=1)
class AppDomainDCEnd_V1(AppDomainDCEnd_V0):
    """An application domain that existed when the session ended. Adds AppDomainIndex and ClrInstanceID."""

    AppDomainIndex: UInt32
    ClrInstanceID: UInt16
