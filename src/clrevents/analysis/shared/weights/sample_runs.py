"""Samples of the profiler, in order → runs of equal ones → stretches of time, by the one rule of how long a sample
holds.

A sample holds until the next one of its thread. Where none follows within three periods, each of the two holds for one
and a half towards the other, and the time between is nobody's. Where the stops that the sampler makes show that it was
late, that separates no samples; after ten periods that is no delay any more. A state reaches to the middle between two
samples. A thread ended when events tell, else when samples show others and not it any more. Knows no names.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.groups import Gathered, Ints, changes, length_before, nearest_rank
from clrevents.analysis.shared.events.event_spans import field_numbers, whole_of
from clrevents.analysis.shared.events.gc_suspensions import SUSPENDING, stops_of
from clrevents.schema.registry import SAMPLE

SAMPLES: Final = f"{SAMPLE}/ThreadSample"
"""The sample profiler's event."""
SAMPLE_TYPE: Final = "Type"
EXTERNAL: Final = 1
"""The type of samples of threads that are not in managed code."""
MANAGED: Final = 2
"""The type of samples of threads in managed code."""

HELD: Final = 3
"""For how many periods of the profiler a sample may be followed by none before it is unknown what its thread did."""
FIRST: Final = 1 << 14
"""So many samples tell the period, so that it does not matter how many follow."""
_LATE: Final = 2
"""A sampler that stays away for more periods is late,"""
TOLERATED: Final = 10
"""and for this many, a thread is assumed to have kept doing the same."""
_NONE: Final = np.zeros(0, dtype=np.int64)


def period_of(thread: NDArray[np.uint64] | Ints, time: Ints) -> int:
    """The median time between two samples of a thread, of an even number the lower one; 0 where no thread has two."""
    thread, time = thread[:FIRST], time[:FIRST]
    order = np.lexsort((time, thread))
    gaps = np.diff(time[order])[thread[order][1:] == thread[order][:-1]]
    return nearest_rank(np.sort(gaps[gaps > 0]), 50) or 0


def late_spans(stops: Ints, period_ns: int) -> tuple[Ints, Ints]:
    """From when to when the sampler was late, by the times of its stops in order."""
    gaps = np.diff(stops)
    late = (gaps > _LATE * period_ns) & (gaps <= TOLERATED * period_ns)
    return stops[:-1][late], stops[1:][late]


@frozen(eq=False)
class Sampling:
    """The period, and from when to when the sampler was late: in order, without overlap."""

    period_ns: int = 0
    late_from: Ints = _NONE
    late_until: Ints = _NONE

    @classmethod
    def of(cls, thread: Ints, time: Ints, stops: Ints) -> Sampling:
        """Of all samples and stops of a process, in order of time."""
        period = period_of(thread, time)
        return cls(period, *late_spans(stops, period))

    @property
    def half_ns(self) -> int:
        """How long a sample holds to a side on which no other is near."""
        return HELD * self.period_ns // 2

    def late(self) -> Sequence[tuple[int, int]]:
        """When the sampler was late."""
        return list(zip(self.late_from.tolist(), self.late_until.tolist(), strict=True))

    def near(self, last: Ints, first: Ints) -> NDArray[np.bool_]:
        """Whether a thread with no sample from `last` to `first` went on with what it did."""
        apart = first - last - (self._late_before(first) - self._late_before(last))
        mask: NDArray[np.bool_] = apart <= HELD * self.period_ns
        return mask

    def sides(self, last: Ints, first: Ints) -> tuple[Ints, Ints]:
        """Until when the earlier of two samples of a thread holds, and from when on the later one; equal if near."""
        near = self.near(last, first)
        until = np.where(near, first, np.minimum(last + self.half_ns, first))
        return until, np.where(near, first, np.maximum(first - self.half_ns, until))

    def _late_before(self, times: Ints) -> Ints:
        """For how long the sampler had been late until each moment."""
        return length_before(self.late_from, self.late_until, times)


_UNTIMED: Final = Sampling()


@frozen(eq=False)
class SampleRuns:
    """In order of thread, then time: a thread had this stack and type at its samples from `first` to `last`."""

    thread: NDArray[np.uint64]
    first: Ints
    last: Ints
    stack_id: Ints
    type: Ints
    sampling: Sampling
    samples: int
    managed: int = 0
    """How many samples say that their thread was in managed code."""

    @property
    def period_ns(self) -> int:
        """The median time between two samples of a thread; 0 where no thread has two."""
        return self.sampling.period_ns

    def __len__(self) -> int:
        return len(self.first)


class RunMaker:
    """Takes samples in order of time and makes runs of them."""

    def __init__(self) -> None:
        self._waiting: list[tuple[NDArray[np.uint64], Ints, Ints, Ints]] = []
        self._count = 0
        self._period: int | None = None
        self._parts: list[SampleRuns] = []
        self._open: SampleRuns | None = None
        self._samples = self._managed = 0
        self._stops: Ints = np.zeros(0, dtype=np.int64)
        self._late: list[tuple[Ints, Ints]] = []

    def take(self, thread: NDArray[np.uint64], time: Ints, stack_id: Ints, type: Ints) -> None:
        """The next samples."""
        self._waiting.append((thread, time, stack_id, type))
        self._count += len(time)
        self._samples += len(time)
        self._managed += int((type == MANAGED).sum())
        if self._period is not None or self._count >= FIRST:
            self._make()

    def stops(self, time: Ints) -> None:
        """The next moments at which the sampler stopped threads."""
        self._stops = np.concatenate((self._stops, time))
        if self._period is not None:
            self._late.append(late_spans(self._stops, self._period))
            self._stops = self._stops[-1:]

    def runs(self) -> SampleRuns:
        """All of them."""
        self._make()
        self.stops(self._stops[:0])
        parts = [*self._parts, *([self._open] if self._open is not None else [])]
        low, high = zip(*self._late, strict=True) if self._late else ((), ())
        none = self._stops[:0]
        sampling = Sampling(self._period or 0, np.concatenate((none, *low)), np.concatenate((none, *high)))
        return attrs.evolve(_joined(parts, sampling, self._samples), managed=self._managed)

    def _make(self) -> None:
        if not self._count:
            return
        thread, time, stack_id, type = (np.concatenate(column) for column in zip(*self._waiting, strict=True))
        self._waiting, self._count = [], 0
        if self._period is None:
            self._period = period_of(thread, time)
        reach = HELD * self._period
        single = SampleRuns(thread, time, time, stack_id, type, _UNTIMED, 0)
        known = single if self._open is None else _joined([self._open, single], _UNTIMED, 0)
        order = np.lexsort((known.first, known.thread))
        thread, first, last = known.thread[order], known.first[order], known.last[order]
        stack_id, type = known.stack_id[order], known.type[order]
        begins = changes(thread, stack_id, type)
        begins[1:] |= first[1:] - last[:-1] > reach
        starts = np.flatnonzero(begins)
        ends = np.append(starts[1:], len(order)) - 1
        runs = SampleRuns(
            thread[starts], first[starts], last[ends], stack_id[starts], type[starts], _UNTIMED, self._samples
        )
        # The last run of each thread may go on.
        done = np.zeros(len(runs), dtype=np.bool_)
        done[:-1] = runs.thread[1:] == runs.thread[:-1]
        self._parts.append(_some(runs, done))
        self._open = _some(runs, ~done)


def _some(runs: SampleRuns, which: NDArray[np.bool_]) -> SampleRuns:
    columns = {name: getattr(runs, name)[which] for name in ("thread", "first", "last", "stack_id", "type")}
    return attrs.evolve(runs, **columns)


def _joined(parts: list[SampleRuns], sampling: Sampling, samples: int) -> SampleRuns:
    none = np.zeros(0, dtype=np.int64)
    thread = np.concatenate([np.zeros(0, dtype=np.uint64), *(part.thread for part in parts)])
    columns = [
        np.concatenate([none, *(getattr(part, name) for part in parts)])
        for name in ("first", "last", "stack_id", "type")
    ]
    order = np.lexsort((columns[0], thread))
    first, last, stack_id, type = (column[order] for column in columns)
    return SampleRuns(thread[order], first, last, stack_id, type, sampling, samples)


def stretches(runs: SampleRuns, duration_ns: int, over_gaps_ns: int | None = None) -> tuple[Ints, Ints]:
    """From when to when each run lasted, in ns; no two of a thread overlap. `over_gaps_ns` is how far samples hold over
    a gap, if not by the rule."""
    half = runs.period_ns // 2
    starts, ends = runs.first - half, runs.last + half
    same = runs.thread[1:] == runs.thread[:-1]
    last, first = runs.last[:-1], runs.first[1:]
    near = runs.sampling.near(last, first)
    reach = runs.sampling.half_ns if over_gaps_ns is None else over_gaps_ns
    middle = last + (first - last) // 2
    starts[1:][same] = np.where(near, middle, np.maximum(first - reach, middle))[same]
    ends[:-1][same] = np.where(near, middle, np.minimum(last + reach, middle))[same]
    return np.maximum(starts, 0), np.maximum(np.minimum(ends, duration_ns), 0)


def unseen(runs: SampleRuns, thread: NDArray[np.uint64], since: Ints) -> NDArray[np.bool_]:
    """Whether each thread, which had samples about some moment, has none after it while others had them for long.

    The sampler takes one of every living thread, so this one has ended, even if no event recorded it.
    """
    if not len(runs) or not runs.period_ns:
        return np.zeros(len(thread), dtype=np.bool_)
    # About single samples: how far they hold over a gap is no time in which others were sampled.
    lows, highs = stretches(runs, FOREVER, runs.period_ns // 2)
    order = np.argsort(lows)
    low, reach = lows[order], np.maximum.accumulate(highs[order])
    sampled = np.cumsum(np.maximum(reach - np.maximum(low, np.concatenate((low[:1], reach[:-1]))), 0))
    place = np.searchsorted(runs.thread, thread, side="right") - 1
    seen = (place >= 0) & (runs.thread[place] == thread)
    last = runs.last[place]
    moment = np.maximum(last, since)
    before = np.maximum(np.searchsorted(low, moment, side="right") - 1, 0)
    after = sampled[-1] - sampled[before] + np.maximum(reach[before] - moment, 0)
    long = TOLERATED * runs.period_ns
    mask: NDArray[np.bool_] = seen & (since - last <= long) & (after > long)
    return mask


SAMPLER_EVENTS: Final = (SAMPLES, SUSPENDING)
"""The events of samples, and those that date them."""


def keep_samples(runs: RunMaker, events: Mapping[str, Gathered]) -> None:
    """Make runs of the next samples whose thread is known, by selectors of which some are `SAMPLER_EVENTS`."""
    samples, begins = (events.get(name) for name in SAMPLER_EVENTS)
    if begins is not None:
        runs.stops(stops_of(begins))
    if samples is None:
        return
    known = np.flatnonzero(samples.column("thread_id").known)
    runs.take(
        samples.numbers("thread_id").astype(np.uint64)[known],
        samples.numbers("time_ns")[known],
        samples.numbers("stack_id").astype(np.int64)[known],
        samples.numbers(SAMPLE_TYPE).astype(np.int64)[known],
    )


_CREATED: Final = "runtime/ThreadCreated"
_TERMINATED: Final = "runtime/ThreadTerminated"
THREAD_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    _CREATED: ("time_ns", "thread_id", "ManagedThreadID", "ManagedThreadIndex", "OSThreadID"),
    _TERMINATED: ("time_ns", "ManagedThreadID"),
}
"""What is kept of each event."""


def terminations(events: Mapping[str, Gathered]) -> dict[int, list[int]]:
    """When threads ended, by the runtime's pointer, in order of time."""
    ends: dict[int, list[int]] = {}
    for time, pointer in sorted(_rows(events[_TERMINATED], "time_ns", "ManagedThreadID")):
        ends.setdefault(pointer, []).append(time)
    return ends


class ThreadEnds:
    """The ends of the threads of a process, by these events and runs of samples."""

    def __init__(self, events: Mapping[str, Gathered], runs: SampleRuns) -> None:
        self._runs = runs
        ends = terminations(events)
        self._lives: dict[int, list[tuple[int, int]]] = {}
        names = ("time_ns", "ManagedThreadID", "OSThreadID", "thread_id")
        rows = sorted(_rows(events[_CREATED], *names))
        threads = whole_of((row[2] for row in rows), {*runs.thread.tolist(), *(row[3] for row in rows)})
        for (time, pointer, _, by), system in zip(rows, threads, strict=True):
            ends_of_pointer = ends.get(pointer, [])
            place = bisect_right(ends_of_pointer, time)
            lives = self._lives.setdefault(system or by, [])
            if lives:
                # Its id is used again, so that the one before is gone.
                lives[-1] = lives[-1][0], min(lives[-1][1], time)
            lives.append((time, ends_of_pointer[place] if place < len(ends_of_pointer) else FOREVER))

    def after(self, thread: NDArray[np.uint64], since: Ints) -> Ints:
        """When each thread, which lived at a moment, ended; `FOREVER` where that is unknown."""
        ends = np.full(len(thread), FOREVER, dtype=np.int64)
        gone = unseen(self._runs, thread, since)
        if gone.any():
            last = self._runs.last[np.searchsorted(self._runs.thread, thread[gone], side="right") - 1]
            ends[gone] = np.maximum(last + self._runs.sampling.half_ns, since[gone])
        for row, (number, moment) in enumerate(zip(thread.tolist(), since.tolist(), strict=True)):
            lives = self._lives.get(number, ())
            for start, end in lives:
                # What began before the first creation was of a thread that had the id before.
                if start > moment:
                    ends[row] = min(ends[row], start)
                    break
                if end > moment:
                    ends[row] = min(ends[row], end)
                    break
        return ends


def _rows(events: Gathered, *names: str) -> list[tuple[int, ...]]:
    return list(zip(*(field_numbers(events, name).tolist() for name in names), strict=True))
