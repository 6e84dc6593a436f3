"""Lock contention."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Double, Pointer, UInt8, UInt16, UInt64


class ContentionFlags(OpenEnum):
    """The kind of lock (manifest: ContentionFlagsMap; source: `ContentionFlags`, eventtracebase.h)."""

    Managed = 0
    Native = 1


@event(RUNTIME, id=81, version=0, aliases=("Contention", "Contention/Start"), level=4)
class ContentionStart_V0:
    """A thread starts waiting for a lock held by another thread; without further details."""


@event(RUNTIME, id=81, version=1, keywords=RuntimeKeyword.Contention)
class ContentionStart_V1(ContentionStart_V0):
    """A thread starts waiting for a managed or native lock held by another thread."""

    ContentionFlags: Annotated[ContentionFlags, UInt8]
    ClrInstanceID: UInt16


@event(RUNTIME, id=81, version=2)
class ContentionStart_V2(ContentionStart_V1):
    """A thread starts waiting for a lock held by another thread. Adds the lock, its object and its owner."""

    LockID: Pointer
    AssociatedObjectID: Pointer
    LockOwnerThreadID: UInt64


@event(RUNTIME, id=90, version=0, aliases=("Contention/LockCreated",), keywords=RuntimeKeyword.Contention, level=4)
class ContentionLockCreated_V0:
    """A lock that threads may wait for was created; also gives the object it belongs to."""

    LockID: Pointer
    AssociatedObjectID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=91, version=0, aliases=("Contention/Stop",), keywords=RuntimeKeyword.Contention, level=4)
class ContentionStop_V0:
    """A thread stopped waiting for a lock."""

    ContentionFlags: Annotated[ContentionFlags, UInt8]
    ClrInstanceID: UInt16


@event(RUNTIME, id=91, version=1)
class ContentionStop_V1(ContentionStop_V0):
    """A thread stopped waiting for a lock. Adds how long it waited, in nanoseconds."""

    DurationNs: Double
