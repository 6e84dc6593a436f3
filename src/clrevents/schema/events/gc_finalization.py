"""Finalizers: when they run, and for which objects."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Pointer, UInt16, UInt32


@event(RUNTIME, id=13, version=0, aliases=("GC/FinalizersStop",), keywords=RuntimeKeyword.GC, level=4)
class GCFinalizersEnd_V0:
    """The finalizer thread finished running Count finalizers."""

    Count: UInt32


@event(RUNTIME, id=13, version=1)
class GCFinalizersEnd_V1(GCFinalizersEnd_V0):
    """The finalizer thread finished running Count finalizers. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=14, version=0, aliases=("GC/FinalizersStart",), keywords=RuntimeKeyword.GC, level=4)
class GCFinalizersBegin_V0:
    """The finalizer thread started running finalizers."""


@event(RUNTIME, id=14, version=1)
class GCFinalizersBegin_V1(GCFinalizersBegin_V0):
    """The finalizer thread started running finalizers. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=29, version=0, aliases=("GC/FinalizeObject",), keywords=RuntimeKeyword.GC, level=5)
class FinalizeObject_V0:
    """The finalizer of one object is about to run."""

    TypeID: Pointer
    ObjectID: Pointer
    ClrInstanceID: UInt16
