"""The pool's own events → adjustments, numbers of threads over time, measurements, limits.

Knows what the events' fields mean; draws no conclusion from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import changes, nulled
from clrevents.analysis.reports.pool.starvation import Goal, Raise
from clrevents.analysis.shared.events.wait_events import field_numbers
from clrevents.schema.runtime_flags import ThreadAdjustmentReason

Ints: TypeAlias = NDArray[np.int64]

_HEADERS: Final = ("time_ns", "thread_id")
ADJUSTED: Final = "runtime/ThreadPoolWorkerThreadAdjustmentAdjustment"
_SAMPLED: Final = "runtime/ThreadPoolWorkerThreadAdjustmentSample"
_STATS: Final = "runtime/ThreadPoolWorkerThreadAdjustmentStats"
_LIMITS: Final = "runtime/ThreadPoolMinMaxThreads"
_WORKING: Final = "runtime/ThreadPoolWorkingThreadCount"
_WORKER: Final = tuple(
    f"runtime/ThreadPoolWorkerThread{name}" for name in ("Start", "Stop", "Wait", "RetirementStart", "RetirementStop")
)
"""Their thread is a worker, and they count the workers."""
_IO: Final = tuple(f"runtime/IOThread{name}" for name in ("Create", "Terminate", "Retire", "Unretire"))
_MEASURED: Final = ("Throughput", "ThroughputRatio", "Confidence", "NewControlSetting")

POOL_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    ADJUSTED: (*_HEADERS, "AverageThroughput", "NewWorkerThreadCount", "Reason"),
    _SAMPLED: (*_HEADERS, "Throughput"),
    _STATS: (*_HEADERS, *_MEASURED),
    _LIMITS: (
        *_HEADERS,
        *("MinWorkerThreads", "MaxWorkerThreads", "MinIOCompletionThreads", "MaxIOCompletionThreads"),
    ),
    _WORKING: (*_HEADERS, "Count"),
    **dict.fromkeys(_WORKER, (*_HEADERS, "ActiveWorkerThreadCount", "RetiredWorkerThreadCount")),
    **dict.fromkeys(_IO, (*_HEADERS, "IOThreadCount")),
}
"""What is needed of each event."""


class PoolEvents:
    """The events of one process, by selector."""

    def __init__(self, events: Mapping[str, Gathered]) -> None:
        self._events = events

    def goals(self) -> list[Goal]:
        """The adjustments in order of time."""
        rows = self._events[ADJUSTED]
        reasons = rows.numbers("Reason").tolist()
        goals = rows.numbers("NewWorkerThreadCount").tolist()
        return [
            Goal(time, ThreadAdjustmentReason(reason), goal)
            for time, reason, goal in zip(_times(rows).tolist(), reasons, goals, strict=True)
        ]

    def adjustments(self, steps: Sequence[tuple[Goal, Raise | None]], least: int | None) -> dict[str, Any]:
        """The columns of the table."""
        rows = self._events[ADJUSTED]
        goals = [goal.goal for goal, _ in steps]
        before = [least, *goals][: len(goals)]
        return {
            "time_ns": [goal.time for goal, _ in steps],
            "reason": [str(goal.reason) for goal, _ in steps],
            "workers": goals,
            "change": [None if was is None else goal - was for goal, was in zip(goals, before, strict=True)],
            "throughput": _finite(rows, "AverageThroughput"),
            "thread_id": _threads(rows),
        }

    def workers(self) -> frozenset[int]:
        """The threads that wrote an event as workers."""
        return frozenset(t for name in _WORKER for t in _threads(self._events[name]) if t is not None)

    def existing(self) -> tuple[Ints, Ints]:
        """Times, and how many workers there are from each of them on."""
        return _series([self._events[name] for name in _WORKER], "ActiveWorkerThreadCount")

    def sizes(self) -> list[tuple[str, Ints, Ints]]:
        """All numbers of threads over time: what, times, and the number from each of them on."""
        workers = [self._events[name] for name in _WORKER]
        return [
            ("goal", *_series([self._events[ADJUSTED]], "NewWorkerThreadCount")),
            ("workers", *self.existing()),
            ("retired", *_changes(*_series(workers, "RetiredWorkerThreadCount"), 0)),
            ("working", *_series([self._events[_WORKING]], "Count")),
            ("io", *_series([self._events[name] for name in _IO], "IOThreadCount")),
        ]

    def limits(self) -> dict[str, Any]:
        """The columns of the table."""
        rows = self._events[_LIMITS]
        fields = {
            "min_workers": "MinWorkerThreads",
            "max_workers": "MaxWorkerThreads",
            "min_io": "MinIOCompletionThreads",
            "max_io": "MaxIOCompletionThreads",
        }
        return {
            "time_ns": _times(rows),
            **{name: rows.numbers(field).astype(np.int64) for name, field in fields.items()},
        }

    def throughput(self) -> dict[str, Any]:
        """The columns of the table: the measurements, each with the state recorded right after it."""
        samples, stats = self._events[_SAMPLED], self._events[_STATS]
        state = {name: _finite(stats, name) for name in _MEASURED}
        measured = _finite(samples, "Throughput")
        sides = [(place, 0, row) for row, place in enumerate(samples.places.tolist())]
        sides += [(place, 1, row) for row, place in enumerate(stats.places.tolist())]
        threads = _threads(samples), _threads(stats)
        times = _times(samples).tolist(), _times(stats).tolist()
        waiting: dict[int | None, int] = {}
        found: list[list[Any]] = []
        for _, side, row in sorted(sides):
            thread = threads[side][row]
            if side == 0:
                waiting[thread] = len(found)
                found.append([times[0][row], thread, measured[row], None])
            elif thread in waiting:
                found[waiting.pop(thread)][3] = row
            else:
                found.append([times[1][row], thread, state["Throughput"][row], row])

        def told(name: str) -> list[float | None]:
            return [None if row[3] is None else state[name][row[3]] for row in found]

        return {
            "time_ns": [row[0] for row in found],
            "throughput": [row[2] for row in found],
            "ratio": told("ThroughputRatio"),
            "confidence": told("Confidence"),
            "control": told("NewControlSetting"),
            "thread_id": [row[1] for row in found],
        }


def _times(rows: Gathered) -> Ints:
    return rows.numbers("time_ns").astype(np.int64)


def _threads(rows: Gathered) -> list[int | None]:
    column = rows.column("thread_id")
    return nulled(column.filled(), column.known)


def _finite(rows: Gathered, name: str) -> list[float | None]:
    """A measured number; None if it is not a number."""
    column = rows.column(name)
    values = column.filled().astype(np.float64)
    return nulled(values, np.isfinite(values) & column.known)


def _series(events: Sequence[Gathered], name: str) -> tuple[Ints, Ints]:
    """A number recorded by several events, in order of time, wherever it changes."""
    places = np.concatenate([rows.places for rows in events])
    order = np.argsort(places, kind="stable")
    times = np.concatenate([_times(rows) for rows in events])[order]
    return _changes(times, np.concatenate([field_numbers(rows, name).astype(np.int64) for rows in events])[order])


def _changes(times: Ints, numbers: Ints, first: int | None = None) -> tuple[Ints, Ints]:
    """Where a number differs from the one before; the `first` one differs from this."""
    changed = changes(numbers)
    if first is not None and len(numbers):
        changed[0] = numbers[0] != first
    return times[changed], numbers[changed]
