"""Weighted stacks made by hand, for tests of what adds them up and of what writes them into files. Opens no trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.shared.samples.samples import SampledThread, Samples
from clrevents.analysis.shared.weights.weighing import Unit

V = TypeVar("V")
Row: TypeAlias = tuple[int, int | float, tuple[str, ...], bool]
"""Thread, weight, stack with the outermost frame in front, and whether it was in native code or waiting."""


def hand_made(
    rows: Sequence[Row],
    *,
    timed: bool = True,
    unit: Unit = "nanoseconds",
    modules: Mapping[str, str] | None = None,
    reasons: Mapping[str, str] | None = None,
    threads: Mapping[int, SampledThread] | None = None,
    advice: str | None = None,
) -> Samples:
    """Samples in this order. A thread's samples follow one another from 1,000 ns on, each as long as it weighs."""
    names = _places(name for _, _, stack, _ in rows for name in stack)
    stacks = _places(stack for _, _, stack, _ in rows)
    numbers = _places(thread for thread, *_ in rows)
    frames = tuple(
        StackFrame(name, f"raw!{name}", (modules or {}).get(name, ""), (reasons or {}).get(name)) for name in names
    )
    now = dict.fromkeys(numbers, 1000)
    time = []
    for thread, weight, _, _ in rows:
        time.append(now[thread])
        now[thread] += round(weight)
    floats = any(isinstance(weight, float) for _, weight, _, _ in rows)
    return Samples(
        event="ThreadSample" if timed else "Sold",
        unit=unit,
        timed=timed,
        time_ns=np.array(time, dtype=np.int64),
        thread=np.array([numbers[thread] for thread, *_ in rows], dtype=np.int64),
        weight=np.array([row[1] for row in rows], dtype=np.float64 if floats else np.int64),
        stack=np.array([stacks[stack] for _, _, stack, _ in rows], dtype=np.int64),
        offsets=np.cumsum([0, *map(len, stacks)]).astype(np.int64),
        values=np.array([names[name] for stack in stacks for name in reversed(stack)], dtype=np.int64),
        threads=tuple((threads or {}).get(number, SampledThread(number, 42)) for number in numbers),
        frames=frames,
        external=np.array([row[3] for row in rows], dtype=np.bool_) if timed else None,
        advice=advice,
    )


def _places(values: Iterable[V]) -> dict[V, int]:
    """The number of each value, in order of their first appearance."""
    return {value: number for number, value in enumerate(dict.fromkeys(values))}
