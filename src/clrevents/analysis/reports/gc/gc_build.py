"""One runtime's events → the columns of the GC report's tables. Sees the whole trace; cuts nothing.

Each event was already assigned to its collection (`gc_collections`); here their values become columns, and so do
suspensions, generations, heaps and kinds of root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.report_table import Cells
from clrevents.analysis.gathering.groups import Gathered, Ints
from clrevents.analysis.reports.gc.gc_collections import (
    COMPACTION,
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
from clrevents.analysis.reports.gc.gc_heaps import (
    DYNAMIC,
    DynamicTables,
    HeapParts,
    dynamic_tables,
    heap_parts,
    known_column,
    share,
)
from clrevents.analysis.reports.gc.gc_rows import GarbageCollection
from clrevents.analysis.shared.events.gc_suspensions import FOR_GC, NOTHING, STEPS, SUSPENDING, Suspensions, suspensions
from clrevents.schema.runtime_flags import GCRootKind
from clrevents.table.table import Column, ColumnType, from_values, text_column

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
            first = one.suspensions[0] if one.suspensions else None
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
                    suspend_thread_id=None if first is None else _thread(self.suspended, first),
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


def _thread(suspensions: Suspensions, place: int) -> int | None:
    return int(suspensions.thread[place]) if suspensions.thread_known[place] else None


MARKED: Final = "runtime/GCMarkWithType"


def suspension_columns(built: Built, chosen: Suspensions, owners: Sequence[Sequence[Collected]]) -> dict[str, Cells]:
    """A table of suspensions."""
    times = [
        known_column("int64", step, places != NOTHING) for step, places in zip(chosen.times, chosen.places, strict=True)
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
        "pause_ns": known_column("int64", chosen.times[3] - chosen.times[0], paused),
        "suspend_ns": known_column("int64", chosen.times[1] - chosen.times[0], stopping),
        "held_up_ns": known_column("int64", held_up, stopping),
        "stopped_ns": times[1],
        "reason": text_column(texts, which),
        "number": [owner[0].number if owner else None for owner in owners],
        "others": [[c.number for c in owner[1:]] for owner in owners],
        "thread_id": known_column("uint64", chosen.thread.astype(np.uint64), chosen.thread_known),
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
