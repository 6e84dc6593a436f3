"""What a trace is as a whole: a program's events, or one of the few other kinds, which answer other questions.

Goes by the kinds of events that occur. Judges no event's content.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, TypeAlias

from clrevents.schema.registry import RUNDOWN, RUNTIME

RecordingKind: TypeAlias = Literal["program", "linux", "heap", "counters", "rundown", "empty"]

KIND_WORDS: Final[dict[RecordingKind, str]] = {
    "program": "events of one process",
    "linux": "all processes of a machine, recorded by the Linux kernel",
    "heap": "a heap snapshot (gcdump): objects and references at one moment",
    "counters": "counters and metrics only",
    "rundown": "rundown only: the code that existed at the end, and nothing that happened",
    "empty": "no events",
}
"""Each in words."""

_LINUX: Final = "Universal."
_COUNTERS: Final = ("EventCounters", "Counter")
_METERS: Final = "System.Diagnostics.Metrics"
_ABOUT_ITSELF: Final = "Microsoft-DotNETCore-EventPipe"
_OBJECTS: Final = "GCBulkNode"
_OF_SNAPSHOTS: Final = ("GC", "BulkType", "Finalize", "PinObject", "IncreaseMemory", "DecreaseMemory")


def recording_kind(events: Collection[tuple[str, str]]) -> RecordingKind:
    """What a trace with these events is: pairs of a provider and a name."""
    providers = {provider for provider, _ in events}
    if any(provider.startswith(_LINUX) for provider in providers):
        return "linux"
    told = [(provider, name) for provider, name in events if provider not in (RUNDOWN, _ABOUT_ITSELF)]
    if not told:
        return "rundown" if RUNDOWN in providers else "empty"
    if (RUNTIME, _OBJECTS) in told and all(name.startswith(_OF_SNAPSHOTS) for _, name in told):
        return "heap"
    # Sources of counters say a few more things of themselves.
    counting = {provider for provider, name in told if name in _COUNTERS or provider == _METERS}
    return "counters" if {provider for provider, _ in told} <= counting else "program"
