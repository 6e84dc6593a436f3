"""Mono: collections, allocations, handles, finalizers, roots and heap dumps."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Counted, Pointer, UInt8, UInt32, UInt64, UnicodeString, by


class MonoGCEventType(OpenEnum):
    """Stages of a collection (manifest: GCEventTypeMap; source: `MonoProfilerGCEvent`, mono/metadata/profiler.h)."""

    Start = 0
    End = 5
    PreStopWorld = 6
    PostStopWorld = 7
    PreStartWorld = 8
    PostStartWorld = 9
    PreStopWorldLocked = 10
    PostStartWorldUnlocked = 11


class MonoGCHandleType(OpenEnum):
    """The kind of a GC handle (manifest: GCHandleTypeMap, up to 3; source: `GCHandleType`, mono/sgen)."""

    Weak = 0
    WeakTrackResurrection = 1
    Normal = 2
    Pinned = 3
    WeakFields = 4


@event(MONO, id=38, version=0, keywords=MonoKeyword.GC, level=4)
class MonoProfilerGCEvent_V0:
    """Mono: a collection reached a stage."""

    GCEventType: Annotated[MonoGCEventType, UInt8]
    GCGeneration: UInt32


@event(MONO, id=39, version=0, keywords=MonoKeyword.GCAllocation, level=4)
class MonoProfilerGCAllocation_V0:
    """Mono: an object was allocated; its size is in bytes."""

    VTableID: UInt64
    ObjectID: Pointer
    ObjectSize: UInt64


@struct
class MonoProfilerGCMovesValue:
    """One object and its new address."""

    ObjectID: Pointer
    AddressID: Pointer


@event(MONO, id=40, version=0, keywords=MonoKeyword.GCMoves, level=4)
class MonoProfilerGCMoves_V0:
    """Mono: objects moved by a collection, with their new addresses."""

    Count: UInt32
    Values: Annotated[Counted[MonoProfilerGCMovesValue], by("Count")]


@event(MONO, id=41, version=0, keywords=MonoKeyword.GCResize, level=4)
class MonoProfilerGCResize_V0:
    """Mono: the heap was resized; the new size is in bytes."""

    NewSize: UInt64


@event(MONO, id=42, version=0, keywords=MonoKeyword.GCHandle, level=4)
class MonoProfilerGCHandleCreated_V0:
    """Mono: a GC handle was created."""

    HandleID: UInt64
    HandleType: Annotated[MonoGCHandleType, UInt8]
    ObjectID: Pointer


@event(MONO, id=43, version=0, keywords=MonoKeyword.GCHandle, level=4)
class MonoProfilerGCHandleDeleted_V0:
    """Mono: a GC handle was freed."""

    HandleID: UInt64
    HandleType: Annotated[MonoGCHandleType, UInt8]


@struct
class MonoObjectFields:
    """An object."""

    ObjectID: Pointer


FINALIZATION = EventGroup(MONO, MonoKeyword.GCFinalization, level=4)
FINALIZATION.event(44, "MonoProfilerGCFinalizing", "Mono: finalizers start running.")
FINALIZATION.event(45, "MonoProfilerGCFinalized", "Mono: finalizers have run.")
FINALIZATION.event(46, "MonoProfilerGCFinalizingObject", "Mono: the finalizer of one object starts.", MonoObjectFields)
FINALIZATION.event(47, "MonoProfilerGCFinalizedObject", "Mono: the finalizer of one object has run.", MonoObjectFields)


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
