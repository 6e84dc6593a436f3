"""One pass over a trace → tables: of one event, of its headers, or of all events at once.

Decides which columns are wanted and what the schema is. Reads nothing itself: it receives chunks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.column_pass import Chunk, ColumnPass
from clrevents.decode.header_columns import DEFAULT_HEADERS, EVENT_HEADERS, HEADERS, TABLE_HEADERS
from clrevents.decode.kernels.program import end_to_end
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.column import Column
from clrevents.decode.payload.columns.column_maker import KindColumns
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.selection import EventName
from clrevents.decode.stacks import join
from clrevents.schema.layout import Layout
from clrevents.schema.registry import Registry
from clrevents.schema.self_described import SELF_DESCRIBED
from clrevents.table.event_schema import (
    TableField,
    assemble,
    further_fields,
    header_fields,
    holds,
    known_fields,
    payload_fields,
    shown_fields,
)
from clrevents.table.stacks import stack_table
from clrevents.table.table import Table

_PREFIX = "payload."


@frozen
class Wanted:
    """Which columns a table has: the requested ones, or the `default` headers and every field."""

    columns: tuple[str, ...] | None = None
    enum_names: bool = False
    default: tuple[str, ...] = DEFAULT_HEADERS
    known: bool = False
    """Of known events only what fits: their fields by name and type, and no rows without one that is never null."""

    @classmethod
    def of(cls, columns: Sequence[str] | None, enum_names: bool = False) -> Wanted:
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, not the string {columns!r}")
        return cls(None if columns is None else tuple(columns), enum_names)

    @property
    def headers(self) -> tuple[str, ...]:
        if self.columns is None:
            return self.default
        return tuple(name for name in self.columns if name in TABLE_HEADERS)

    @property
    def fields(self) -> frozenset[str] | None:
        """Names on the wire that the columns may refer to; None for all."""
        if self.columns is None:
            return None
        found = set()
        for name in self.columns:
            if name not in TABLE_HEADERS:
                plain = re.sub(r" \(\d+\)$", "", name)
                found.update({name, plain, name.removeprefix(_PREFIX), plain.removeprefix(_PREFIX), ""})
        return frozenset(found)

    def choose(self, payload: Sequence[TableField], event: str) -> tuple[TableField, ...]:
        """The table's fields. Raises KeyError for a column that the event does not have."""
        fields = (*header_fields(self.headers), *payload)
        if self.columns is None:
            return fields
        known = {field.name: field for field in fields}
        for name in self.columns:
            if name not in known:
                available = ", ".join([*TABLE_HEADERS, *(f.name for f in payload)])
                raise KeyError(f"{event} has no column {name!r}; available: {available}")
        return tuple(known[name] for name in self.columns)


def event_fields(
    registry: Registry,
    event: EventName,
    kinds: Iterable[EventKind],
    decoder: PayloadDecoder | None,
    known: bool = False,
) -> tuple[TableField, ...]:
    """The payload columns of one event: from the registry, or from the trace if only that describes the event.

    If `known`, what the event is known to have comes first, with these names and types whatever the trace describes.
    """
    mine = [kind for kind in kinds if (kind.key.provider, kind.key.name) == event and not kind.undefined]
    ids = {*registry.ids(*event), *(kind.key.id for kind in mine if kind.info is not None)}
    layouts: list[Layout] = []
    # Of an event that may describe itself, whose description then counts, any field may be left out.
    optional = False
    for id in sorted(ids):
        for version in registry.versions(event[0], id):
            info = registry.get(event[0], id, version)
            if info is not None:
                layouts += info.layouts
                optional |= info.only_undescribed
    registered = set(layouts)
    described = []
    for kind in sorted(mine, key=lambda kind: (kind.key.version, kind.index)):
        assert decoder is not None
        for _, layout in decoder.layouts(kind):
            if layout not in registered:
                described.append(layout)
                break
    if known and (fields := known_fields(event, layouts, optional)):
        return (*fields, *further_fields(fields, described))
    return payload_fields([*layouts, *described], optional=optional or bool(described))


def read_table(columns: ColumnPass, chunks: Sequence[Chunk], registry: Registry, wanted: Wanted) -> Table:
    """All events of a pass whose selection must mean one event; `chunks` are all chunks of the pass."""
    stream = columns.stream
    kinds = stream.kinds.all
    event = columns.selection.one_event(kinds)
    if event is None:
        # A pattern without a match.
        return Table((), (), {})
    fields = wanted.choose(event_fields(registry, event, kinds, columns.decoder, wanted.known), event[1])
    parts = []
    for chunk in chunks:
        payloads = [part for part in chunk.payloads if not wanted.known or holds(fields, part)]
        part = part_of(fields, chunk, payloads, wanted.enum_names)
        parts += [] if part is None else [part]
    metadata = facts(event, registry, kinds, stream.lost, stream.problems.total)
    return Table(shown_fields(fields, wanted.enum_names), tuple(parts), metadata)


def stream_table(
    chunks: Iterable[Chunk], fields: tuple[TableField, ...], wanted: Wanted, metadata: dict[str, str]
) -> Iterator[Table]:
    """One table per chunk, all with the same columns; a single table without rows if there is no event."""
    shown = shown_fields(fields, wanted.enum_names)
    empty = True
    for chunk in chunks:
        part = part_of(fields, chunk, chunk.payloads, wanted.enum_names)
        if part is not None:
            empty = False
            yield Table(shown, (part,), metadata)
    if empty:
        yield Table(shown, (), metadata)


@frozen(eq=False)
class TableChunk:
    """A chunk as tables: one of each event by (provider, name), one of all headers, and one of the stacks new in it.

    `places` gives for each table its rows' places in `headers`; a payload that cannot be read is in no table.
    """

    tables: dict[EventName, Table]
    headers: Table
    stacks: Table
    places: dict[EventName, NDArray[np.int64]]
    unfit: Mapping[EventName, int] = attrs.field(factory=dict)
    """How many rows of known events were left out because they do not fit what is known; with `Wanted.known` only."""


def table_chunks(
    chunks: Iterable[Chunk],
    fields: Callable[[EventName], tuple[TableField, ...]],
    wanted: Wanted,
    headers: tuple[str, ...] = (),
    kinds: Callable[[], Sequence[EventKind]] = tuple,
) -> Iterator[TableChunk]:
    """All tables of each chunk; `headers` are the columns of the table of all headers, `kinds` those of the stream.

    The first chunk is empty, so that the columns are known before any event.
    """
    yield TableChunk({}, Table(header_fields(headers)), stack_table(join(())), {})
    for chunk in chunks:
        payloads: dict[EventName, list[KindColumns]] = {}
        for columns in chunk.payloads:
            event = (columns.kind.key.provider, columns.kind.key.name)
            if not wanted.known or holds(fields(event), columns):
                payloads.setdefault(event, []).append(columns)
        tables, places = {}, {}
        for event, found in payloads.items():
            part = part_of(fields(event), chunk, found, wanted.enum_names)
            if part is not None:
                tables[event] = Table(shown_fields(fields(event), wanted.enum_names), (part,), {})
                rows = end_to_end([columns.rows for columns in found])
                # Rows of one kind are in order.
                places[event] = rows if len(found) == 1 else np.sort(rows)
        yield TableChunk(
            tables,
            Table(header_fields(headers), (tuple(chunk.headers[n] for n in headers),)),
            stack_table(chunk.stacks),
            places,
            _left_out(chunk, kinds(), places) if wanted.known else {},
        )


def _left_out(
    chunk: Chunk, kinds: Sequence[EventKind], places: Mapping[EventName, NDArray[np.int64]]
) -> dict[EventName, int]:
    """How many events that are known have no row."""
    found: Counter[EventName] = Counter()
    for index, count in zip(*(side.tolist() for side in np.unique(chunk.kinds, return_counts=True)), strict=True):
        kind = kinds[index]
        event = (kind.key.provider, kind.key.name)
        if not kind.undefined and (kind.info is not None or event in SELF_DESCRIBED):
            found[event] += count
    return {event: left for event, count in found.items() if (left := count - len(places.get(event, ())))}


def header_table(chunks: Iterable[Chunk], columns: tuple[str, ...]) -> Table:
    """Header columns of all events."""
    parts = tuple(tuple(chunk.headers[name] for name in columns) for chunk in chunks)
    return Table(header_fields(columns), parts, {})


def header_names(columns: Sequence[str] | None) -> tuple[str, ...]:
    """The requested header columns. Raises KeyError for any other name."""
    names = EVENT_HEADERS if columns is None else Wanted.of(columns).columns or ()
    for name in names:
        if name not in HEADERS:
            raise KeyError(f"no header column {name!r}; available: {', '.join(HEADERS)}")
    return names


def facts(event: EventName, registry: Registry, kinds: Iterable[EventKind], lost: int, problems: int) -> dict[str, str]:
    """A table's metadata: which event it is, and what makes it unreliable."""
    ids = set(registry.ids(*event))
    ids |= {kind.key.id for kind in kinds if (kind.key.provider, kind.key.name) == event}
    return {
        "provider": event[0],
        "id": ",".join(map(str, sorted(ids))),
        "name": event[1],
        "losses": str(lost),
        "problems": str(problems),
    }


def part_of(
    fields: Sequence[TableField], chunk: Chunk, payloads: Sequence[KindColumns], enum_names: bool
) -> tuple[Column, ...] | None:
    """A table's rows in one chunk, or None without rows."""
    columns = assemble(fields, chunk, payloads, enum_names)
    return tuple(columns) if columns and len(columns[0]) else None
