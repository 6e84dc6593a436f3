"""Batches of a whole trace, as `Trace.events` makes them before it hands their events out."""

from __future__ import annotations

from collections.abc import Iterator

from clrevents.trace import Batch, Selector, Trace, passes_of


def event_batches(trace: Trace, *selectors: Selector, decode: bool = True) -> Iterator[Batch]:
    """Without `decode` each payload is a `RawPayload`."""
    for rows in passes_of(trace).event_rows(*selectors, decode=decode):
        yield Batch(rows, trace._names, trace._tables)
