"""Mono: roots and heap dumps."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Counted, Pointer, UInt8, UInt32, UInt64, UnicodeString, by


class MonoGCRootType(OpenEnum):
    """What registered a root (manifest: GCRootTypeMap; source: `MonoGCRootSource`, mono/metadata/mono-gc.h)."""

    External = 0
    Stack = 1
    FinalizerQueue = 2
    Static = 3
    ThreadStatic = 4
    ContextStatic = 5
    GCHandle = 6
    Jit = 7
    Threading = 8
    Domain = 9
    Reflection = 10
    Marshal = 11
    ThreadPool = 12
    Debugger = 13
    Handle = 14
    Ephemeron = 15
    ToggleRef = 16


@event(MONO, id=48, version=0, keywords=MonoKeyword.GCRoot, level=4)
class MonoProfilerGCRootRegister_V0:
    """Mono: a memory range that contains roots was registered; its size is in bytes."""

    RootID: Pointer
    RootSize: UInt64
    RootType: Annotated[MonoGCRootType, UInt8]
    RootKeyID: UInt64
    RootKeyName: UnicodeString


@event(MONO, id=49, version=0, keywords=MonoKeyword.GCRoot, level=4)
class MonoProfilerGCRootUnregister_V0:
    """Mono: a memory range that contained roots was unregistered."""

    RootID: Pointer


@struct
class MonoProfilerGCRootsValue:
    """One object and the root that refers to it."""

    ObjectID: Pointer
    AddressID: Pointer


@event(MONO, id=50, version=0, keywords=MonoKeyword.GCRoot, level=4)
class MonoProfilerGCRoots_V0:
    """Mono: objects referenced by roots, and the locations of the roots."""

    Count: UInt32
    Values: Annotated[Counted[MonoProfilerGCRootsValue], by("Count")]


@event(MONO, id=51, version=0, keywords=MonoKeyword.GCHeapDump, level=4)
class MonoProfilerGCHeapDumpStart_V0:
    """Mono: a heap dump starts."""

    HeapCollectParam: UnicodeString


@event(MONO, id=52, version=0, keywords=MonoKeyword.GCHeapDump, level=4)
class MonoProfilerGCHeapDumpStop_V0:
    """Mono: a heap dump ended."""


@struct
class MonoProfilerGCHeapDumpObjectReferenceValue:
    """One reference: its offset in the object, and its target."""

    ReferenceOffset: UInt32
    ObjectID: Pointer


@event(MONO, id=53, version=0, keywords=MonoKeyword.GCHeapDump, level=4)
class MonoProfilerGCHeapDumpObjectReference_V0:
    """Mono heap dump: an object with its size in bytes and its references."""

    ObjectID: Pointer
    VTableID: UInt64
    ObjectSize: UInt64
    ObjectGeneration: UInt8
    Count: UInt32
    Values: Annotated[Counted[MonoProfilerGCHeapDumpObjectReferenceValue], by("Count")]


@event(MONO, id=63, version=0, keywords=MonoKeyword.GCHeapDumpVTableClassReference, level=4)
class MonoProfilerGCHeapDumpVTableClassReference_V0:
    """Mono heap dump: the class that a method table belongs to."""

    VTableID: UInt64
    ClassID: UInt64
    ModuleID: UInt64
    ClassName: UnicodeString
