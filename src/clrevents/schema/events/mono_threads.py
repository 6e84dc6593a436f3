"""Mono: monitors and threads."""

from clrevents.schema.event import event
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Pointer, UInt64, UnicodeString


@event(MONO, id=54, version=0, keywords=MonoKeyword.Monitor | MonoKeyword.Contention, level=4)
class MonoProfilerMonitorContention_V0:
    """Mono: a thread starts waiting for a monitor held by another thread."""

    ObjectID: Pointer


@event(MONO, id=55, version=0, keywords=MonoKeyword.Monitor, level=4)
class MonoProfilerMonitorFailed_V0:
    """Mono: a thread gave up waiting for a monitor."""

    ObjectID: Pointer


@event(MONO, id=56, version=0, keywords=MonoKeyword.Monitor, level=4)
class MonoProfilerMonitorAcquired_V0:
    """Mono: a thread acquired the monitor it was waiting for."""

    ObjectID: Pointer


@event(MONO, id=57, version=0, keywords=MonoKeyword.Threading, level=4)
class MonoProfilerThreadStarted_V0:
    """Mono: a thread started."""

    ThreadID: UInt64


@event(MONO, id=58, version=0, keywords=MonoKeyword.Threading, level=5)
class MonoProfilerThreadStopping_V0:
    """Mono: a thread is about to end."""

    ThreadID: UInt64


@event(MONO, id=59, version=0, keywords=MonoKeyword.Threading, level=4)
class MonoProfilerThreadStopped_V0:
    """Mono: a thread ended."""

    ThreadID: UInt64


@event(MONO, id=60, version=0, keywords=MonoKeyword.Threading, level=4)
class MonoProfilerThreadExited_V0:
    """Mono: a thread has exited."""

    ThreadID: UInt64


@event(MONO, id=61, version=0, keywords=MonoKeyword.Threading, level=5)
class MonoProfilerThreadName_V0:
    """Mono: a thread was given a name."""

    ThreadID: UInt64
    ThreadName: UnicodeString
