"""How a collection marks what is alive, and how its threads wait for each other."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.gc_flags import GCRootKind
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt16, UInt32, UInt64


@event(RUNTIME, id=25, version=0, aliases=("GC/MarkStackRoots",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkStackRoots_V0:
    """A heap's objects reachable from stacks are marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=26, version=0, aliases=("GC/MarkFinalizeQueueRoots",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkFinalizeQueueRoots_V0:
    """A heap's objects reachable from the finalizer queue are marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=27, version=0, aliases=("GC/MarkHandles",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkHandles_V0:
    """A heap's objects reachable from GC handles are marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=28, version=0, aliases=("GC/MarkCards",), keywords=RuntimeKeyword.GC, level=4)
class GCMarkOlderGenerationRoots_V0:
    """A heap's objects reachable from older generations are marked."""

    HeapNum: UInt32
    ClrInstanceID: UInt16


@event(RUNTIME, id=202, version=0, aliases=("GC/Mark", "GC/MarkWithType"), keywords=RuntimeKeyword.GC, level=4)
class GCMarkWithType_V0:
    """A heap marked everything that one kind of root reaches; Bytes were promoted by it."""

    HeapNum: UInt32
    ClrInstanceID: UInt16
    Type: Annotated[GCRootKind, UInt32]
    Bytes: UInt64


@event(RUNTIME, id=203, version=2, aliases=("GC/Join",), keywords=RuntimeKeyword.GC, level=5)
class GCJoin_V2:
    """Server GC: threads wait for each other. JoinTime 0 begins, 1 ends a wait; Heap 100, 200: all go on."""

    Heap: UInt32
    JoinTime: UInt32
    JoinType: UInt32
    ClrInstanceID: UInt16
    JoinID: UInt32
