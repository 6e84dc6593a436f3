"""Values of a window → the summary of each series. Works with columns; knows no texts except the kinds of series.

Means are over measurements where their counts were recorded; quantiles have no mean, since they cannot be averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import groups, nearest_rank
from clrevents.analysis.reports.counters.counter_columns import NO_COUNT, Floats, Ints, Mask
from clrevents.analysis.reports.counters.counter_values import NO_INTERVAL, CounterValues, SeriesKey

INCREASES: Final = ("rate", "counter")
"""Kinds whose value is an increase."""
MEASURED: Final = ("mean", "histogram")
"""Kinds whose value is the mean of measurements."""


@frozen
class SeriesSums:
    """The summary of one series' values; None where unknown."""

    count: int
    empty: int
    first: float | None = None
    last: float | None = None
    min: float | None = None
    mean: float | None = None
    max: float | None = None
    total: float | None = None
    per_second: float | None = None
    measurements: int | None = None
    interval_ns: int | None = None


def series_sums(values: CounterValues, keys: Sequence[SeriesKey]) -> list[tuple[int, SeriesSums]]:
    """The sums of each series that has a row among these values, by its number."""
    # There may be as many series as values: what can be done once is not done for each.
    known = values.known
    with np.errstate(over="ignore", invalid="ignore"):
        return [(n, _summed(values, rows, rows[known[rows]], keys[n])) for n, rows in groups(values.series)]


def _summed(values: CounterValues, rows: Ints, known: Ints, key: SeriesKey) -> SeriesSums:
    intervals = np.sort(values.interval_ns[rows])
    intervals = intervals[intervals != NO_INTERVAL]
    interval = nearest_rank(intervals, 50)
    if not len(known):
        return SeriesSums(0, len(rows), interval_ns=interval)
    value = values.value[known]
    found: dict[str, Any] = {"interval_ns": interval, "first": _number(value[0]), "last": _number(value[-1])}
    if key.kind in MEASURED and key.quantile is None:
        found |= _of_measurements(values, known, key.kind)
    else:
        mean = None if key.quantile is not None else _total(value / len(value))
        found |= {"min": _number(value.min()), "mean": mean, "max": _number(value.max())}
    if key.kind in INCREASES:
        timed = values.interval_ns[known] != NO_INTERVAL
        seconds = values.interval_ns[known][timed].sum(dtype=np.float64) / 1e9
        found["total"] = _total(value)
        increase = _total(value[timed])
        found["per_second"] = None if increase is None or not seconds else _number(increase / seconds)
    elif key.kind == "histogram" and key.quantile is None:
        found["per_second"] = _measured_per_second(values, rows)
    return SeriesSums(len(known), len(rows) - len(known), **found)


def _of_measurements(values: CounterValues, known: Ints, kind: str) -> dict[str, Any]:
    """The range and mean of single measurements; none of these if an interval has no count."""
    counts = values.count[known]
    found: dict[str, Any] = {"min": _extreme(values.min[known], np.min), "max": _extreme(values.max[known], np.max)}
    if (counts == NO_COUNT).any():
        return found
    measured = int(counts.sum())
    sums = values.sum[known] if kind == "histogram" else values.value[known] * counts
    total = _total(sums)
    found |= {"measurements": measured, "mean": None if total is None else _number(total / measured)}
    return found | ({"total": total} if kind == "histogram" else {})


def _measured_per_second(values: CounterValues, rows: Ints) -> float | None:
    """How often there was a measurement: intervals without one count, too."""
    timed = rows[(values.interval_ns[rows] != NO_INTERVAL) & (values.count[rows] != NO_COUNT)]
    seconds = values.interval_ns[timed].sum(dtype=np.float64) / 1e9
    return _number(values.count[timed].sum(dtype=np.float64) / seconds) if seconds else None


def _extreme(values: Floats, of: Any) -> float | None:
    return None if np.isnan(values).any() else _number(of(values))


def _total(values: Floats) -> float | None:
    return _number(values.sum(dtype=np.float64))


def _number(value: Any) -> float | None:
    """None for what left the range of numbers."""
    found = float(value)
    return found if isfinite(found) else None


def in_order(series: NDArray[np.int64], count: int) -> Ints:
    """A new number for each of so many series: those of the first rows come first, those without a row last."""
    present, first = np.unique(series, return_index=True)
    found = np.full(count, count - 1, dtype=np.int64)
    found[present[np.argsort(first, kind="stable")]] = np.arange(len(present))
    return found


def within(values: CounterValues, which: Mask) -> CounterValues:
    """Those of the values that are meant."""
    return values if which.all() else values.take(np.flatnonzero(which))
