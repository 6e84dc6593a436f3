"""`Batch`: consecutive selected events in order, with all the data they show.

Combines decoded rows with the names of addresses and with tables. Decodes nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from clrevents._util.notebook_views import Summary
from clrevents._util.words import counted
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.kernels.objects import PORTION, BatchEvents, Slots
from clrevents.decode.payload.payload_decoder import RawPayload
from clrevents.decode.selection import Selector
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problem
from clrevents.symbols.frame import FrameSource
from clrevents.table.listed import Listed
from clrevents.table.table import Table
from clrevents.trace.batch_tables import BatchTables
from clrevents.trace.event import SLOTS, Event
from clrevents.trace.event_rows import EventRows

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
    portions = iter([records]) if isinstance(records, list) else records.portions(again=True)
    return chain.from_iterable(_events(rows, batch._names, portions))


def rows_of(batch: Batch) -> DecodedRows:
    """A batch's rows, for the rooms of this package."""
    return batch._rows


def tables_of(batch: Batch) -> BatchTables:
    """The maker of a batch's tables, for the rooms of this package."""
    return batch._tables


def _events(rows: DecodedRows, names: FrameSource | None, portions: Iterator[list[Any]]) -> Iterator[list[Event[Any]]]:
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
        maker.release()
