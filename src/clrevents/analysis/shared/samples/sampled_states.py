"""Runs of equal samples → stretches of time: a state reaches to the middle between two samples.

Which samples are near, and how far they hold where none is, is the rule of `sample_holding`; the first and the last one
of a thread hold for half a period.
Knows no names of code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.gc_suspensions import SUSPENDING, stops_of
from clrevents.analysis.shared.samples.sample_runs import RunMaker, SampleRuns
from clrevents.analysis.shared.samples.samples import SAMPLES
from clrevents.analysis.shared.weights.sample_holding import TOLERATED
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
