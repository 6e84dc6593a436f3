"""Events → instants on the tracks of their threads, with their payloads as details.

Reads the trace once, an event at a time. Knows no report and no format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from clrevents.export.files.jsonl import EventJson
from clrevents.export.timeline.timeline_items import GROUPS, Instant, Placed, Track
from clrevents.trace import Selector, Trace

_RUNTIME: Final = ("Microsoft-", "Microsoft.", "System.", "Private.InternalDiagnostics.", "Universal.")
"""The prefixes of .NET's own providers, and of the Linux recorder's."""


def events_of_users(trace: Trace) -> list[Selector]:
    """The kinds of event whose providers are not those of .NET, by their names: mostly those of the program itself."""
    return [kind for kind in trace.event_counts() if not kind.provider.startswith(_RUNTIME)]


def event_items(trace: Trace, selectors: Sequence[Selector], process_id: int | None = None) -> Iterator[Placed]:
    """The selected events, of one process or of all; none without a selector. Raises what `Trace.events` raises.

    They are in the order of `Trace.events`, which goes back in time if a trace is too far out of order to sort; for
    instants, that does not matter.
    """
    if not selectors:
        return
    made = EventJson(names=True)
    tracks: dict[tuple[int | None, int], Track] = {}
    for event in trace.events(*selectors, process_id=process_id):
        place = event.process_id, event.thread_id
        track = tracks.get(place)
        if track is None:
            process, thread = place
            track = tracks[place] = Track("events", GROUPS["events"], process, None if thread < 0 else thread)
        details: dict[str, Any] = {"provider": event.provider}
        # What ties events together, where there is any.
        activity, related = event.activity_id, event.related_activity_id
        if activity is not None:
            details["activity_id"] = str(activity)
        if related is not None:
            details["related_activity_id"] = str(related)
        details["payload"] = made.payload(event.payload)
        yield track, Instant(event.time_ns, event.name, details)
