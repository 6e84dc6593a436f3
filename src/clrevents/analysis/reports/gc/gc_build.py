"""One runtime's events → the columns of the GC report's tables. Sees the whole trace; cuts nothing.

Each event was already assigned to its collection (`gc_collections`); here their values become columns, and so do
suspensions, generations, heaps and kinds of root. Sums of a collection only where every heap has its history. An event
of the GC's own (its committed memory, how it adapts its heaps) is a name and packed little-endian numbers: one that is
shorter than its layout, or of another version, is left out and counted; what follows the known part is ignored.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.report_table import Cells
from clrevents.analysis.gathering.groups import Gathered, Ints, Mask, nulled, sum_by
from clrevents.analysis.reports.gc.gc_collections import (
    COMPACTION,
    GENERATIONS,
    GLOBAL,
    PER_HEAP,
    START,
    STATS,
    TRIGGERED,
    Collected,
    CollectionWalk,
    GcMoment,
    compact_words,
    condemned_words,
    enum_word,
    expand_words,
    give_pauses,
    kind_word,
    mechanism_words,
    pause_mode_word,
)
from clrevents.analysis.reports.gc.gc_rows import AdaptationSample, AdaptationTuning, CommittedMemory, GarbageCollection
from clrevents.analysis.shared.events.gc_suspensions import FOR_GC, NOTHING, STEPS, SUSPENDING, Suspensions, suspensions
from clrevents.schema.runtime_flags import GCRootKind
from clrevents.table.table import Column, ColumnType, from_values, number_column, text_column

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
        again = number_column("float64", survival.values, survival.known & ~moved)
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
        return self._by_heap(values, np.isin(self.generation, _OF_OBJECTS))

    def _by_heap(self, values: Ints, chosen: Mask) -> list[dict[int, int]]:
        sums: list[dict[int, int]] = [{} for _ in self.complete]
        columns = (self.collection, self.heap, values)
        for collection, heap, value in zip(*(column[chosen].tolist() for column in columns), strict=True):
            sums[collection][heap] = sums[collection].get(heap, 0) + value
        return sums

    def imbalance(self) -> list[float | None]:
        """Of each collection: what survived in the heap where it was most, by the mean; None of fewer than two."""
        by_heap = self._by_heap(self.survived, self.condemned)
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
        name: number_column("int64", numbers, known[name]) if name in known else numbers
        for name, numbers in values.items()
        if name not in _INNER
    }
    columns["survived_bytes"] = number_column("int64", survived, condemned)
    plausible = condemned & (live_before > 0) & (survived <= live_before)
    columns["survival"] = number_column("float64", survived / np.maximum(live_before, 1), plausible)
    return columns


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


@frozen
class DynamicLayout:
    """One event of the GC's own: the table and the class of its rows, its numbers, and the columns that these are, in
    order, without a name for those that are none. `others` are the columns of which it says nothing."""

    table: str
    row_class: type[Any]
    numbers: struct.Struct
    columns: tuple[str | None, ...]
    others: Mapping[str, Any] = attrs.field(factory=dict)


_LAYOUTS: Final = {
    "CommittedUsage": DynamicLayout(
        "committed",
        CommittedMemory,
        struct.Struct("<H5Q"),
        ("in_use_bytes", "decommit_bytes", "free_bytes", "global_free_bytes", "bookkeeping_bytes"),
    ),
    "SizeAdaptationSample": DynamicLayout(
        "samples",
        AdaptationSample,
        struct.Struct("<HQ4IQI"),
        (
            *("gc_index", "between_ns", "pause_ns", "small_wait_ns", "large_wait_ns"),
            *("stable_bytes", "budget_bytes"),
        ),
    ),
    "SizeAdaptationTuning": DynamicLayout(
        "tunings",
        AdaptationTuning,
        struct.Struct("<4HQQ3fHfIB4HB"),
        (
            *("heaps", "most_heaps", "least_heaps", "gc_index", "stable_bytes", "median_cost", "cost"),
            *(None, None, None, "since_change"),
        ),
        {"full": False},
    ),
    "SizeAdaptationFullGCTuning": DynamicLayout(
        "tunings",
        AdaptationTuning,
        struct.Struct("<HHQfI" + "If" * 3),
        ("heaps", "gc_index", "median_cost", "since_change"),
        {"full": True, **dict.fromkeys(("least_heaps", "most_heaps", "cost", "stable_bytes"))},
    ),
}
_VERSION: Final = 1


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
    events = (rows.column(name).tolist() for name in names)
    for number, time, thread, name, data in zip(running, *events, strict=True):
        layout = _LAYOUTS.get(name)
        if layout is None:
            continue
        if len(data) < layout.numbers.size or int.from_bytes(data[:2], "little") != _VERSION:
            tables.unread += 1
            continue
        told = zip(layout.columns, layout.numbers.unpack_from(data)[1:], strict=False)
        values = {column: value * _US if column.endswith("_ns") else value for column, value in told if column}
        if layout.row_class is CommittedMemory:
            values |= {"committed_bytes": sum(values.values()), "number": number}
        if all(map(_fits, values.values())):
            row = layout.row_class(time_ns=time, thread_id=thread, **values, **layout.others)
            getattr(tables, layout.table).append(row)
        else:
            tables.unread += 1
    return tables


def _fits(value: Any) -> bool:
    """Whether a column holds it: a crafted event may say more."""
    return not isinstance(value, int | float) or abs(value) < (1 << 63 if isinstance(value, int) else math.inf)


_US: Final = 1000
_LONGEST_US: Final = (1 << 31) - 1
_PHASES: Final = ("mark_ns", "plan_ns", "relocate_ns", "compact_ns", "sweep_ns")


class Built:
    """The collections of one runtime and the columns of all tables, from the rows of its events by selector.

    `callers` name the method that asked for a collection, and that of the program, by the stack of its request.
    """

    def __init__(
        self, context: Context, rows: Mapping[str, Gathered], *callers: Callable[[int, int], str | None]
    ) -> None:
        self.context = context
        self.rows = rows
        self.walk = CollectionWalk(rows)
        self.collections: Sequence[Collected] = self.walk.collections
        self._forget_spoilt()
        moments = [m for c in self.collections for m in (c.start, c.end) if m is not None]
        others = sorted((m.place, m.time_ns) for m in moments)
        lost = np.array(others, dtype=np.int64).reshape(-1, 2)
        every = suspensions([rows[name] for name in STEPS], context.marks, context.holes, (lost[:, 1], lost[:, 0]))
        of_collections = np.isin(every.reason, FOR_GC) | ((every.reason == NOTHING) & self._collecting(every))
        self.suspended: Suspensions = every.only(np.flatnonzero(of_collections))
        self.others: Suspensions = every.only(np.flatnonzero(~of_collections))
        self.every = every
        self.owners = give_pauses(self.walk, self.suspended)
        self.parts: HeapParts = heap_parts(rows, self.collections)
        numbers = [c.number for c in self.collections]
        running = self.walk.at(rows[DYNAMIC].places).tolist()
        self.dynamic: DynamicTables = dynamic_tables(
            rows[DYNAMIC], [None if place == NOTHING else numbers[place] for place in running]
        )
        self._callers = callers
        self._lists: dict[tuple[str, str], list[Any]] = {}
        self._stopped = self.suspended.known(0, 1)
        self._stop_ns = self.suspended.times[1] - self.suspended.times[0]

    def _forget_spoilt(self) -> None:
        """Drop histories that may be another collection's, because a loss lies before them.

        Between its start and its end they are the collection's own, whatever was lost.
        """
        if not self.context.marks:
            return
        times = self.rows[GLOBAL].numbers("time_ns")
        of_heaps = self.rows[PER_HEAP].numbers("time_ns")
        for one in self.collections:
            if one.history is None:
                continue
            last = max([int(times[one.history]), *(int(of_heaps[row]) for row in one.heaps.values())])
            since = one.end or one.first
            if last <= since.time_ns:
                continue
            thread = [] if since.thread_id is None else [np.array([since.thread_id], dtype=np.uint64)]
            if self.context.marks.touched(np.array([since.time_ns]), np.array([last]), thread)[0]:
                one.history = one.concurrent = None
                one.heaps.clear()

    def _collecting(self, every: Suspensions) -> Any:
        """Which suspensions have a begin or an end of a collection in them."""
        collecting = np.zeros(len(every), dtype=np.bool_)
        places = [moment.place for c in self.collections for moment in (c.start, c.end) if moment is not None]
        inside = every.holding(np.array(places, dtype=np.int64))
        collecting[inside[inside != NOTHING]] = True
        return collecting

    def collection_rows(self) -> list[GarbageCollection]:
        """The table of collections."""
        parts = self.parts
        free_list, free_objects = (parts.values[f"free_{what}_after_bytes"] for what in ("list", "objects"))
        survived, before = parts.total(parts.survived, parts.condemned), parts.total(parts.live_before, parts.condemned)
        amounts, rates = self._allocated()
        committed = {row.number: row.committed_bytes for row in self.dynamic.committed}
        sizes_before = parts.total(parts.values["size_before_bytes"])
        free_lists = parts.total(free_list, known=parts.after_told)
        free_spaces = parts.total(free_list + free_objects, known=parts.after_told)
        budgets = parts.total(parts.values["budget_bytes"], parts.generation == 0, parts.budgeted)
        imbalances = parts.imbalance()
        rows = []
        for place, one in enumerate(self.collections):
            start, end, pieces = one.start, one.end, one.pieces
            pauses = self.suspended.times[0][one.suspensions].tolist()
            first = next(iter(one.suspensions), 0)
            told = bool(one.suspensions and self.suspended.thread_known[first])
            requested_ns, requested_thread_id, requested_by, requested_in = self._request(one)
            rows.append(
                GarbageCollection(
                    number=one.number,
                    generation=one.generation,
                    kind=kind_word(one.type, one.background, one.inside is not None),
                    reason=None if one.reason is None else enum_word(self.rows[START], "Reason", one.reason),
                    start_ns=moment_ns(start),
                    end_ns=moment_ns(end),
                    pause_ns=None if pieces is None else sum(b - a for a, b in pieces),
                    suspend_ns=self._stopping(one),
                    duration_ns=end.time_ns - start.time_ns if start is not None and end is not None else None,
                    pause_start_ns=pauses[0] if pauses and pauses[0] != NOTHING else None,
                    pauses=len(pauses),
                    start_thread_id=None if start is None else start.thread_id,
                    end_thread_id=None if end is None else end.thread_id,
                    suspend_thread_id=int(self.suspended.thread[first]) if told else None,
                    requested_ns=requested_ns,
                    requested_thread_id=requested_thread_id,
                    requested_by=requested_by,
                    requested_in=requested_in,
                    survival=share(survived[place], before[place]),
                    heap_before_bytes=sizes_before[place],
                    free_list_bytes=free_lists[place],
                    fragmentation_bytes=free_spaces[place],
                    budget_bytes=budgets[place],
                    imbalance=imbalances[place],
                    allocated_bytes=amounts[place],
                    allocation_rate=rates[place],
                    committed_bytes=committed.get(one.number),
                    **self._stats(one),
                    **self._history(one, place),
                )
            )
        return rows

    def _stopping(self, one: Collected) -> int | None:
        """How long threads took to stop, over the suspensions that it owns."""
        own = [s for s in one.suspensions if self.owners[s][0] is one]
        if not one.suspensions or not self._stopped[own].all() or (one.background and one.end is None):
            return None
        return int(self._stop_ns[own].sum())

    def _request(self, one: Collected) -> tuple[int | None, int | None, str | None, str | None]:
        """When it was requested, by which thread and method, and in which method of the program."""
        if one.triggered is None:
            return None, None, None, None
        time, thread, stack = (self._value(TRIGGERED, name, one.triggered) for name in _REQUEST)
        return time, thread, *(named(stack, time) for named in self._callers)

    def _stats(self, one: Collected) -> dict[str, Any]:
        """The heap afterwards. For a background one, the runtime repeats what the previous collection promoted."""
        if one.stats is None:
            return dict.fromkeys(_STATS)
        sizes = (self._value(STATS, f"GenerationSize{n}", one.stats) or 0 for n in range(5))
        stats = {"heap_after_bytes": sum(sizes), "promoted_bytes": None}
        stats["pinned_objects"] = self._value(STATS, "PinnedObjectCount", one.stats)
        stats["handles"] = self._value(STATS, "GCHandleCount", one.stats)
        stats["finalizable_objects"] = stats["finalizable_bytes"] = None
        if one.type is not None and not one.background:
            promoted = (self._value(STATS, f"TotalPromotedSize{n}", one.stats) or 0 for n in range(5))
            stats["promoted_bytes"] = sum(promoted)
            stats["finalizable_objects"] = self._value(STATS, "FinalizationPromotedCount", one.stats)
            stats["finalizable_bytes"] = self._value(STATS, "FinalizationPromotedSize", one.stats)
        return stats

    def _history(self, one: Collected, place: int) -> dict[str, Any]:
        """What it decided and did."""
        heaps = [one.heaps[heap] for heap in sorted(one.heaps)]
        per_heap = {name: [self._value(PER_HEAP, name, row) or 0 for row in heaps] for name in _PER_HEAP}
        complete = bool(self.parts.complete[place])
        history: dict[str, Any] = {
            "condemned": condemned_words(
                tuple(zip(per_heap["CondemnReasons0"], per_heap["CondemnReasons1"], strict=True))
            ),
            "compact_reasons": compact_words(tuple(per_heap["CompactMechanisms"])),
            "expand_reasons": expand_words(tuple(per_heap["ExpandMechanisms"])),
            "heaps": len(heaps) if complete else None,
            "mechanisms": (),
            "pause_mode": None,
            "memory_load": None,
            **dict.fromkeys(_PHASES),
        }
        if one.history is not None:
            bits = self._value(GLOBAL, "GlobalMechanisms", one.history)
            mode, load = (self._value(GLOBAL, name, one.history) for name in ("PauseMode", "MemoryPressure"))
            history["mechanisms"] = mechanism_words(bits or 0)
            history["pause_mode"] = None if mode is None else pause_mode_word(mode)
            history["memory_load"] = None if load is None else load / 100
            history |= self._phases(one.history, bits or 0, one.background)
        return history

    def _phases(self, row: int, bits: int, background: bool) -> dict[str, int | None]:
        """Times of phases; a background collection has different ones.

        The runtime computes them from two clocks: a negative result appears as a huge number in the event, and as null
        here.
        """
        times, offsets = self._times_of_phases
        spent = [time * _US if time <= _LONGEST_US else None for time in times[offsets[row] : offsets[row + 1]]]
        if background or len(spent) < 7:
            return {}
        marks = [time for time in spent[1:5] if time is not None]
        phases = {"mark_ns": sum(marks) if len(marks) == 4 else None, "plan_ns": spent[5]}
        if bits & COMPACTION and len(spent) > 7:
            phases |= {"relocate_ns": spent[6], "compact_ns": spent[7]}
        elif not bits & COMPACTION:
            phases["sweep_ns"] = spent[6]
        return phases

    def _value(self, selector: str, name: str, row: int) -> Any:
        """A value of one row; None where this version of the event has none."""
        known = self._lists.get((selector, name))
        if known is None:
            known = self._lists[selector, name] = self.rows[selector].column(name).tolist()
        return known[row]

    @cached_property
    def _times_of_phases(self) -> tuple[list[int], list[int]]:
        """The times in all global histories, and where those of each begin."""
        column = self.rows[GLOBAL].column("Values")
        return column.children[0].children[0].values.tolist(), column.offsets.tolist()

    def _allocated(self) -> tuple[list[int | None], list[float | None]]:
        """What was allocated since the collection before had ended, and how much that is in a second.

        It is the growth of objects since the end of that one. It is unknown inside a background collection, and where a
        number is missing in between.
        """
        before, after = (self.parts.of_objects(live) for live in (self.parts.live_before, self.parts.live_after))
        complete = self.parts.complete.tolist()
        numbers = frozenset(c.number for c in self.collections)
        amounts: list[int | None] = []
        rates: list[float | None] = []
        last: int | None = None
        ended = sorted((c.end.place, place) for place, c in enumerate(self.collections) if c.end is not None)
        at = 0
        for place, one in enumerate(self.collections):
            while at < len(ended) and ended[at][0] < one.first.place:
                last = ended[at][1]
                at += 1
            amount, rate = None, None
            if one.start is not None and one.inside is None and complete[place]:
                if last is None:
                    amount = sum(before[place].values()) if one.number == 1 else None
                elif complete[last] and self._follows(place, last, numbers):
                    left = after[last]
                    amount = sum(total - left.get(heap, 0) for heap, total in before[place].items())
                    rate = self._rate(amount, self.collections[last], one)
                if amount is not None and amount < 0:
                    amount, rate = None, None
            amounts.append(amount)
            rates.append(rate)
        return amounts, rates

    def _follows(self, place: int, last: int, numbers: frozenset[int]) -> bool:
        """Whether nothing collected between the end of one collection and the start of another."""
        before, one, ended = self.collections[place - 1], self.collections[place], self.collections[last]
        nothing_lost = numbers.issuperset(range(ended.number + 1, one.number))
        return nothing_lost and ended.end is not None and before.first.place <= ended.end.place

    def _rate(self, amount: int, last: Collected, one: Collected) -> float | None:
        if not last.pieces or not one.pieces or last.end is None:
            return None
        since = max(last.pieces[-1][1], last.end.time_ns)
        took = one.pieces[0][0] - since
        return amount / took * 1e9 if took > 0 else None


_REQUEST: Final = ("time_ns", "thread_id", "stack_id")
_STATS: Final = (
    "heap_after_bytes",
    "promoted_bytes",
    "pinned_objects",
    "handles",
    "finalizable_objects",
    "finalizable_bytes",
)
_PER_HEAP: Final = (
    "CondemnReasons0",
    "CondemnReasons1",
    "CompactMechanisms",
    "ExpandMechanisms",
)


def moment_ns(moment: GcMoment | None) -> int | None:
    """When it was; None if it is not in the trace."""
    return None if moment is None else moment.time_ns


MARKED: Final = "runtime/GCMarkWithType"


def suspension_columns(built: Built, chosen: Suspensions, owners: Sequence[Sequence[Collected]]) -> dict[str, Cells]:
    """A table of suspensions."""
    times = [
        number_column("int64", step, places != NOTHING)
        for step, places in zip(chosen.times, chosen.places, strict=True)
    ]
    paused, stopping = chosen.known(0, 3), chosen.known(0, 1)
    held_up = chosen.held_up(built.others if chosen is built.suspended else built.every)
    reasons, which = np.unique(chosen.reason, return_inverse=True)
    texts = [
        None if reason == NOTHING else enum_word(built.rows[SUSPENDING], "Reason", reason)
        for reason in reasons.tolist()
    ]
    return {
        "start_ns": times[0],
        "end_ns": times[3],
        "pause_ns": number_column("int64", chosen.times[3] - chosen.times[0], paused),
        "suspend_ns": number_column("int64", chosen.times[1] - chosen.times[0], stopping),
        "held_up_ns": number_column("int64", held_up, stopping),
        "stopped_ns": times[1],
        "reason": text_column(texts, which),
        "number": [owner[0].number if owner else None for owner in owners],
        "others": [[c.number for c in owner[1:]] for owner in owners],
        "thread_id": number_column("uint64", chosen.thread.astype(np.uint64), chosen.thread_known),
    }


def generation_columns(built: Built) -> dict[str, Cells]:
    """The table of generations, of all heaps together."""
    of, columns = built.parts.summed()
    return {**columns, **_times(built, of)}


def heap_columns(built: Built) -> dict[str, Cells]:
    """The table of heaps."""
    return {**built.parts.columns(), "heap": built.parts.heap, **_times(built, built.parts.collection)}


def mark_columns(built: Built) -> dict[str, Cells]:
    """The table of kinds of root."""
    rows = built.rows[MARKED]
    of = built.walk.at(rows.places)
    chosen = np.flatnonzero(of != NOTHING)
    of = of[chosen]
    heap, time = rows.numbers("HeapNum")[chosen].astype(np.int64), rows.numbers("time_ns")[chosen]
    order = np.lexsort((rows.places[chosen], heap, of))
    same = np.zeros(len(order), dtype=np.bool_)
    same[1:] = (of[order][1:] == of[order][:-1]) & (heap[order][1:] == heap[order][:-1])
    begins = np.array([NOTHING if c.start is None else c.start.time_ns for c in built.collections], dtype=np.int64)
    since = np.where(same, np.roll(time[order], 1), begins[of[order]] if len(order) else time[order])
    took = np.zeros(len(order), dtype=np.int64)
    took[order] = time[order] - since
    kinds, which = np.unique(rows.numbers("Type")[chosen], return_inverse=True)
    times = _times(built, of)
    del times["start_thread_id"], times["end_thread_id"]
    return {
        "heap": heap,
        "kind": text_column([str(GCRootKind(kind)) for kind in kinds.tolist()], which),
        "mark_ns": took,
        "marked_bytes": rows.numbers("Bytes")[chosen].astype(np.int64),
        "time_ns": time,
        "thread_id": rows.column("thread_id").take(chosen),
        **times,
    }


def _moments(built: Built) -> dict[str, Column]:
    """What the tables of parts of collections have of each collection."""
    starts, ends = ([c.start for c in built.collections], [c.end for c in built.collections])
    columns: dict[str, tuple[str, list[int | None]]] = {
        "number": ("int64", [c.number for c in built.collections]),
        "start_ns": ("int64", [moment_ns(moment) for moment in starts]),
        "end_ns": ("int64", [moment_ns(moment) for moment in ends]),
        "start_thread_id": ("uint64", [None if m is None else m.thread_id for m in starts]),
        "end_thread_id": ("uint64", [None if m is None else m.thread_id for m in ends]),
    }
    return {name: from_values(ColumnType(kind), values) for name, (kind, values) in columns.items()}


def _times(built: Built, of: Ints) -> dict[str, Cells]:
    """Which collection each row is of, and where that lies in time."""
    return {name: column.take(of) for name, column in _moments(built).items()}
