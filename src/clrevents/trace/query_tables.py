"""The names of a trace's tables in SQL: events by name, and tables of the whole trace.

SQL ignores case, so events whose names differ only by case, or equal that of a whole-trace table, are named
`Provider/Event`. Makes tables on demand, and runs no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final

from clrevents._util.value_classes import frozen
from clrevents.decode.header_columns import ACTIVITY_HEADERS, DEFAULT_HEADERS, EVENT_HEADERS
from clrevents.decode.selection import EventName, Filters
from clrevents.errors import AmbiguousEventError, UnknownEventError
from clrevents.schema.matching import is_glob, unknown_event
from clrevents.table.build import row_table
from clrevents.table.read import Wanted
from clrevents.table.table import Table
from clrevents.trace.passes import Passes

HEADERS_IN_SQL: Final = (*EVENT_HEADERS, *ACTIVITY_HEADERS)
OF_FRAMES: Final = ("stack_id", "time_ns", "process_id")
_TABLES: Final = "tables"
_OF_DUCKDB: Final = ("duckdb_", "pg_", "pragma_", "sqlite_")
"""Prefixes of duckdb's own tables."""


@frozen
class TableRow:
    """An available table: its name in SQL, its event, and the number of these events in the trace."""

    name: str
    provider: str | None
    event: str | None
    events: int | None


class QueryTables:
    """Names → tables of one trace. `whole` makes the tables that do not belong to a single event, by name.

    With a process, those of events have its events only, and how many there are of each is not counted.
    """

    def __init__(self, passes: Passes, whole: Mapping[str, Callable[[], Table]], process_id: int | None = None) -> None:
        self._passes = passes
        self._filters = Filters(process_id=process_id)
        self._whole = {**whole, _TABLES: self.tables}

    def table(self, name: str) -> Table | None:
        """The table of this name, ignoring case; None for an unknown name.

        Raises AmbiguousEventError if the name may mean several events.
        """
        whole = self._whole.get(name.lower())
        if whole is not None:
            return whole()
        event = self._event(name)
        if event is None:
            return None
        selector = "/".join(event)
        wanted = Wanted(default=(*DEFAULT_HEADERS, *ACTIVITY_HEADERS))
        table, _ = self._passes.table(_literal(selector), wanted, self._filters, "time")
        if (table.metadata.get("provider"), table.metadata.get("name")) != event:
            raise AmbiguousEventError(f"{selector!r} is also the name of another event, so SQL cannot reach it")
        return table

    def unknown(self, name: str) -> UnknownEventError:
        """The exception for an unknown name."""
        known = {*self._whole, *self._names.values(), *(event for _, event in self._known)}
        error = unknown_event(name, known)
        return UnknownEventError(error.reason.replace("no event", "no table", 1))

    def tables(self) -> Table:
        """All available tables: those of the whole trace, then one for each event that occurs."""
        rows = [TableRow(name, None, None, None) for name in sorted(self._whole)]
        names = sorted(self._counts, key=lambda event: (self._names[event].lower(), event))
        counted = self._filters.process_id is None
        rows += [TableRow(self._names[event], *event, self._counts[event] if counted else None) for event in names]
        return row_table(TableRow, rows)

    @cached_property
    def _counts(self) -> dict[EventName, int]:
        counts: dict[EventName, int] = {}
        for key, n in self._passes.scan(raising=False).counts.items():
            event = key.provider, key.name
            counts[event] = counts.get(event, 0) + n
        return counts

    @cached_property
    def _known(self) -> list[EventName]:
        """Every event that the trace has or the registry knows."""
        declared = {(entry.provider, entry.name) for entry in self._passes.registry.entries()}
        return sorted(declared | set(self._counts))

    @cached_property
    def _plain(self) -> dict[str, list[EventName]]:
        return _grouped(self._known, lambda event: event[1].lower())

    @cached_property
    def _qualified(self) -> dict[str, list[EventName]]:
        return _grouped(self._known, lambda event: "/".join(event).lower())

    @cached_property
    def _names(self) -> dict[EventName, str]:
        """A unique name for each event: its name, else `Provider/Event`, else that and a number."""
        names: dict[EventName, str] = {}
        taken = {*self._whole, *self._plain}
        for event in self._known:
            name, full = event[1], "/".join(event)
            own = name.lower() in self._whole or name.lower().startswith(_OF_DUCKDB)
            if name and not own and len(self._plain[name.lower()]) == 1:
                names[event] = name
                continue
            label, number = full, 1
            alone = len(self._qualified[full.lower()]) == 1
            while label.lower() in taken or (label == full and not alone):
                label, number = f"{full} ({number})", number + 1
            taken.add(label.lower())
            names[event] = label
        return names

    def _event(self, name: str) -> EventName | None:
        low = name.lower()
        found = self._plain.get(low) or self._qualified.get(low) or []
        if len(found) > 1:
            choice = ", ".join(f'"{self._names[event]}"' for event in found)
            raise AmbiguousEventError(f"{name!r} means several events; write one of: {choice}")
        if found:
            return found[0]
        numbered = {label.lower(): event for event, label in self._names.items()}.get(low)
        if numbered is not None:
            return numbered
        try:
            # Aliases of events, and short names of providers.
            return self._passes.one_event(name)
        except UnknownEventError:
            return None


def _grouped(events: Iterable[EventName], key: Callable[[EventName], str]) -> dict[str, list[EventName]]:
    groups: dict[str, list[EventName]] = {}
    for event in events:
        groups.setdefault(key(event), []).append(event)
    return groups


def _literal(selector: str) -> str:
    """A selector that means this text literally, even if it looks like a pattern."""
    if not is_glob(selector):
        return selector
    return "".join(f"[{char}]" if char in "*?[" else char for char in selector)
