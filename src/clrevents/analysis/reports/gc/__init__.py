"""Show the garbage collections: pauses, heap sizes, reasons.

Adds up what lies in the window: times of pauses that overlap it, numbers of collections that began in it. Parameters
look up more. A sample before a suspension is a hint at which thread was late, and no proof. An object that is pinned
lies where it was allocated: where a recorded allocation has its address, that one's stack is its allocation. Finalizers
are known by their type only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Context, KeepingCollector, Kept
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import (
    Dated,
    Metric,
    MetricDeclaration,
    Note,
    TimeWindow,
    count_of,
    size_of,
    time_of,
)
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable
from clrevents.analysis.gathering.groups import Array, Gathered, Ints, groups, nearest_rank, sum_known
from clrevents.analysis.gathering.merged_stacks import is_own_name
from clrevents.analysis.reports.gc import gc_build, gc_collections, gc_rows
from clrevents.analysis.shared.events.gc_suspensions import STEPS, SUSPENDING, Suspensions
from clrevents.analysis.shared.samples.leaf_states import is_artefact

if TYPE_CHECKING:
    from clrevents.symbols.methods import Method


STARTED: Final = "runtime/RuntimeInformationStart"
LISTED: Final = "rundown/RuntimeInformationDCStart"
SETTINGS: Final = "rundown/GCSettingsRundown"
_CONCURRENT_GC: Final = 0x1
_SERVER_GC: Final = 0x1000
_ADDED_UP: Final = frozenset(
    (
        *("count", "full_blocking", "background", "induced", "pause_total", "paused", "pause_max", "suspend_total"),
        *("heap_peak", "committed_peak", "promoted_total", "allocated_total"),
    )
)
"""What can only grow with collections that are not in the trace."""
_COUNTS: Final = ("count", "full_blocking", "background", "induced")
_PERCENTILES: Final = {"pause_p50": 50, "pause_p95": 95, "pause_p99": 99}


@frozen(eq=False)
class WindowedCollections:
    """The two main tables, in the window, with what adds up of them."""

    context: Context
    collections: ReportTable[gc_rows.GarbageCollection]
    suspensions: ReportTable[gc_rows.GcSuspension]
    pieces: Mapping[tuple[int, int | None, int | None], Sequence[tuple[int, int]]]
    """The pauses of each collection, by its number and times."""
    built: Sequence[gc_build.Built]
    """All collections, whatever the window."""

    def values(self, name: str) -> list[Any]:
        """A column of the collections."""
        return self.collections.column(name).tolist()

    @property
    def begun(self) -> list[bool]:
        """Which of them count here."""
        begun: list[bool] = (self.context.begun(self.collections) & ~self.before()).tolist()
        return begun

    def before(self) -> NDArray[np.bool_]:
        """Those of a part of a trace that have no begin in it: before it, as a rule."""
        known: NDArray[np.bool_] = self.collections.column("start_ns").known
        return ~known & (not self.context.has_start)

    def paused(self) -> list[int | None]:
        """How long each stopped the program within the window; None if unknown."""
        window = self.context.window
        pauses: list[int | None] = []
        for key in zip(*(self.values(name) for name in ("number", "start_ns", "end_ns")), strict=True):
            pieces = self.pieces.get(key)
            if pieces is None:
                pauses.append(None)
                continue
            # A few of each, of very many collections.
            pauses.append(int(sum(max(min(end, window.high) - max(start, window.low), 0) for start, end in pieces)))
        return pauses

    def lost(self) -> int:
        """How many collections between those of the window left no event, according to the gaps in their numbers."""
        window = self.context.window
        missing = 0
        for runtime in self.built:
            known = sorted((one.number, one.first.time_ns) for one in runtime.collections)
            for (number, since), (following, until) in pairwise(known):
                if following > number + 1 and since < window.high and until >= window.low:
                    missing += following - number - 1
        return missing

    def going_on(self) -> tuple[int, int]:
        """How long the program had been stopped when tracing stopped, and how much of it in the window; 0 if it was
        not."""
        ends = self.suspensions.column("end_ns").known
        starts = self.suspensions.column("start_ns")
        if not len(self.suspensions) or ends[-1] or not starts.known[-1] or self.suspensions["lossy"][-1]:
            return 0, 0
        since = starts.values[-1:]
        until = np.maximum(since, self.context.known_ns)
        return int((until - since)[0]), int(self.context.window.overlap(since, until)[0])

    def within(self, window: TimeWindow, until: str) -> int:
        """How much of suspensions lies in a window, from their starts until this."""
        starts, ends = self.suspensions.column("start_ns"), self.suspensions.column(until)
        known = starts.known & ends.known
        return int(window.overlap(starts.values[known], ends.values[known]).sum())


def totals(listed: WindowedCollections) -> list[gc_rows.GcTotal]:
    """By generation, by kind and by reason: longest pauses first."""
    names = ("generation", "kind", "reason", "pause_ns", "suspend_ns", "promoted_bytes")
    columns = {name: listed.values(name) for name in names}
    paused, begun = listed.paused(), listed.begun
    everything = sum(value or 0 for value in paused)
    all_totals = []
    for by in ("generation", "kind", "reason"):
        groups: dict[str, list[int]] = {}
        for row, value in enumerate(columns[by]):
            word = gc_collections.UNKNOWN if value is None else f"gen{value}" if by == "generation" else value
            groups.setdefault(word, []).append(row)
        totals_of_kind = []
        for word, rows in groups.items():
            within = _known(paused, rows)
            counts = [row for row in rows if begun[row]]
            totals_of_kind.append(
                gc_rows.GcTotal(
                    by=by,
                    what=word,
                    count=len(counts),
                    pause_ns=sum(within) if within else None,
                    share=gc_build.share(sum(within), everything) if within else None,
                    pause_max_ns=max(_known(columns["pause_ns"], rows), default=None),
                    suspend_ns=sum_known(columns["suspend_ns"][row] for row in counts),
                    promoted_bytes=sum_known(columns["promoted_bytes"][row] for row in counts),
                )
            )
        all_totals += sorted(totals_of_kind, key=lambda row: (-(row.pause_ns or 0), row.what))
    return all_totals


def metrics(listed: WindowedCollections, parts: ReportTable[object], committed: ReportTable[object]) -> Any:
    """All numbers; lower bounds where part of what they count or add up is unknown."""
    context = listed.context
    lost = bool(listed.lost())
    begun = listed.begun
    rows = [row for row, counts in enumerate(begun) if counts]
    generation, kind, reason = (listed.values(name) for name in ("generation", "kind", "reason"))
    pauses_known, stops_known = (bool(listed.suspensions.column(n).known.all()) for n in ("pause_ns", "suspend_ns"))
    open_pause, inside = listed.going_on()
    total = int(context.overlap(listed.suspensions).sum()) + inside
    pauses = sorted(value for value in listed.values("pause_ns") if value is not None)
    allocated, promoted = listed.values("allocated_bytes"), listed.values("promoted_bytes")
    sizes = [value for name in ("heap_before_bytes", "heap_after_bytes") for value in listed.values(name)]
    length = _length(context)
    numbers: dict[str, int | float | Metric | None] = {
        "count": len(rows),
        "background": sum(kind[row] == "background" for row in rows),
        "full_blocking": sum(generation[row] == 2 and kind[row] not in (None, "background") for row in rows),
        "induced": sum(reason[row] in gc_collections.INDUCED for row in rows),
        "pause_total": total,
        "paused": gc_build.share(total, length) if pauses_known else None,
        "pause_max": max([*pauses[-1:], *filter(None, [open_pause])], default=None),
        **{name: nearest_rank(pauses, percent) for name, percent in _PERCENTILES.items()},
        "suspend_total": listed.within(context.window, "stopped_ns"),
        "heap_peak": max((size for size in sizes if size is not None), default=None),
        "promoted_total": sum_known(promoted[row] for row in rows),
        "allocated_total": sum_known(allocated[row] for row in rows),
        "allocation_rate": _rate(listed, rows),
        **_shares(parts),
        "committed_peak": max(committed.column("committed_bytes").tolist(), default=None),
    }
    # What was allocated while a background collection ran is in no event.
    at_least = {
        "pause_total": not pauses_known,
        "pause_max": open_pause > 0,
        "suspend_total": not stops_known,
        "promoted_total": any(promoted[row] is None for row in rows),
        "allocated_total": any(allocated[row] is None for row in rows) or not {None, "background"}.isdisjoint(kind),
    }
    # One without a begin may yet have begun in the part, if the trace has lost that.
    more = int((context.begun(listed.collections) & listed.before()).sum())
    for name in _COUNTS if more else ():
        count = numbers[name]
        assert isinstance(count, int)
        numbers[name] = attrs.evolve(context.metric(name, count), low=count, high=None if lost else count + more)
    for name, value in numbers.items():
        if not isinstance(value, Metric) and (at_least.get(name) or (lost and name in _ADDED_UP)):
            numbers[name] = context.metric(name, value, least=True)
        elif value is None and not pauses_known and name in ("paused", *_PERCENTILES):
            numbers[name] = context.metric(name, None, reason="a pause has no end in the trace")
    return numbers


def facts(
    listed: WindowedCollections, built: Sequence[gc_build.Built], rows: Mapping[str, Gathered], others: int
) -> gc_rows.GcFacts:
    """What kind of GC it is."""
    heaps = max((n for n in listed.values("heaps") if n is not None), default=None)
    modes = [mode for mode in listed.values("pause_mode") if mode is not None]
    flavor, evidence, allowed = _flavor(built, rows)
    limits = [value for value in rows[SETTINGS].numbers("HardLimit").tolist() if 0 < value < 1 << 63]
    return gc_rows.GcFacts(
        flavor=flavor,
        flavor_evidence=evidence,
        background_allowed=allowed,
        pause_mode=modes[-1] if modes else None,
        most_heaps=heaps,
        hard_limit_bytes=limits[-1] if limits else None,
        other_suspensions=None if listed.context.unknown else others,
    )


def _flavor(built: Sequence[gc_build.Built], rows: Mapping[str, Gathered]) -> tuple[str | None, str | None, str | None]:
    """Server or workstation GC, how that is known, and whether background collections are allowed.

    One heap does not prove workstation GC: server GC may have reduced itself to one.
    """
    for selector in (STARTED, LISTED):
        if len(rows[selector]):
            flags = int(rows[selector].numbers("StartupFlags")[0])
            return "server" if flags & _SERVER_GC else "workstation", "event", "yes" if flags & _CONCURRENT_GC else "no"
    several = any(len(one.heaps) > 1 for runtime in built for one in runtime.collections)
    if several or any(runtime.dynamic.adapts for runtime in built):
        return "server", "inferred", None
    return None, None, None


def left_out(listed: WindowedCollections) -> list[Note]:
    """Which collections the answer is not about."""
    lost = listed.lost()
    if not lost:
        return []
    text = (
        f"{counted(lost, 'collection')} between others left no event, according to the gaps in their numbers; "
        "sums are lower bounds"
    )
    return [Note("numbers-missing", "warning", text, ("collections", *sorted(_ADDED_UP)), {"collections": lost})]


def notes(listed: WindowedCollections) -> list[Note]:
    """What limits the answer."""
    notes, built = [], listed.built
    orphans = sum(runtime.walk.orphans for runtime in built)
    if orphans:
        text = f"{counted(orphans, 'event')} could not be assigned to any collection"
        touched = ("collections", "generations", "heaps")
        notes.append(Note("events-without-collection", "warning", text, touched, {"events": orphans}))
    pauses = sum(value is None for value in listed.values("pause_ns"))
    if pauses:
        text = (
            f"the pauses of {counted(pauses, 'collection')} are incomplete in the trace and not included in the metrics"
        )
        notes.append(Note("pauses-unknown", "warning", text, ("pause_ns", "pause_total"), {"collections": pauses}))
    silent = sum(value is None for value in listed.values("allocated_bytes"))
    if silent and listed.collections:
        text = (
            f"{counted(silent, 'collection')} of {len(listed.collections):,} do not show what was allocated before them"
        )
        notes.append(Note("allocated-unknown", "info", text, ("allocated_total",), {"collections": silent}))
    inside = sum(word == "background" for word in listed.values("kind"))
    if inside:
        text = f"what was allocated during {counted(inside, 'background collection')} is unknown"
        numbers = {"collections": inside}
        notes.append(Note("allocated-in-background", "info", text, ("allocated_total",), numbers))
    unread = sum(runtime.dynamic.unread for runtime in built)
    if unread:
        text = f"{counted(unread, 'event')} of the GC's own kinds {'has' if unread == 1 else 'have'} an unknown layout"
        notes.append(Note("dynamic-unread", "warning", text, ("committed", "tunings"), {"events": unread}))
    return notes


def _rate(listed: WindowedCollections, rows: Sequence[int]) -> int | Metric | None:
    """Bytes per second of the time between pauses; at least so many in all of it, if a collection does not tell."""
    amounts, rates, starts = (listed.values(name) for name in ("allocated_bytes", "allocation_rate", "start_ns"))
    seconds = {row: amounts[row] / rates[row] for row in rows if rates[row]}
    if not seconds:
        return None
    took = sum(seconds.values())
    untold = len(seconds) + (rows[0] not in seconds) < len(rows) or "background" in listed.values("kind")
    if untold:
        moments = {row: starts[row] for row in rows if starts[row] is not None}
        first = min(at - round(seconds.get(row, 0) * 1e9) for row, at in moments.items())
        window = TimeWindow(first, max(moments.values()))
        took = (window.high - window.low - listed.within(window, "end_ns")) / 1e9
    rate = round(sum(amounts[row] for row in seconds) / took) if took > 0 else None
    return listed.context.metric("allocation_rate", rate, least=True) if untold else rate


def _shares(parts: ReportTable[object]) -> dict[str, float | None]:
    """How much of the heap large and pinned objects' generations were, where it was largest before a collection."""
    names = ("number", "generation", "size_before_bytes", "start_ns")
    sizes: dict[tuple[int, int | None], dict[str, int]] = {}
    for number, generation, size, start in zip(*(parts.column(n).tolist() for n in names), strict=True):
        sizes.setdefault((number, start), {})[generation] = size
    largest = max(sizes.values(), key=lambda heap: sum(heap.values()), default={})
    total = sum(largest.values())
    return {f"{name}_share": gc_build.share(largest.get(name, 0), total) for name in ("large", "pinned")}


def _length(context: Context) -> int:
    """How long the window is, as far as the recording reaches; where its last events are missing, as far as it may."""
    recorded = context.recorded
    missing = [hole.end_ns for hole in context.troubles.holes if hole.start_ns <= recorded.high < hole.end_ns]
    whole = context.question.trace.duration_ns or 0
    last = max(recorded.high, min(max(missing, default=0), whole))
    inside = context.window.within(TimeWindow(recorded.low, last))
    return inside.high - inside.low


def _known(values: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    return [values[row] for row in rows if values[row] is not None]


SAMPLE: Final = "sample/ThreadSample"
SLOWEST: Final = 20
"""For how many suspensions, those that took longest to stop all threads, the threads are shown."""
_REACH_NS: Final = 20_000_000
"""Older samples say little of where a thread was."""
_MANAGED: Final = 2
"""The type of a sample in managed code, for which alone a suspension has to wait."""


def hint_rows(
    suspensions: Suspensions, numbers: list[int | None], samples: Gathered, named: Callable[[int, int], str | None]
) -> list[gc_rows.SuspensionHint]:
    """The last sample before each of the slowest suspensions, for each thread that was in managed code.

    `named` gives the innermost method of a stack at a time.
    """
    known = np.flatnonzero(suspensions.known(0, 1))
    took = (suspensions.times[1] - suspensions.times[0])[known]
    slowest = np.sort(known[np.argsort(-took, kind="stable")[:SLOWEST]])
    order = np.lexsort((samples.places, samples.numbers("thread_id")))
    thread, place = samples.numbers("thread_id")[order], samples.places[order]
    time, stack = samples.numbers("time_ns")[order], samples.numbers("stack_id")[order]
    managed, has_thread = samples.numbers("Type")[order] == _MANAGED, samples.column("thread_id").known[order]
    _, first = np.unique(thread, return_index=True)
    hints = []
    for row in slowest.tolist():
        begin_ns, begin = int(suspensions.times[0][row]), int(suspensions.places[0][row])
        # The last of each thread before: its places rise, so their count is where the first that is not before stands.
        counts = np.add.reduceat(place < begin, first) if len(first) else first
        before = (first + counts - 1)[counts > 0]
        near = before[managed[before] & has_thread[before] & (begin_ns - time[before] <= _REACH_NS)]
        for sample in near[np.argsort(-time[near], kind="stable")].tolist():
            seen_ns = int(time[sample])
            hints.append(
                gc_rows.SuspensionHint(
                    start_ns=begin_ns,
                    end_ns=int(suspensions.times[1][row]),
                    suspend_ns=int(suspensions.times[1][row]) - begin_ns,
                    number=numbers[row],
                    thread_id=int(thread[sample]),
                    before_ns=begin_ns - seen_ns,
                    method=named(int(stack[sample]), seen_ns),
                )
            )
    return hints


PINNED: Final = "PinObjectAtGCTime"
FINALIZED: Final = "FinalizeObject"
TICK, SAMPLED = "GCAllocationTick", "AllocationSampled"
COLUMNS: Final = {
    PINNED: ("ObjectID", "ObjectSize", "TypeName"),
    FINALIZED: ("TypeID",),
    **dict.fromkeys((TICK, SAMPLED), ("TypeID", "TypeName", "Address")),
}
"""What is kept of each event, beside its headers."""


def kept_rows(
    starts: Ints, pinned: Gathered, finalized: Gathered, ticks: Gathered, named: Callable[[int, int], str | None]
) -> list[gc_rows.KeptObjects]:
    """The rows of the table `kept`, most objects of each kind first.

    `starts` are the places of the collections' starts, rising; `named` gives the method of a stack at a time.
    """
    types, stacks, times = ticks.column("TypeName"), ticks.numbers("stack_id"), ticks.numbers("time_ns")

    def row(kind: str, name: str | None, objects: int, size: int | None, members: Ints) -> gc_rows.KeptObjects:
        _, first, counts = np.unique(stacks[members], return_index=True, return_counts=True)
        who: Counter[str | None] = Counter()
        for place in np.argsort(first).tolist():
            # Stacks are many fewer than ticks: each is named as it was when it first came.
            tick = members[first[place]]
            who[named(int(stacks[tick]), int(times[tick]))] += int(counts[place])
        samples = who.total()
        del who[None]
        method = max(who, key=lambda name: who[name]) if who else None
        return gc_rows.KeptObjects(
            kind=kind,
            type=name,
            objects=objects,
            bytes=size,
            method=method,
            samples=samples,
        )

    names = pinned.column("TypeName").tolist()
    turn, address = np.searchsorted(starts, pinned.places), pinned.numbers("ObjectID").astype(np.int64)
    # Several handles may pin one object.
    order = np.lexsort((address, turn))
    once = order[np.flatnonzero(np.diff(turn[order], prepend=-1) | np.diff(address[order], prepend=-1))]
    sizes = pinned.numbers("ObjectSize").astype(np.int64)
    objects: Counter[str | None] = Counter()
    bytes_: Counter[str | None] = Counter()
    for i, size in zip(once.tolist(), sizes[once].tolist(), strict=True):
        objects[names[i] or None] += 1
        bytes_[names[i] or None] += size
    places = ticks.numbers("Address").astype(np.int64)
    hits = _among(places, address)
    before = np.searchsorted(starts, ticks.places[hits]) + 1
    seen = _among(address, places[hits]).tolist()
    there = {(int(turn[i]), int(address[i])): names[i] or None for i in seen}
    at: dict[str | None, list[int]] = {}
    for tick, key in zip(hits.tolist(), zip(before.tolist(), places[hits].tolist(), strict=True), strict=True):
        if key in there:
            at.setdefault(there[key], []).append(tick)
    numbers, ids = finalized.numbers("TypeID"), ticks.numbers("TypeID")
    among = _among(ids, numbers)
    of_type = {number: among[rows] for number, rows in groups(ids[among]) if number}
    kept = [row("pinned", name, n, bytes_[name], _ints(at.get(name, ()))) for name, n in objects.most_common()]
    for number, n in Counter(numbers.tolist()).most_common():
        places_of_type = of_type.get(number, _ints(()))
        type_ = types.take(places_of_type[:1]).tolist()[0] or None if len(places_of_type) else None
        kept.append(row("finalized", type_, n, None, places_of_type))
    return kept


def _ints(values: Iterable[int]) -> Ints:
    return np.array(tuple(values), dtype=np.int64)


def _among(values: Array, few: Array) -> Ints:
    """The places of those values that are among a few others: these are sorted, not all."""
    known, _ = np.unique(few, return_counts=True)
    if not len(known):
        return _ints(())
    nearest = known[np.minimum(np.searchsorted(known, values), len(known) - 1)]
    return np.flatnonzero(nearest == values)


INSTANCE: Final = "ClrInstanceID"
"""The field that tells runtimes of one process apart."""
_MOST_RUNTIMES: Final = 2
"""The most runtimes of one process with an answer: each costs as much as a process, and the id can be any 16-bit
number."""


def by_runtime(rows: Mapping[str, Gathered], known: Collection[str]) -> tuple[list[Mapping[str, Gathered]], list[Note]]:
    """The events of each runtime of the process, and a note on runtimes left out: those with the fewest events.

    `known` are the selectors whose events name their runtime; every runtime gets all events of the others.
    """
    numbers = {name: rows[name].numbers(INSTANCE).astype(np.int64) for name in known}
    ids, counts = np.unique(np.concatenate(list(numbers.values())), return_counts=True)
    if len(ids) < 2:
        return [rows], []
    kept = np.sort(ids[np.argsort(-counts, kind="stable")[:_MOST_RUNTIMES]])
    runtimes: list[Mapping[str, Gathered]] = [
        {
            name: events.only(np.flatnonzero(numbers[name] == number)) if name in numbers else events
            for name, events in rows.items()
        }
        for number in kept.tolist()
    ]
    return runtimes, _left_out(len(ids) - len(kept))


def joined(parts: Sequence[Mapping[str, Cells]]) -> dict[str, Cells]:
    """The columns of one runtime after another's."""
    if len(parts) == 1:
        return dict(parts[0])
    columns: dict[str, list[object]] = {name: [] for name in parts[0]}
    for name, column in ((name, part[name]) for part in parts for name in columns):
        columns[name] += column if isinstance(column, Sequence) else column.tolist()
    return {**columns}


def _left_out(runtimes: int) -> list[Note]:
    if not runtimes:
        return []
    what = counted(runtimes, "runtime")
    text = (
        f"a process has events of more than {_MOST_RUNTIMES} runtimes; the {what} with the fewest events are left out"
    )
    tables = ("collections", "suspensions", "other_suspensions")
    return [Note("too-many-runtimes", "warning", text, tables, {"runtimes": runtimes})]


_HEADERS: Final = ("time_ns", "thread_id", "stack_id")
_PLAIN: Final = _HEADERS[:2]
_SIZES: Final = tuple(f"{name}{n}" for n in range(5) for name in ("GenerationSize", "TotalPromotedSize"))
_PER_HEAP: Final = ("CondemnReasons0", "CondemnReasons1", "CompactMechanisms", "ExpandMechanisms", "HeapIndex")
_FINALIZED: Final = ("FinalizationPromotedSize", "FinalizationPromotedCount")
_EVENTS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(STEPS, (*_PLAIN, INSTANCE)),
    SUSPENDING: (*_PLAIN, INSTANCE, "Reason"),
    gc_collections.START: (*_PLAIN, INSTANCE, "Count", "Depth", "Reason", "Type"),
    gc_collections.END: (*_PLAIN, INSTANCE, "Count", "Depth"),
    gc_collections.STATS: (*_PLAIN, INSTANCE, *_SIZES, *_FINALIZED, "PinnedObjectCount", "GCHandleCount"),
    gc_collections.GLOBAL: (
        *(*_PLAIN, INSTANCE, "NumHeaps", "CondemnedGeneration", "GlobalMechanisms", "PauseMode"),
        *("MemoryPressure", "Values"),
    ),
    gc_collections.PER_HEAP: (*_PLAIN, INSTANCE, *_PER_HEAP, "Values"),
    gc_collections.TRIGGERED: (*_HEADERS, INSTANCE, "Reason"),
    gc_build.MARKED: (*_PLAIN, INSTANCE, "HeapNum", "Type", "Bytes"),
    gc_build.DYNAMIC: (*_PLAIN, INSTANCE, "Name", "Data"),
}
_RUNTIMES: Final[Mapping[str, tuple[str, ...]]] = {
    STARTED: ("StartupFlags",),
    LISTED: ("StartupFlags",),
    SETTINGS: ("HardLimit",),
}
_KEPT: Final = {**_EVENTS, **_RUNTIMES}
_METRICS: Final = (
    count_of("count", "Collections that began.", dated=Dated("collections")),
    time_of(
        "pause_total",
        "How long the program was stopped for collections.",
        "less",
        dated=Dated("suspensions", amount="pause_ns"),
        hides="suspensions/pause_ns",
    ),
    MetricDeclaration(
        "paused", "That time as a share of the window.", "less", "none", windows=False, lossy="at least", unit="ratio"
    ),
    time_of("pause_max", "The longest pause of one collection.", "less", "max", hides="suspensions/pause_ns"),
    *(
        time_of(
            f"pause_p{percent}",
            f"The {percent}th percentile of the known pauses, by nearest rank.",
            "less",
            "none",
            windows=False,
        )
        for percent in (50, 95, 99)
    ),
    time_of(
        "suspend_total",
        "How much of the pauses was spent waiting for all threads to stop.",
        "less",
        dated=Dated("suspensions", amount="suspend_ns"),
        hides="suspensions/suspend_ns",
    ),
    count_of("full_blocking", "Collections of generation 2 that were not background ones.", "less"),
    count_of("background", "Collections that ran concurrently with the program."),
    count_of("induced", "Collections that were requested, not caused by allocation."),
    size_of("heap_peak", "The largest size of the heap, before or after a collection.", "less", "max"),
    MetricDeclaration(
        "large_share",
        "The large object heap's share of the heap, where it was largest before a collection.",
        merge="none",
        windows=False,
        unit="ratio",
    ),
    MetricDeclaration(
        "pinned_share",
        "The pinned object heap's share of the heap, where it was largest before a collection.",
        merge="none",
        windows=False,
        unit="ratio",
    ),
    size_of("committed_peak", "The most memory that the GC had committed.", "less", "max"),
    size_of(
        "promoted_total",
        "What survived collections, as far as recorded.",
        "less",
        dated=Dated("collections", amount="promoted_bytes"),
    ),
    size_of(
        "allocated_total",
        "What was allocated before collections, as far as recorded.",
        "less",
        dated=Dated("collections", amount="allocated_bytes", since=True),
    ),
    MetricDeclaration(
        "allocation_rate",
        "The same per second, leaving out what was allocated before the first collection.",
        "less",
        "none",
        windows=False,
        unit="bytes/s",
    ),
)


@parameters
class GcParameters:
    """What else to look up."""

    callers: bool = parameter(False, "Name the method that requested each collection.")
    hints: bool = parameter(False, "Find out from samples what threads did before the slowest suspensions.")
    kept: bool = parameter(False, "Find out which objects were pinned or needed finalizers, and who allocated them.")


_CHARTS: Final = (
    ChartDeclaration(
        "heap",
        "The heap after each collection, by generation, and how long collections stopped the program.",
        (
            Panel("generations", "end_ns", "size_after_bytes", "area", by="generation"),
            Panel("suspensions", "start_ns", "pause_ns", "bar"),
        ),
    ),
    ChartDeclaration(
        "collections",
        "The pause of each collection by its kind, and the heap afterwards.",
        (
            Panel("collections", "start_ns", "pause_ns", "point", by="kind"),
            Panel("collections", "end_ns", "heap_after_bytes", "line"),
        ),
    ),
)


@answer(
    name="gc",
    summary="count pause_total paused pause_max pause_p95 induced heap_peak allocated_total allocation_rate",
    charts=_CHARTS,
)
class GcReport(Answer[gc_rows.GcFacts]):
    """Which garbage collections ran and why, how long each stopped the program, and what it left of the heap.

    A pause lasts from when the runtime begins to stop the threads until they all run again. Background collections have
    several, and some collections share one. Pauses for the sample profiler or a debugger are not included in any number
    here. The duration of a background collection is not a pause: the program keeps running. Threads in native code run
    on during a pause, until they return.

    Starts and ends are matched by number, and other events about a collection are assigned to it only where that is
    certain. A collection that began before the trace or went on after it has a row, with null for what is missing.
    `survival`, sizes before, free space and budgets come from the histories that the runtime writes for each heap, and
    are null unless those of all heaps are there.

    In a window, a pause counts with the part inside it, and a collection where it began.
    """

    collections: ReportTable[gc_rows.GarbageCollection] = table("Each collection, in order of time.")
    totals: ReportTable[gc_rows.GcTotal] = table("All collections by generation, by kind and by reason.")
    suspensions: ReportTable[gc_rows.GcSuspension] = table("Each suspension of the threads for a collection.")
    generations: ReportTable[gc_rows.CollectedGeneration] = table("What each collection did to each generation.")
    heaps: ReportTable[gc_rows.HeapGeneration] = table("The same for each heap.", bulk=True)
    marks: ReportTable[gc_rows.MarkedRoots] = table("How long each heap marked from each kind of root.", bulk=True)
    committed: ReportTable[gc_rows.CommittedMemory] = table(
        "The memory that the GC had committed, at starts and ends of collections."
    )
    samples: ReportTable[gc_rows.AdaptationSample] = table("What server GC measured to adapt its heaps (DATAS).")
    tunings: ReportTable[gc_rows.AdaptationTuning] = table("What it decided about the number of its heaps (DATAS).")
    hints: ReportTable[gc_rows.SuspensionHint] = table(
        "With `hints`: where threads were last seen before the 20 suspensions that took longest to stop them all."
    )
    kept: ReportTable[gc_rows.KeptObjects] = table(
        "With `kept`: objects that collections found pinned, and those whose finalizers ran, by type."
    )
    other_suspensions: ReportTable[gc_rows.GcSuspension] = table(
        "Each suspension of the threads for another reason, such as a sample.", bulk=True
    )


class GcCollector(KeepingCollector[GcReport]):
    """Keeps a few columns of each event of a collection or a suspension."""

    headers = _HEADERS

    def __init__(self, asked: GcParameters) -> None:
        self._callers, self._hints, self._objects = asked.callers, asked.hints, asked.kept
        self.stacks = asked.callers or asked.hints or asked.kept
        self.selectors = (*_KEPT, *([SAMPLE] if asked.hints else []), *(COLUMNS if asked.kept else []))
        more = {name: (*_HEADERS, *columns) for name, columns in COLUMNS.items()}
        self._kept = Kept({**_KEPT, SAMPLE: (*_HEADERS, "Type"), **more})

    def finish(self, context: Context) -> GcReport:
        """Give the answer."""
        rows = self._kept.all(self.selectors, context.nothing)
        named = _namer(context, lambda method: method.namespace != "System.GC")
        own = _namer(context, lambda method: is_own_name(method.display))
        requesters = (named, own) if self._callers else (_nobody, _nobody)
        runtimes, others_left_out = by_runtime(rows, _EVENTS)
        built = [gc_build.Built(context, runtime, *requesters) for runtime in runtimes]
        collections = context.table(gc_rows.GarbageCollection, [row for b in built for row in b.collection_rows()])
        suspension_tables = [gc_build.suspension_columns(b, b.suspended, b.owners) for b in built]
        suspensions = context.table(gc_rows.GcSuspension, joined(suspension_tables))
        pieces = {
            (c.number, gc_build.moment_ns(c.start), gc_build.moment_ns(c.end)): c.pieces
            for b in built
            for c in b.collections
            if c.pieces is not None
        }
        listed = WindowedCollections(context, collections, suspensions, pieces, built)
        others = [gc_build.suspension_columns(b, b.others, [()] * len(b.others)) for b in built]
        generations = context.table(
            gc_rows.CollectedGeneration, joined([gc_build.generation_columns(b) for b in built])
        )
        committed = context.table(gc_rows.CommittedMemory, [row for b in built for row in b.dynamic.committed])
        samples = [row for b in built for row in b.dynamic.samples]
        tunings = [row for b in built for row in b.dynamic.tunings]
        numbers = metrics(listed, generations, committed)
        if not len(collections):
            # They are known to be none, where their events were recorded.
            none = {name for name, value in numbers.items() if value is None}
            numbers |= {name: context.metric(name, None, reason="no collection") for name in none}
        other = context.table(gc_rows.GcSuspension, joined(others))
        hints: list[gc_rows.SuspensionHint] = []
        for b in built if self._hints else ():
            numbers_of = [owners[0].number if owners else None for owners in b.owners]
            hints += hint_rows(b.suspended, numbers_of, rows[SAMPLE], named)
        kept: list[gc_rows.KeptObjects] = []
        if self._objects:
            pinned, finalized = (
                rows[name].only(np.flatnonzero(context.window.holds(rows[name].numbers("time_ns"))))
                for name in (PINNED, FINALIZED)
            )
            allocated = max(rows[TICK], rows[SAMPLED], key=len)
            kept = kept_rows(np.sort(rows[gc_collections.START].places), pinned, finalized, allocated, own)
        return context.answer(
            GcReport,
            facts=facts(listed, built, rows, len(other)),
            metrics={name: None if context.unknown else value for name, value in numbers.items()},
            notes=notes(listed),
            left_out=[*others_left_out, *left_out(listed)],
            collections=collections,
            totals=context.table(gc_rows.GcTotal, totals(listed)),
            suspensions=suspensions,
            generations=generations,
            heaps=context.table(gc_rows.HeapGeneration, joined([gc_build.heap_columns(b) for b in built])),
            marks=context.table(gc_rows.MarkedRoots, joined([gc_build.mark_columns(b) for b in built])),
            committed=committed,
            samples=context.table(gc_rows.AdaptationSample, samples),
            tunings=context.table(gc_rows.AdaptationTuning, tunings),
            hints=context.table(gc_rows.SuspensionHint, hints),
            kept=context.table(gc_rows.KeptObjects, kept),
            other_suspensions=other,
        )


def _namer(context: Context, fits: Callable[[Method], bool]) -> Callable[[int, int], str | None]:
    """Names the innermost method of a stack that fits and is no artefact of sampling."""
    known: dict[tuple[int, int], str | None] = {}

    def named(stack: int, time_ns: int) -> str | None:
        if stack <= 0:
            return None
        if (stack, time_ns) not in known:
            methods = context.methods
            addresses = np.array(context.stacks.of_event(stack), dtype=np.uint64)
            places, _ = methods.find(addresses, np.full(len(addresses), time_ns, np.int64), context.process_id)
            # Of methods, not of frames: those have places in IL, for which all maps are read.
            found = (methods[place] for place in places.tolist() if place >= 0)
            names = (m.display for m in found if m.name and fits(m) and not is_artefact(m.display))
            known[stack, time_ns] = next(names, None)
        return known[stack, time_ns]

    return named


def _nobody(stack: int, time_ns: int) -> None:
    """Names no method."""


REPORT: Final = ReportDeclaration(
    answer=GcReport,
    question="Which garbage collections ran, and how long did they stop the program?",
    topic="memory",
    needs=(Need("collections", ("GCStart", "GCEnd", "GCSuspendEEBegin"), 0x1, essential=True),),
    metrics=_METRICS,
    collector=GcCollector,
    in_part={
        **dict.fromkeys(("pause_max", "heap_peak", "committed_peak", "promoted_total", "allocated_total"), "at least"),
        **dict.fromkeys(
            ("pause_p50", "pause_p95", "pause_p99", "large_share", "pinned_share", "allocation_rate"), "unknown"
        ),
    },
    parameters=GcParameters,
    # As many as a terminal of 80 columns can show.
    shown=("number", "generation", "kind", "reason", "start_ns", "pause_ns", "heap_after_bytes", "requested_by"),
    sort="pause_ns",
    examples=(
        ("Which collections stopped the program for longest?", "clrevents gc app.nettrace"),
        ("What did each generation and each reason cost?", "clrevents gc app.nettrace --table totals"),
        ("Who called GC.Collect?", "clrevents gc app.nettrace --callers --columns number,reason,requested_by"),
        ("What was still running when a collection had to wait?", "clrevents gc app.nettrace --hints --table hints"),
        ("Who allocates what is pinned, or needs a finalizer?", "clrevents gc app.nettrace --kept --table kept"),
        ("How did generation 2 grow?", "clrevents gc app.nettrace --table generations --csv"),
        (
            "How long was the program stopped in total?",
            "clrevents gc app.nettrace --json | jq .metrics.pause_total.value",
        ),
    ),
)
