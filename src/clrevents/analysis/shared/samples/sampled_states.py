"""Runs of equal samples → stretches of time: a state reaches to the middle between two samples.

Where no sample follows within three periods nobody knows, and the stretch ends half a period after the last one.
Knows no names and no events.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.shared.samples.sample_runs import HELD, RunMaker, SampleRuns
from clrevents.analysis.shared.weights.weighing import SAMPLE_TYPE

Ints: TypeAlias = NDArray[np.int64]


def stretches(runs: SampleRuns, duration_ns: int) -> tuple[Ints, Ints]:
    """From when to when each run lasted, in ns; no two of a thread overlap."""
    half = runs.period_ns // 2
    starts, ends = runs.first - half, runs.last + half
    near = (runs.thread[1:] == runs.thread[:-1]) & (runs.first[1:] - runs.last[:-1] <= HELD * runs.period_ns)
    middle = runs.last[:-1] + (runs.first[1:] - runs.last[:-1]) // 2
    starts[1:][near] = middle[near]
    ends[:-1][near] = middle[near]
    return np.maximum(starts, 0), np.maximum(np.minimum(ends, duration_ns), 0)


def keep_samples(runs: RunMaker, samples: Gathered | None) -> None:
    """Make runs of the next samples whose thread is known."""
    if samples is None:
        return
    known = np.flatnonzero(samples.column("thread_id").known)
    runs.take(
        samples.numbers("thread_id").astype(np.uint64)[known],
        samples.numbers("time_ns")[known],
        samples.numbers("stack_id").astype(np.int64)[known],
        samples.numbers(SAMPLE_TYPE).astype(np.int64)[known],
    )
