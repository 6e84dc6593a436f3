"""The runtime's debugger support."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.registry import RUNTIME


@event(RUNTIME, id=240, version=0, keywords=RuntimeKeyword.Debugger, level=4)
class DebugIPCEventStart_V0:
    """The runtime starts handling a debugger request."""


@event(RUNTIME, id=241, version=0, keywords=RuntimeKeyword.Debugger, level=4)
class DebugIPCEventEnd_V0:
    """The runtime finished handling a debugger request."""


@event(RUNTIME, id=242, version=0, keywords=RuntimeKeyword.Debugger, level=4)
class DebugExceptionProcessingStart_V0:
    """The debugger support starts processing an exception."""


@event(RUNTIME, id=243, version=0, keywords=RuntimeKeyword.Debugger, level=4)
class DebugExceptionProcessingEnd_V0:
    """The debugger support finished processing an exception."""
