"""The bridge from DiagnosticSource; no fields described before .NET 5 (docs/format.md, "Events without fields")."""

from clrevents.schema.event import event, struct
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


@event(PROVIDER, id=3, version=0, only_undescribed=True)
class Event_V0(DiagnosticFields):
    """A notification from a library, outside of any activity."""


@event(PROVIDER, id=4, version=0, only_undescribed=True, aliases=("Activity1/Start",))
class Activity1Start_V0(DiagnosticFields):
    """An activity started; first of two event pairs that may nest."""


@event(PROVIDER, id=5, version=0, only_undescribed=True, aliases=("Activity1/Stop",))
class Activity1Stop_V0(DiagnosticFields):
    """An activity stopped; first of two event pairs that may nest."""


@event(PROVIDER, id=6, version=0, only_undescribed=True, aliases=("Activity2/Start",))
class Activity2Start_V0(DiagnosticFields):
    """An activity started; second of two event pairs that may nest."""


@event(PROVIDER, id=7, version=0, only_undescribed=True, aliases=("Activity2/Stop",))
class Activity2Stop_V0(DiagnosticFields):
    """An activity stopped; second of two event pairs that may nest."""


@event(PROVIDER, id=8, version=0, only_undescribed=True, aliases=("RecursiveActivity1/Start",))
class RecursiveActivity1Start_V0(DiagnosticFields):
    """An activity that may be recursive started."""


@event(PROVIDER, id=9, version=0, only_undescribed=True, aliases=("RecursiveActivity1/Stop",))
class RecursiveActivity1Stop_V0(DiagnosticFields):
    """An activity that may be recursive stopped."""
