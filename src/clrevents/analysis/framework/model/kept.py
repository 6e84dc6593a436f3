"""`Kept`: a building block for collectors whose answer needs every event: it keeps their columns until the end.

Memory grows with the number of events, so it is for kinds with thousands of events, or for few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs
import numpy as np

from clrevents.analysis.framework.model.collector import A_co, Collector, ReportChunk
from clrevents.analysis.gathering.gather import Gathered
from clrevents.table.table import Table


class Kept:
    """All events so far. `columns` limits what is kept of an event, by selector."""

    def __init__(self, columns: Mapping[str, Iterable[str]] | None = None) -> None:
        self._columns = {name: tuple(of) for name, of in (columns or {}).items()}
        self._parts: dict[str, list[Gathered]] = {}

    def take(self, chunk: ReportChunk) -> None:
        """Keep what is in a chunk."""
        for selector, events in chunk.events.items():
            wanted = self._columns.get(selector)
            part = events if wanted is None else attrs.evolve(events, table=events.table.select(*wanted))
            self._parts.setdefault(selector, []).append(part)

    def all(self, selectors: Iterable[str], nothing: Callable[[str], Gathered]) -> dict[str, Gathered]:
        """The rows of each selector, with their places among all events; `nothing` gives those of absent events."""
        return {selector: self._joined(selector, nothing) for selector in selectors}

    def _joined(self, selector: str, nothing: Callable[[str], Gathered]) -> Gathered:
        parts = self._parts.get(selector)
        if not parts:
            empty = nothing(selector)
            wanted = self._columns.get(selector)
            return empty if wanted is None else attrs.evolve(empty, table=empty.table.select(*wanted))
        table = Table(parts[0].table.fields, tuple(piece for part in parts for piece in part.table.parts))
        return Gathered(parts[0].event, table, np.concatenate([part.places for part in parts]))


class KeepingCollector(Collector[A_co]):
    """Keeps its events until the end; what of them, each says when it is made."""

    _kept: Kept

    def take(self, chunk: ReportChunk) -> None:
        """Keep the next events."""
        self._kept.take(chunk)


def narrowed(chunk: ReportChunk, columns: Mapping[str, Iterable[str]]) -> ReportChunk:
    """The chunk with these columns of these events; columns that an event's version lacks are left out."""
    return attrs.evolve(
        chunk,
        events={
            name: found.only(np.arange(len(found)), [column for column in columns[name] if column in found.table])
            for name, found in chunk.events.items()
            if name in columns
        },
    )
