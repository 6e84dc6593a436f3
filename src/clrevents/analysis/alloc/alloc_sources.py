"""The runtime's events about allocations → columns that can be added up, source by source.

Three sources tell the same thing, each in its own way, so no two of them are ever added up: every object, random
samples of bytes, and ticks. Knows what their fields mean; names no type and no stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.alloc.alloc_estimate import PARTS, sample_weights
from clrevents.analysis.alloc.alloc_sums import AllocationColumns, AllocationSums
from clrevents.analysis.alloc.alloc_types import AllocatedTypes
from clrevents.analysis.framework.collector import ReportChunk
from clrevents.analysis.gather import Gathered
from clrevents.schema.gc_flags import GCAllocationKind

Ints: TypeAlias = NDArray[np.int64]
Source: TypeAlias = Literal["objects", "samples", "ticks"]

HIGH, LOW = "runtime/GCSampledObjectAllocationHigh", "runtime/GCSampledObjectAllocationLow"
SAMPLED, TICK, TYPES = "runtime/AllocationSampled", "runtime/GCAllocationTick", "runtime/BulkType"
EVENTS: Final[Mapping[Source, tuple[str, ...]]] = {
    "objects": (HIGH, LOW, TYPES),
    "samples": (SAMPLED,),
    "ticks": (TICK,),
}
"""What each source is read from; the best source is first."""

LARGE_BYTES: Final = 85_000
"""From this size on, objects are on the large object heap, unless the program was configured otherwise."""
UNKNOWN_KIND: Final = -1
_LARGEST: Final = 1 << 43
"""No object and no tick is larger: it is more memory than any machine has."""
_SMALL, _LARGE = int(GCAllocationKind.Small), int(GCAllocationKind.Large)


class AllocationReading:
    """What the events of one process say so far."""

    def __init__(self, sources: tuple[Source, ...]) -> None:
        self.sums: dict[Source, AllocationSums] = {source: AllocationSums() for source in sources}
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
        """See the next events."""
        if "objects" in self.sums:
            self._take_objects(chunk)
        if "samples" in self.sums and SAMPLED in chunk.events:
            self._take_samples(chunk.events[SAMPLED], chunk)
        if "ticks" in self.sums and TICK in chunk.events:
            self._take_ticks(chunk.events[TICK], chunk)

    def _take_objects(self, chunk: ReportChunk) -> None:
        events = [chunk.events[name] for name in (HIGH, LOW) if name in chunk.events]
        types = self.types.by_id(events, chunk.events.get(TYPES))
        start = 0
        for rows in events:
            mine = types[start : start + len(rows)]
            start += len(rows)
            size, count = rows.numbers("TotalSizeForTypeSample"), _signed(rows.numbers("ObjectCountForTypeSample"))
            good = self._possible(size)
            bytes, count = _signed(size), np.maximum(count, 1)
            large = bytes // count >= LARGE_BYTES
            self.in_groups += int((count > 1).sum())
            zeros = np.zeros(len(rows), dtype=np.int64)
            kind = np.where(large, _LARGE, _SMALL)
            self._add("objects", rows, chunk, good, mine, kind, bytes, count * PARTS, zeros, bytes)

    def _take_samples(self, rows: Gathered, chunk: ReportChunk) -> None:
        size = rows.numbers("ObjectSize")
        good = self._possible(size)
        sizes = _signed(size)
        weights = sample_weights(np.where(good, sizes, 1))
        self.sizeless += int((sizes == 0).sum())
        types = self.types.by_name(rows.column("TypeName"), rows.numbers("TypeID"))
        kind = _kinds(rows)
        self._add(
            "samples", rows, chunk, good, types, kind, weights.bytes, weights.object_parts, weights.variance, sizes
        )

    def _take_ticks(self, rows: Gathered, chunk: ReportChunk) -> None:
        # The first versions have the amount in 32 bits only, and no type.
        wide = rows.column("AllocationAmount64")
        amount = rows.numbers("AllocationAmount64")
        if wide.valid is not None:
            amount = np.where(wide.valid, amount, rows.numbers("AllocationAmount"))
        good = self._possible(amount)
        types = self.types.by_name(rows.column("TypeName"), rows.numbers("TypeID"))
        zeros = np.zeros(len(rows), dtype=np.int64)
        self._add("ticks", rows, chunk, good, types, _kinds(rows), _signed(amount), zeros, zeros, zeros)

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

    def _possible(self, sizes: NDArray[Any]) -> NDArray[np.bool_]:
        good: NDArray[np.bool_] = sizes <= _LARGEST
        self.impossible += int((~good).sum())
        return good

    def _numbered_threads(self, rows: Gathered) -> Ints:
        column = rows.column("thread_id")
        distinct, of = np.unique(column.values, return_inverse=True)
        for thread in distinct.tolist():
            if thread not in self._threads:
                self._threads[thread] = len(self.threads)
                self.threads.append(thread)
        numbers = np.array([self._threads[thread] for thread in distinct.tolist()], dtype=np.int64)[of]
        return numbers if column.valid is None else np.where(column.valid, numbers, 0)


def kind_word(kind: int) -> str | None:
    """`small`, `large`, `pinned`; a number that nobody knows as a number."""
    if kind == UNKNOWN_KIND:
        return None
    known = {int(member): str(member.name).lower() for member in GCAllocationKind}
    return known.get(kind, f"kind {kind}")


def _kinds(rows: Gathered) -> Ints:
    column = rows.column("AllocationKind")
    numbers = _signed(column.values)
    return numbers if column.valid is None else np.where(column.valid, numbers, UNKNOWN_KIND)


def _signed(numbers: NDArray[Any]) -> Ints:
    return numbers.astype(np.int64)
