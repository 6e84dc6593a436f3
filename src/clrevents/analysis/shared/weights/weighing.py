"""Columns of events with stacks → the weight of each, its unit, and which of them lie in a window.

A sample of the profiler weighs the time to its thread's next sample; other events weigh 1, or the value of a field.
Knows no names of events or methods, and reads no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.gathering.distant_times import near_times
from clrevents.analysis.gathering.groups import numbered
from clrevents.table.build import ColumnType
from clrevents.table.table import Table

Ints: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.int64 | np.float64]
Unit: TypeAlias = Literal["nanoseconds", "bytes", "count", "none"]

SAMPLE_HEADERS: Final = ("time_ns", "thread_id", "stack_id")
"""The header columns that weighing needs, and `process_id` if there may be several processes."""
SAMPLE_TYPE: Final = "Type"
"""The field of the sample profiler's event that distinguishes native code from managed code."""
CAVEAT: Final = (
    "the sampler records where each managed thread is, whether it runs or waits: this is wall-clock time, not "
    "processor time"
)
"""How to read the weights of the sample profiler."""

_EXTERNAL: Final = 1
_UNKNOWN: Final = -1
_LARGEST: Final = (1 << 63) - 1
_BYTES: Final = ("bytes", "size", "amount", "amount64", "length")
_TIMES: Final = ("ns", "nanoseconds")


@attrs.frozen(eq=False)
class SampleColumns:
    """Columns of events of one kind, in order of time; threads and processes are -1 where unknown.

    `field` has the values of one payload field; None if none was requested. Of a text, it has places in `texts`.
    """

    time: Ints
    thread: Ints
    process: Ints
    stack_id: Ints
    field: NDArray[Any] | None
    texts: tuple[str | None, ...] | None = None

    @classmethod
    def of(
        cls, table: Table, field: str | None, process_id: int | None = None, values: NDArray[Any] | None = None
    ) -> SampleColumns:
        """Those of a table, which needs no column `process_id` where all events are of this process.

        `values` are those of the field where no column of the table has them.
        """
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
        held = values if field is None else table.column(field).filled()
        return cls(time, thread, process, stack_id, held)._ordered()

    @classmethod
    def joined(cls, parts: Sequence[SampleColumns]) -> SampleColumns:
        """All rows of several, which have numbers of a field."""
        none = np.zeros(0, dtype=np.int64)
        names = ("time", "thread", "process", "stack_id", "field")
        time, thread, process, stack_id, field = (
            np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in names
        )
        return cls(time, thread, process, stack_id, field)._ordered()

    def __len__(self) -> int:
        return len(self.time)

    def _ordered(self) -> SampleColumns:
        late = (np.diff(self.time) < 0).any()
        return self.take(np.argsort(self.time, kind="stable")) if late else self

    def take(self, rows: Ints) -> SampleColumns:
        """These rows in this order."""
        columns = (self.time[rows], self.thread[rows], self.process[rows], self.stack_id[rows])
        return SampleColumns(*columns, None if self.field is None else self.field[rows], self.texts)


@attrs.frozen(eq=False)
class WeighedColumns:
    """The events of a window: `shown` are their times cut to it, while those in `rows` are their own.

    `external` and `gap` (the time to the next sample of the thread, uncut, -1 for its last) are None unless the weights
    are times between samples.
    """

    rows: SampleColumns
    shown: Ints
    weight: Weights
    unit: Unit
    external: NDArray[np.bool_] | None = None
    gap: Ints | None = None


def weigh_times(rows: SampleColumns, window: TimeWindow) -> WeighedColumns:
    """The sample profiler's, whose field is `SAMPLE_TYPE`.

    A window's first stack is the one that a thread was seen with before.
    """
    order = np.lexsort((rows.time, rows.thread, rows.process))
    until = rows.time.copy()
    same = rows.thread[order][1:] == rows.thread[order][:-1]
    same &= rows.process[order][1:] == rows.process[order][:-1]
    until[order[:-1][same]] = rows.time[order[1:][same]]
    gap = np.full(len(rows), -1, dtype=np.int64)
    gap[order[:-1][same]] = (until - rows.time)[order[:-1][same]]
    kept = np.flatnonzero(window.meets(rows.time, until) & (window.high > window.low))
    weight = window.overlap(rows.time, until)[kept]
    rows = rows.take(kept)
    external = None if rows.field is None else rows.field == _EXTERNAL
    return WeighedColumns(rows, np.maximum(rows.time, window.low), weight, "nanoseconds", external, gap[kept])


def weigh_events(rows: SampleColumns, weight: str | None, window: TimeWindow) -> WeighedColumns:
    """Any events: each weighs 1, or what its field `weight` says unless that is a text.

    ValueError for weights that are below zero, not finite or too large together.
    """
    rows = rows.take(np.flatnonzero(window.holds(rows.time)))
    if weight is None or rows.field is None or rows.texts is not None:
        return WeighedColumns(rows, rows.time, np.ones(len(rows), dtype=np.int64), "count")
    return WeighedColumns(rows, rows.time, _weights(rows.field, weight), unit_of(weight))


def unit_of(field: str) -> Unit:
    """What a field's name says it is measured in."""
    name = field.lower()
    if name.endswith(_BYTES):
        return "bytes"
    return "nanoseconds" if name.endswith(_TIMES) else "none"


def _weights(values: NDArray[Any], name: str) -> Weights:
    """As 64-bit numbers whose sum is one too. ValueError for negative and unending ones."""
    if values.dtype.kind == "f":
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"{name!r} is negative or not a number in some events, so it cannot be a weight")
        return values.astype(np.float64)
    if values.dtype.kind == "i" and (values < 0).any():
        raise ValueError(f"{name!r} is negative in some events, so it cannot be a weight")
    if sum(values.tolist()) > _LARGEST:
        raise ValueError(f"{name!r} has a sum above 64 bits, so it cannot be a weight")
    return values.astype(np.int64)
