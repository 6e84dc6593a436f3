"""Batches of a whole trace, as `Trace.events` makes them before it hands their events out; and how often it is read."""

from __future__ import annotations

import io
from collections.abc import Iterator

from clrevents.trace import Batch, Selector, Trace, passes_of


def event_batches(trace: Trace, *selectors: Selector, decode: bool = True) -> Iterator[Batch]:
    """Without `decode` each payload is a `RawPayload`."""
    for rows in passes_of(trace).event_rows(*selectors, decode=decode):
        yield Batch(rows, trace._names, trace._tables)


class Passed(io.BytesIO):
    """A file that counts how often it is read from its first byte."""

    passes = 0

    def seek(self, place: int, whence: int = 0, /) -> int:
        self.passes += (place, whence) == (0, 0)
        return super().seek(place, whence)
