"""What the GC says of its heaps: each generation's history as arrays, and the events that it defines by itself.

Sums of a collection only where every heap has its history; free space and survivors are computed only here. An event of
the GC's own (its committed memory, how it adapts its heaps) is a name and packed little-endian numbers: one that is
shorter than its layout, or of another version, is left out and counted; what follows the known part is ignored.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.vocabulary.report_table import Cells, columns_of
from clrevents.analysis.gathering.groups import Array, Gathered, Ints, Mask, nulled, sum_by
from clrevents.analysis.reports.gc.gc_collections import GENERATIONS, GLOBAL, PER_HEAP, Collected
from clrevents.analysis.reports.gc.gc_rows import AdaptationSample, AdaptationTuning, CommittedMemory
from clrevents.analysis.shared.events.gc_suspensions import NOTHING
from clrevents.table.table import Column, ColumnType, text_column

_VALUES: Final[Mapping[str, str]] = {
    "size_before_bytes": "SizeBefore",
    "size_after_bytes": "SizeAfter",
    "pinned_survived_bytes": "PinnedSurv",
    "others_survived_bytes": "NonePinnedSurv",
    "moved_in_bytes": "In",
    "free_list_before_bytes": "FreeListBefore",
    "free_list_after_bytes": "FreeListAfter",
    "free_objects_before_bytes": "FreeObjBefore",
    "free_objects_after_bytes": "FreeObjAfter",
    "budget_bytes": "NewAllocation",
}
_INNER: Final = ("others_survived_bytes", "free_list_before_bytes", "free_objects_before_bytes")
"""What is in other columns."""
_AFTER: Final = ("size_after_bytes", "free_list_after_bytes", "free_objects_after_bytes")
_OF_OBJECTS: Final = (0, 3, 4)
"""The generations that objects are allocated in."""


@frozen(eq=False)
class HeapParts:
    """One row for each generation of each heap of each collection, in order of the collections.

    `collection` and `row` say of which collection it is and in which event it was; `values` are sizes by the names of
    columns.
    """

    collection: Ints
    row: Ints
    heap: Ints
    generation: Ints
    values: Mapping[str, Ints]
    condemned: Mask
    """Whether the generation was collected, by a collection whose survivors are known."""
    budgeted: Mask
    """Whether it got a new budget."""
    after_told: Mask
    """Whether its sizes afterwards are known: .NET Core 3.1 omits those that a generation 0 collection does not
    change."""
    complete: Mask
    """For each collection: whether all of its heaps have their history."""

    @cached_property
    def live_before(self) -> Ints:
        """Objects before, without free space."""
        return (
            self.values["size_before_bytes"]
            - self.values["free_list_before_bytes"]
            - self.values["free_objects_before_bytes"]
        )

    @cached_property
    def live_after(self) -> Ints:
        """Objects afterwards, without free space; those before, where the collection left them alone."""
        live = (
            self.values["size_after_bytes"]
            - self.values["free_list_after_bytes"]
            - self.values["free_objects_after_bytes"]
        )
        return np.where(self.after_told, live, self.live_before)

    @cached_property
    def survived(self) -> Ints:
        """What survived, wherever it went."""
        return self.values["pinned_survived_bytes"] + self.values["others_survived_bytes"]

    def columns(self) -> dict[str, Cells]:
        """The columns that a table of these rows has of them."""
        known = self.condemned, self.budgeted, self.after_told
        columns = sized(self.values, self.live_before, *known)
        # Server GC moves regions between heaps while it collects: where more survived in one heap than it had,
        # survivors of others were counted there, and no heap's share is known.
        group = self.collection * len(GENERATIONS) + self.generation
        moved = np.isin(group, group[self.condemned & (self.survived > self.live_before)])
        survival = columns["survival"]
        assert isinstance(survival, Column)
        again = known_column("float64", survival.values, survival.known & ~moved)
        return {"generation": words(self.generation), **columns, "survival": again}

    def total(self, values: Ints, chosen: Mask | None = None, known: Mask | None = None) -> list[int | None]:
        """A sum for each collection; None where a heap's history is missing, or one of the values is not `known`."""
        kept = np.ones(len(values), dtype=np.bool_) if chosen is None else chosen
        sums = sum_by(self.collection[kept], values[kept], len(self.complete))
        whole = self.complete.copy()
        if known is not None:
            whole[self.collection[kept & ~known]] = False
        return nulled(sums, whole)

    def of_objects(self, values: Ints) -> list[dict[int, int]]:
        """Of each collection, by heap: the sum over the generations that objects are allocated in."""
        sums: list[dict[int, int]] = [{} for _ in self.complete]
        objects = np.isin(self.generation, _OF_OBJECTS)
        for collection, heap, value in zip(
            self.collection[objects].tolist(), self.heap[objects].tolist(), values[objects].tolist(), strict=True
        ):
            of = sums[collection]
            of[heap] = of.get(heap, 0) + value
        return sums

    def imbalance(self) -> list[float | None]:
        """Of each collection: what survived in the heap where it was most, by the mean; None of fewer than two."""
        by_heap: list[dict[int, int]] = [{} for _ in self.complete]
        condemned = self.condemned
        for collection, heap, value in zip(
            self.collection[condemned].tolist(),
            self.heap[condemned].tolist(),
            self.survived[condemned].tolist(),
            strict=True,
        ):
            by_heap[collection][heap] = by_heap[collection].get(heap, 0) + value
        ratios: list[float | None] = []
        for known, heaps in zip(self.complete.tolist(), by_heap, strict=True):
            total = sum(heaps.values())
            ratios.append(max(heaps.values()) * len(heaps) / total if known and len(heaps) > 1 and total > 0 else None)
        return ratios

    def summed(self) -> tuple[Ints, dict[str, Cells]]:
        """The rows of all heaps together: of which collection each is, and the columns of a table."""
        if not len(self.row):
            return self.collection, self.columns()
        chosen = self.complete[self.collection]
        keys = self.collection[chosen] * len(GENERATIONS) + self.generation[chosen]
        unique_keys, group = np.unique(keys, return_inverse=True)

        def summed(values: Ints) -> Ints:
            return sum_by(group, values[chosen], len(unique_keys))

        known = [summed(mask.astype(np.int64)) > 0 for mask in (self.condemned, self.budgeted, self.after_told)]
        values = {name: summed(values) for name, values in self.values.items()}
        generation = unique_keys % len(GENERATIONS)
        return unique_keys // len(GENERATIONS), {
            "generation": words(generation),
            **sized(values, summed(self.live_before), *known),
        }


def sized(
    values: Mapping[str, Ints], live_before: Ints, condemned: Mask, budgeted: Mask, after: Mask
) -> dict[str, Cells]:
    """Columns of sizes, each null if unknown."""
    survived = values["pinned_survived_bytes"] + values["others_survived_bytes"]
    known = {"pinned_survived_bytes": condemned, "budget_bytes": budgeted, **dict.fromkeys(_AFTER, after)}
    columns: dict[str, Cells] = {
        name: known_column("int64", numbers, known[name]) if name in known else numbers
        for name, numbers in values.items()
        if name not in _INNER
    }
    columns["survived_bytes"] = known_column("int64", survived, condemned)
    plausible = condemned & (live_before > 0) & (survived <= live_before)
    columns["survival"] = known_column("float64", survived / np.maximum(live_before, 1), plausible)
    return columns


def known_column(kind: str, values: Array, known: Mask) -> Column:
    """A column of numbers, null where they are not known."""
    return Column(ColumnType(kind), len(values), values, valid=known)


def share(part: int | None, whole: int | None) -> float | None:
    """A part of a whole; None where either is unknown, the whole is nothing, or the part is more than it."""
    return part / whole if part is not None and whole is not None and 0 <= part <= whole > 0 else None


def words(generation: Ints) -> Column:
    """The names of generations."""
    return text_column(GENERATIONS, generation)


def heap_parts(rows: Mapping[str, Gathered], collections: Sequence[Collected]) -> HeapParts:
    """Of the rows of the histories, each of them already given to a collection."""
    events, history = rows[PER_HEAP], rows[GLOBAL]
    announced = history.numbers("NumHeaps").tolist()
    owner, row = [], []
    complete = np.zeros(len(collections), dtype=np.bool_)
    for place, one in enumerate(collections):
        owner += [place] * len(one.heaps)
        row += [one.heaps[heap] for heap in sorted(one.heaps)]
        complete[place] = one.history is not None and 0 < len(one.heaps) == announced[one.history]
    owners, history_rows = np.array(owner, dtype=np.int64), np.array(row, dtype=np.int64)
    column = events.column("Values")
    offsets = column.offsets.astype(np.int64) if len(events) else np.zeros(1, dtype=np.int64)
    # Earlier runtimes have four generations, without that of pinned objects.
    counts = np.minimum(np.diff(offsets)[history_rows], len(GENERATIONS))
    which = np.repeat(np.arange(len(history_rows)), counts)
    ends = np.cumsum(counts)
    generation = np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)
    places = offsets[:-1][history_rows][which] + generation
    values = {}
    for name, wire in _VALUES.items():
        if len(places):
            inner = column.children[0]
            values[name] = inner.children[inner.type.names.index(wire)].values[places].astype(np.int64)
        else:
            values[name] = np.zeros(0, dtype=np.int64)
    depth = np.array([NOTHING if c.generation is None else c.generation for c in collections], dtype=np.int64)
    of = owners[which]
    # A background collection does not tell what survived it, and gives budgets to the generations that it swept.
    background = np.array([c.type is None or c.background for c in collections], dtype=np.bool_)
    collected = (generation <= depth[of]) | ((depth[of] >= 2) & (generation > 2))
    budgeted = collected & ((generation >= 2) | ~background[of])
    after_told = (counts[which] == len(GENERATIONS)) | (depth[of] > 0) | (generation < 2)
    heap = events.numbers("HeapIndex").astype(np.int64)[history_rows][which]
    return HeapParts(
        of, history_rows[which], heap, generation, values, collected & ~background[of], budgeted, after_told, complete
    )


DYNAMIC: Final = "runtime/GCDynamicEvent"

_LAYOUTS: Final[Mapping[str, struct.Struct]] = {
    "CommittedUsage": struct.Struct("<H5Q"),
    "SizeAdaptationSample": struct.Struct("<HQ4IQI"),
    "SizeAdaptationTuning": struct.Struct("<4HQQ3fHfIB4HB"),
    "SizeAdaptationFullGCTuning": struct.Struct("<HHQfI" + "If" * 3),
}
_VERSION: Final = 1
_US: Final = 1000


@define(eq=False)
class DynamicTables:
    """Rows of the three tables, in order; `unread` are events that do not fit."""

    committed: list[CommittedMemory] = attrs.field(factory=list)
    samples: list[AdaptationSample] = attrs.field(factory=list)
    tunings: list[AdaptationTuning] = attrs.field(factory=list)
    unread: int = 0

    @property
    def adapts(self) -> bool:
        """Whether there is anything that only server GC writes."""
        return bool(self.samples or self.tunings)


def dynamic_tables(rows: Gathered, running: Iterable[int | None]) -> DynamicTables:
    """Of the rows of the event; `running` is the number of the collection that each was told in."""
    tables = DynamicTables()
    names = ("time_ns", "thread_id", "Name", "Data")
    values = (rows.column(name).tolist() for name in names)
    for number, time, thread, name, data in zip(running, *values, strict=True):
        layout = _LAYOUTS.get(name)
        if layout is None:
            continue
        if len(data) < layout.size or int.from_bytes(data[:2], "little") != _VERSION:
            tables.unread += 1
            continue
        numbers = layout.unpack_from(data)[1:]
        row: CommittedMemory | AdaptationSample | AdaptationTuning
        if name == "CommittedUsage":
            row = _committed(number, time, thread, *numbers)
        elif name == "SizeAdaptationSample":
            row = _sample(time, thread, *numbers)
        elif name == "SizeAdaptationTuning":
            row = _tuning(time, thread, *numbers)
        else:
            row = _full_tuning(time, thread, *numbers)
        if not all(_fits(getattr(row, column.name)) for column in columns_of(type(row))):
            tables.unread += 1
        elif isinstance(row, CommittedMemory):
            tables.committed.append(row)
        elif isinstance(row, AdaptationSample):
            tables.samples.append(row)
        else:
            tables.tunings.append(row)
    return tables


def _fits(value: Any) -> bool:
    """Whether a column holds it: a crafted event may say more."""
    return not isinstance(value, int | float) or abs(value) < (1 << 63 if isinstance(value, int) else math.inf)


def _committed(
    number: int | None,
    time: int,
    thread: int | None,
    in_use: int,
    decommit: int,
    free: int,
    global_free: int,
    bookkeeping: int,
) -> CommittedMemory:
    return CommittedMemory(
        time_ns=time,
        number=number,
        committed_bytes=in_use + decommit + free + global_free + bookkeeping,
        in_use_bytes=in_use,
        free_bytes=free,
        global_free_bytes=global_free,
        decommit_bytes=decommit,
        bookkeeping_bytes=bookkeeping,
        thread_id=thread,
    )


def _sample(time: int, thread: int | None, *numbers: int) -> AdaptationSample:
    index, between, pause, small_wait, large_wait, stable, budget = numbers
    return AdaptationSample(
        time_ns=time,
        gc_index=index,
        between_ns=between * _US,
        pause_ns=pause * _US,
        small_wait_ns=small_wait * _US,
        large_wait_ns=large_wait * _US,
        stable_bytes=stable,
        budget_bytes=budget,
        thread_id=thread,
    )


def _tuning(time: int, thread: int | None, *numbers: Any) -> AdaptationTuning:
    heaps, most, least, index, stable, median, cost, _, _, _, since, *_ = numbers
    return AdaptationTuning(
        time_ns=time,
        gc_index=index,
        full=False,
        heaps=heaps,
        least_heaps=least,
        most_heaps=most,
        median_cost=median,
        cost=cost,
        stable_bytes=stable,
        since_change=since,
        thread_id=thread,
    )


def _full_tuning(time: int, thread: int | None, *numbers: Any) -> AdaptationTuning:
    heaps, index, median, since = numbers[:4]
    return AdaptationTuning(
        time_ns=time,
        gc_index=index,
        full=True,
        heaps=heaps,
        least_heaps=None,
        most_heaps=None,
        median_cost=median,
        cost=None,
        stable_bytes=None,
        since_change=since,
        thread_id=thread,
    )
