"""Events → instants on the tracks of their threads, with their payloads as details.

Reads the trace once, an event at a time. Knows no report and no format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from clrevents.export.jsonl import EventJson
from clrevents.export.timeline.thread_items import track_of
from clrevents.export.timeline.timeline_items import Instant, Placed
from clrevents.trace import Selector, Trace

_RUNTIME: Final = ("Microsoft-", "Microsoft.", "System.", "Private.InternalDiagnostics.")
"""How names of providers of .NET begin."""


def events_of_users(trace: Trace) -> list[Selector]:
    """The kinds of event whose providers are not those of .NET, by their names: mostly those of the program itself."""
    return [kind for kind in trace.event_counts() if not kind.provider.startswith(_RUNTIME)]


def event_items(trace: Trace, selectors: Sequence[Selector]) -> Iterator[Placed]:
    """The selected events; none without a selector. Raises what `Trace.events` raises.

    They are in the order of `Trace.events`, which goes back in time where a trace is out of order beyond mending;
    instants can bear that.
    """
    if not selectors:
        return
    made = EventJson(names=True)
    for event in trace.events(*selectors):
        details = {"provider": event.provider, **_ids(event), "payload": made.payload(event.payload)}
        thread = None if event.thread_id < 0 else event.thread_id
        yield track_of("events", event.process_id, thread), Instant(event.time_ns, event.name, details)


def _ids(event: Any) -> dict[str, str]:
    """What ties events together, where there is any."""
    found = {"activity_id": event.activity_id, "related_activity_id": event.related_activity_id}
    return {name: str(value) for name, value in found.items() if value is not None}
