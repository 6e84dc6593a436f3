"""Sparklines: what counters did over time, as small bars of text beside their series, all on the same axis of time.

A value covers the interval before it, where that is known. Draws the answer's values; computes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.counters.counter_tables import CounterSeries

Ints: TypeAlias = NDArray[np.int64]


def sparkline(values: Sequence[float | None], bars: str) -> str:
    """A bar for each value, a space for None. Bars begin at 0, or at the smallest value below it."""
    known = [value for value in values if value is not None]
    low, high = min((0.0, *known)), max((0.0, *known))
    top = len(bars) - 1
    # Halved, so that a span of all numbers stays one.
    half = high / 2 - low / 2
    return "".join(
        " " if value is None else bars[round((value / 2 - low / 2) / half * top) if half else 0] for value in values
    )


def sparklines(answer: Answer[Any], rows: ReportTable[CounterSeries], width: int, bars: str) -> list[str]:
    """What the values of each of these series were over the window that was asked for, or over the trace."""
    held = answer.table("values")
    if held.left_out is not None or not len(held):
        return [""] * len(rows)
    times, of = held.numbers("time_ns"), held.numbers("series_row")
    column = held.column("value")
    window, duration = answer.question.window, answer.question.trace.duration_ns
    low = min(int(times.min()), 0) if window.start_ns is None else window.start_ns
    last = int(times.max()) if duration is None else max(duration, int(times.max()))
    high = last + 1 if window.end_ns is None else min(window.end_ns, last + 1)
    span = max(high - low, 1)
    since, until = _bins(times - held.numbers("interval_ns") - low, times - low, span, width)
    order = np.argsort(of, kind="stable")
    in_order = of[order]
    found = []
    for number in rows.numbers("row").tolist():
        first, after = np.searchsorted(in_order, [number, number + 1])
        mine = order[first:after]
        mine = mine[column.known[mine]]
        found.append(sparkline(_largest(column.values[mine], since[mine], until[mine], width), bars))
    return found


def _bins(starts: Ints, ends: Ints, span: int, width: int) -> tuple[Ints, Ints]:
    """The first and the last part of the axis that each stretch fills by half; that of its middle, if there is none."""
    low, high = (np.clip(moments / span, -1, 2) * width for moments in (starts, ends))
    first, last = np.floor(low + 0.5), np.floor(high + 0.5) - 1
    middle = np.floor((low + high) / 2)
    short = last < first
    parts = (np.where(short, middle, side) for side in (first, last))
    since, until = (np.clip(part, 0, width - 1).astype(np.int64) for part in parts)
    return since, until


def _largest(values: NDArray[Any], since: Ints, until: Ints, width: int) -> list[float | None]:
    """The largest value of each part of the axis."""
    found: list[float | None] = []
    for place in range(width):
        here = values[(since <= place) & (until >= place)]
        found.append(float(here.max()) if len(here) else None)
    return found
