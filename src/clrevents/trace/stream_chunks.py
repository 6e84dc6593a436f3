"""Batches of one stream as chunks, as a pass over a trace would give them, and which events names mean so far.

What many batches share is kept: how payloads are read, which kinds an event has, the columns of its tables. A batch may
hold a single event, and then nothing may be asked again of every name and every kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.columns.column_maker import ColumnMaker
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.selection import EventName, Filters, Selection, only_event
from clrevents.errors import Limits
from clrevents.schema.registry import Registry
from clrevents.table.event_schema import TableField, header_fields
from clrevents.table.read import TableChunk, Wanted, event_fields, table_chunks
from clrevents.trace.batch_tables import chunk_of, column_maker


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
