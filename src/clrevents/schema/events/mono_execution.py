"""Mono: method calls and exceptions."""

from typing import Annotated

from clrevents.schema.event import event
from clrevents.schema.flags import OpenEnum
from clrevents.schema.keywords import MonoKeyword
from clrevents.schema.registry import MONO
from clrevents.schema.types import Pointer, UInt8, UInt32, UInt64


class MonoExceptionClauseType(OpenEnum):
    """The kind of an exception handler clause (source: `MonoExceptionEnum`, mono/metadata/metadata.h).

    The manifest's ExceptionClauseTypeMap calls 3 Fault; Mono writes 4.
    """

    None_ = 0
    Filter = 1
    Finally = 2
    Fault = 4


@event(MONO, id=29, version=0, keywords=MonoKeyword.MethodTracing, level=4)
class MonoProfilerMethodEnter_V0:
    """Mono: a method was entered."""

    MethodID: UInt64


@event(MONO, id=30, version=0, keywords=MonoKeyword.MethodTracing, level=4)
class MonoProfilerMethodLeave_V0:
    """Mono: a method returned."""

    MethodID: UInt64


@event(MONO, id=31, version=0, keywords=MonoKeyword.MethodTracing, level=4)
class MonoProfilerMethodTailCall_V0:
    """Mono: a method was left by a tail call."""

    MethodID: UInt64


@event(MONO, id=32, version=0, keywords=MonoKeyword.MethodTracing, level=4)
class MonoProfilerMethodExceptionLeave_V0:
    """Mono: a method was left by an exception."""

    MethodID: UInt64


@event(MONO, id=33, version=0, keywords=MonoKeyword.MethodTracing, level=4)
class MonoProfilerMethodFree_V0:
    """Mono: a method was freed."""

    MethodID: UInt64


@event(MONO, id=34, version=0, keywords=MonoKeyword.MethodTracing, level=4)
class MonoProfilerMethodBeginInvoke_V0:
    """Mono: the runtime starts invoking a method."""

    MethodID: UInt64


@event(MONO, id=35, version=0, keywords=MonoKeyword.MethodTracing, level=4)
class MonoProfilerMethodEndInvoke_V0:
    """Mono: the runtime finished invoking a method."""

    MethodID: UInt64


@event(MONO, id=36, version=0, keywords=MonoKeyword.Exception, level=4)
class MonoProfilerExceptionThrow_V0:
    """Mono: an exception was thrown."""

    TypeID: UInt64
    ObjectID: Pointer


@event(MONO, id=37, version=0, keywords=MonoKeyword.Exception, level=4)
class MonoProfilerExceptionClause_V0:
    """Mono: an exception handler clause runs."""

    ClauseType: Annotated[MonoExceptionClauseType, UInt8]
    ClauseIdx: UInt32
    MethodID: UInt64
    TypeID: UInt64
    ObjectID: Pointer
