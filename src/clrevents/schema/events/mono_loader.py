"""Mono: contexts, application domains, modules, assemblies, classes and their method tables."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Counted, Pointer, UInt8, UInt32, UInt64, UnicodeString, by


@event(MONO, id=1, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerContextLoaded_V0:
    """Mono: a context was created in an application domain."""

    ObjectID: Pointer
    AppDomainID: UInt64
    ContextID: UInt64


@event(MONO, id=2, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerContextUnloaded_V0:
    """Mono: a context of an application domain was unloaded."""

    ObjectID: Pointer
    AppDomainID: UInt64
    ContextID: UInt64


@struct
class MonoAppDomainFields:
    """An application domain."""

    AppDomainID: UInt64


@event(MONO, id=3, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAppDomainLoading_V0(MonoAppDomainFields):
    """Mono: an application domain starts loading."""


@event(MONO, id=4, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerAppDomainLoaded_V0(MonoAppDomainFields):
    """Mono: an application domain was loaded."""


@event(MONO, id=5, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAppDomainUnloading_V0(MonoAppDomainFields):
    """Mono: an application domain starts unloading."""


@event(MONO, id=6, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerAppDomainUnloaded_V0(MonoAppDomainFields):
    """Mono: an application domain was unloaded."""


@event(MONO, id=7, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAppDomainName_V0:
    """Mono: an application domain was given its name."""

    AppDomainID: UInt64
    AppDomainName: UnicodeString


@struct
class MonoModuleFields:
    """A module."""

    ModuleID: UInt64


@event(MONO, id=20, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerModuleLoading_V0(MonoModuleFields):
    """Mono: a module starts loading."""


@event(MONO, id=21, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerModuleFailed_V0(MonoModuleFields):
    """Mono: a module failed to load."""


@event(MONO, id=22, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerModuleLoaded_V0:
    """Mono: a module was loaded."""

    ModuleID: UInt64
    ModuleName: UnicodeString
    ModuleSignature: UnicodeString


@event(MONO, id=23, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerModuleUnloading_V0(MonoModuleFields):
    """Mono: a module starts unloading."""


@event(MONO, id=24, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerModuleUnloaded_V0:
    """Mono: a module was unloaded."""

    ModuleID: UInt64
    ModuleName: UnicodeString
    ModuleSignature: UnicodeString


@event(MONO, id=25, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAssemblyLoading_V0:
    """Mono: an assembly starts loading."""

    AssemblyID: UInt64
    ModuleID: UInt64


@event(MONO, id=26, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerAssemblyLoaded_V0:
    """Mono: an assembly was loaded."""

    AssemblyID: UInt64
    ModuleID: UInt64
    AssemblyName: UnicodeString


@event(MONO, id=27, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAssemblyUnloading_V0:
    """Mono: an assembly starts unloading."""

    AssemblyID: UInt64
    ModuleID: UInt64


@event(MONO, id=28, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerAssemblyUnloaded_V0:
    """Mono: an assembly was unloaded."""

    AssemblyID: UInt64
    ModuleID: UInt64
    AssemblyName: UnicodeString


@event(MONO, id=14, version=0, keywords=MonoKeyword.TypeLoading, level=5)
class MonoProfilerClassLoading_V0:
    """Mono: a class starts loading."""

    ClassID: UInt64
    ModuleID: UInt64


@event(MONO, id=15, version=0, keywords=MonoKeyword.TypeLoading, level=4)
class MonoProfilerClassFailed_V0:
    """Mono: a class failed to load."""

    ClassID: UInt64
    ModuleID: UInt64


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


@struct
class MonoVTableFields:
    """A table of methods, its class and domain."""

    VTableID: UInt64
    ClassID: UInt64
    AppDomainID: UInt64


@event(MONO, id=17, version=0, keywords=MonoKeyword.TypeLoading, level=5)
class MonoProfilerVTableLoading_V0(MonoVTableFields):
    """Mono: creation of a class's method table starts."""


@event(MONO, id=18, version=0, keywords=MonoKeyword.TypeLoading, level=4)
class MonoProfilerVTableFailed_V0(MonoVTableFields):
    """Mono: creation of a class's method table failed."""


@event(MONO, id=19, version=0, keywords=MonoKeyword.TypeLoading, level=4)
class MonoProfilerVTableLoaded_V0(MonoVTableFields):
    """Mono: a class's method table was created."""
