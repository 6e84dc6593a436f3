"""Suspensions of all managed threads: their four events, paired on the thread that wrote them; whom they stopped when;
and what those of the sample profiler cost the program, and its real period.

Knows how long each held the threads; does not decide which collection it belongs to. A stopped thread sits in a futex
and shows no method that waits; the kernel cannot tell why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context, Kept, ReportChunk, narrowed
from clrevents.analysis.framework.model.needs import Hole, Marks, Need, met, trace_holes
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.groups import (
    Array,
    Gathered,
    Ints,
    Mask,
    Stretches,
    changes,
    gather,
    groups,
    length_before,
    nearest_rank,
)
from clrevents.schema.registry import SAMPLE
from clrevents.trace import Trace, passes_of

SUSPENDING: Final = "runtime/GCSuspendEEBegin"
SUSPENDED: Final = "runtime/GCSuspendEEEnd"
RESTARTING: Final = "runtime/GCRestartEEBegin"
RESTARTED: Final = "runtime/GCRestartEEEnd"
STEPS: Final = (SUSPENDING, SUSPENDED, RESTARTING, RESTARTED)
"""The events of one suspension, in order."""

_STOPS: Final = Need("when threads are stopped", ("GCSuspendEEBegin",), 0x1, 4)
FOR_GC: Final = (1, 6)
"""The reasons that are pauses of a collection."""
NOTHING: Final = -1
_NO_NUMBER: Final = -1
"""The number of collections in a suspension by the sample profiler."""


def stops_recorded(context: Context) -> bool:
    """Whether suspensions were recorded, which tell what threads do between two samples far apart."""
    return met(_STOPS, context.kinds) != "unknown"


@frozen(eq=False)
class Suspensions:
    """All suspensions, in order of their first event.

    `times` and `places` have a row for each of the four events and `NOTHING` in it where the trace lacks the event; a
    `reason` is `NOTHING` where the begin is missing. Threads are held between the places `held_from` and `held_to`.
    """

    times: Ints
    places: Ints
    reason: Ints
    thread: Array
    thread_known: NDArray[np.bool_]
    held_from: Ints
    held_to: Ints

    def __len__(self) -> int:
        return len(self.reason)

    def known(self, *steps: int) -> NDArray[np.bool_]:
        """Which suspensions have all of these events."""
        mask: NDArray[np.bool_] = np.all(self.places[list(steps)] != NOTHING, axis=0)
        return mask

    def only(self, chosen: Ints) -> Suspensions:
        """Some of them."""
        return Suspensions(*(getattr(self, field.name)[..., chosen] for field in attrs.fields(Suspensions)))

    def holding(self, places: Ints) -> Ints:
        """Which one held the threads at each place: the last that began to before it; `NOTHING` if none did."""
        if not len(self):
            return np.full(len(places), NOTHING, dtype=np.int64)
        order = np.argsort(self.held_from, kind="stable")
        last = np.searchsorted(self.held_from[order], places) - 1
        suspensions_before = order[np.maximum(last, 0)]
        return np.where((last >= 0) & (self.held_to[suspensions_before] > places), suspensions_before, NOTHING)

    def held_up(self, all_of_them: Suspensions) -> Ints:
        """How long, while each was stopping threads, another one held them, in ns; 0 where that is unknown."""
        holding = all_of_them.known(1, 3)
        starts, ends = all_of_them.times[1][holding], all_of_them.times[3][holding]
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
        # Only one can hold the threads at a time; where crafted ones overlap, what they share counts once.
        starts[1:] = np.maximum(starts[1:], np.maximum.accumulate(ends)[:-1])
        ends = np.maximum(starts, ends)
        both = self.known(0, 1)
        low, high = (length_before(starts, ends, times) for times in self.times[:2])
        return np.where(both, high - low, 0)


def of_sampling(begins: Gathered) -> NDArray[np.bool_]:
    """Which suspensions may be the sample profiler's: those for no collection that tell no number of one."""
    reasons, numbers = (begins.numbers(name).astype(np.int64) for name in ("Reason", "Count"))
    mask: NDArray[np.bool_] = ~np.isin(reasons, FOR_GC) & (numbers == _NO_NUMBER)
    return mask


def stops_of(begins: Gathered) -> Ints:
    """When the sample profiler stopped the others, according to these starts of suspensions."""
    mask: Ints = begins.numbers("time_ns").astype(np.int64)[of_sampling(begins)]
    return mask


def suspensions(
    events: Sequence[Gathered], marks: Marks, holes: Sequence[Hole] = (), others: tuple[Ints, Ints] | None = None
) -> Suspensions:
    """Of the rows of the four events, in the order of `STEPS`; `others` are times and places of other events, in order.

    A suspension's events come in order on one thread; so one that is not later in that order than the one before it
    begins another suspension. So does the first one after a loss on that thread, since it is unknown how many were
    lost.
    """
    times = np.concatenate([rows.numbers("time_ns") for rows in events])
    places = np.concatenate([rows.places for rows in events])
    step = np.repeat(np.arange(4), [len(rows) for rows in events])
    thread, known = _threads(events)
    if not len(places):
        nothing = np.zeros((4, 0), dtype=np.int64)
        return Suspensions(nothing, nothing, nothing[0], thread, known, nothing[0], nothing[0])
    order = np.lexsort((places, thread))
    times, places, step = times[order], places[order], step[order]
    thread, known = thread[order], known[order]
    begins = changes(thread, known)
    same = ~begins
    begins[1:] |= step[1:] <= step[:-1]
    spoilt = np.zeros(len(order), dtype=np.bool_)
    if marks:
        spoilt[1:] = same[1:] & marks.touched(times[:-1] + 1, times[1:] - 1, [thread[1:]])
    begins |= spoilt
    group = np.cumsum(begins) - 1
    count = int(begins.sum())
    all_times = np.full((4, count), NOTHING, dtype=np.int64)
    all_places = all_times.copy()
    all_times[step, group], all_places[step, group] = times, places
    reason = np.full(count, NOTHING, dtype=np.int64)
    codes = np.concatenate([events[0].numbers("Reason").astype(np.int64), np.zeros(len(order) - len(events[0]))])
    firsts = step == 0
    reason[group[firsts]] = codes[order][firsts].astype(np.int64)
    first = np.flatnonzero(begins)
    # Where the event is missing, threads are held from or to the next one of that thread that says otherwise.
    before = np.where(same[first], places[np.maximum(first - 1, 0)], NOTHING)
    last = np.append(first[1:], len(order)) - 1
    following = np.minimum(last + 1, len(order) - 1)
    goes_on = (last + 1 < len(order)) & same[following]
    after = np.where(goes_on, places[following], FOREVER)
    for place in np.flatnonzero(spoilt[first]).tolist():
        # And not beyond the loss between the two.
        row = int(first[place])
        low, high = _hole(holes, int(thread[row]), int(times[row - 1]), int(times[row]))
        other_times, other_places = others or (times[:0], places[:0])
        until = other_places[: int(np.searchsorted(other_times, high))]
        since = other_places[int(np.searchsorted(other_times, low, side="right")) :]
        before[place] = max([before[place], *until[-1:].tolist()])
        after[place - 1] = min([after[place - 1], *since[:1].tolist()])
    columns = Suspensions(
        all_times,
        all_places,
        reason,
        thread[first],
        known[first],
        _first_known((all_places[1], all_places[0]), before),
        _first_known((all_places[2], all_places[3]), after),
    )
    return columns.only(np.argsort(np.where(all_places == NOTHING, FOREVER, all_places).min(axis=0, initial=FOREVER)))


def _hole(holes: Sequence[Hole], thread: int, since: int, until: int) -> tuple[int, int]:
    """From when to when events of a thread may be missing, between two of its events."""
    near = [h for h in holes if h.thread_id in (None, thread) and h.start_ns < until and h.end_ns > since]
    low = min((max(h.start_ns, since) for h in near), default=since)
    return low, max((min(h.end_ns, until) for h in near), default=until)


def _first_known(choices: Sequence[Ints], otherwise: Ints) -> Ints:
    values = otherwise
    for choice in reversed(choices):
        values = np.where(choice != NOTHING, choice, values)
    return values


def _threads(events: Sequence[Gathered]) -> tuple[Array, NDArray[np.bool_]]:
    columns = [rows.column("thread_id") for rows in events]
    return np.concatenate([column.filled() for column in columns]), np.concatenate([c.known for c in columns])


StopWord: TypeAlias = Literal["collection", "sampler"]
STOP_EVENTS: Final = (SUSPENDING, RESTARTED)
_KEPT: Final = {SUSPENDING: ("time_ns", "thread_id", "Reason", "Count"), RESTARTED: ("time_ns", "thread_id")}
_BY_PROCESS: Final = "process_id"
"""A column of recordings that may have the kernel's events."""
_TURN_NS: Final = 20_000_000
"""A thread that is let go again waits at most so long for its turn on a processor."""
COLLECTION, SAMPLER, OTHER, END = range(4)
_NO_STEPS: Final = np.zeros((4, 0), dtype=np.int64)


@frozen
class ThreadStops:
    """When each thread stopped the others, for collections and for samples; times are right within `uncertainty_ns` on
    the kernel's clock."""

    collections: Mapping[int, Stretches] = attrs.field(factory=dict)
    samplings: Mapping[int, Stretches] = attrs.field(factory=dict)
    uncertainty_ns: int = 0

    def of(self, thread: int, start: int, end: int) -> StopWord | None:
        """What a thread with managed code was stopped for that waited so long, by a futex and no method that waits."""
        if self._stopped(self.collections, thread, start, end):
            return "collection"
        return "sampler" if self._stopped(self.samplings, thread, start, end) else None

    def _stopped(self, stops: Mapping[int, Stretches], thread: int, start: int, end: int) -> bool:
        """Whether another thread's stop made this one wait from `start` on, and until its turn came after it."""
        sure = self.uncertainty_ns
        return any(
            end <= high + _TURN_NS
            for by, own in stops.items()
            if by != thread
            for _, high in own.around(start - sure, start + sure + 1)
        )


class StopFeed:
    """Takes the chunks of a collector that selects `STOP_EVENTS`, and leaves its other events alone."""

    def __init__(self) -> None:
        self._kept = Kept()

    def take(self, chunk: ReportChunk) -> None:
        """See the next events; keeps none of a recording that has no kernel."""
        if any(name in chunk.events and _BY_PROCESS in chunk.events[name].table for name in STOP_EVENTS):
            self._kept.take(narrowed(chunk, _KEPT))

    def finish(self, context: Context) -> ThreadStops:
        """All stops that have an end."""
        kept = self._kept.all(STOP_EVENTS, context.nothing)
        return ThreadStops(*_by_thread(kept[SUSPENDING], kept[RESTARTED]), context.uncertainty_ns)


def steps_of(begins: Gathered | None, ends: Gathered | None, before: Ints = _NO_STEPS) -> Ints:
    """The beginnings and ends of stops, and those `before`: four rows with thread, time, kind and place of each.

    In order of thread, then place.
    """
    parts = [before]
    for events in (begins, ends):
        if events is not None and len(events):
            kinds = np.full(len(events), END) if events is ends else _kinds(events)
            thread, time = (events.numbers(name).astype(np.int64) for name in ("thread_id", "time_ns"))
            parts.append(np.stack((thread, time, kinds, events.places)))
    steps = np.concatenate(parts, axis=1)
    return steps[:, np.lexsort((steps[3], steps[0]))]


def _kinds(begins: Gathered) -> Ints:
    for_gc = np.isin(begins.numbers("Reason").astype(np.int64), FOR_GC)
    return np.where(for_gc, COLLECTION, np.where(of_sampling(begins), SAMPLER, OTHER))


def whole_stops(steps: Ints) -> Ints:
    """Where among `steps_of` a stop begins that the next one ends."""
    thread, _, kind, _ = steps
    return np.flatnonzero((thread[1:] == thread[:-1]) & (kind[:-1] != END) & (kind[1:] == END))


def _by_thread(begins: Gathered, ends: Gathered) -> tuple[dict[int, Stretches], dict[int, Stretches]]:
    """When each thread stopped the others: for collections, and for samples."""
    steps = steps_of(begins, ends)
    thread, time, kind, _ = steps
    whole = whole_stops(steps)
    by_thread: tuple[dict[int, Stretches], dict[int, Stretches]] = ({}, {})
    for which, stops in zip((COLLECTION, SAMPLER), by_thread, strict=True):
        for by, rows in groups(thread, whole[kind[whole] == which]):
            lasting = rows[time[rows + 1] > time[rows]]
            stops[by] = Stretches(zip(time[lasting].tolist(), time[lasting + 1].tolist(), strict=True))
    return by_thread


_OTHER_REASON: Final = 0
SHORTEST_PAUSE_NS: Final = 300_000
"""Runtimes pause for a millisecond or more; those that do not, for some microseconds."""
_HIGH: Final = 95


@frozen
class RecordingCost:
    """What the sample profiler did to one process, and the suspensions that were its own. Times are ns.

    A stop lasts from GCSuspendEEBegin, or from when the suspension that it had to wait for ended, to GCRestartEEEnd. If
    stops are missing from the trace (see `unmatched_begins`, `unmatched_ends` and `lossy`), everything is based on
    those it has.
    """

    samples: int = 0
    """ThreadSample events."""
    stops: int = 0
    """The profiler's complete suspensions; those in `lossy` are not included."""
    stopped_ns: int | None = None
    """How long every managed thread was stopped in total: the minimum cost, from GCSuspendEEEnd to GCRestartEEBegin.
    None, with a `reason`, if stops are unknown; so are the next six."""
    held_ns: int | None = None
    """The total duration of all stops: while threads come to a halt one after another, the last of them runs on."""
    share_low: float | None = None
    """`stopped_ns` as a share of the trace's duration, 0 to 1; None also if the duration is 0."""
    share_high: float | None = None
    """`held_ns` as a share of it: the cost to a thread that is always the first to stop."""
    longest_ns: int | None = None
    """The longest stop; from start to end, as the next two."""
    p50_ns: int | None = None
    p95_ns: int | None = None
    """Percentiles of the stops, by nearest rank."""
    period_ns: int | None = None
    """The median, by nearest rank, of the distances between samplings; None if there are fewer than two."""
    period_from: Literal["stops", "samples"] | None = None
    """From start to start of the stops or, without those, from sample to sample of each thread."""
    pause_ns: int | None = None
    """The median of what lies between the end of a stop and the begin of the next; without stops, the period. Less than
    `SHORTEST_PAUSE_NS`: the sampler ran without pauses, which a runtime does that was given too long an interval."""
    own_stops: int = 0
    """Complete suspensions with reason 0 that are not the profiler's, such as those for
    GC.GetTotalAllocatedBytes(true)."""
    other_stops: int = 0
    """Complete suspensions for other reasons, such as collections."""
    unmatched_begins: int = 0
    unmatched_ends: int = 0
    """Suspensions for any reason whose other events are not in the trace: not included in any other number."""
    lossy: int = 0
    """Suspensions for any reason whose thread lost events meanwhile: possibly two in one, and not included in any other
    number."""
    reason: str | None = None
    """Why the cost is unknown; None if it is known."""


def recording_cost(
    events: Sequence[Gathered], sample_time_ns: Ints, sample_thread_id: Array, duration_ns: int, marks: Marks
) -> RecordingCost:
    """The cost in one process: by the rows of the four events, in the order of `STEPS`, and its samples' times and
    threads, in order of time. `duration_ns` is the trace's, and `marks` its holes.

    The profiler stops the program for each round of samples. In every NetTrace trace that we have, a `ThreadSample` was
    written by the thread that suspended (its capture thread), between its GCSuspendEEEnd and GCRestartEEBegin, and all
    suspensions of that thread have reason 0. Reason 0 alone is not enough: programs stop themselves for it, too. Rounds
    without a sample are recognized by their thread. The cost of writing the events is never recorded.
    """
    every = suspensions(events, Marks(()))
    stops = every.only(np.flatnonzero(every.known(0, 1, 2, 3)))
    # A loss that ends or begins with the first or the last of the events is none.
    lossy = marks.touched(stops.times[0] + 1, stops.times[3] - 1, (stops.thread,))
    sure = stops.only(np.flatnonzero(~lossy))
    counts = events[0].numbers("Count")[np.searchsorted(events[0].places, sure.places[0])]
    is_own = _of_profiler(sure, counts, sample_time_ns)
    own, others = sure.only(np.flatnonzero(is_own)), sure.only(np.flatnonzero(~is_own))
    period, source = _period(own, sample_time_ns, sample_thread_id)
    elsewhere = int((others.reason == _OTHER_REASON).sum())
    cost = RecordingCost(
        samples=len(sample_time_ns),
        stops=len(own),
        period_ns=period,
        period_from=source,
        pause_ns=nearest_rank(np.sort(own.times[0][1:] - own.times[3][:-1]), 50) if len(own) > 1 else period,
        own_stops=elsewhere,
        other_stops=len(others) - elsewhere,
        unmatched_begins=len(events[0]) - len(stops),
        unmatched_ends=len(events[3]) - len(stops),
        lossy=int(lossy.sum()),
        reason=None if len(own) else _why(len(sample_time_ns), sum(map(len, events))),
    )
    if not len(own):
        return cost
    lengths = np.sort(own.times[3] - _let_in(own, others))
    stopped, held = int((own.times[2] - own.times[1]).sum()), int(lengths.sum())
    return attrs.evolve(
        cost,
        stopped_ns=stopped,
        held_ns=held,
        share_low=stopped / duration_ns if duration_ns > 0 else None,
        share_high=held / duration_ns if duration_ns > 0 else None,
        longest_ns=int(lengths[-1]),
        p50_ns=nearest_rank(lengths, 50),
        p95_ns=nearest_rank(lengths, _HIGH),
    )


def recording_cost_of(trace: Trace, process_id: int | None = None) -> RecordingCost:
    """The cost in a trace; if it has several processes, in the one with `process_id`.

    Reads the suspensions and the samples, but not their stacks.
    """
    selectors = (*STEPS, f"{SAMPLE}/ThreadSample")
    wanted = {passes_of(trace).one_event(selector) for selector in selectors}
    if not any((kind.provider, kind.name) in wanted for kind in passes_of(trace).scan(raising=False).counts):
        # The scan, which the duration needs anyway, spares a trace without them a pass.
        return RecordingCost(reason=_why(0, 0))
    *events, samples = gather(trace, selectors, ("time_ns", "thread_id"), {"process_id": process_id})
    times, threads = samples.numbers("time_ns"), samples.numbers("thread_id")
    return recording_cost(events, times, threads, trace.duration_ns, Marks(trace_holes(trace)))


def _of_profiler(stops: Suspensions, counts: Array, sample_time_ns: Ints) -> Mask:
    """Suspensions for no collection, on threads that took a sample during one of theirs."""
    alike: Mask = (stops.reason == _OTHER_REASON) & (counts == _NO_NUMBER)
    before = np.searchsorted(sample_time_ns, stops.times[1], side="left")
    after = np.searchsorted(sample_time_ns, stops.times[2], side="right")
    return alike & np.isin(stops.thread, stops.thread[alike & (after > before)])


def _let_in(own: Suspensions, others: Suspensions) -> Ints:
    """When each stop began to hold the program.

    Suspensions exclude each other, but the first event is written before the wait for another one to end.
    """
    begin: Ints = own.times[0]
    released = np.sort(others.times[2])
    if not len(released):
        return begin
    last = np.searchsorted(released, own.times[1], side="right") - 1
    return np.where(last >= 0, np.maximum(begin, released[np.maximum(last, 0)]), begin)


def _period(
    own: Suspensions, sample_time_ns: Ints, sample_thread_id: Array
) -> tuple[int | None, Literal["stops", "samples"] | None]:
    if len(own) > 1:
        return nearest_rank(np.sort(np.diff(own.times[0])), 50), "stops"
    order = np.argsort(sample_thread_id, kind="stable")
    time, thread = sample_time_ns[order], sample_thread_id[order]
    distances = np.diff(time)[thread[1:] == thread[:-1]]
    return (nearest_rank(np.sort(distances), 50), "samples") if len(distances) else (None, None)


def _why(samples: int, suspensions: int) -> str:
    if not samples:
        return "there are no samples"
    if not suspensions:
        return "suspensions were not recorded"
    return "no complete suspension has a sample in it"
