"""Runs of equal samples → stretches of time: a state reaches to the middle between two samples.

Which samples are near is the rule of `sample_holding`; where none is, a stretch ends half a period after the last one.
Knows no names of code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.events.gc_suspensions import SUSPENDING, stops_of
from clrevents.analysis.shared.samples.sample_runs import RunMaker, SampleRuns
from clrevents.analysis.shared.samples.samples import SAMPLES
from clrevents.analysis.shared.weights.weighing import SAMPLE_TYPE

Ints: TypeAlias = NDArray[np.int64]


def stretches(runs: SampleRuns, duration_ns: int) -> tuple[Ints, Ints]:
    """From when to when each run lasted, in ns; no two of a thread overlap."""
    half = runs.period_ns // 2
    starts, ends = runs.first - half, runs.last + half
    near = (runs.thread[1:] == runs.thread[:-1]) & runs.sampling.near(runs.last[:-1], runs.first[1:])
    middle = runs.last[:-1] + (runs.first[1:] - runs.last[:-1]) // 2
    starts[1:][near] = middle[near]
    ends[:-1][near] = middle[near]
    return np.maximum(starts, 0), np.maximum(np.minimum(ends, duration_ns), 0)


SAMPLER_EVENTS: Final = (SAMPLES, SUSPENDING)
"""What tells of samples, and of when they were taken."""


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
