"""The event sources of a trace that could not be recorded, each with the reason that it gave, as notes.

Reads the trace again only if its headers show such messages.
"""

from __future__ import annotations

from clrevents.errors import Problem
from clrevents.schema.source_message import SOURCE_MESSAGE, source_error, text_of
from clrevents.trace.passes import Passes


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
