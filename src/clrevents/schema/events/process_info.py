"""EventPipe's facts about the process, once or twice per session. The trace's own description takes precedence."""

from clrevents.schema.event import event
from clrevents.schema.types import UnicodeString

PROVIDER = "Microsoft-DotNETCore-EventPipe"


@event(PROVIDER, id=1, version=0, only_undescribed=True)
class ProcessInfo_V0:
    """The command line of the process."""

    CommandLine: UnicodeString


@event(PROVIDER, id=1, version=1, only_undescribed=True)
class ProcessInfo_V1(ProcessInfo_V0):
    """The command line of the process. Adds OSInformation and ArchInformation."""

    OSInformation: UnicodeString
    ArchInformation: UnicodeString
