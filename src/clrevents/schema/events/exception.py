"""Exceptions thrown, and the handlers that run for them."""

from typing import Annotated

from clrevents.schema.event import EventGroup, event, struct
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


EXCEPTION = EventGroup(RUNTIME, RuntimeKeyword.Exception, level=4, fields=(HandlerFields,))
EXCEPTION.event(250, "ExceptionCatchStart", "A catch handler starts.", alias="ExceptionCatch/Start")
EXCEPTION.event(251, "ExceptionCatchStop", "A catch handler ended.", object, alias="ExceptionCatch/Stop")
EXCEPTION.event(252, "ExceptionFinallyStart", "A finally handler starts.", alias="ExceptionFinally/Start")
EXCEPTION.event(253, "ExceptionFinallyStop", "A finally handler ended.", object, alias="ExceptionFinally/Stop")
EXCEPTION.event(254, "ExceptionFilterStart", "An exception filter starts.", alias="ExceptionFilter/Start")
EXCEPTION.event(255, "ExceptionFilterStop", "An exception filter ended.", object, alias="ExceptionFilter/Stop")
EXCEPTION.event(256, "ExceptionThrownStop", "The handling of a thrown exception ended.", object, alias="Exception/Stop")
