"""The processes of a machine: each name that an id had, from when to when, as the Linux recorder writes them.

Only NetTrace 6 has such events. An id may be `bash` before it is `dotnet`; who had it before the recording is unknown.
`NamespaceId` is what the recorder calls the id that a process has inside its container.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from clrevents._util.value_classes import frozen

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
