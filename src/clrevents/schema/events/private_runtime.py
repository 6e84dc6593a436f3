"""Process termination and loader heaps, from the private provider."""

from clrevents.schema.event import event
from clrevents.schema.keywords import PrivateKeyword
from clrevents.schema.registry import PRIVATE
from clrevents.schema.types import Pointer, UInt16, UInt32, UInt64, UnicodeString


@event(PRIVATE, id=191, version=0, level=1)
class FailFast_V0:
    """The process terminates itself (fail fast): message, location and exit codes."""

    FailFastUserMessage: UnicodeString
    FailedEIP: Pointer
    OSExitCode: UInt32
    ClrExitCode: UInt32
    ClrInstanceID: UInt16


@event(
    PRIVATE, id=310, version=0, aliases=("LoaderHeap/AllocRequest",), keywords=PrivateKeyword.LoaderHeapPrivate, level=5
)
class AllocRequest_V0:
    """Memory was requested from a loader heap; RequestSize in bytes."""

    LoaderHeapPtr: Pointer
    MemoryAddress: Pointer
    RequestSize: UInt32
    Unused1: UInt32
    Unused2: UInt64
    ClrInstanceID: UInt16
