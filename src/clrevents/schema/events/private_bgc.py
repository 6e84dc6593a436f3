"""Background collections, from the private provider: their phases and waits."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import UInt16, UInt32, UInt64


@event(PRIVATE, id=11, version=0, aliases=("GC/BGCStart",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCBegin_V0:
    """A background collection started."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=12, version=0, aliases=("GC/BGC1stNonCondStop",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGC1stNonConEnd_V0:
    """The first non-concurrent phase of a background collection ended."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=13, version=0, aliases=("GC/BGC1stConStop",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGC1stConEnd_V0:
    """The first concurrent phase of a background collection ended."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=14, version=0, aliases=("GC/BGC2ndNonConStart",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGC2ndNonConBegin_V0:
    """The second non-concurrent phase of a background collection started."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=15, version=0, aliases=("GC/BGC2ndNonConStop",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGC2ndNonConEnd_V0:
    """The second non-concurrent phase of a background collection ended."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=16, version=0, aliases=("GC/BGC2ndConStart",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGC2ndConBegin_V0:
    """The second concurrent phase of a background collection started."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=17, version=0, aliases=("GC/BGC2ndConStop",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGC2ndConEnd_V0:
    """The second concurrent phase of a background collection ended."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=18, version=0, aliases=("GC/BGCPlanStop",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCPlanEnd_V0:
    """The plan phase of a background collection ended."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=19, version=0, aliases=("GC/BGCSweepStop",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCSweepEnd_V0:
    """The sweep phase of a background collection ended."""

    ClrInstanceID: UInt16


@event(PRIVATE, id=20, version=0, aliases=("GC/BGCDrainMark",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCDrainMark_V0:
    """A background collection drained its mark list; gives the number of objects."""

    Objects: UInt64
    ClrInstanceID: UInt16


@event(PRIVATE, id=21, version=0, aliases=("GC/BGCRevisit",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCRevisit_V0:
    """A background collection revisited pages that were written in the meantime, and the objects in them."""

    Pages: UInt64
    Objects: UInt64
    IsLarge: UInt32
    ClrInstanceID: UInt16


@event(PRIVATE, id=22, version=0, aliases=("GC/BGCOverflow",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCOverflow_V0:
    """The mark stack of a background collection overflowed; objects from Min to Max will be marked again."""

    Min: UInt64
    Max: UInt64
    Objects: UInt64
    IsLarge: UInt32
    ClrInstanceID: UInt16


@event(PRIVATE, id=22, version=1)
class BGCOverflow_V1(BGCOverflow_V0):
    """The mark stack of a background collection overflowed. Adds GenNumber."""

    GenNumber: UInt32


@event(PRIVATE, id=23, version=0, aliases=("GC/BGCAllocWaitStart",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCAllocWaitBegin_V0:
    """An allocation starts waiting for the background collection."""

    Reason: UInt32
    ClrInstanceID: UInt16


@event(PRIVATE, id=24, version=0, aliases=("GC/BGCAllocWaitStop",), keywords=PrivateKeyword.GCPrivate, level=4)
class BGCAllocWaitEnd_V0:
    """An allocation stopped waiting for the background collection."""

    Reason: UInt32
    ClrInstanceID: UInt16


@event(PRIVATE, id=26, version=0, keywords=PrivateKeyword.GCPrivate, level=4)
class BGC1stSweepEnd_V0:
    """The first sweep of a background collection ended for one generation."""

    GenNumber: UInt32
    ClrInstanceID: UInt16
