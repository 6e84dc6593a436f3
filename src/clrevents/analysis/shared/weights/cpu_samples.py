"""CPU samples of the Linux recorder: a thread that was on a processor when the recorder looked, once a period.

Knows their event, and that each weighs the recorder's period. Unlike the sample profiler's, they say nothing about
waiting threads, or about what a thread did between two of them.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from clrevents.analysis.framework.vocabulary.answer_values import TimeWindow
from clrevents.analysis.shared.weights.weighing import (
    SAMPLE_HEADERS,
    SampleColumns,
    WeighedColumns,
    weigh_events,
)
from clrevents.table.table import Table
from clrevents.trace import TraceInfo

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
_LARGEST: Final = (1 << 63) - 1


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
