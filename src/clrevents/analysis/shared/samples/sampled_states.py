"""Runs of equal samples → stretches of time: a state reaches to the middle between two samples; and when threads ended.

Which samples are near, and how far they hold where none is, is the rule of `sample_runs`. A thread ended when events
tell, else when samples show others and not it any more. Knows no names of code and no waits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.contention_spans import whole_of
from clrevents.analysis.shared.events.gc_suspensions import SUSPENDING, stops_of
from clrevents.analysis.shared.events.wait_events import field_numbers
from clrevents.analysis.shared.samples.samples import SAMPLES
from clrevents.analysis.shared.weights.sample_runs import TOLERATED, RunMaker, SampleRuns
from clrevents.analysis.shared.weights.weighing import SAMPLE_TYPE

Ints: TypeAlias = NDArray[np.int64]


def stretches(runs: SampleRuns, duration_ns: int, over_gaps_ns: int | None = None) -> tuple[Ints, Ints]:
    """From when to when each run lasted, in ns; no two of a thread overlap. `over_gaps_ns` is how far samples hold over
    a gap, if not by the rule."""
    half = runs.period_ns // 2
    starts, ends = runs.first - half, runs.last + half
    same = runs.thread[1:] == runs.thread[:-1]
    last, first = runs.last[:-1], runs.first[1:]
    near = runs.sampling.near(last, first)
    held = runs.sampling.half_ns if over_gaps_ns is None else over_gaps_ns
    middle = last + (first - last) // 2
    starts[1:][same] = np.where(near, middle, np.maximum(first - held, middle))[same]
    ends[:-1][same] = np.where(near, middle, np.minimum(last + held, middle))[same]
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
    found: NDArray[np.bool_] = seen & (since - last <= long) & (after > long)
    return found


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


class ThreadEnds:
    """The ends of the threads of a process, by these events and runs of samples."""

    def __init__(self, events: Mapping[str, Gathered], runs: SampleRuns) -> None:
        self._runs = runs
        created, terminated = events[_CREATED], events[_TERMINATED]
        ends: dict[int, list[int]] = {}
        for time, pointer in sorted(_rows(terminated, "time_ns", "ManagedThreadID")):
            ends.setdefault(pointer, []).append(time)
        self._lives: dict[int, list[tuple[int, int]]] = {}
        names = ("time_ns", "ManagedThreadID", "OSThreadID", "thread_id")
        rows = sorted(_rows(created, *names))
        told = whole_of((row[2] for row in rows), {*runs.thread.tolist(), *(row[3] for row in rows)})
        for (time, pointer, _, by), system in zip(rows, told, strict=True):
            mine = ends.get(pointer, [])
            place = bisect_right(mine, time)
            lives = self._lives.setdefault(system or by, [])
            if lives:
                # Its id is used again, so that the one before is gone.
                lives[-1] = lives[-1][0], min(lives[-1][1], time)
            lives.append((time, mine[place] if place < len(mine) else FOREVER))

    def after(self, thread: NDArray[np.uint64], since: Ints) -> Ints:
        """When each thread, which lived at a moment, ended; `FOREVER` where that is unknown."""
        found = np.full(len(thread), FOREVER, dtype=np.int64)
        gone = unseen(self._runs, thread, since)
        if gone.any():
            last = self._runs.last[np.searchsorted(self._runs.thread, thread[gone], side="right") - 1]
            found[gone] = np.maximum(last + self._runs.sampling.half_ns, since[gone])
        for row, (number, moment) in enumerate(zip(thread.tolist(), since.tolist(), strict=True)):
            lives = self._lives.get(number, ())
            for start, end in lives:
                # What began before the first creation was of a thread that had the id before.
                if start > moment:
                    found[row] = min(found[row], start)
                    break
                if end > moment:
                    found[row] = min(found[row], end)
                    break
        return found


def _rows(events: Gathered, *names: str) -> list[tuple[int, ...]]:
    return list(zip(*(field_numbers(events, name).tolist() for name in names), strict=True))
