"""The bridge from DiagnosticSource; no fields described before .NET 5 (docs/format.md, "Events without fields")."""

from clrevents.schema.event import EventGroup, struct
from clrevents.schema.types import Prefixed, UnicodeString

PROVIDER = "Microsoft-Diagnostics-DiagnosticSource"


@struct
class DiagnosticArgument:
    """One named value of a diagnostic event, as text."""

    Key: UnicodeString
    Value: UnicodeString


@struct
class DiagnosticFields:
    """An event of a DiagnosticSource and the values asked for."""

    SourceName: UnicodeString
    EventName: UnicodeString
    Arguments: Prefixed[DiagnosticArgument]


NOTIFICATIONS = EventGroup(PROVIDER, 0, level=0, fields=(DiagnosticFields,), only_undescribed=True)
NOTIFICATIONS.event(3, "Event", "A notification from a library, outside of any activity.")
FIRST = NOTIFICATIONS._replace(task="Activity1")
FIRST.event(4, "Activity1Start", "An activity started; first of two event pairs that may nest.")
FIRST.event(5, "Activity1Stop", "An activity stopped; first of two event pairs that may nest.")
SECOND = NOTIFICATIONS._replace(task="Activity2")
SECOND.event(6, "Activity2Start", "An activity started; second of two event pairs that may nest.")
SECOND.event(7, "Activity2Stop", "An activity stopped; second of two event pairs that may nest.")
RECURSIVE = NOTIFICATIONS._replace(task="RecursiveActivity1")
RECURSIVE.event(8, "RecursiveActivity1Start", "An activity that may be recursive started.")
RECURSIVE.event(9, "RecursiveActivity1Stop", "An activity that may be recursive stopped.")
