"""Loading and unloading of assemblies and application domains."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import AppDomainFlags, AssemblyFlags
from clrevents.schema.types import UInt16, UInt32, UInt64, UnicodeString


@event(RUNTIME, id=154, version=0, aliases=("Loader/AssemblyLoad",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyLoad_V0:
    """An assembly was loaded."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString


@event(RUNTIME, id=154, version=1, aliases=("Loader/AssemblyLoad",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyLoad_V1:
    """An assembly was loaded; BindingID identifies the bind."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    BindingID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(RUNTIME, id=155, version=0, aliases=("Loader/AssemblyUnload",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyUnload_V0:
    """An assembly was unloaded."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString


@event(RUNTIME, id=155, version=1, aliases=("Loader/AssemblyUnload",), keywords=RuntimeKeyword.Loader, level=4)
class AssemblyUnload_V1:
    """An assembly was unloaded; BindingID identifies the bind that had loaded it."""

    AssemblyID: UInt64
    AppDomainID: UInt64
    BindingID: UInt64
    AssemblyFlags: Annotated[AssemblyFlags, UInt32]
    FullyQualifiedAssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(RUNTIME, id=156, version=0, aliases=("Loader/AppDomainLoad",), keywords=RuntimeKeyword.Loader, level=4)
class AppDomainLoad_V0:
    """An application domain was created."""

    AppDomainID: UInt64
    AppDomainFlags: Annotated[AppDomainFlags, UInt32]
    AppDomainName: UnicodeString


@event(RUNTIME, id=156, version=1)
class AppDomainLoad_V1(AppDomainLoad_V0):
    """An application domain was created. Adds AppDomainIndex and ClrInstanceID."""

    AppDomainIndex: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=157, version=0, aliases=("Loader/AppDomainUnload",), keywords=RuntimeKeyword.Loader, level=4)
class AppDomainUnload_V0:
    """An application domain was unloaded."""

    AppDomainID: UInt64
    AppDomainFlags: Annotated[AppDomainFlags, UInt32]
    AppDomainName: UnicodeString


@event(RUNTIME, id=157, version=1)
class AppDomainUnload_V1(AppDomainUnload_V0):
    """An application domain was unloaded. Adds AppDomainIndex and ClrInstanceID."""

    AppDomainIndex: UInt32
    ClrInstanceID: UInt16
