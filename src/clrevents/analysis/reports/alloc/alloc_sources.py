"""The runtime's allocation events → columns, which are added up source by source.

Counts oddities. Names no stack and chooses no source.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.collector import ReportChunk
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.reports.alloc.alloc_sums import AllocationColumns, AllocationSums
from clrevents.analysis.reports.alloc.alloc_types import AllocatedTypes
from clrevents.analysis.shared.weights.allocation_estimate import PARTS, sample_weights
from clrevents.analysis.shared.weights.allocation_events import EVENTS, HIGH, LOW, SAMPLED, TICK, Source, stated_bytes
from clrevents.schema.runtime_flags import GCAllocationKind

Ints: TypeAlias = NDArray[np.int64]

TYPES: Final = "runtime/BulkType"
SELECTORS: Final = (*(name for events in EVENTS.values() for name in events), TYPES)

LARGE_BYTES: Final = 85_000
"""From this size on, objects are on the large object heap, unless the program was configured otherwise."""
UNKNOWN_KIND: Final = -1
_SMALL, _LARGE = int(GCAllocationKind.Small), int(GCAllocationKind.Large)


class AllocationReading:
    """What the events of one process say so far."""

    def __init__(self) -> None:
        self.sums: dict[Source, AllocationSums] = {source: AllocationSums() for source in EVENTS}
        self.types = AllocatedTypes()
        self.threads: list[int | None] = [None]
        """Thread ids by their numbers."""
        self.in_groups = 0
        """Events of `objects` that stand for several objects."""
        self.sizeless = 0
        """Samples of objects whose size is 0."""
        self.impossible = 0
        """Events left out because their sizes are impossible."""
        self._threads: dict[int, int] = {}

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._take_objects(chunk)
        if SAMPLED in chunk.events:
            self._take_samples(chunk.events[SAMPLED], chunk)
        if TICK in chunk.events:
            self._take_ticks(chunk.events[TICK], chunk)

    def _take_objects(self, chunk: ReportChunk) -> None:
        held = {name: chunk.events[name] for name in (HIGH, LOW) if name in chunk.events}
        types = self.types.by_id(list(held.values()), chunk.events.get(TYPES))
        for name, rows in held.items():
            mine, types = types[: len(rows)], types[len(rows) :]
            sizes, good = self._stated(name, rows)
            count = np.maximum(_signed(rows.numbers("ObjectCountForTypeSample")), 1)
            self.in_groups += int((count > 1).sum())
            kind = np.where(sizes // count >= LARGE_BYTES, _LARGE, _SMALL)
            none = np.zeros(len(rows), dtype=np.int64)
            self._add("objects", rows, chunk, good, mine, kind, sizes, count * PARTS, none, sizes)

    def _take_samples(self, rows: Gathered, chunk: ReportChunk) -> None:
        sizes, good = self._stated(SAMPLED, rows)
        found = sample_weights(sizes)
        self.sizeless += int(((sizes == 0) & good).sum())
        types = self.types.by_name(rows.column("TypeName"), rows.numbers("TypeID"))
        kind = _kinds(rows)
        self._add("samples", rows, chunk, good, types, kind, found.bytes, found.object_parts, found.variance, sizes)

    def _take_ticks(self, rows: Gathered, chunk: ReportChunk) -> None:
        sizes, good = self._stated(TICK, rows)
        types = self.types.by_name(rows.column("TypeName"), rows.numbers("TypeID"))
        none = np.zeros(len(rows), dtype=np.int64)
        self._add("ticks", rows, chunk, good, types, _kinds(rows), sizes, none, none, none)

    def _add(
        self,
        source: Source,
        rows: Gathered,
        chunk: ReportChunk,
        good: NDArray[np.bool_],
        types: Ints,
        kind: Ints,
        bytes: Ints,
        parts: Ints,
        variance: Ints,
        seen: Ints,
    ) -> None:
        found = AllocationColumns(
            time=_signed(rows.numbers("time_ns")),
            stack=_signed(rows.numbers("stack_id")),
            type=types,
            thread=self._numbered_threads(rows),
            kind=kind,
            bytes=bytes,
            large=np.where(kind == _LARGE, bytes, 0),
            object_parts=parts,
            variance=variance,
            seen=seen,
        )
        self.sums[source].take(found if good.all() else found.take(np.flatnonzero(good)), chunk.window)

    def _stated(self, name: str, rows: Gathered) -> tuple[Ints, NDArray[np.bool_]]:
        sizes, good = stated_bytes(name, rows.table)
        self.impossible += int((~good).sum())
        return sizes, good

    def _numbered_threads(self, rows: Gathered) -> Ints:
        column = rows.column("thread_id")
        distinct, of = np.unique(column.values, return_inverse=True)
        for thread in distinct.tolist():
            if thread not in self._threads:
                self._threads[thread] = len(self.threads)
                self.threads.append(thread)
        numbers = np.array([self._threads[thread] for thread in distinct.tolist()], dtype=np.int64)[of]
        return np.where(column.known, numbers, 0)


def kind_word(kind: int) -> str | None:
    """`small`, `large`, `pinned`; an unknown number as a number."""
    if kind == UNKNOWN_KIND:
        return None
    known = {int(member): str(member.name).lower() for member in GCAllocationKind}
    return known.get(kind, f"kind {kind}")


def _kinds(rows: Gathered) -> Ints:
    column = rows.column("AllocationKind")
    return np.where(column.known, _signed(column.values), UNKNOWN_KIND)


def _signed(numbers: NDArray[Any]) -> Ints:
    return numbers.astype(np.int64)
