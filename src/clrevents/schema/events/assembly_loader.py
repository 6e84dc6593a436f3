"""Assembly resolution: each step, and what was tried."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Boolean, Int32, UInt16, UnicodeString

ASSEMBLY_LOADER = EventGroup(RUNTIME, RuntimeKeyword.AssemblyLoader, level=4)


class ResolutionAttemptedStage(OpenEnum):
    """Stages of assembly resolution (manifest: ResolutionAttemptedStageMap; source: `Stage`, bindertracing.h)."""

    FindInLoadContext = 0
    AssemblyLoadContextLoad = 1
    ApplicationAssemblies = 2
    DefaultAssemblyLoadContextFallback = 3
    ResolveSatelliteAssembly = 4
    AssemblyLoadContextResolvingEvent = 5
    AppDomainAssemblyResolveEvent = 6


class ResolutionAttemptedResult(OpenEnum):
    """The result of a resolution stage (source: `ResolutionAttemptedOperation::Result`, bindertracing.h).

    The manifest's ResolutionAttemptedResultMap has 2 and 3 swapped.
    """

    Success = 0
    AssemblyNotFound = 1
    IncompatibleVersion = 2
    MismatchedAssemblyName = 3
    Failure = 4
    Exception = 5


class KnownPathSource(OpenEnum):
    """Which list of the host the path comes from (manifest: KnownPathSourceMap, up to 4).

    Source: `BinderTracing::PathSource`, bindertracing.h.
    """

    ApplicationAssemblies = 0
    Unused = 1
    AppPaths = 2
    PlatformResourceRoots = 3
    SatelliteSubdirectory = 4
    Bundle = 5


@event(ASSEMBLY_LOADER, id=290, version=0, aliases=("AssemblyLoader/Start",))
class AssemblyLoadStart_V0:
    """An assembly load started: what was requested, by whom, and in which load context."""

    ClrInstanceID: UInt16
    AssemblyName: UnicodeString
    AssemblyPath: UnicodeString
    RequestingAssembly: UnicodeString
    AssemblyLoadContext: UnicodeString
    RequestingAssemblyLoadContext: UnicodeString


@event(ASSEMBLY_LOADER, id=291, version=0, aliases=("AssemblyLoader/Stop",))
class AssemblyLoadStop_V0:
    """An assembly load ended: whether the assembly was found, where, and whether it was cached."""

    ClrInstanceID: UInt16
    AssemblyName: UnicodeString
    AssemblyPath: UnicodeString
    RequestingAssembly: UnicodeString
    AssemblyLoadContext: UnicodeString
    RequestingAssemblyLoadContext: UnicodeString
    Success: Boolean
    ResultAssemblyName: UnicodeString
    ResultAssemblyPath: UnicodeString
    Cached: Boolean


@event(ASSEMBLY_LOADER, id=292, version=0, aliases=("AssemblyLoader/ResolutionAttempted",))
class ResolutionAttempted_V0:
    """One stage of assembly resolution, and its result."""

    ClrInstanceID: UInt16
    AssemblyName: UnicodeString
    Stage: Annotated[ResolutionAttemptedStage, UInt16]
    AssemblyLoadContext: UnicodeString
    Result: Annotated[ResolutionAttemptedResult, UInt16]
    ResultAssemblyName: UnicodeString
    ResultAssemblyPath: UnicodeString
    ErrorMessage: UnicodeString


@event(ASSEMBLY_LOADER, id=293, version=0, aliases=("AssemblyLoader/AssemblyLoadContextResolvingHandlerInvoked",))
class AssemblyLoadContextResolvingHandlerInvoked_V0:
    """A handler of AssemblyLoadContext.Resolving was called to resolve an assembly."""

    ClrInstanceID: UInt16
    AssemblyName: UnicodeString
    HandlerName: UnicodeString
    AssemblyLoadContext: UnicodeString
    ResultAssemblyName: UnicodeString
    ResultAssemblyPath: UnicodeString


@event(ASSEMBLY_LOADER, id=294, version=0, aliases=("AssemblyLoader/AppDomainAssemblyResolveHandlerInvoked",))
class AppDomainAssemblyResolveHandlerInvoked_V0:
    """A handler of AppDomain.AssemblyResolve was called to resolve an assembly."""

    ClrInstanceID: UInt16
    AssemblyName: UnicodeString
    HandlerName: UnicodeString
    ResultAssemblyName: UnicodeString
    ResultAssemblyPath: UnicodeString


@event(ASSEMBLY_LOADER, id=295, version=0, aliases=("AssemblyLoader/AssemblyLoadFromResolveHandlerInvoked",))
class AssemblyLoadFromResolveHandlerInvoked_V0:
    """Assembly.LoadFrom looked for a dependency next to the assembly that needs it."""

    ClrInstanceID: UInt16
    AssemblyName: UnicodeString
    IsTrackedLoad: Boolean
    RequestingAssemblyPath: UnicodeString
    ComputedRequestedAssemblyPath: UnicodeString


@event(ASSEMBLY_LOADER, id=296, version=0, aliases=("AssemblyLoader/KnownPathProbed",))
class KnownPathProbed_V0:
    """A path given by the host was probed for an assembly; Result is an HRESULT."""

    ClrInstanceID: UInt16
    FilePath: UnicodeString
    Source: Annotated[KnownPathSource, UInt16]
    Result: Int32
