"""One pass over a trace → tables: of one event, of its headers, of all events at once, or of its call stacks.

Decides which columns are wanted and what the schema is. Reads nothing itself: it receives chunks, and stacks by number.
Stacks are addresses only; `trace.methods` names them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.header_columns import DEFAULT_HEADERS, EVENT_HEADERS, HEADERS, TABLE_HEADERS
from clrevents.decode.kernels.engine import end_to_end
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column import Column, ColumnType
from clrevents.decode.payload.column_maker import KindColumns
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.push_passes import Chunk, ColumnPass
from clrevents.decode.selection import EventName
from clrevents.decode.stacks import StackArrays, join
from clrevents.schema.layout import Layout
from clrevents.schema.registry import Registry
from clrevents.schema.self_described import SELF_DESCRIBED
from clrevents.table import event_schema
from clrevents.table.event_schema import TableField
from clrevents.table.table import Table

_ADDRESSES = ColumnType("list", (ColumnType("uint64"),))
STACK_FIELDS = (TableField("stack_id", ColumnType("int32")), TableField("addresses", _ADDRESSES, address=True))
"""The columns of every table of stacks."""


DEEPEST: Final = (100, 512)
"""How many frames of a stack runtimes write, the innermost ones: up to .NET 10, and later."""


def cut_stacks(depths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of a trace's stacks with so many frames lack their outermost ones: none where deeper ones were written."""
    deepest = int(depths.max()) if len(depths) else 0
    return depths == deepest if deepest in DEEPEST else np.zeros(len(depths), dtype=np.bool_)


@frozen(eq=False, repr=False)
class AddressStacks:
    """The call stacks of a trace by number: `stacks[event.stack_id]` is a tuple of addresses, innermost first.

    Owns its data. `stack_id in stacks` tests whether any event has this stack.
    """

    arrays: StackArrays
    """All stacks as numpy arrays, in ascending order of their ids."""

    @classmethod
    def of(cls, parts: Sequence[StackArrays]) -> AddressStacks:
        """Those of all parts, no stack in two of them."""
        return cls(join(parts))

    def __len__(self) -> int:
        """The number of stacks."""
        return len(self.arrays)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the ids, in ascending order."""
        return iter(self.arrays.ids.tolist())

    def __contains__(self, stack_id: object) -> bool:
        return isinstance(stack_id, int) and self._place(stack_id) is not None

    def __getitem__(self, stack_id: int) -> tuple[int, ...]:
        """The addresses of the stack `stack_id`, innermost first.

        Empty for 0 (no stack) and -1 (a stack that the trace lacks). Raises KeyError for an id that no event has.
        """
        if stack_id not in (0, -1) and self._place(stack_id) is None:
            raise KeyError(f"no event of this trace has the stack {stack_id!r}")
        return self.of_event(stack_id)

    def of_event(self, stack_id: int) -> tuple[int, ...]:
        """The same for an id that stands in an event, which in a damaged trace may be that of no stack: then empty."""
        place = self._place(stack_id)
        return () if place is None else self.arrays.stack(place)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'stack')}>"

    def _place(self, stack_id: int) -> int | None:
        ids = self.arrays.ids
        place = int(np.searchsorted(ids, stack_id))
        return place if place < len(ids) and ids[place] == stack_id else None


def stack_table(arrays: StackArrays) -> Table:
    """Stacks as a table of `stack_id` (int32) and `addresses` (list of uint64, innermost first)."""
    none = np.zeros(0, dtype=np.uint8)
    ids = Column(ColumnType("int32"), len(arrays), arrays.ids.astype(np.int32))
    inner = Column(ColumnType("uint64"), len(arrays.addresses), arrays.addresses)
    addresses = Column(_ADDRESSES, len(arrays), none, arrays.offsets, (inner,))
    return Table(STACK_FIELDS, ((ids, addresses),) if len(arrays) else ())


def stacks_of_bytes(stacks: Mapping[int, bytes], pointer_size: int) -> AddressStacks:
    """Stacks by number, each as the bytes of its addresses; those at an end that make no address do not count."""
    ordered = sorted((number, data) for number, data in stacks.items() if number > 0)
    sizes = np.array([len(data) // pointer_size for _, data in ordered], dtype=np.int64)
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    whole = b"".join(data[: size * pointer_size] for (_, data), size in zip(ordered, sizes.tolist(), strict=True))
    addresses = np.frombuffer(whole, dtype=f"<u{pointer_size}").astype(np.uint64)
    ids = np.array([number for number, _ in ordered], dtype=np.int64)
    return AddressStacks(StackArrays(ids, offsets, addresses))


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
        fields = set()
        for name in self.columns:
            if name not in TABLE_HEADERS:
                plain = re.sub(r" \(\d+\)$", "", name)
                fields.update({name, plain, name.removeprefix(_PREFIX), plain.removeprefix(_PREFIX), ""})
        return frozenset(fields)

    def choose(self, payload: Sequence[TableField], event: str) -> tuple[TableField, ...]:
        """The table's fields. Raises KeyError for a column that the event does not have."""
        fields = (*event_schema.header_fields(self.headers), *payload)
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
    kinds_of_event = [kind for kind in kinds if (kind.key.provider, kind.key.name) == event and not kind.undefined]
    ids = {*registry.ids(*event), *(kind.key.id for kind in kinds_of_event if kind.info is not None)}
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
    for kind in sorted(kinds_of_event, key=lambda kind: (kind.key.version, kind.index)):
        assert decoder is not None
        for _, layout in decoder.layouts(kind):
            if layout not in registered:
                described.append(layout)
                break
    if known and (fields := event_schema.known_fields(event, layouts, optional)):
        return (*fields, *event_schema.further_fields(fields, described))
    return event_schema.payload_fields([*layouts, *described], optional=optional or bool(described))


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
        payloads = [part for part in chunk.payloads if not wanted.known or event_schema.holds(fields, part)]
        part = part_of(fields, chunk, payloads, wanted.enum_names)
        parts += [] if part is None else [part]
    metadata = facts(event, registry, kinds, stream.lost, stream.problems.total)
    return Table(event_schema.shown_fields(fields, wanted.enum_names), tuple(parts), metadata)


def stream_table(
    chunks: Iterable[Chunk], fields: tuple[TableField, ...], wanted: Wanted, metadata: dict[str, str]
) -> Iterator[Table]:
    """One table per chunk, all with the same columns; a single table without rows if there is no event."""
    shown = event_schema.shown_fields(fields, wanted.enum_names)
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
    """A chunk as tables: one of each event by (provider, name), one of all headers, and the stacks new in it.

    `places` gives for each table its rows' places in `headers`; a payload that cannot be read is in no table.
    """

    tables: dict[EventName, Table]
    headers: Table
    stacks: StackArrays
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
    yield TableChunk({}, Table(event_schema.header_fields(headers)), join(()), {})
    for chunk in chunks:
        payloads: dict[EventName, list[KindColumns]] = {}
        for columns in chunk.payloads:
            event = (columns.kind.key.provider, columns.kind.key.name)
            if not wanted.known or event_schema.holds(fields(event), columns):
                payloads.setdefault(event, []).append(columns)
        tables, places = {}, {}
        for event, payload in payloads.items():
            part = part_of(fields(event), chunk, payload, wanted.enum_names)
            if part is not None:
                tables[event] = Table(event_schema.shown_fields(fields(event), wanted.enum_names), (part,), {})
                rows = end_to_end([columns.rows for columns in payload])
                # Rows of one kind are in order.
                places[event] = rows if len(payload) == 1 else np.sort(rows)
        yield TableChunk(
            tables,
            Table(event_schema.header_fields(headers), (tuple(chunk.headers[n] for n in headers),)),
            chunk.stacks,
            places,
            _left_out(chunk, kinds(), places) if wanted.known else {},
        )


def _left_out(
    chunk: Chunk, kinds: Sequence[EventKind], places: Mapping[EventName, NDArray[np.int64]]
) -> dict[EventName, int]:
    """How many events that are known have no row."""
    counts: Counter[EventName] = Counter()
    for index, count in zip(*(side.tolist() for side in np.unique(chunk.kinds, return_counts=True)), strict=True):
        kind = kinds[index]
        event = (kind.key.provider, kind.key.name)
        if not kind.undefined and (kind.info is not None or event in SELF_DESCRIBED):
            counts[event] += count
    return {event: left for event, count in counts.items() if (left := count - len(places.get(event, ())))}


def header_table(chunks: Iterable[Chunk], columns: tuple[str, ...]) -> Table:
    """Header columns of all events."""
    parts = tuple(tuple(chunk.headers[name] for name in columns) for chunk in chunks)
    return Table(event_schema.header_fields(columns), parts, {})


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
    columns = event_schema.assemble(fields, chunk, payloads, enum_names)
    return tuple(columns) if columns and len(columns[0]) else None
