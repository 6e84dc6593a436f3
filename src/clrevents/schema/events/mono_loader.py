"""Mono: contexts, application domains, modules, assemblies, classes and their method tables."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Counted, Pointer, UInt8, UInt32, UInt64, UnicodeString, by


@struct
class MonoContextFields:
    """A context of an application domain."""

    ObjectID: Pointer
    AppDomainID: UInt64
    ContextID: UInt64


@struct
class MonoAppDomainFields:
    """An application domain."""

    AppDomainID: UInt64


@struct
class MonoModuleFields:
    """A module."""

    ModuleID: UInt64


@struct
class MonoNamedModuleFields:
    """A module and its name."""

    ModuleID: UInt64
    ModuleName: UnicodeString
    ModuleSignature: UnicodeString


@struct
class MonoAssemblyFields:
    """An assembly."""

    AssemblyID: UInt64
    ModuleID: UInt64


@struct
class MonoNamedAssemblyFields:
    """An assembly and its name."""

    AssemblyID: UInt64
    ModuleID: UInt64
    AssemblyName: UnicodeString


@struct
class MonoClassFields:
    """A class."""

    ClassID: UInt64
    ModuleID: UInt64


@struct
class MonoVTableFields:
    """A table of methods, its class and domain."""

    VTableID: UInt64
    ClassID: UInt64
    AppDomainID: UInt64


LOADED = EventGroup(MONO, MonoKeyword.Loader, level=4)
LOADED.event(1, "MonoProfilerContextLoaded", "Mono: a context was created in an application domain.", MonoContextFields)
LOADED.event(
    2, "MonoProfilerContextUnloaded", "Mono: a context of an application domain was unloaded.", MonoContextFields
)
LOADED.event(4, "MonoProfilerAppDomainLoaded", "Mono: an application domain was loaded.", MonoAppDomainFields)
LOADED.event(6, "MonoProfilerAppDomainUnloaded", "Mono: an application domain was unloaded.", MonoAppDomainFields)
LOADED.event(21, "MonoProfilerModuleFailed", "Mono: a module failed to load.", MonoModuleFields)
LOADED.event(22, "MonoProfilerModuleLoaded", "Mono: a module was loaded.", MonoNamedModuleFields)
LOADED.event(24, "MonoProfilerModuleUnloaded", "Mono: a module was unloaded.", MonoNamedModuleFields)
LOADED.event(26, "MonoProfilerAssemblyLoaded", "Mono: an assembly was loaded.", MonoNamedAssemblyFields)
LOADED.event(28, "MonoProfilerAssemblyUnloaded", "Mono: an assembly was unloaded.", MonoNamedAssemblyFields)

LOADING = LOADED._replace(level=5)
LOADING.event(3, "MonoProfilerAppDomainLoading", "Mono: an application domain starts loading.", MonoAppDomainFields)
LOADING.event(5, "MonoProfilerAppDomainUnloading", "Mono: an application domain starts unloading.", MonoAppDomainFields)
LOADING.event(20, "MonoProfilerModuleLoading", "Mono: a module starts loading.", MonoModuleFields)
LOADING.event(23, "MonoProfilerModuleUnloading", "Mono: a module starts unloading.", MonoModuleFields)
LOADING.event(25, "MonoProfilerAssemblyLoading", "Mono: an assembly starts loading.", MonoAssemblyFields)
LOADING.event(27, "MonoProfilerAssemblyUnloading", "Mono: an assembly starts unloading.", MonoAssemblyFields)

TYPES = EventGroup(MONO, MonoKeyword.TypeLoading, level=4)
TYPES.event(15, "MonoProfilerClassFailed", "Mono: a class failed to load.", MonoClassFields)
TYPES.event(18, "MonoProfilerVTableFailed", "Mono: creation of a class's method table failed.", MonoVTableFields)
TYPES.event(19, "MonoProfilerVTableLoaded", "Mono: a class's method table was created.", MonoVTableFields)

LOADING_TYPES = TYPES._replace(level=5)
LOADING_TYPES.event(14, "MonoProfilerClassLoading", "Mono: a class starts loading.", MonoClassFields)
LOADING_TYPES.event(
    17, "MonoProfilerVTableLoading", "Mono: creation of a class's method table starts.", MonoVTableFields
)


@event(MONO, id=7, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAppDomainName_V0:
    """Mono: an application domain was given its name."""

    AppDomainID: UInt64
    AppDomainName: UnicodeString


@event(MONO, id=16, version=0, keywords=MonoKeyword.TypeLoading, level=4)
class MonoProfilerClassLoaded_V0:
    """Mono: a class was loaded."""

    ClassID: UInt64
    ModuleID: UInt64
    ClassName: UnicodeString


@struct
class MonoProfilerClassLoadedValue:
    """One type argument."""

    Type: UInt8
    ClassID: UInt64


@event(MONO, id=16, version=1)
class MonoProfilerClassLoaded_V1(MonoProfilerClassLoaded_V0):
    """Mono: a class was loaded. Adds its type arguments."""

    Count: UInt32
    Values: Annotated[Counted[MonoProfilerClassLoadedValue], by("Count")]
