"""GC handles and pinned objects."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import GCHandleKind
from clrevents.schema.types import Pointer, UInt16, UInt32, UInt64, UnicodeString


@event(RUNTIME, id=30, version=0, aliases=("GC/SetGCHandle",), keywords=RuntimeKeyword.GCHandle, level=4)
class SetGCHandle_V0:
    """A GC handle was created; it refers to ObjectID."""

    HandleID: Pointer
    ObjectID: Pointer
    Kind: Annotated[GCHandleKind, UInt32]
    Generation: UInt32
    AppDomainID: UInt64
    ClrInstanceID: UInt16


@event(RUNTIME, id=31, version=0, aliases=("GC/DestoryGCHandle",), keywords=RuntimeKeyword.GCHandle, level=4)
class DestroyGCHandle_V0:
    """A GC handle was freed."""

    HandleID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=33, version=0, aliases=("GC/PinObjectAtGCTime",), keywords=RuntimeKeyword.GC, level=5)
class PinObjectAtGCTime_V0:
    """A pinned object was found during a collection; its size is in bytes."""

    HandleID: Pointer
    ObjectID: Pointer
    ObjectSize: UInt64
    TypeName: UnicodeString
    ClrInstanceID: UInt16
