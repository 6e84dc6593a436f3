"""What the operating system counted, as columns and metrics of the threads report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.answer_values import (
    NOT_COUNTED,
    Merge,
    Metric,
    MetricDeclaration,
    TimeWindow,
)
from clrevents.analysis.reports.threads.lives import ThreadLife
from clrevents.analysis.shared.processor.counted_events import Counts, counted_window
from clrevents.analysis.shared.processor.process_use import COMPILERS
from clrevents.analysis.shared.processor.thread_windows import portion
from clrevents.analysis.shared.samples.leaf_states import ThreadState

ENDED: Final = "ended"
"""The role of the row for threads that ended between two readings, or before the first one saw them."""
_UNREAD: Final = "the recorder could not read it"
_SUMS: Final = {
    "limit_periods": "ProcessLimits.Periods",
    "limited_periods": "ProcessLimits.ThrottledPeriods",
    "limited_total": "ProcessLimits.ThrottledNs",
    "machine_total": "MachineProcessorTime.BusyNs",
}


def _declared(name: str, unit: str, text: str, less: bool = False, merge: Merge = "sum") -> MetricDeclaration:
    return MetricDeclaration(name, unit, text, "less" if less else "neither", merge, evidence="counted")


COUNTED_METRICS: Final = (
    _declared("processor_total", "ns", "How long all threads together had a processor, as it was counted.", True),
    _declared("available_total", "ns", "How long all processors together that the process may use could be used."),
    _declared("machine_total", "ns", "How long all processors of the machine were busy, with whatever."),
    _declared("limit", "processors", "The limit of processors of the process's control group.", merge="none"),
    _declared("limit_periods", "count", "Periods of that limit in which the program wanted a processor."),
    _declared("limited_periods", "count", "Those of them in which the limit stopped it.", True),
    _declared("limited_total", "ns", "How long the limit stopped it; some kernels add up processors.", True),
    _declared("resident_peak", "bytes", "The most memory that the process was seen to have.", True, "max"),
    _declared("memory_limit", "bytes", "The limit of memory of its control group.", merge="none"),
    _declared("limited_ready", "ns", "The part of `ready_total` in seconds in which the limit stopped it.", True),
)
_BUSY: Final[tuple[ThreadState, ...]] = ("running", "native")


def counted_role(name: str) -> str:
    """What a thread is for that only counts know."""
    return "tiering" if name.startswith(COMPILERS) else "native"


def counted_columns(lives: Sequence[ThreadLife], counts: Counts | None, window: TimeWindow) -> dict[str, Any]:
    """The columns of threads that are counted; null where nothing was."""
    if counts is None:
        return {"processor_ns": [None] * len(lives), "thread_name": [None] * len(lives)}
    known = {*counts.windows.thread.tolist(), *counts.names}
    used = [
        sum(
            max(min(piece.end, window.high) - max(piece.start, window.low), 0)
            for piece in life.pieces
            if piece.doing.state in _BUSY and piece.doing.evidence == "counted"
        )
        for life in lives
    ]
    return {
        "processor_ns": [one if life.thread_id in known else None for one, life in zip(used, lives, strict=True)],
        "thread_name": [counts.names.get(life.thread_id) for life in lives],
    }


def ended_ns(counts: Counts, columns: Mapping[str, Any], window: TimeWindow) -> int:
    """What the process used by its own clock, and none of its threads."""
    return max(counts.used(window) - sum(one or 0 for one in columns["processor_ns"]), 0)


def with_ended(columns: Mapping[str, Any], used: int, counts: Counts) -> dict[str, Any]:
    """The columns with a row for the threads that ended, if they used anything."""
    if not used:
        return dict(columns)
    row = dict.fromkeys(columns)
    row |= {name: 0 for name in columns if name.endswith("_ns") and list(columns[name][:1]) != [None]}
    row |= {"thread_id": 0, "role": ENDED, "processor_ns": used}
    row |= {"start_ns": counts.until, "end_ns": counts.until, "start_evidence": "counted", "end_evidence": "counted"}
    return {name: [*column, row[name]] for name, column in columns.items()}


def counted_metrics(context: Context, counts: Counts | None, used: int, ready: int) -> dict[str, Metric]:
    """The metrics that are counted."""
    if counts is None:
        return {one.name: context.metric(one.name, None, reason=NOT_COUNTED) for one in COUNTED_METRICS}
    window = counted_window(context)
    found = {"processor_total": context.metric("processor_total", used)}
    if counts.windows.ready_known:
        found["ready_total"] = context.metric("ready_total", ready, evidence="counted")
    rows = counts.windows
    known: dict[str, int | float | None] = {
        **{name: counts.total(amount, window) for name, amount in _SUMS.items()},
        "available_total": counts.processors and counts.processors * counts.read_ns(window),
        "limit": counts.limit,
        "resident_peak": counts.peak("ProcessFacts.ResidentBytes", window),
        "memory_limit": counts.peak("ProcessLimits.MemoryLimitBytes", window),
        "limited_ready": int(portion(rows.start, rows.end, counts.limited_ready(), window).sum()),
    }
    for name, value in known.items():
        found[name] = context.metric(name, value, reason=None if value is not None else _UNREAD)
    return found
