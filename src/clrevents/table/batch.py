"""Tables of one batch: the same columns as those of a whole trace, for who reads a live stream.

Reads payloads from the batch's own bytes and reports nothing: the batch did. Keeps nothing between batches.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.batch import Batch
from clrevents.decode.blocks import LabelList
from clrevents.decode.chunks import Chunk
from clrevents.decode.headers import HEADERS, Known
from clrevents.decode.kernels import arranged
from clrevents.decode.payloads import PayloadReader
from clrevents.decode.pieces import Group, Ints, Piece, PieceReader
from clrevents.decode.region import Guids
from clrevents.decode.select import Selector, one_event
from clrevents.decode.shape import shown_fields
from clrevents.decode.stacks import join
from clrevents.errors import Limits, Problem
from clrevents.schema.registry import Registry
from clrevents.table.read import Wanted, event_fields, facts, named_by, part_of
from clrevents.table.table import Table


@attrs.frozen(eq=False)
class BatchTables:
    """Makes tables of the batches of one stream."""

    registry: Registry
    limits: Limits

    def table(self, batch: Batch, selector: Selector, columns: Sequence[str] | None, names: bool) -> Table:
        """All of a batch's events of one kind. Raises as `Trace.table` does, by what is known so far."""
        wanted = Wanted.of(columns, names)
        found = one_event(selector, self.registry, batch.every_kind) or named_by(selector, self.registry)
        if not found:
            # A pattern that fits nothing yet.
            return Table((), (), {})
        (event,) = found
        reader = PayloadReader(batch.pointer_size, self.limits)
        fields = wanted.choose(event_fields(self.registry, event, batch.every_kind, reader), event[1])
        metadata = facts(
            event, self.registry, batch.every_kind, sum(loss.count for loss in batch.losses), len(batch.problems)
        )
        pieces: list[Piece] = []
        read = PieceReader(reader, wanted.fields, _nothing)
        nowhere = np.zeros(len(batch), dtype=np.int64)
        order, groups = arranged(batch.places)
        for index, places in groups:
            kind, rows = batch.every_kind[index], order[places]
            if (kind.key.provider, kind.key.name) == event:
                group = Group(kind, batch.data, batch.starts[rows], batch.ends[rows], nowhere, rows)
                pieces += read.pieces(group)
        known = Known(batch.every_kind, batch.clock, batch.process_id)
        headers = {name: HEADERS[name].make(_BatchRows(batch), known) for name in wanted.headers}
        chunk = Chunk(len(batch), batch.places, headers, pieces, join(()))
        part = part_of(fields, chunk, pieces, names)
        return Table(shown_fields(fields, names), () if part is None else (part,), metadata)


def _nothing(problem: Problem, times: int) -> None:
    return None


@attrs.frozen(eq=False)
class _BatchRows:
    """A batch as header columns want it."""

    batch: Batch

    @property
    def kinds(self) -> Ints:
        return self.batch.places

    @property
    def times(self) -> Ints:
        return self.batch.qpc

    @property
    def threads(self) -> NDArray[np.uint64]:
        return self.batch.thread_column

    @property
    def owners(self) -> Ints | None:
        return self.batch.owner_column

    @property
    def stacks(self) -> Ints:
        return self.batch.numbers

    @property
    def sizes(self) -> Ints:
        return self.batch.ends - self.batch.starts

    def __len__(self) -> int:
        return len(self.batch)

    def processors(self) -> Ints:
        return np.array(self.batch.processors, dtype=np.int64)

    def process_ids(self) -> list[int | None] | None:
        return self.batch.processes

    def activities(self) -> Guids | None:
        return self.batch.activities

    def related_activities(self) -> Guids | None:
        return self.batch.related

    def labels(self) -> list[LabelList | None] | None:
        return self.batch.labels
