"""COM references to managed objects, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import AnsiString, Pointer, UInt16, UInt32, UInt64, UnicodeString


@event(
    PRIVATE, id=193, version=0, aliases=("GC/CCWRefCountChangeAnsi",), keywords=PrivateKeyword.InteropPrivate, level=5
)
class CCWRefCountChangeAnsi_V0:
    """The COM reference count of a managed object changed; older form with ANSI strings."""

    HandleID: Pointer
    ObjectID: Pointer
    COMInterfacePointer: Pointer
    NewRefCount: UInt32
    AppDomainID: UInt64
    ClassName: AnsiString
    NameSpace: AnsiString
    Operation: UnicodeString
    ClrInstanceID: UInt16


@event(PRIVATE, id=200, version=0, aliases=("GC/CCWRefCountChange",), keywords=PrivateKeyword.InteropPrivate, level=5)
class CCWRefCountChange_V0:
    """The COM reference count of a managed object changed, and by which operation."""

    HandleID: Pointer
    ObjectID: Pointer
    COMInterfacePointer: Pointer
    NewRefCount: UInt32
    AppDomainID: UInt64
    ClassName: UnicodeString
    NameSpace: UnicodeString
    Operation: UnicodeString
    ClrInstanceID: UInt16
