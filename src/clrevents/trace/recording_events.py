"""What a trace's events say about its recording: whose process an id was, and which event sources failed.

Only NetTrace 6 lists the processes of a machine. An id may be `bash` before it is `dotnet`; who had it before the
recording is unknown. `NamespaceId` is what the recorder calls the id that a process has inside its container. The trace
is read again only if its headers show messages of event sources.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from clrevents._util.value_classes import frozen
from clrevents.errors import Problem
from clrevents.schema.source_message import SOURCE_MESSAGE, source_error, text_of
from clrevents.trace.passes import Passes

PROCESS_EVENTS: Final = tuple(
    f"Universal.System/{name}" for name in ("ExistingProcess", "ProcessCreate", "ProcessExit")
)


@frozen
class ProcessLife:
    """One name of a process id."""

    process_id: int
    """The id, which processes may have one after the other."""
    name: str
    """The name, such as `dotnet`."""
    namespace: str
    """The name of its container; `Unknown` where the recorder knows none."""
    started_ns: int | None
    """When it had this name first, in nanoseconds since the session started; None if before that."""
    ended_ns: int | None
    """When it ended, or had another name; None if not before the recording ended."""
    own_id: int | None = None
    """The id that the process has inside its container, which others may have there, too; None if unknown."""


def process_lives(events: Iterable[Any]) -> tuple[ProcessLife, ...]:
    """Those of `PROCESS_EVENTS` in order of time, by the time of their beginning."""
    found: list[ProcessLife] = []
    last: dict[int, int] = {}
    for event in events:
        process, payload = event.process_id, event.payload
        if process is None:
            continue
        place = last.pop(process, None)
        if place is not None:
            found[place] = attrs.evolve(found[place], ended_ns=event.time_ns)
        if payload is not None and event.name != "ProcessExit":
            started = None if event.name == "ExistingProcess" else event.time_ns
            last[process] = len(found)
            try:
                name, namespace, own = str(payload.Name), str(payload.NamespaceName), int(payload.NamespaceId)
            except (AttributeError, TypeError, ValueError):
                # The trace's own description has other fields.
                name, namespace, own = "", "", 0
            found.append(ProcessLife(process, name, namespace, started, None, own or None))
    return tuple(found)


def source_errors(passes: Passes) -> tuple[Problem, ...]:
    """At most `Limits.problems`, each once however often it was said. Never raises for damage."""
    if not any(key.name == SOURCE_MESSAGE for key in passes.scan(raising=False).counts):
        return ()
    found: dict[str, Problem] = {}
    selection = passes.selection((f"*/{SOURCE_MESSAGE}",))
    for rows in passes.rows(passes.stream(errors="salvage"), selection, decode=False):
        for row, (start, end) in enumerate(zip(rows.starts.tolist(), rows.ends.tolist(), strict=True)):
            provider = rows.kind(row).key.provider
            text = source_error(provider, text_of(rows.data[start:end]))
            if text is not None and len(found) < passes.limits.problems:
                event = f"{provider}/{SOURCE_MESSAGE}"
                problem = Problem("broken-event-source", "note", text, event=event, impact="all events of this source")
                found.setdefault(text, problem)
    return tuple(found.values())
