"""Tables of one batch with the same columns as those of a whole trace, and batches as the chunks that reports take.

Reads payloads from the batch's own bytes. Reports no problems, because the batch has done so, and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.decode.column_pass import Chunk
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.header_columns import HEADERS, Known
from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.column_maker import ColumnMaker, Group, KindColumns
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.selection import EventName, Filters, Selection, Selector, only_event
from clrevents.decode.stacks import join
from clrevents.errors import Limits, Problem
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.table.event_schema import TableField, header_fields, shown_fields
from clrevents.table.read import TableChunk, Wanted, event_fields, facts, part_of, table_chunks
from clrevents.table.table import Table


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
        lost = sum(loss.count for loss in rows.losses)
        metadata = facts(event, self.registry, rows.kinds, lost, len(rows.problems))
        maker = column_maker(decoder, wanted.fields)
        chunk = chunk_of(rows, wanted.headers, maker, lambda k: (k.key.provider, k.key.name) == event)
        made = part_of(fields, chunk, chunk.payloads, enum_names)
        return Table(shown_fields(fields, enum_names), () if made is None else (made,), metadata)

    def one_event(self, selector: Selector, kinds: Sequence[EventKind]) -> EventName | None:
        """The event that a selector means, as far as known by now; None if still unknown."""
        return Selection((selector,), Filters(), self.registry).one_event(kinds)

    def fields(
        self, event: EventName, kinds: Sequence[EventKind], pointer_size: int, headers: tuple[str, ...]
    ) -> tuple[TableField, ...]:
        """The columns of an event's tables for reports, as far as known by now."""
        decoder = PayloadDecoder(pointer_size, self.limits)
        return (*header_fields(headers), *event_fields(self.registry, event, kinds, decoder, known=True))


def column_maker(decoder: PayloadDecoder, fields: frozenset[str] | None = None) -> ColumnMaker:
    """Makes columns of these fields (None for all), and reports nothing."""
    return ColumnMaker(decoder, fields, _nothing)


def chunk_of(
    rows: DecodedRows, headers: Sequence[str], maker: ColumnMaker, chosen: Callable[[EventKind], bool] = lambda _: True
) -> Chunk:
    """The rows' columns: these headers, and what `maker` makes of the chosen kinds' payloads."""
    payloads: list[KindColumns] = []
    nowhere = np.zeros(len(rows), dtype=np.int64)
    order, groups = arranged(rows.kind_indexes)
    for index, part in groups:
        kind, members = rows.kinds[index], order[part]
        if chosen(kind):
            group = Group(kind, rows.data, rows.starts[members], rows.ends[members], nowhere, members)
            payloads += maker.columns_of(group)
    known = Known(rows.kinds, rows.clock, rows.process_id)
    made = {name: HEADERS[name].make(rows, known) for name in headers}
    return Chunk(len(rows), rows.kind_indexes, made, payloads, join(()))


def tables_of_registry() -> BatchTables:
    """Tables from the default registry alone, for a stream without a batch."""
    return BatchTables(DEFAULT, Limits())


def _nothing(problem: Problem, times: int) -> None:
    return None


class StreamChunks:
    """Makes chunks of the batches of one stream, in the order in which they came.

    `names` are those that `one_event` may be asked for: no patterns. `headers` are the header columns of all tables.
    """

    def __init__(
        self, names: Iterable[str], headers: tuple[str, ...], registry: Registry, limits: Limits, pointer_size: int
    ) -> None:
        self._headers = headers
        self._registry = registry
        self._decoder = PayloadDecoder(pointer_size, limits)
        self._maker: ColumnMaker = column_maker(self._decoder)
        self._selection = Selection(dict.fromkeys(names), Filters(), registry)
        self._meant = {wish.selector: {*wish.declared} for wish in self._selection.wishes}
        self._seen = 0
        self._kinds: dict[EventName, list[EventKind]] = {}
        self._fields: dict[EventName, tuple[int, tuple[TableField, ...]]] = {}

    def chunk(self, rows: DecodedRows) -> TableChunk:
        """A batch as a chunk: a table of each event that occurs in it, and the table of all headers."""
        self._see(rows.kinds)
        made = chunk_of(rows, self._headers, self._maker)
        wanted = Wanted(self._headers, known=True)
        *_, chunk = table_chunks([made], self._fields_of, wanted, self._headers, lambda: rows.kinds)
        return chunk

    def one_event(self, name: str) -> EventName | None:
        """The event that one of `names` means; None if still unknown.

        Raises AmbiguousEventError if there are several, judging by the batches so far.
        """
        return only_event(name, self._meant[name])

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
        kinds = self._kinds[event]
        count, fields = self._fields.get(event, (0, ()))
        if count != len(kinds):
            payload = event_fields(self._registry, event, kinds, self._decoder, known=True)
            fields = (*header_fields(self._headers), *payload)
            self._fields[event] = len(kinds), fields
        return fields
