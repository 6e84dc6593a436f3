"""Tables of one batch, with the same columns as those of a whole trace, for live streams.

Reads payloads from the batch's own bytes. Reports no problems, because the batch has done so, and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from clrevents.decode.column_pass import Chunk
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.header_columns import HEADERS, Known
from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.payload.columns.column_maker import ColumnMaker, Group, KindColumns
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.selection import Filters, Selection, Selector
from clrevents.decode.stacks import join
from clrevents.errors import Limits, Problem
from clrevents.schema.registry import Registry
from clrevents.table.event_schema import shown_fields
from clrevents.table.read import Wanted, event_fields, facts, part_of
from clrevents.table.table import Table


@attrs.frozen(eq=False)
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
        payloads: list[KindColumns] = []
        maker = ColumnMaker(decoder, wanted.fields, _nothing)
        nowhere = np.zeros(len(rows), dtype=np.int64)
        order, groups = arranged(rows.kind_indexes)
        for index, part in groups:
            kind, members = rows.kinds[index], order[part]
            if (kind.key.provider, kind.key.name) == event:
                group = Group(kind, rows.data, rows.starts[members], rows.ends[members], nowhere, members)
                payloads += maker.columns_of(group)
        known = Known(rows.kinds, rows.clock, rows.process_id)
        headers = {name: HEADERS[name].make(rows, known) for name in wanted.headers}
        chunk = Chunk(len(rows), rows.kind_indexes, headers, payloads, join(()))
        made = part_of(fields, chunk, payloads, enum_names)
        return Table(shown_fields(fields, enum_names), () if made is None else (made,), metadata)


def _nothing(problem: Problem, times: int) -> None:
    return None
