"""Tables that were cut and marked → totals, metrics, facts and notes of the GC report.

Adds up what lies in the window: times of pauses that overlap it, numbers of collections that began in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note, TimeWindow
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import Gathered, nearest_rank
from clrevents.analysis.reports.gc.gc_build import Built, share
from clrevents.analysis.reports.gc.gc_collections import INDUCED, UNKNOWN
from clrevents.analysis.reports.gc.gc_rows import GarbageCollection, GcFacts, GcSuspension, GcTotal

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
    collections: ReportTable[GarbageCollection]
    suspensions: ReportTable[GcSuspension]
    pieces: Mapping[tuple[int, int | None, int | None], Sequence[tuple[int, int]]]
    """The pauses of each collection, by its number and times."""
    built: Sequence[Built]
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


def totals(listed: WindowedCollections) -> list[GcTotal]:
    """By generation, by kind and by reason: longest pauses first."""
    names = ("generation", "kind", "reason", "pause_ns", "suspend_ns", "promoted_bytes")
    columns = {name: listed.values(name) for name in names}
    paused, begun = listed.paused(), listed.begun
    everything = sum(value or 0 for value in paused)
    all_totals = []
    for by in ("generation", "kind", "reason"):
        groups: dict[str, list[int]] = {}
        for row, value in enumerate(columns[by]):
            word = UNKNOWN if value is None else f"gen{value}" if by == "generation" else value
            groups.setdefault(word, []).append(row)
        totals_of_kind = []
        for word, rows in groups.items():
            within = _known(paused, rows)
            counts = [row for row in rows if begun[row]]
            totals_of_kind.append(
                GcTotal(
                    by=by,
                    what=word,
                    count=len(counts),
                    pause_ns=sum(within) if within else None,
                    share=share(sum(within), everything) if within else None,
                    pause_max_ns=max(_known(columns["pause_ns"], rows), default=None),
                    suspend_ns=_sum(columns["suspend_ns"], counts),
                    promoted_bytes=_sum(columns["promoted_bytes"], counts),
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
        "induced": sum(reason[row] in INDUCED for row in rows),
        "pause_total": total,
        "paused": share(total, length) if pauses_known else None,
        "pause_max": max([*pauses[-1:], *filter(None, [open_pause])], default=None),
        **{name: nearest_rank(pauses, percent) for name, percent in _PERCENTILES.items()},
        "suspend_total": listed.within(context.window, "stopped_ns"),
        "heap_peak": max((size for size in sizes if size is not None), default=None),
        "promoted_total": _sum(promoted, rows),
        "allocated_total": _sum(allocated, rows),
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


def facts(listed: WindowedCollections, built: Sequence[Built], rows: Mapping[str, Gathered], others: int) -> GcFacts:
    """What kind of GC it is."""
    heaps = max((n for n in listed.values("heaps") if n is not None), default=None)
    modes = [mode for mode in listed.values("pause_mode") if mode is not None]
    flavor, evidence, allowed = _flavor(built, rows)
    limits = [value for value in rows[SETTINGS].numbers("HardLimit").tolist() if 0 < value < 1 << 63]
    return GcFacts(
        flavor=flavor,
        flavor_evidence=evidence,
        background_allowed=allowed,
        pause_mode=modes[-1] if modes else None,
        most_heaps=heaps,
        hard_limit_bytes=limits[-1] if limits else None,
        other_suspensions=None if listed.context.unknown else others,
    )


def _flavor(built: Sequence[Built], rows: Mapping[str, Gathered]) -> tuple[str | None, str | None, str | None]:
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
    return {f"{name}_share": share(largest.get(name, 0), total) for name in ("large", "pinned")}


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


def _sum(values: Sequence[Any], rows: Sequence[int]) -> int | None:
    """A sum of what is known; None where nothing is."""
    known = _known(values, rows)
    return sum(known) if known else None
