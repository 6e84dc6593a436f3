"""Method rundown from before the rundown provider existed. Declared by current runtimes, but not sent."""

from clrevents.schema.event import event
from clrevents.schema.keywords import RuntimeKeyword
from clrevents.schema.method_flags import MethodFields, VerboseMethodFields
from clrevents.schema.registry import RUNTIME

JITTED = RuntimeKeyword.Jit | RuntimeKeyword.NGen


@event(RUNTIME, id=135, version=0, aliases=("Method/DCStartCompleteV2",), keywords=JITTED, level=4)
class DCStartCompleteV2_V0:
    """End of the method list at the start of a session; from runtimes without the rundown provider."""


@event(RUNTIME, id=136, version=0, aliases=("Method/DCStopCompleteV2",), keywords=JITTED, level=4)
class DCEndCompleteV2_V0:
    """End of the method list at the end of a session; from runtimes without the rundown provider."""


@event(RUNTIME, id=137, version=0, aliases=("Method/DCStartV2",), keywords=JITTED, level=4)
class MethodDCStartV2_V0(MethodFields):
    """A method that existed when the session started; from runtimes without the rundown provider."""


@event(RUNTIME, id=138, version=0, aliases=("Method/DCStopV2",), keywords=JITTED, level=4)
class MethodDCEndV2_V0(MethodFields):
    """A method that existed when the session ended; from runtimes without the rundown provider."""


@event(RUNTIME, id=139, version=0, aliases=("Method/DCStartVerboseV2",), keywords=JITTED, level=4)
class MethodDCStartVerboseV2_V0(VerboseMethodFields):
    """A method that existed when the session started, with its name; from runtimes without the rundown provider."""


@event(RUNTIME, id=140, version=0, aliases=("Method/DCStopVerboseV2",), keywords=JITTED, level=4)
class MethodDCEndVerboseV2_V0(VerboseMethodFields):
    """A method that existed when the session ended, with its name; from runtimes without the rundown provider."""
