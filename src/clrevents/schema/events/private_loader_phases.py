"""Phases of the assembly loader, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import UInt16, UInt32, UnicodeString


@event(PRIVATE, id=165, version=0, aliases=("Binding/LoaderPhaseStart",), keywords=PrivateKeyword.Binding, level=4)
class LoaderPhaseStart_V0:
    """Start of the loader phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=166, version=0, aliases=("Binding/LoaderPhaseStop",), keywords=PrivateKeyword.Binding, level=4)
class LoaderPhaseEnd_V0:
    """End of the loader phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=171,
    version=0,
    aliases=("Binding/LoaderAssemblyInitPhaseStart",),
    keywords=PrivateKeyword.Binding,
    level=4,
)
class LoaderAssemblyInitPhaseStart_V0:
    """Start of the initialization phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=172,
    version=0,
    aliases=("Binding/LoaderAssemblyInitPhaseStop",),
    keywords=PrivateKeyword.Binding,
    level=4,
)
class LoaderAssemblyInitPhaseEnd_V0:
    """End of the initialization phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE, id=173, version=0, aliases=("Binding/LoaderMappingPhaseStart",), keywords=PrivateKeyword.Binding, level=4
)
class LoaderMappingPhaseStart_V0:
    """Start of the mapping phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE, id=174, version=0, aliases=("Binding/LoaderMappingPhaseStop",), keywords=PrivateKeyword.Binding, level=4
)
class LoaderMappingPhaseEnd_V0:
    """End of the mapping phase of an assembly load."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=175,
    version=0,
    aliases=("Binding/LoaderDeliverEventPhaseStart",),
    keywords=PrivateKeyword.Binding,
    level=4,
)
class LoaderDeliverEventsPhaseStart_V0:
    """Start of the phase of an assembly load that notifies debuggers and profilers."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16


@event(
    PRIVATE,
    id=176,
    version=0,
    aliases=("Binding/LoaderDeliverEventsPhaseStop",),
    keywords=PrivateKeyword.Binding,
    level=4,
)
class LoaderDeliverEventsPhaseEnd_V0:
    """End of the phase of an assembly load that notifies debuggers and profilers."""

    AppDomainID: UInt32
    LoadContextID: UInt32
    FromLoaderCache: UInt32
    DynamicLoad: UInt32
    AssemblyCodebase: UnicodeString
    AssemblyName: UnicodeString
    ClrInstanceID: UInt16
