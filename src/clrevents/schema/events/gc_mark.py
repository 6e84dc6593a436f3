"""Marking of live objects, and synchronization of the GC threads."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import GCRootKind
from clrevents.schema.types import Int32, UInt16, UInt32, UInt64


@event(RUNTIME, id=25, version=0, aliases=("GC/MarkStackRoots",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkStackRoots_V0:
    """Objects of a heap reachable from stacks have been marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=26, version=0, aliases=("GC/MarkFinalizeQueueRoots",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkFinalizeQueueRoots_V0:
    """Objects of a heap reachable from the finalizer queue have been marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=27, version=0, aliases=("GC/MarkHandles",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkHandles_V0:
    """Objects of a heap reachable from GC handles have been marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=28, version=0, aliases=("GC/MarkCards",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkOlderGenerationRoots_V0:
    """Objects of a heap reachable from older generations have been marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=202, version=0, aliases=("GC/Mark", "GC/MarkWithType"), keywords=RuntimeKeyword.GC, level=4)
class GCMarkWithType_V0:
    """Objects of a heap reachable from one kind of root have been marked; Bytes is the promoted size."""

    HeapNum: UInt32
    ClrInstanceID: UInt16
    Type: Annotated[GCRootKind, UInt32]
    Bytes: UInt64


@event(RUNTIME, id=203, version=2, aliases=("GC/Join",), keywords=RuntimeKeyword.GC, level=5)
class GCJoin_V2:
    """Server GC threads join. JoinTime 0: a wait starts, 1: it ends; Heap 100, 200: all threads continue."""

    Heap: UInt32
    JoinTime: UInt32
    JoinType: UInt32
    ClrInstanceID: UInt16
    JoinID: Int32
