"""Work items and I/O operations in the thread pool."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import Boolean, Pointer, UInt16

TRANSFERS = RuntimeKeyword.Threading | RuntimeKeyword.ThreadTransfer


@event(RUNTIME, id=61, version=0, aliases=("ThreadPool/Enqueue",), keywords=TRANSFERS, level=5)
class ThreadPoolEnqueue_V0:
    """A work item was queued to the thread pool; its ThreadPoolDequeue has the same WorkID."""

    WorkID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=62, version=0, aliases=("ThreadPool/Dequeue",), keywords=TRANSFERS, level=5)
class ThreadPoolDequeue_V0:
    """A thread pool worker dequeued a work item; its ThreadPoolEnqueue has the same WorkID."""

    WorkID: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=63, version=0, aliases=("ThreadPool/IOEnqueue",), keywords=TRANSFERS, level=5)
class ThreadPoolIOEnqueue_V0:
    """An I/O operation was queued; its ThreadPoolIODequeue has the same NativeOverlapped."""

    NativeOverlapped: Pointer
    Overlapped: Pointer
    MultiDequeues: Boolean
    ClrInstanceID: UInt16


@event(RUNTIME, id=64, version=0, aliases=("ThreadPool/IODequeue",), keywords=TRANSFERS, level=5)
class ThreadPoolIODequeue_V0:
    """An I/O completion was dequeued; its ThreadPoolIOEnqueue has the same NativeOverlapped."""

    NativeOverlapped: Pointer
    Overlapped: Pointer
    ClrInstanceID: UInt16


@event(RUNTIME, id=65, version=0, aliases=("ThreadPool/IOPack",), keywords=RuntimeKeyword.Threading, level=5)
class ThreadPoolIOPack_V0:
    """The managed state of an I/O operation was bound to a native OVERLAPPED structure."""

    NativeOverlapped: Pointer
    Overlapped: Pointer
    ClrInstanceID: UInt16
