"""Mono: classes and their method tables."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Counted, UInt8, UInt32, UInt64, UnicodeString, by


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


@event(MONO, id=17, version=0, keywords=MonoKeyword.TypeLoading, level=5)
class MonoProfilerVTableLoading_V0:
    """Mono: creation of a class's method table starts."""

    VTableID: UInt64
    ClassID: UInt64
    AppDomainID: UInt64


@event(MONO, id=18, version=0, keywords=MonoKeyword.TypeLoading, level=4)
class MonoProfilerVTableFailed_V0:
    """Mono: creation of a class's method table failed."""

    VTableID: UInt64
    ClassID: UInt64
    AppDomainID: UInt64


@event(MONO, id=19, version=0, keywords=MonoKeyword.TypeLoading, level=4)
class MonoProfilerVTableLoaded_V0:
    """Mono: a class's method table was created."""

    VTableID: UInt64
    ClassID: UInt64
    AppDomainID: UInt64
