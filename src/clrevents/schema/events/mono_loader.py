"""Mono: contexts, application domains, modules and assemblies."""

from clrevents.schema.event import event
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Pointer, UInt64, UnicodeString


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


@event(MONO, id=3, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAppDomainLoading_V0:
    """Mono: an application domain starts loading."""

    AppDomainID: UInt64


@event(MONO, id=4, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerAppDomainLoaded_V0:
    """Mono: an application domain was loaded."""

    AppDomainID: UInt64


@event(MONO, id=5, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAppDomainUnloading_V0:
    """Mono: an application domain starts unloading."""

    AppDomainID: UInt64


@event(MONO, id=6, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerAppDomainUnloaded_V0:
    """Mono: an application domain was unloaded."""

    AppDomainID: UInt64


@event(MONO, id=7, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerAppDomainName_V0:
    """Mono: an application domain was given its name."""

    AppDomainID: UInt64
    AppDomainName: UnicodeString


@event(MONO, id=20, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerModuleLoading_V0:
    """Mono: a module starts loading."""

    ModuleID: UInt64


@event(MONO, id=21, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerModuleFailed_V0:
    """Mono: a module failed to load."""

    ModuleID: UInt64


@event(MONO, id=22, version=0, keywords=MonoKeyword.Loader, level=4)
class MonoProfilerModuleLoaded_V0:
    """Mono: a module was loaded."""

    ModuleID: UInt64
    ModuleName: UnicodeString
    ModuleSignature: UnicodeString


@event(MONO, id=23, version=0, keywords=MonoKeyword.Loader, level=5)
class MonoProfilerModuleUnloading_V0:
    """Mono: a module starts unloading."""

    ModuleID: UInt64


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
