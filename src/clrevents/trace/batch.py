"""`Batch`: consecutive selected events in order, with all the data they show; and batches as the chunks of reports.

Its tables have the same columns as those of a whole trace and are read from the batch's own bytes. Combines decoded
rows with the names of addresses; the batch has reported all problems, so tables report none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from clrevents._util.notebook_views import Summary
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.header_columns import HEADERS, Known
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column_maker import ColumnMaker
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.payload.record_reader import PORTION, BatchEvents, Slots
from clrevents.decode.push_passes import Chunk
from clrevents.decode.selection import EventName, Filters, Selection, Selector, only_event
from clrevents.decode.stacks import join
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Limits, Problem
from clrevents.schema.registry import Registry
from clrevents.symbols.frame import FrameSource
from clrevents.table.event_schema import TableField, header_fields, shown_fields
from clrevents.table.read import TableChunk, Wanted, event_fields, facts, part_of, table_chunks
from clrevents.table.table import Listed, Table
from clrevents.trace.event import SLOTS, Event, EventRows


@frozen(eq=False)
class BatchTables:
    """Makes tables of the batches of one stream."""

    registry: Registry
    limits: Limits

    def table(self, rows: DecodedRows, selector: Selector, columns: Sequence[str] | None, enum_names: bool) -> Table:
        """All events of one name in a batch. Raises what `Trace.table` raises, judging by the trace read so far."""
        wanted = Wanted.of(columns, enum_names)
        selection = Selection((selector,), Filters(), self.registry)
        event = selection.one_event(rows.kinds)
        selection.check_names(rows.kinds)
        if event is None:
            # A pattern that has not matched anything yet.
            return Table((), (), {})
        decoder = PayloadDecoder(rows.pointer_size, self.limits)
        fields = wanted.choose(event_fields(self.registry, event, rows.kinds, decoder), event[1])
        metadata = facts(event, self.registry, rows.kinds, sum(one.count for one in rows.losses), len(rows.problems))
        maker = ColumnMaker(decoder, wanted.fields, _nothing)
        chunk = chunk_of(rows, wanted.headers, maker, lambda kind: (kind.key.provider, kind.key.name) == event)
        part = part_of(fields, chunk, chunk.payloads, enum_names)
        return Table(shown_fields(fields, enum_names), () if part is None else (part,), metadata)


def chunk_of(
    rows: DecodedRows, headers: Sequence[str], maker: ColumnMaker, chosen: Callable[[EventKind], bool] = lambda _: True
) -> Chunk:
    """The rows' columns: these headers, and what `maker` makes of the chosen kinds' payloads."""
    nowhere = np.zeros(len(rows), dtype=np.int64)
    payloads = maker.columns(rows.kinds, rows.kind_indexes, rows.data, rows.starts, rows.ends, nowhere, chosen)
    known = Known(rows.kinds, rows.clock, rows.process_id)
    headers_by_name = {name: HEADERS[name].make(rows, known) for name in headers}
    return Chunk(len(rows), rows.kind_indexes, headers_by_name, payloads, join(()))


def _nothing(problem: Problem, times: int) -> None:
    return None


class StreamTables:
    """Makes tables of the rows of one stream, in the order in which they come.

    `names` are those that `one_event` may be asked for: no patterns. `headers` are the header columns of all tables.
    """

    def __init__(
        self, names: Iterable[str], headers: tuple[str, ...], registry: Registry, limits: Limits, pointer_size: int
    ) -> None:
        self._headers = headers
        self._registry = registry
        self._decoder = PayloadDecoder(pointer_size, limits)
        self._maker = ColumnMaker(self._decoder, None, _nothing)
        self._selection = Selection(dict.fromkeys(names), Filters(), registry)
        self._meant = {wish.selector: {*wish.declared} for wish in self._selection.wishes}
        self._seen = 0
        self._kinds: dict[EventName, list[EventKind]] = {}
        self._fields: dict[EventName, tuple[int, tuple[TableField, ...]]] = {}

    def chunk(self, rows: DecodedRows) -> TableChunk:
        """Rows as a chunk: a table of each event that occurs in them, and the table of all headers."""
        self._see(rows.kinds)
        columns = chunk_of(rows, self._headers, self._maker)
        wanted = Wanted(self._headers, known=True)
        *_, chunk = table_chunks([columns], self._fields_of, wanted, self._headers, lambda: rows.kinds)
        return chunk

    def one_event(self, name: str) -> EventName | None:
        """The event that one of `names` means; None if still unknown.

        Raises AmbiguousEventError if there are several, judging by the rows so far.
        """
        return only_event(name, self._meant[name])

    def nothing(self, selector: str, kinds: Sequence[EventKind]) -> tuple[EventName | None, Table]:
        """The event that any selector means, as far as known by these kinds, and its table without rows."""
        self._see(kinds)
        event = Selection((selector,), Filters(), self._registry).one_event(kinds)
        return event, Table(() if event is None else self._fields_of(event))

    def _see(self, kinds: Sequence[EventKind]) -> None:
        """Kinds only become more: look at the new ones."""
        for place in range(self._seen, len(kinds)):
            kind = kinds[place]
            event = (kind.key.provider, kind.key.name)
            self._kinds.setdefault(event, []).append(kind)
            for wish in self._selection.wishes_for(kind):
                self._meant[wish.selector].add(event)
        self._seen = max(self._seen, len(kinds))

    def _fields_of(self, event: EventName) -> tuple[TableField, ...]:
        """The columns of an event's tables, by the kinds seen so far."""
        kinds = self._kinds.get(event, [])
        count, fields = self._fields.get(event, (-1, ()))
        if count != len(kinds):
            payload = event_fields(self._registry, event, kinds, self._decoder, known=True)
            fields = (*header_fields(self._headers), *payload)
            self._fields[event] = len(kinds), fields
        return fields


_EVENTS: Slots[Event[Any]] = Slots(Event, SLOTS)


class Batch(Summary):
    """Consecutive selected events, in order, from a `Decoder` or `Trace.batches`. Iterating yields `Event` objects;
    `len` counts them.

    The events own their data and stay usable after the batch.
    """

    __slots__ = ("_names", "_rows", "_tables")

    def __init__(self, rows: DecodedRows, names: FrameSource | None, tables: BatchTables) -> None:
        self._rows = rows
        self._names = names
        self._tables = tables

    def __reduce__(self) -> tuple[type[Batch], tuple[DecodedRows, None, BatchTables]]:
        # Names are those of an open trace.
        return Batch, (self._rows, None, self._tables)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Event[Any]]:
        rows = self._rows
        payloads = rows.payloads
        if len(payloads) != len(rows):
            payloads = [RawPayload(data, "not requested") for data in rows.payload_bytes]
        portions = (payloads[first : first + PORTION] for first in range(0, len(payloads), PORTION))
        return chain.from_iterable(_events(rows, self._names, portions))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems found since the previous batch."""
        return Listed(self._rows.problems)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The lost events found since the previous batch."""
        return Listed(self._rows.losses)

    def table(self, selector: Selector, /, *, columns: Sequence[str] | None = None, enum_names: bool = False) -> Table:
        """The batch's events of one name as a table; parameters `selector`, `columns` and `enum_names`, and the
        exceptions raised, are those of `Trace.table`.

        For an event described only by the trace, the columns depend on the descriptions read so far.
        """
        return self._tables.table(self._rows, selector, columns, enum_names)

    def __repr__(self) -> str:
        events, problems = counted(len(self), "event"), counted(len(self.problems), "problem")
        return f"<Batch of {events}, {problems}, {counted(len(self.losses), 'loss', 'losses')}>"


def hand_out(batch: Batch) -> Iterator[Event[Any]]:
    """Iterate over a batch's events once; afterwards it no longer keeps their payloads alive."""
    rows = batch._rows
    records, rows.records = rows.records, []
    portions = iter([records]) if isinstance(records, list) else records.portions()
    return chain.from_iterable(_events(rows, batch._names, portions))


def rows_of(batch: Batch) -> DecodedRows:
    """A batch's rows, for the rooms of this package."""
    return batch._rows


def _events(
    rows: DecodedRows, names: FrameSource | None, portions: Iterator[list[object]]
) -> Iterator[list[Event[Any]]]:
    """The events of these rows with their payloads, portion by portion.

    Each ends the one before: an event that nobody has by then becomes another, in memory that is still in the cache.
    """
    missing = rows.thread_places is not None
    times = rows.clock.ns_numbers(rows.ticks)
    maker = BatchEvents(_EVENTS, rows.kinds, rows.kind_indexes, times, rows.thread_ids, missing)
    first = 0
    for payloads in portions:
        count = len(payloads)
        events = maker.events(EventRows(rows, names, first, count), first, payloads)
        first += count
        del payloads
        yield events
        # Whoever has this list has these events.
        del events
