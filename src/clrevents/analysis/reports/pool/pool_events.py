"""The pool's own events, and those of its queue → adjustments, numbers of threads, limits, and waits of items.

Items are paired by id, first in first out; four kinds of events record them, which are kept apart. Knows what the
events' fields mean; draws no conclusion from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable
from clrevents.analysis.gathering.groups import (
    NONE,
    Gathered,
    Ints,
    changes,
    either,
    first_in_first_out,
    matched,
    nearest_rank,
    nulled,
    picked,
)
from clrevents.analysis.reports.pool.pool_rows import QueuedItem, QueueLatency, QueueLength
from clrevents.analysis.reports.pool.starvation import Goal
from clrevents.analysis.shared.events.event_spans import field_known, field_numbers
from clrevents.schema.registry import FRAMEWORK, TPL
from clrevents.schema.runtime_flags import ThreadAdjustmentReason

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

    def goals(self, least: int | None) -> list[Goal]:
        """The adjustments in order of time. `least` is the configured minimum, where it is known."""
        rows = self._events[ADJUSTED]
        reasons = map(ThreadAdjustmentReason, rows.numbers("Reason").tolist())
        goals = rows.numbers("NewWorkerThreadCount").tolist()
        return [*map(Goal, _times(rows).tolist(), reasons, [least, *goals], goals)]

    def adjustments(self, goals: Sequence[Goal]) -> dict[str, Cells]:
        """The columns of the table."""
        rows = self._events[ADJUSTED]
        return {
            "time_ns": [goal.time for goal in goals],
            "reason": [str(goal.reason) for goal in goals],
            "workers": [goal.goal for goal in goals],
            "change": [None if goal.before is None else goal.goal - goal.before for goal in goals],
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

    def limits(self) -> dict[str, Ints]:
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

    def throughput(self) -> dict[str, Cells]:
        """The columns of the table: the measurements, each with the state recorded right after it."""
        samples, stats = self._events[_SAMPLED], self._events[_STATS]
        state = {name: _finite(stats, name) for name in _MEASURED}
        measured = _finite(samples, "Throughput")
        sides = [(place, 0, row) for row, place in enumerate(samples.places.tolist())]
        sides += [(place, 1, row) for row, place in enumerate(stats.places.tolist())]
        threads = _threads(samples), _threads(stats)
        times = _times(samples).tolist(), _times(stats).tolist()
        waiting: dict[int | None, int] = {}
        lines: list[list[Any]] = []
        for _, side, row in sorted(sides):
            thread = threads[side][row]
            if side == 0:
                waiting[thread] = len(lines)
                lines.append([times[0][row], thread, measured[row], None])
            elif thread in waiting:
                lines[waiting.pop(thread)][3] = row
            else:
                lines.append([times[1][row], thread, state["Throughput"][row], row])

        def values_of(name: str) -> list[float | None]:
            return [None if row[3] is None else state[name][row[3]] for row in lines]

        return {
            "time_ns": [row[0] for row in lines],
            "throughput": [row[2] for row in lines],
            "ratio": values_of("ThroughputRatio"),
            "confidence": values_of("Confidence"),
            "control": values_of("NewControlSetting"),
            "thread_id": [row[1] for row in lines],
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


_TASK: Final = "task"
_SCHEDULER: Final = "OriginatingTaskSchedulerID"
_LONG_RUNNING: Final = 2
"""The option of a task that gets a thread of its own, and never is in the queue of the pool."""


@frozen
class ItemSource:
    """Two events, their fields with the item's id, and `further` ones of the first."""

    name: str
    enqueue: str
    dequeue: str
    keys: tuple[str, ...]
    further: tuple[str, ...] = ()


SOURCES: Final = (
    ItemSource("work", f"{FRAMEWORK}/ThreadPoolEnqueueWork", f"{FRAMEWORK}/ThreadPoolDequeueWork", ("workID",)),
    ItemSource(
        _TASK,
        f"{TPL}/TaskScheduled",
        f"{TPL}/TaskStarted",
        ("TaskID",),
        ("OriginatingTaskSchedulerID", "TaskCreationOptions"),
    ),
    ItemSource("native", "runtime/ThreadPoolEnqueue", "runtime/ThreadPoolDequeue", ("ClrInstanceID", "WorkID")),
    ItemSource(
        "io", "runtime/ThreadPoolIOEnqueue", "runtime/ThreadPoolIODequeue", ("ClrInstanceID", "NativeOverlapped")
    ),
)
"""All of them; metrics are based on the first one with items, because it records most items. Never on I/O."""
ITEM_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    event: (*_HEADERS, *source.keys, *further)
    for source in SOURCES
    for event, further in ((source.enqueue, source.further), (source.dequeue, ()))
}
"""What is needed of each event."""


@frozen(eq=False)
class Items:
    """The items of one source; a time is `NONE` if unknown."""

    source: str
    enqueued: Ints
    dequeued: Ints
    ids: NDArray[np.uint64]
    own_threads: int = 0
    """Tasks with a thread of their own, which are left out."""
    schedulers: int = 0

    def __len__(self) -> int:
        return len(self.enqueued)

    @property
    def both(self) -> NDArray[np.bool_]:
        """Which were queued and taken in the trace."""
        return np.asarray((self.enqueued != NONE) & (self.dequeued != NONE))

    @property
    def begins(self) -> Ints:
        """Where each counts: when it was queued, otherwise when it was taken."""
        return np.where(self.enqueued != NONE, self.enqueued, self.dequeued)


def items_of(source: ItemSource, enqueues: Gathered, dequeues: Gathered) -> Items:
    """The items of one source."""
    begun, ended = matched([enqueues], [dequeues], source.keys, first_in_first_out)
    alone = [np.delete(np.arange(len(side)), rows) for side, rows in ((enqueues, begun), (dequeues, ended))]
    nobody = [np.full(len(side), NONE, dtype=np.int64) for side in alone]
    begin = np.concatenate((begun, alone[0], nobody[1])).astype(np.int64)
    end = np.concatenate((ended, nobody[0], alone[1])).astype(np.int64)
    order = np.argsort(either(enqueues.places, begin, dequeues.places, end), kind="stable")
    begin, end = begin[order], end[order]
    options = picked(field_numbers(enqueues, "TaskCreationOptions"), begin).astype(np.int64)
    own = (options & _LONG_RUNNING) != 0
    begin, end = begin[~own], end[~own]

    scheduled = (begin != NONE) & picked(field_known(enqueues, _SCHEDULER), begin)
    schedulers = picked(field_numbers(enqueues, _SCHEDULER), begin)[scheduled]
    key = source.keys[-1]
    ids = either(field_numbers(enqueues, key), begin, field_numbers(dequeues, key), end)

    def times(side: Gathered, rows: Ints) -> Ints:
        return np.where(rows != NONE, picked(field_numbers(side, "time_ns").astype(np.int64), rows), NONE)

    return Items(
        source.name,
        times(enqueues, begin),
        times(dequeues, end),
        ids.astype(np.int64).view(np.uint64),
        int(own.sum()),
        len(set(schedulers.tolist())),
    )


def item_table(context: Context, sources: Sequence[Items]) -> ReportTable[QueuedItem]:
    """Each item, in order of time by source."""
    values: dict[str, Cells] = {"source": [items.source for items in sources for _ in range(len(items))]}
    values["work_id"] = [value for items in sources for value in items.ids.tolist()]
    for name in ("enqueued", "dequeued"):
        values[f"{name}_ns"] = [
            value for items in sources for value in nulled(getattr(items, name), getattr(items, name) != NONE)
        ]
    values["latency_ns"] = [value for items in sources for value in nulled(items.dequeued - items.enqueued, items.both)]
    return context.table(QueuedItem, values)


def length_table(context: Context, sources: Sequence[Items]) -> ReportTable[QueueLength]:
    """How many items of each source wait, wherever that changes; what was queued before the trace waits from its
    begin on."""
    rows: dict[str, list[object]] = {"time_ns": [], "source": [], "items": []}
    for items in sources:
        queued = np.where(items.enqueued != NONE, items.enqueued, ALWAYS)
        dequeued = items.dequeued[items.dequeued != NONE]
        # Without counts, numpy.ma is loaded.
        times, _ = np.unique(np.concatenate((items.enqueued[items.enqueued != NONE], dequeued)), return_counts=True)
        waiting = np.searchsorted(np.sort(queued), times, "right") - np.searchsorted(np.sort(dequeued), times, "right")
        rows["time_ns"] += times.tolist()
        rows["source"] += [items.source] * len(times)
        # What was queued before a part and not taken in it, waits too.
        rows["items"] += waiting.tolist() if context.has_start else [None] * len(times)
    return context.table(QueueLength, rows)


def latency_table(context: Context, sources: Sequence[Items]) -> ReportTable[QueueLatency]:
    """Percentiles of each source that has items."""
    rows = []
    for items in sources:
        inside = context.window.holds(items.begins)
        waited = latencies(items, inside)
        rows.append(
            QueueLatency(
                source=items.source,
                items=len(waited),
                p50_ns=nearest_rank(waited, 50),
                p95_ns=nearest_rank(waited, 95),
                p99_ns=nearest_rank(waited, 99),
                max_ns=nearest_rank(waited, 100),
                before=int((inside & (items.enqueued == NONE)).sum()),
                never=int((inside & (items.dequeued == NONE)).sum()),
            )
        )
    return context.summed(QueueLatency, rows)


def latencies(items: Items, which: NDArray[np.bool_]) -> Ints:
    """How long these items waited, in rising order."""
    both = items.both & which
    return np.sort(items.dequeued[both] - items.enqueued[both])
