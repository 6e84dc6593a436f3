"""The tables of a trace in SQL: events by name, and threads, methods, stacks and frames, a row for each.

SQL ignores case, so events whose names differ only by case, or equal that of a whole-trace table, are named
`Provider/Event`. Arranges what the trace already knows, on demand; reads nothing itself, and runs no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.header_columns import ACTIVITY_HEADERS, DEFAULT_HEADERS, EVENT_HEADERS
from clrevents.decode.payload.column import STRING, Column, from_values
from clrevents.decode.selection import EventName, Filters
from clrevents.decode.stacks import StackArrays
from clrevents.errors import AmbiguousEventError, UnknownEventError
from clrevents.schema.matching import is_glob, unknown_event
from clrevents.symbols.frame import Frame
from clrevents.symbols.frame_tables import ResolvedStacks, resolve_stacks
from clrevents.symbols.methods import Method, Methods
from clrevents.table.event_schema import TableField
from clrevents.table.read import Wanted
from clrevents.table.table import Table, UInt64, row_table
from clrevents.trace.named_stacks import STACK_FIELDS, stack_columns
from clrevents.trace.passes import Passes
from clrevents.trace.scan import ThreadInfo


@frozen
class ThreadRow:
    thread_id: UInt64 | None
    process_id: int | None
    name: str | None
    events: int
    first_ns: int
    last_ns: int


@frozen
class MethodRow:
    address: UInt64
    size: UInt64
    module: str
    namespace: str
    name: str
    signature: str
    method: str
    tier: str | None
    loaded_ns: int | None
    unloaded_ns: int | None
    process_id: int | None
    method_id: UInt64
    module_id: UInt64
    token: int
    flags: int
    rejit_id: UInt64
    native: bool


_FRAME_TEXTS: dict[str, Callable[[Frame], str | None]] = {
    "method": lambda frame: frame.label if frame.resolved else None,
    "module": lambda frame: frame.module or None,
    "namespace": lambda frame: frame.namespace if frame.resolved else None,
    "name": lambda frame: frame.name if frame.resolved else None,
    "signature": lambda frame: frame.signature if frame.resolved else None,
    "tier": lambda frame: None if frame.tier is None else str(frame.tier),
    "reason": lambda frame: frame.reason,
}
_FRAME_FIELDS = (*STACK_FIELDS, *(TableField(name, STRING, True) for name in _FRAME_TEXTS))


def threads_table(threads: Iterable[ThreadInfo]) -> Table:
    """A row for each thread, as in `Trace.threads`; an unknown thread has no number."""
    rows = (
        ThreadRow(t.thread_id if t.thread_id >= 0 else None, t.process_id, t.name, t.events, t.first_ns, t.last_ns)
        for t in threads
    )
    return row_table(ThreadRow, rows)


def methods_table(methods: Iterable[Method]) -> Table:
    """A row for each piece of code, as in `Trace.methods`."""
    rows = (
        MethodRow(
            m.address,
            m.size,
            m.module,
            m.namespace,
            m.name,
            m.signature,
            m.display,
            None if m.tier is None else str(m.tier),
            m.begin_ns,
            m.end_ns,
            m.process_id,
            m.method_id,
            m.module_id,
            m.token,
            int(m.flags),
            m.rejit_id,
            m.native,
        )
        for m in methods
    )
    return row_table(MethodRow, rows)


def stacks_table(stacks: StackArrays) -> Table:
    """A row for each address of each stack; depth 0 is innermost."""
    return Table(STACK_FIELDS, (stack_columns(stacks),) if len(stacks.addresses) else ())


def frames_table(methods: Methods, stacks: StackArrays, headers: Table) -> Table:
    """The same rows with the names the addresses had when the first event with that stack was written.

    `headers` has every event's `stack_id`, `time_ns` and `process_id` in order of time.
    """
    if not len(stacks.addresses):
        return Table(_FRAME_FIELDS)
    ids, first = np.unique(np.asarray(headers["stack_id"]), return_index=True)
    processes = np.ma.filled(np.ma.asarray(headers["process_id"]), -1)[first]
    resolved = resolve_stacks(methods, stacks, ids.astype(np.int64), headers["time_ns"][first], processes)
    places = _places(resolved, [resolved.of[k] for k in np.searchsorted(ids, stacks.ids).tolist()])
    frames = [resolved.table.frame(index) for index in range(len(resolved.table))]
    texts = []
    for text in _FRAME_TEXTS.values():
        values = [text(frame) for frame in frames]
        known = np.array([value is not None for value in values], dtype=np.bool_)[places]
        column = Column(STRING, len(places), places, texts=from_values(STRING, [value or "" for value in values]))
        texts.append(attrs.evolve(column, valid=None if known.all() else known))
    return Table(_FRAME_FIELDS, ((*stack_columns(stacks), *texts),))


def _places(resolved: ResolvedStacks, of: Sequence[int]) -> NDArray[np.int64]:
    """The frame numbers of the stacks, concatenated."""
    return np.concatenate([resolved.values[resolved.offsets[k] : resolved.offsets[k + 1]] for k in of])


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
        events = self._plain.get(low) or self._qualified.get(low) or []
        if len(events) > 1:
            choice = ", ".join(f'"{self._names[event]}"' for event in events)
            raise AmbiguousEventError(f"{name!r} means several events; write one of: {choice}")
        if events:
            return events[0]
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
