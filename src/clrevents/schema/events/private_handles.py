"""GC handles, finalizers and pinned memory, from the private provider."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.runtime_flags import GCHandleKind
from clrevents.schema.types import Pointer, UInt16, UInt32, UInt64, UnicodeString


@event(PRIVATE, id=192, version=0, aliases=("GC/FinalizeObject",), keywords=PrivateKeyword.GCPrivate, level=5)
class PrvFinalizeObject_V0:
    """The finalizer of one object is about to run; includes the type name."""

    TypeID: Pointer
    ObjectID: Pointer
    ClrInstanceID: UInt16
    TypeName: UnicodeString


@event(PRIVATE, id=194, version=0, aliases=("GC/SetGCHandle",), keywords=PrivateKeyword.GCHandlePrivate, level=5)
class PrvSetGCHandle_V0:
    """A GC handle was created; sent alongside SetGCHandle of the runtime provider."""

    HandleID: Pointer
    ObjectID: Pointer
    Kind: Annotated[GCHandleKind, UInt32]
    Generation: UInt32
    AppDomainID: UInt64
    ClrInstanceID: UInt16


@event(PRIVATE, id=195, version=0, aliases=("GC/DestroyGCHandle",), keywords=PrivateKeyword.GCHandlePrivate, level=5)
class PrvDestroyGCHandle_V0:
    """A GC handle was freed; sent alongside DestroyGCHandle of the runtime provider."""

    HandleID: Pointer
    ClrInstanceID: UInt16


@event(PRIVATE, id=199, version=0, aliases=("GC/PinPlugAtGCTime",), keywords=PrivateKeyword.GCPrivate, level=5)
class PinPlugAtGCTime_V0:
    """A memory block kept in place by pinned objects; its addresses, and the gap before it in bytes."""

    PlugStart: Pointer
    PlugEnd: Pointer
    GapBeforeSize: Pointer
    ClrInstanceID: UInt16
