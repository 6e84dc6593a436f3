"""Work items in the queue of the pool: what queued them, what took them, and how long that was.

Pairs by id, first in first out. Knows four kinds of events that record items, and keeps them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.gather import Gathered, matched
from clrevents.analysis.gathering.groups import NONE, either, first_in_first_out, nearest_rank, nulled, picked
from clrevents.analysis.reports.pool.pool_rows import QueuedItem, QueueLatency, QueueLength
from clrevents.analysis.shared.events.wait_events import field_known, field_numbers
from clrevents.schema.registry import FRAMEWORK, TPL

Ints: TypeAlias = NDArray[np.int64]

_HEADERS: Final = ("time_ns", "thread_id")
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
    alone = np.setdiff1d(np.arange(len(enqueues)), begun), np.setdiff1d(np.arange(len(dequeues)), ended)
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


def item_table(context: Context, found: Sequence[Items]) -> ReportTable[QueuedItem]:
    """Each item, in order of time by source."""
    values: dict[str, Any] = {"source": [items.source for items in found for _ in range(len(items))]}
    values["work_id"] = [value for items in found for value in items.ids.tolist()]
    for name in ("enqueued", "dequeued"):
        values[f"{name}_ns"] = [
            value for items in found for value in nulled(getattr(items, name), getattr(items, name) != NONE)
        ]
    values["latency_ns"] = [value for items in found for value in nulled(items.dequeued - items.enqueued, items.both)]
    return context.table(QueuedItem, values)


def length_table(context: Context, found: Sequence[Items]) -> ReportTable[QueueLength]:
    """How many items of each source wait, wherever that changes; what was queued before the trace waits from its
    begin on."""
    rows: dict[str, list[Any]] = {"time_ns": [], "source": [], "items": []}
    for items in found:
        queued = np.where(items.enqueued != NONE, items.enqueued, ALWAYS)
        taken = items.dequeued[items.dequeued != NONE]
        times = np.unique(np.concatenate((items.enqueued[items.enqueued != NONE], taken)))
        waiting = np.searchsorted(np.sort(queued), times, "right") - np.searchsorted(np.sort(taken), times, "right")
        rows["time_ns"] += times.tolist()
        rows["source"] += [items.source] * len(times)
        # What was queued before a part and not taken in it, waits too.
        rows["items"] += waiting.tolist() if context.has_start else [None] * len(times)
    return context.table(QueueLength, rows)


def latency_table(context: Context, found: Sequence[Items]) -> ReportTable[QueueLatency]:
    """Percentiles of each source that has items."""
    rows = []
    for items in found:
        inside = context.window.holds(items.begins)
        waited = latencies(items, inside)
        rows.append(
            {
                "source": items.source,
                "items": len(waited),
                "p50_ns": nearest_rank(waited, 50),
                "p95_ns": nearest_rank(waited, 95),
                "p99_ns": nearest_rank(waited, 99),
                "max_ns": nearest_rank(waited, 100),
                "before": int((inside & (items.enqueued == NONE)).sum()),
                "never": int((inside & (items.dequeued == NONE)).sum()),
            }
        )
    return context.summed(QueueLatency, rows)


def latencies(items: Items, which: NDArray[np.bool_]) -> Ints:
    """How long these items waited, in rising order."""
    both = items.both & which
    return np.sort(items.dequeued[both] - items.enqueued[both])
