"""Exceptions thrown, and the handlers that run for them."""

from typing import Annotated

from clrevents.schema.event import event, struct
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME
from clrevents.schema.runtime_flags import ExceptionThrownFlags
from clrevents.schema.types import Pointer, UInt16, UInt32, UInt64, UnicodeString


@event(RUNTIME, id=80, version=0, aliases=("Exception/Start",), level=4)
class ExceptionThrown_V0:
    """An exception was thrown; without further details."""


@event(RUNTIME, id=80, version=1, keywords=RuntimeKeyword.Exception | RuntimeKeyword.Monitoring, level=2)
class ExceptionThrown_V1(ExceptionThrown_V0):
    """An exception was thrown: its type, message, location and HRESULT."""

    ExceptionType: UnicodeString
    ExceptionMessage: UnicodeString
    ExceptionEIP: Pointer
    ExceptionHRESULT: UInt32
    ExceptionFlags: Annotated[ExceptionThrownFlags, UInt16]
    ClrInstanceID: UInt16


@struct
class HandlerFields:
    """A block of a handler, and the method it is in."""

    EntryEIP: UInt64
    MethodID: UInt64
    MethodName: UnicodeString
    ClrInstanceID: UInt16


@event(RUNTIME, id=250, version=0, aliases=("ExceptionCatch/Start",), keywords=RuntimeKeyword.Exception, level=4)
class ExceptionCatchStart_V0(HandlerFields):
    """A catch handler starts."""


@event(RUNTIME, id=251, version=0, aliases=("ExceptionCatch/Stop",), keywords=RuntimeKeyword.Exception, level=4)
class ExceptionCatchStop_V0:
    """A catch handler ended."""


@event(RUNTIME, id=252, version=0, aliases=("ExceptionFinally/Start",), keywords=RuntimeKeyword.Exception, level=4)
class ExceptionFinallyStart_V0(HandlerFields):
    """A finally handler starts."""


@event(RUNTIME, id=253, version=0, aliases=("ExceptionFinally/Stop",), keywords=RuntimeKeyword.Exception, level=4)
class ExceptionFinallyStop_V0:
    """A finally handler ended."""


@event(RUNTIME, id=254, version=0, aliases=("ExceptionFilter/Start",), keywords=RuntimeKeyword.Exception, level=4)
class ExceptionFilterStart_V0(HandlerFields):
    """An exception filter starts."""


@event(RUNTIME, id=255, version=0, aliases=("ExceptionFilter/Stop",), keywords=RuntimeKeyword.Exception, level=4)
class ExceptionFilterStop_V0:
    """An exception filter ended."""


@event(RUNTIME, id=256, version=0, aliases=("Exception/Stop",), keywords=RuntimeKeyword.Exception, level=4)
class ExceptionThrownStop_V0:
    """The handling of a thrown exception ended."""
