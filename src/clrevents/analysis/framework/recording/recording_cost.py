"""What the sample profiler cost the program: how long and how often it stopped the program, and its real period.

It stops the program for each round of samples. In every NetTrace trace that we have, a `ThreadSample` was written by
the thread that suspended (its capture thread), between its GCSuspendEEEnd and GCRestartEEBegin, and all suspensions of
that thread have reason 0. Reason 0 alone is not enough: programs stop themselves for it, too. Rounds without a sample
are recognized by their thread. The cost of writing the events is never recorded.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.report_table import Marks, trace_holes
from clrevents.analysis.gathering.groups import Array, Ints, Mask, gather, nearest_rank
from clrevents.schema.registry import RUNTIME, SAMPLE
from clrevents.trace import Trace, passes_of

KINDS: Final = ("GCSuspendEEBegin", "GCSuspendEEEnd", "GCRestartEEBegin", "GCRestartEEEnd")
"""The events of a suspension in their order; their places are the kinds of `SuspensionEvents`."""

_BEGIN, _SUSPENDED, _RESTARTING, _END = range(len(KINDS))
_OTHER_REASON: Final = 0
_NO_COUNT: Final = -1
SHORTEST_PAUSE_NS: Final = 300_000
"""Runtimes pause for a millisecond or more; those that do not, for some microseconds."""
_HIGH: Final = 95
_NOTHING: Final[Ints] = np.zeros(0, dtype=np.int64)


@frozen(eq=False)
class SuspensionEvents:
    """The runtime's events about suspensions, whatever their reason, in order of time: a place in each array for each.

    `kind` is a place in `KINDS`. `reason` and `count` are those of GCSuspendEEBegin; for other kinds they are not read.
    """

    time_ns: Ints
    thread_id: Array
    kind: Array
    reason: Array
    count: Array

    def __len__(self) -> int:
        return len(self.time_ns)


@frozen
class RecordingCost:
    """What the sample profiler did to one process, and the suspensions that were its own. Times are ns.

    A stop lasts from GCSuspendEEBegin, or from when the suspension that it had to wait for ended, to GCRestartEEEnd. If
    stops are missing from the trace (see `unmatched_begins`, `unmatched_ends` and `lossy`), everything is based on
    those it has.
    """

    samples: int
    """ThreadSample events."""
    stops: int
    """The profiler's complete suspensions; those in `lossy` are not included."""
    stopped_ns: int | None
    """How long every managed thread was stopped in total: the minimum cost, from GCSuspendEEEnd to GCRestartEEBegin.
    None, with a `reason`, if stops are unknown; so are the next six."""
    held_ns: int | None
    """The total duration of all stops: while threads come to a halt one after another, the last of them runs on."""
    share_low: float | None
    """`stopped_ns` as a share of the trace's duration, 0 to 1; None also if the duration is 0."""
    share_high: float | None
    """`held_ns` as a share of it: the cost to a thread that is always the first to stop."""
    longest_ns: int | None
    """The longest stop; from start to end, as the next two."""
    p50_ns: int | None
    p95_ns: int | None
    """Percentiles of the stops, by nearest rank."""
    period_ns: int | None
    """The median, by nearest rank, of the distances between samplings; None if there are fewer than two."""
    period_from: Literal["stops", "samples"] | None
    """From start to start of the stops or, without those, from sample to sample of each thread."""
    pause_ns: int | None
    """The median of what lies between the end of a stop and the begin of the next; without stops, the period. Less than
    `SHORTEST_PAUSE_NS`: the sampler ran without pauses, which a runtime does that was given too long an interval."""
    own_stops: int
    """Complete suspensions with reason 0 that are not the profiler's, such as those for
    GC.GetTotalAllocatedBytes(true)."""
    other_stops: int
    """Complete suspensions for other reasons, such as collections."""
    unmatched_begins: int
    unmatched_ends: int
    """Suspensions for any reason whose other events are not in the trace: not included in any other number."""
    lossy: int
    """Suspensions for any reason whose thread lost events meanwhile: possibly two in one, and not included in any other
    number."""
    reason: str | None
    """Why the cost is unknown; None if it is known."""


def recording_cost(
    suspensions: SuspensionEvents,
    sample_time_ns: Ints,
    sample_thread_id: Array,
    duration_ns: int,
    marks: Marks | None = None,
) -> RecordingCost:
    """The cost from columns of one process: its suspensions and the times and threads of its samples.

    Both are in order of time. `duration_ns` is the trace's, and `marks` its holes.
    """
    stops = _Stops.of(suspensions)
    begins = int((suspensions.kind == _BEGIN).sum()) - len(stops)
    ends = int((suspensions.kind == _END).sum()) - len(stops)
    lossy = _lossy(stops, marks)
    sure = stops.take(~lossy)
    cost = _of_profiler(sure, sample_time_ns)
    own = sure.take(cost)
    has_suspensions = len(own) > 0
    lengths = np.sort(own.end - _let_in(own, sure.take(~cost)))
    stopped, sampling = int((own.restarting - own.suspended).sum()), int(lengths.sum())
    period, source = _period(own, sample_time_ns, sample_thread_id)
    elsewhere = int((sure.reason[~cost] == _OTHER_REASON).sum())
    return RecordingCost(
        samples=len(sample_time_ns),
        stops=len(own),
        stopped_ns=stopped if has_suspensions else None,
        held_ns=sampling if has_suspensions else None,
        share_low=stopped / duration_ns if has_suspensions and duration_ns > 0 else None,
        share_high=sampling / duration_ns if has_suspensions and duration_ns > 0 else None,
        longest_ns=int(lengths[-1]) if has_suspensions else None,
        p50_ns=nearest_rank(lengths, 50) if has_suspensions else None,
        p95_ns=nearest_rank(lengths, _HIGH) if has_suspensions else None,
        period_ns=period,
        period_from=source,
        pause_ns=nearest_rank(np.sort(own.begin[1:] - own.end[:-1]), 50) if len(own) > 1 else period,
        own_stops=elsewhere,
        other_stops=len(sure) - len(own) - elsewhere,
        unmatched_begins=begins,
        unmatched_ends=ends,
        lossy=int(lossy.sum()),
        reason=None if has_suspensions else _why(len(sample_time_ns), len(suspensions)),
    )


def recording_cost_of(trace: Trace, process_id: int | None = None) -> RecordingCost:
    """The cost in a trace; if it has several processes, in the one with `process_id`.

    Reads the suspensions and the samples, but not their stacks.
    """
    selectors = [*(f"{RUNTIME}/{name}" for name in KINDS), f"{SAMPLE}/ThreadSample"]
    counts = passes_of(trace).scan(raising=False).counts
    if not any(f"{kind.provider}/{kind.name}" in selectors for kind in counts):
        # The scan, which the duration needs anyway, spares a trace without them a pass.
        return recording_cost(SuspensionEvents(*[_NOTHING] * 5), _NOTHING, _NOTHING, trace.duration_ns)
    *parts, samples = gather(trace, selectors, ("time_ns", "thread_id"), {"process_id": process_id})
    order = np.argsort(np.concatenate([part.places for part in parts]), kind="stable")
    none: Ints = np.zeros(sum(map(len, parts[1:])), dtype=np.int64)
    columns = (
        np.concatenate([part.numbers("time_ns") for part in parts]),
        np.concatenate([part.numbers("thread_id") for part in parts]),
        np.repeat(np.arange(len(KINDS)), [len(part) for part in parts]),
        np.concatenate([parts[_BEGIN].numbers("Reason").astype(np.int64), none]),
        np.concatenate([parts[_BEGIN].numbers("Count").astype(np.int64), none]),
    )
    return recording_cost(
        SuspensionEvents(*(column[order] for column in columns)),
        samples.numbers("time_ns"),
        samples.numbers("thread_id"),
        trace.duration_ns,
        Marks(trace_holes(trace)),
    )


@frozen(eq=False)
class _Stops:
    """Whole suspensions by their begin: the times of their four events, and whose they are."""

    begin: Ints
    suspended: Ints
    restarting: Ints
    end: Ints
    thread: Array
    reason: Array
    count: Array

    @classmethod
    def of(cls, events: SuspensionEvents) -> _Stops:
        """Four events in their order that follow each other on their thread."""
        by_thread = np.argsort(events.thread_id, kind="stable")
        kind, thread = events.kind[by_thread], events.thread_id[by_thread]
        whole = thread[:-3] == thread[3:]
        for place in range(len(KINDS)):
            whole &= kind[place : len(kind) - 3 + place][: len(whole)] == place
        first = np.flatnonzero(whole)
        begin, suspended, restarting, end = (events.time_ns[by_thread[first + place]] for place in range(len(KINDS)))
        rows = by_thread[first]
        whose = (events.thread_id[rows], events.reason[rows], events.count[rows])
        return cls(begin, suspended, restarting, end, *whose).take(np.argsort(rows))

    def __len__(self) -> int:
        return len(self.begin)

    def take(self, rows: Ints | Mask) -> _Stops:
        """Some of them."""
        return _Stops(*(getattr(self, field.name)[rows] for field in attrs.fields(_Stops)))


def _lossy(stops: _Stops, marks: Marks | None) -> Mask:
    """Whose thread lost events between the first and the last; a loss that ends or begins with those is none."""
    if marks is None or not marks:
        return np.zeros(len(stops), dtype=np.bool_)
    return marks.touched(stops.begin + 1, stops.end - 1, (stops.thread,))


def _of_profiler(stops: _Stops, sample_time_ns: Ints) -> Mask:
    """Suspensions for no collection, on threads that took a sample during one of theirs."""
    alike: Mask = (stops.reason == _OTHER_REASON) & (stops.count == _NO_COUNT)
    before = np.searchsorted(sample_time_ns, stops.suspended, side="left")
    after = np.searchsorted(sample_time_ns, stops.restarting, side="right")
    return alike & np.isin(stops.thread, stops.thread[alike & (after > before)])


def _let_in(own: _Stops, others: _Stops) -> Ints:
    """When each stop began to hold the program.

    Suspensions exclude each other, but the first event is written before the wait for another one to end.
    """
    released = np.sort(others.restarting)
    if not len(released):
        return own.begin
    last = np.searchsorted(released, own.suspended, side="right") - 1
    return np.where(last >= 0, np.maximum(own.begin, released[np.maximum(last, 0)]), own.begin)


def _period(
    own: _Stops, sample_time_ns: Ints, sample_thread_id: Array
) -> tuple[int | None, Literal["stops", "samples"] | None]:
    if len(own) > 1:
        return nearest_rank(np.sort(np.diff(own.begin)), 50), "stops"
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
