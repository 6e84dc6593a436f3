"""`Batch`: consecutive selected events in order, with all the data they show.

Combines decoded rows with the names of addresses and with tables. Decodes nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.decode.kernels.objects import Maker
from clrevents.decode.payload.payload_decoder import RawPayload
from clrevents.decode.selection import Selector
from clrevents.decode.stream.losses import Loss
from clrevents.errors import Problem
from clrevents.table.listed import Listed
from clrevents.table.table import Table
from clrevents.trace.batch_tables import BatchTables
from clrevents.trace.event import SLOTS, Event
from clrevents.trace.event_rows import EventRows

_EVENTS: Maker[Event[Any]] = Maker(Event, SLOTS)


@attrs.define(eq=False, repr=False, slots=False)
class Batch(EventRows):
    """Consecutive selected events, in order, from a `Decoder` or `Trace.batches`. Iterating yields `Event` objects;
    `len` counts them.

    The events own their data and stay usable after the batch.
    """

    tables: BatchTables = attrs.field(kw_only=True)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Event[Any]]:
        payloads = self.rows.payloads
        if len(payloads) != len(self):
            payloads = [RawPayload(data, "not requested") for data in self.rows.payload_bytes]
        return iter(self._events(0, payloads))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems found since the previous batch."""
        return Listed(self.rows.problems)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The lost events found since the previous batch."""
        return Listed(self.rows.losses)

    def table(self, selector: Selector, /, *, columns: Sequence[str] | None = None, enum_names: bool = False) -> Table:
        """The batch's events of one name as a table; parameters `selector`, `columns` and `enum_names`, and the
        exceptions raised, are those of `Trace.table`.

        For an event described only by the trace, the columns depend on the descriptions read so far.
        """
        return self.tables.table(self.rows, selector, columns, enum_names)

    def hand_out(self) -> Iterator[Event[Any]]:
        """Iterate over the events once; afterwards the batch no longer keeps their payloads alive."""
        records, self.rows.records = self.rows.records, []
        return chain.from_iterable(self._made(iter([records]) if isinstance(records, list) else records.portions()))

    def _made(self, portions: Iterator[list[Any]]) -> Iterator[list[Event[Any]]]:
        first = 0
        while events := self._next(first, portions):
            first += len(events)
            yield events
            # Freeing one portion before the next is made lets that reuse its memory, which is still in the cache.
            del events

    def _next(self, first: int, portions: Iterator[list[Any]]) -> list[Event[Any]]:
        return self._events(first, next(portions, []))

    def _events(self, first: int, payloads: list[Any]) -> list[Event[Any]]:
        """The events of the rows from `first` on, with these payloads."""
        rows = len(payloads)
        return _EVENTS.of([[self] * rows, np.arange(first, first + rows), payloads])(0, rows)

    def __repr__(self) -> str:
        events, problems = counted(len(self), "event"), counted(len(self.problems), "problem")
        return f"<Batch of {events}, {problems}, {counted(len(self.losses), 'loss', 'losses')}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "tables": self.tables}
