"""Columns of events with stacks → the weight of each, its unit, and which of them lie in a window.

A sample of the profiler is weighted by the time to its thread's next sample; one of the Linux recorder by its period,
for its thread was on a processor then and it says nothing about waiting; other events by 1, or the value of a field.
Knows no names of methods, and reads no trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.groups import Array, Ints, near_times, numbered
from clrevents.analysis.shared.weights.sample_runs import EXTERNAL, Sampling
from clrevents.table.table import ColumnType, Table
from clrevents.trace import TraceInfo

Weights: TypeAlias = NDArray[np.int64 | np.float64]
Unit: TypeAlias = Literal["nanoseconds", "bytes", "count", "none"]

SAMPLE_HEADERS: Final = ("time_ns", "thread_id", "stack_id")
"""The header columns that weighing needs, and `process_id` if there may be several processes."""
"""The field of the sample profiler's event that distinguishes native code from managed code."""
CAVEAT: Final = (
    "the sampler records where each managed thread is, whether it runs or waits: this is wall-clock time, not "
    "processor time"
)
"""How to read the weights of the sample profiler."""
SAFE_POINT_CAVEAT: Final = (
    "NativeAOT programs stop for samples at safe points only: time in loops and in native code is seen late, often in "
    "the method that called them"
)
"""How to read the stacks of those programs."""
COUNTED_CAVEAT: Final = (
    "the operating system counted the processor time of each thread; its division among samples is an estimate"
)
"""How to read what was counted."""

_NEVER: Final = -1
"""The type of what is no sample."""
_UNKNOWN: Final = -1
_ALONE: Final = -2
"""Stands for the time to the next sample of what is no sample."""
_LARGEST: Final = (1 << 63) - 1
_BYTES: Final = ("bytes", "size", "amount", "amount64", "length")
_TIMES: Final = ("ns", "nanoseconds")


@frozen(eq=False)
class SampleColumns:
    """Columns of events of one kind, in order of time; threads and processes are -1 where unknown.

    `field` has the values of one payload field; None if none was requested. Of a text, it has places in `texts`.
    """

    time: Ints
    thread: Ints
    process: Ints
    stack_id: Ints
    field: Array | None
    texts: tuple[str | None, ...] | None = None

    @classmethod
    def of(
        cls,
        table: Table,
        field: str | None,
        process_id: int | None = None,
        values: Array | None = None,
        left_out: tuple[str, int] | None = None,
    ) -> SampleColumns:
        """Those of a table, which needs no column `process_id` where all events are of this process.

        `values` are those of the field where no column of the table has them; `left_out` is another field and the bit
        of it that rows must not have.
        """
        if left_out is not None and len(table) and left_out[0] in table:
            flags = table.column(left_out[0]).filled(0).astype(np.int64)
            columns = cls.of(table, field, process_id, values)
            order = np.argsort(near_times(table.column("time_ns").filled(_UNKNOWN).astype(np.int64))[0], kind="stable")
            return columns.take(np.flatnonzero(flags[order] & left_out[1] == 0))
        if not len(table):
            none: Ints = np.zeros(0, dtype=np.int64)
            return cls(none, none, none, none, None if field is None and values is None else none)
        time, thread, stack_id = (table.column(name).filled(_UNKNOWN).astype(np.int64) for name in SAMPLE_HEADERS)
        time, _ = near_times(time)
        if "process_id" in table and process_id is None:
            process = table.column("process_id").filled(_UNKNOWN).astype(np.int64)
        else:
            process = np.full(len(time), _UNKNOWN if process_id is None else process_id, dtype=np.int64)
        if field is not None and table.column(field).type == ColumnType("string"):
            numbers, texts = numbered(table.column(field).tolist())
            return cls(time, thread, process, stack_id, numbers, tuple(texts))._ordered()
        field_values = values if field is None else table.column(field).filled()
        return cls(time, thread, process, stack_id, field_values)._ordered()

    @classmethod
    def joined(cls, parts: Sequence[SampleColumns]) -> SampleColumns:
        """All rows of several, which have numbers of a field."""
        return cls.behind(parts)._ordered()

    @classmethod
    def behind(cls, parts: Sequence[SampleColumns]) -> SampleColumns:
        """The same, the rows of one part after those of the other."""
        if len(parts) == 1:
            return parts[0]
        none = np.zeros(0, dtype=np.int64)
        names = ("time", "thread", "process", "stack_id", "field")
        time, thread, process, stack_id, field = (
            np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in names
        )
        return cls(time, thread, process, stack_id, field)

    def __len__(self) -> int:
        return len(self.time)

    def _ordered(self) -> SampleColumns:
        late = (np.diff(self.time) < 0).any()
        return self.take(np.argsort(self.time, kind="stable")) if late else self

    def take(self, rows: Ints) -> SampleColumns:
        """These rows in this order."""
        columns = (self.time[rows], self.thread[rows], self.process[rows], self.stack_id[rows])
        return SampleColumns(*columns, None if self.field is None else self.field[rows], self.texts)

    def of_threads(self, thread_ids: Sequence[int] | None) -> SampleColumns:
        """Those of some threads; None for all."""
        return self if thread_ids is None else self.take(np.flatnonzero(np.isin(self.thread, list(thread_ids))))


@frozen(eq=False)
class WeighedColumns:
    """The events of a window: `shown` are their times cut to it, while those in `rows` are their own.

    `external`, `unsampled` (what is no sample, but time of a thread that no sample covers) and `gap` (the time to the
    next sample of the thread, uncut, -1 for its last and what is none) are None unless the weights are times between
    samples.
    """

    rows: SampleColumns
    shown: Ints
    weight: Weights
    unit: Unit
    external: NDArray[np.bool_] | None = None
    unsampled: NDArray[np.bool_] | None = None
    gap: Ints | None = None
    away: bool = False
    """Whether weights are times of threads off a processor."""


def weigh_times(
    rows: SampleColumns,
    window: TimeWindow,
    stops: Mapping[int, Ints] = MappingProxyType({}),
    thread_ids: Sequence[int] | None = None,
) -> WeighedColumns:
    """All samples of the profiler, whose field is `SAMPLE_TYPE`; those of some threads, or all, are weighed.

    A sample weighs the time to its thread's next one, as far as `Sampling` says that it holds, and some before it if it
    is the first after a gap; the rest is a row of its own. `stops` are when the sampler stopped each process. A
    window's first stack is the one that a thread was seen with before.
    """
    parts = []
    for process in sorted({*rows.process.tolist()}) or [_UNKNOWN]:
        own = rows.take(np.flatnonzero(rows.process == process))
        parts.append(_sampled(own, Sampling.of(own.thread, own.time, stops.get(process, rows.time[:0]))))
    rows, since, until, gap = _joined(parts)
    meets = window.meets(since, until) & (window.high > window.low)
    if thread_ids is not None:
        meets &= np.isin(rows.thread, list(thread_ids))
    kept = np.flatnonzero(meets)
    kept = kept[np.argsort(since[kept], kind="stable")]
    weight = window.overlap(since, until)[kept]
    rows = rows.take(kept)
    external = None if rows.field is None else rows.field == EXTERNAL
    shown = np.maximum(since[kept], window.low)
    return WeighedColumns(rows, shown, weight, "nanoseconds", external, gap[kept] == _ALONE, np.maximum(gap[kept], -1))


_Spans: TypeAlias = tuple[SampleColumns, Ints, Ints, Ints]
"""Samples, and time that none covers: from when to when each lasts, and how long after it the next sample is."""


def _sampled(rows: SampleColumns, sampling: Sampling) -> _Spans:
    """The samples of one process, and then the time that none covers."""
    order = np.lexsort((rows.time, rows.thread))
    same = rows.thread[order][1:] == rows.thread[order][:-1]
    rows_of, next_of = order[:-1][same], order[1:][same]
    last, first = rows.time[rows_of], rows.time[next_of]
    since, until = rows.time.copy(), rows.time.copy()
    until[rows_of], since[next_of] = sampling.sides(last, first)
    apart = np.full(len(rows), -1, dtype=np.int64)
    apart[rows_of] = first - last
    gap = until[rows_of] < since[next_of]
    low, high = until[rows_of[gap]], since[next_of[gap]]
    none = np.zeros(len(low), dtype=np.int64)
    alone = attrs.evolve(rows.take(rows_of[gap]), time=low, stack_id=none, field=none + _NEVER)
    return _joined([(rows, since, until, apart), (alone, low, high, none + _ALONE)])


def _joined(parts: Sequence[_Spans]) -> _Spans:
    """All of them, one part after the other."""
    since, until, gap = (np.concatenate([part[place] for part in parts]) for place in (1, 2, 3))
    return SampleColumns.behind([part[0] for part in parts]), since, until, gap


def weigh_events(rows: SampleColumns, weight: str | None, window: TimeWindow) -> WeighedColumns:
    """Any events: each weighs 1, or what its field `weight` says unless that is a text.

    ValueError for weights that are below zero, not finite or too large together.
    """
    in_window = window.holds(rows.time)
    # There may be millions: each copy of them counts.
    rows = rows if in_window.all() else rows.take(np.flatnonzero(in_window))
    if weight is None or rows.field is None or rows.texts is not None:
        return WeighedColumns(rows, rows.time, np.ones(len(rows), dtype=np.int64), "count")
    return WeighedColumns(rows, rows.time, _weights(rows.field, weight), unit_of(weight))


def unit_of(field: str) -> Unit:
    """What a field's name says it is measured in."""
    name = field.lower()
    if name.endswith(_BYTES):
        return "bytes"
    return "nanoseconds" if name.endswith(_TIMES) else "none"


def _weights(values: Array, name: str) -> Weights:
    """As 64-bit numbers whose sum is one too. ValueError for negative and unending ones."""
    if values.dtype.kind == "f":
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"{name!r} is negative or not a number in some events, so it cannot be a weight")
        return values.astype(np.float64)
    if values.dtype.kind == "i" and (values < 0).any():
        raise ValueError(f"{name!r} is negative in some events, so it cannot be a weight")
    # Hardly ever does one need the sum itself, which takes an object for each.
    if len(values) and int(values.max()) * len(values) > _LARGEST and sum(values.tolist()) > _LARGEST:
        raise ValueError(f"{name!r} has a sum above 64 bits, so it cannot be a weight")
    return values.astype(np.int64)


CPU: Final = "Universal.Events/cpu"
"""Described by each trace; its id differs between them."""
CPU_EVENT: Final = ("Universal.Events", "cpu")
CPU_COUNT: Final = "Value"
"""The field that says how many samples an event stands for."""
CPU_COLUMNS: Final = (*SAMPLE_HEADERS, CPU_COUNT)
CPU_CAVEAT: Final = "CPU samples are of threads on a processor: this is processor time, without waiting"
"""How to read their weights."""

ON_PROCESSOR: Final = (
    "CPU samples are of threads on a processor, so they have no state; use `kind` to select whose code ran"
)

NO_THREAD: Final = (1 << 32) - 1
"""The recorder's number for threads that it no longer knows: those that are exiting."""


def cpu_field(table: Table) -> str | None:
    """The field with the counts; None where the trace does not describe it for all events."""
    return CPU_COUNT if CPU_COUNT in table and table.column(CPU_COUNT).known.all() else None


def weigh_cpu(rows: SampleColumns, info: TraceInfo, window: TimeWindow) -> WeighedColumns:
    """Those of a window, each weighing its count of periods in ns; 1 each where the period is unknown, or absurd."""
    period = info.sampling_interval_ns
    rows = attrs.evolve(rows, thread=np.where(rows.thread == NO_THREAD, -1, rows.thread))
    weighed = weigh_events(rows, None, window)
    counts = weighed.rows.field
    if period is None or counts is None or counts.dtype.kind not in "iu" or weighed.rows.texts is not None:
        return weighed
    if (counts < 0).any() or period * sum(counts.tolist()) > _LARGEST:
        return weighed
    return attrs.evolve(weighed, weight=counts.astype(np.int64) * period, unit="nanoseconds")


def capacity_ns(info: TraceInfo, duration_ns: int, window: TimeWindow) -> int | None:
    """The total time of all processors in the window; None if their number is unknown."""
    if info.processors is None:
        return None
    return info.processors * int(window.overlap(np.array([0]), np.array([duration_ns]))[0])
