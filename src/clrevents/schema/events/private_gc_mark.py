"""Marking of live objects, from the private provider. These events moved to the runtime provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import UInt16, UInt32


@event(PRIVATE, id=7, version=0, aliases=("GC/MarkStackRoots",), keywords=PrivateKeyword.GCPrivate, level=4)
class PrvGCMarkStackRoots_V0:
    """Objects of a heap reachable from stacks have been marked. Now a runtime event."""

    HeapNum: UInt32


@event(PRIVATE, id=7, version=1)
class PrvGCMarkStackRoots_V1(PrvGCMarkStackRoots_V0):
    """Objects of a heap reachable from stacks have been marked. Now a runtime event. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=8, version=0, aliases=("GC/MarkFinalizeQueueRoots",), keywords=PrivateKeyword.GCPrivate, level=4)
class PrvGCMarkFinalizeQueueRoots_V0:
    """Objects reachable from a heap's finalizer queue have been marked. Now a runtime event."""

    HeapNum: UInt32


@event(PRIVATE, id=8, version=1)
class PrvGCMarkFinalizeQueueRoots_V1(PrvGCMarkFinalizeQueueRoots_V0):
    """Objects reachable from a heap's finalizer queue have been marked. Now a runtime event. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=9, version=0, aliases=("GC/MarkHandles",), keywords=PrivateKeyword.GCPrivate, level=4)
class PrvGCMarkHandles_V0:
    """Objects of a heap reachable from GC handles have been marked. Now a runtime event."""

    HeapNum: UInt32


@event(PRIVATE, id=9, version=1)
class PrvGCMarkHandles_V1(PrvGCMarkHandles_V0):
    """Objects of a heap reachable from GC handles have been marked. Now a runtime event. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=10, version=0, aliases=("GC/MarkCards",), keywords=PrivateKeyword.GCPrivate, level=4)
class PrvGCMarkCards_V0:
    """Objects of a heap reachable from older generations have been marked. Now a runtime event."""

    HeapNum: UInt32


@event(PRIVATE, id=10, version=1)
class PrvGCMarkCards_V1(PrvGCMarkCards_V0):
    """Objects of a heap reachable from older generations have been marked. Now a runtime event. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
