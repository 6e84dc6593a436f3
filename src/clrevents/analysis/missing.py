"""Parts of a report of which a trace tells nothing, and what to record to have them.

Compares what a report needs with what is there. Cannot tell events that were not recorded from events that did not
happen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import attrs

from clrevents.schema.registry import RUNTIME

_LEVEL: Final = 5


@attrs.frozen
class Missing:
    """One part: `what` the trace does not tell, because it has none of `events` (names of the runtime's provider).

    `record` asks for them, as `dotnet-trace collect --providers` takes it, from the bits `keywords` and the `level`.
    """

    what: str
    events: tuple[str, ...]
    keywords: int
    level: int
    record: str


@attrs.frozen
class ReportPart:
    """A part that a report has when one of these events is there; `keywords` are all that it needs."""

    what: str
    events: tuple[str, ...]
    keywords: int
    level: int = _LEVEL


def missing(parts: Iterable[ReportPart], met: Collection[str]) -> tuple[Missing, ...]:
    """The parts none of whose events was met."""
    return tuple(
        Missing(part.what, part.events, part.keywords, part.level, record([part]))
        for part in parts
        if not any(event in met for event in part.events)
    )


def record(parts: Iterable[ReportPart | Missing]) -> str:
    """The provider with the keywords and the level that all these parts need."""
    keywords, level = 0, 0
    for part in parts:
        keywords |= part.keywords
        level = max(level, part.level)
    return f"{RUNTIME}:{keywords:#x}:{level}"
