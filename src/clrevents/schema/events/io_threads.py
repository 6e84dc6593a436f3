"""Threads for I/O completions."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.types import UInt16, UInt32


@event(RUNTIME, id=44, version=0, aliases=("IOThreadCreation/Start",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadCreate_V0:
    """A thread for I/O completions was created."""

    IOThreadCount: UInt32
    RetiredIOThreads: UInt32


@event(RUNTIME, id=44, version=1)
class IOThreadCreate_V1(IOThreadCreate_V0):
    """A thread for I/O completions was created. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=45, version=0, aliases=("IOThreadCreation/Stop",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadTerminate_V0:
    """A thread for I/O completions terminated."""

    IOThreadCount: UInt32
    RetiredIOThreads: UInt32


@event(RUNTIME, id=45, version=1)
class IOThreadTerminate_V1(IOThreadTerminate_V0):
    """A thread for I/O completions terminated. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=46, version=0, aliases=("IOThreadRetirement/Start",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadRetire_V0:
    """A thread for I/O completions was retired."""

    IOThreadCount: UInt32
    RetiredIOThreads: UInt32


@event(RUNTIME, id=46, version=1)
class IOThreadRetire_V1(IOThreadRetire_V0):
    """A thread for I/O completions was retired. Adds ClrInstanceID."""

    ClrInstanceID: UInt16


@event(RUNTIME, id=47, version=0, aliases=("IOThreadRetirement/Stop",), keywords=RuntimeKeyword.Threading, level=4)
class IOThreadUnretire_V0:
    """A retired thread for I/O completions was put back into use."""

    IOThreadCount: UInt32
    RetiredIOThreads: UInt32


@event(RUNTIME, id=47, version=1)
class IOThreadUnretire_V1(IOThreadUnretire_V0):
    """A retired thread for I/O completions was put back into use. Adds ClrInstanceID."""

    ClrInstanceID: UInt16
