"""Two recordings of one run, the Linux recorder's and EventPipe's: the process they share, how their clocks lie, and
the rows of one as the other has them.

A thread that writes an event has a processor. So no event of EventPipe may lie, on the recorder's clock, where its
thread was off the processor: that leaves a few microseconds for the distance of the clocks. Knows no event by its
meaning but the recorder's context switches.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.decode.container.blocks import LabelList, ThreadRow, TraceInfo
from clrevents.decode.decoded import DecodedRows
from clrevents.decode.selection import FilterOptions
from clrevents.trace.trace import Trace, passes_of

Ints = NDArray[np.int64]

_SWITCH: Final = "Universal.Events/cswitch"
_STARTS_NS: Final = 1_000_000
"""Each start is rounded down to a millisecond, so that their difference is right within one."""
_SEARCHED_NS: Final = _STARTS_NS + 100_000
"""How far from that difference the distance of the clocks is looked for: headers are not written at once."""
_LEAST: Final = 20
"""From this many events on of threads that were switched, these align the clocks better than the starts do."""
_WITH_PROCESSES: Final = 6
_EVENTS: Final = 1 << 16
"""The most events that are compared: from these on, one in two is left out, and so on."""
_LONGEST_NS: Final = 1 << 60
"""Times of a damaged clock are beyond."""
_NEAR: Final = 64
"""The most times off the processor that an event is compared with: many times as many as there are."""


@frozen
class SameRun(Value):
    """How another recording lies in this one."""

    process_id: int
    """The process that both are of."""
    shift_ns: int
    """What is added to its times."""
    uncertainty_ns: int
    """By how much that may be wrong, either way."""
    compared: int
    """How many of its events were compared with the times of their threads off the processor; 0 if the clocks are
    aligned by the starts of both recordings."""
    contradicting: int
    """How many of these lie in such a time."""
    error_ns: int | None
    """How deep in such a time the worst of the other half of events lies, if only one half aligns the clocks: 0 for
    none. None if the clocks are aligned by the starts."""


@frozen(eq=False)
class Edges:
    """For events and the times off the processor near them: between which two distances of the clocks the event would
    lie in such a time. `event` numbers the events."""

    low: Ints
    high: Ints
    event: Ints

    def of(self, events: NDArray[np.bool_]) -> Edges:
        """Those of some events."""
        chosen = events[self.event]
        return Edges(self.low[chosen], self.high[chosen], self.event[chosen])

    def depths(self, distance: int) -> Ints:
        """How deep events lie in such times, with this distance of the clocks; only those that do."""
        return np.minimum(distance - self.low, self.high - distance)[(self.low < distance) & (distance < self.high)]

    def best(self) -> tuple[int, int]:
        """Between which two distances the fewest events lie in such a time; the widest such stretch."""
        moments = np.clip(np.concatenate((self.low, self.high)), -_SEARCHED_NS, _SEARCHED_NS)
        steps = np.repeat([1, -1], len(self.low))
        edges = np.array([-_SEARCHED_NS, _SEARCHED_NS])
        bounds, places = np.unique(np.concatenate((edges, moments)), return_inverse=True)
        inside = np.cumsum(np.bincount(places[2:], weights=steps, minlength=len(bounds)))[:-1]
        widths = np.where(inside == inside.min(), np.diff(bounds), 0)
        place = int(widths.argmax())
        return int(bounds[place]), int(bounds[place + 1])


def same_run(linux: Trace, other: Trace) -> SameRun:
    """How `other` lies in `linux`. Reads the context switches of one, and the headers of the other.

    Raises ValueError unless `other` is of one process that is in `linux`, and began while that was recorded.
    """
    process, shift = _by_starts(linux, other)
    times, threads = _written(other)
    edges = edges_between(times + shift, threads, *_away(linux, process))
    known = np.zeros(len(times), dtype=np.bool_)
    known[edges.event] = True
    compared = int(known.sum())
    if compared < _LEAST:
        return SameRun(process, shift, _STARTS_NS, 0, 0, None)
    low, high = edges.best()
    middle = (low + high) // 2
    halves = np.cumsum(known) % 2 == 0
    half = sum(edges.of(halves).best()) // 2
    depths = edges.of(~halves).depths(half)
    error = int(depths.max()) if len(depths) else 0
    return SameRun(
        process, shift + middle, (high - low + 1) // 2, compared, len(np.unique(edges.depths(middle))), error
    )


def edges_between(times: Ints, threads: Ints, away: Ints, start: Ints, end: Ints) -> Edges:
    """Events, by time and writing thread, against the times off the processor of the threads `away`, of which none
    of one thread overlap."""
    edges = [np.zeros((3, 0), dtype=np.int64)]
    for thread in np.unique(away).tolist():
        events = np.flatnonzero(threads == thread)
        rows = np.flatnonzero(away == thread)
        rows = rows[np.argsort(start[rows], kind="stable")]
        starts, ends, moments = start[rows], end[rows], times[events]
        first = np.searchsorted(ends, moments - _SEARCHED_NS)
        count = np.clip(np.searchsorted(starts, moments + _SEARCHED_NS) - first, 0, _NEAR)
        row = np.repeat(np.arange(len(events)), count)
        place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        edges.append(np.stack((starts[place] - moments[row], ends[place] - moments[row], events[row])))
    return Edges(*np.concatenate(edges, axis=1))


def _by_starts(linux: Trace, other: Trace) -> tuple[int, int]:
    """The process of both, and how much later the other one began."""
    own, theirs = linux.info, other.info
    if own.version < _WITH_PROCESSES:
        raise ValueError("only a recording of the Linux recorder is joined with another one")
    if theirs.format != "NetTrace":
        raise ValueError(f"a {theirs.format} trace does not say which thread wrote an event")
    if theirs.process_id is None:
        raise ValueError("the other trace does not say which process it is of")
    lives = linux.processes
    inside = sorted({life.process_id for life in lives if life.own_id == theirs.process_id} - {theirs.process_id})
    # An id of a container's may be that of another process outside.
    outside = any(life.process_id == theirs.process_id and life.own_id in (theirs.process_id, None) for life in lives)
    if inside and not outside:
        raise ValueError(
            f"the other trace is of process {theirs.process_id} of a container, which is {inside[0]} here: "
            "its threads have other ids there, and which is which was not recorded"
        )
    if theirs.process_id not in {thread.process_id for thread in linux.threads}:
        raise ValueError(f"the other trace is of process {theirs.process_id}, which is not in this one")
    if own.pointer_size != theirs.pointer_size:
        raise ValueError("the other trace has pointers of another size")
    if own.start is None or theirs.start is None:
        raise ValueError("one of the traces does not say when it began")
    apart = theirs.start - own.start
    shift = apart // timedelta(microseconds=1) * 1000
    if not -other.duration_ns - _STARTS_NS <= shift <= linux.duration_ns + _STARTS_NS:
        raise ValueError(f"the other trace began {apart} after this one, so that they are not of one run")
    return theirs.process_id, shift


def _written(other: Trace) -> tuple[Ints, Ints]:
    """When events were written, and by which thread; of a long trace, some of them."""
    times, threads = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    step = sum(other.event_counts().values()) // _EVENTS + 1
    seen = 0
    for rows in passes_of(other).event_rows(decode=False):
        captures = rows.capture_threads.astype(np.int64)
        if rows.thread_places is not None:
            ids = np.array([-1 if row.thread_id is None else row.thread_id for row in rows.thread_rows] + [-1])
            captures = ids[np.clip(captures, -1, len(ids) - 1)].astype(np.int64)
        some = slice(-seen % step, None, step)
        times.append(rows.clock.ns_array(rows.ticks)[some])
        threads.append(captures[some])
        seen += len(rows)
    return np.concatenate(times), np.concatenate(threads)


def _away(linux: Trace, process_id: int) -> tuple[Ints, Ints, Ints]:
    """Threads of a process with their times off the processor."""
    if not any((key.provider, key.name) == ("Universal.Events", "cswitch") for key in linux.event_counts()):
        none = np.zeros(0, dtype=np.int64)
        return none, none, none
    filters: FilterOptions = {"process_id": process_id}
    table = linux.table(_SWITCH, **filters)
    if "Value" not in table or "int" not in table.column("Value").type.kind:
        raise ValueError("its context switches are described in another way than the Linux recorder describes them")
    start, thread, took = (table.column(name).filled(-1).astype(np.int64) for name in ("time_ns", "thread_id", "Value"))
    sound = (took >= 0) & (took < _LONGEST_NS) & (thread >= 0) & (np.abs(start) < _LONGEST_NS)
    return thread[sound], start[sound], (start + took)[sound]


_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


class ShiftedRows:
    """Turns rows of one process into rows of `info`'s clock, `shift_ns` later."""

    def __init__(self, info: TraceInfo, process_id: int, shift_ns: int) -> None:
        self._info = info
        self._process = process_id
        self._shift = shift_ns
        self._threads: list[ThreadRow] = []
        self._places: dict[int, int] = {}
        self._labels: dict[tuple[bytes | None, bytes | None], LabelList] = {}

    def of(self, rows: DecodedRows) -> DecodedRows:
        """The same rows in NetTrace 6."""
        ticks = self._ticks(rows)
        if rows.thread_places is not None:
            theirs = [attrs.evolve(row, process_id=self._process) for row in rows.thread_rows]
            return attrs.evolve(rows, ticks=ticks, thread_rows=theirs)
        runs = attrs.evolve(rows.runs, captures=self._of_threads(rows.runs.captures).astype(np.uint64))
        return attrs.evolve(
            rows,
            ticks=ticks,
            runs=runs,
            thread_places=self._of_threads(rows.thread_ids),
            thread_rows=self._threads,
            labels=self._labelled(rows),
            activities=None,
            related_activities=None,
        )

    def _ticks(self, rows: DecodedRows) -> NDArray[np.int64]:
        own, theirs = self._info, rows.clock
        if own.frequency == theirs.frequency == 1_000_000_000:
            return rows.ticks - theirs.sync_qpc + (own.sync_qpc + self._shift)
        times = ((time + self._shift) * own.frequency // 1_000_000_000 + own.sync_qpc for time in rows.times_ns)
        return np.array([min(max(time, _LOWEST), _HIGHEST) for time in times], dtype=np.int64)

    def _of_threads(self, ids: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The places of threads by their ids."""
        known, which = np.unique(ids, return_inverse=True)
        places = []
        for thread in known.tolist():
            if thread not in self._places:
                self._places[thread] = len(self._threads)
                self._threads.append(ThreadRow(len(self._threads) + 1, thread, self._process))
            places.append(self._places[thread])
        return np.array(places, dtype=np.int64)[which]

    def _labelled(self, rows: DecodedRows) -> list[LabelList | None] | None:
        """Activities, which NetTrace 6 has in label lists: equal ones in the same list."""
        own, related = rows.activities, rows.related_activities
        if own is None and related is None:
            return None
        none = [None] * len(rows)
        pairs = zip(none if own is None else own.all(), none if related is None else related.all(), strict=True)
        return [None if pair == (None, None) else self._labels.setdefault(pair, LabelList(*pair)) for pair in pairs]
