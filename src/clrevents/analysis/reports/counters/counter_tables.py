"""Values of a window → the summary of each series, and the tables and facts of the report.

Means are over measurements where their counts were recorded; quantiles have no mean, since they cannot be averaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import Ints, Mask, groups, nearest_rank
from clrevents.analysis.reports.counters.counter_values import (
    NO_COUNT,
    NO_INTERVAL,
    NO_THREAD,
    REASONS,
    CounterValues,
    Floats,
    MeterSessions,
    SeriesKey,
    Tags,
    split_tags,
)
from clrevents.table.table import Column, number_column, text_column

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
    summary: dict[str, Any] = {"interval_ns": interval, "first": _number(value[0]), "last": _number(value[-1])}
    if key.kind in MEASURED and key.quantile is None:
        summary |= _of_measurements(values, known, key.kind)
    else:
        mean = None if key.quantile is not None else _total(value / len(value))
        summary |= {"min": _number(value.min()), "mean": mean, "max": _number(value.max())}
    if key.kind in INCREASES:
        timed = values.interval_ns[known] != NO_INTERVAL
        seconds = values.interval_ns[known][timed].sum(dtype=np.float64) / 1e9
        summary["total"] = _total(value)
        increase = _total(value[timed])
        summary["per_second"] = None if increase is None or not seconds else _number(increase / seconds)
    elif key.kind == "histogram" and key.quantile is None:
        summary["per_second"] = _measured_per_second(values, rows)
    return SeriesSums(len(known), len(rows) - len(known), **summary)


def _of_measurements(values: CounterValues, known: Ints, kind: str) -> dict[str, object]:
    """The range and mean of single measurements; none of these if an interval has no count."""
    counts = values.count[known]
    summary: dict[str, object] = {
        "min": _extreme(values.min[known], np.min),
        "max": _extreme(values.max[known], np.max),
    }
    if (counts == NO_COUNT).any():
        return summary
    measured = int(counts.sum())
    sums = values.sum[known] if kind == "histogram" else values.value[known] * counts
    total = _total(sums)
    summary |= {"measurements": measured, "mean": None if total is None else _number(total / measured)}
    return summary | ({"total": total} if kind == "histogram" else {})


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
    number = float(value)
    return number if isfinite(number) else None


def in_order(series: NDArray[np.int64], count: int) -> Ints:
    """A new number for each of so many series: those of the first rows come first, those without a row last."""
    present, first = np.unique(series, return_index=True)
    numbers = np.full(count, count - 1, dtype=np.int64)
    numbers[present[np.argsort(first, kind="stable")]] = np.arange(len(present))
    return numbers


def within(values: CounterValues, which: Mask) -> CounterValues:
    """Those of the values that are meant."""
    return values if which.all() else values.take(np.flatnonzero(which))


@table_row(at="time_ns", threads=("thread_id",), text="tags")
class CounterValue(Row):
    """One published value, or one quantile of a histogram."""

    series_row: cells.RowNumber = column("The row of its series.", hidden=True)
    time_ns: cells.Ns = column("When it was published: at the end of its interval.")
    provider: cells.CodeName = column("The EventSource, or the meter.")
    name: cells.CodeName = column("The counter, or the instrument.")
    tags: cells.PrivateText = column("Its tags as written, empty for none; for an EventCounter, its metadata.")
    label: cells.PrivateText = column("Name, tags and quantile as one text, for charts.", hidden=True)
    kind: cells.Word = column("`rate`, `mean` (EventCounters), `counter`, `updown`, `gauge` or `histogram` (meters).")
    quantile: cells.Number | None = column("Which quantile of a histogram this is; null for all other values.")
    value: cells.Number | None = column(
        "For `rate` and `counter`, the increase in the interval; for `updown` and `gauge`, the level; for `mean` "
        "and `histogram`, the mean of the interval's measurements, or their quantile; null if there is none."
    )
    unit: cells.CodeName = column("The unit of the value, empty for none.")
    interval_ns: cells.DurationNs | None = column("The length of its interval; null if unknown.")
    per_second: cells.Number | None = column(
        "The increase in the interval, or the number of measurements of a `histogram`, divided by its length; null for "
        "other kinds."
    )
    change: cells.Number | None = column(
        "The increase in the interval, for `updown` too; null for other kinds.", hidden=True
    )
    total: cells.Number | None = column("For a meter's counter, its sum since the session began.", hidden=True)
    count: cells.Count | None = column("The number of measurements in the interval; null if unknown.", hidden=True)
    sum: cells.Number | None = column("The sum of a histogram's measurements.", hidden=True)
    min: cells.Number | None = column("The smallest measurement of the interval.", hidden=True)
    max: cells.Number | None = column("The largest measurement of the interval.", hidden=True)
    stddev: cells.Number | None = column("The standard deviation of the interval's measurements.", hidden=True)
    reason: cells.Word | None = column(
        "Why there is no value: `not a number`, `infinite`, `unreadable`, `missing` (the event has no such field) or"
        " `empty` (nothing was measured)."
    )
    unread: cells.PrivateText | None = column("The text that could not be read as a number.", hidden=True)
    session_id: cells.PrivateText | None = column(
        "The metrics session that published it; null for EventCounters.", hidden=True
    )
    thread_id: cells.ThreadId | None = column("The thread that wrote it.", hidden=True)


@table_row(text="tags")
class CounterSeries(Row):
    """All values of one counter with the same tags, in the window."""

    row: cells.RowNumber = column("Its number, in order of first values.", hidden=True)
    provider: cells.CodeName = column("The EventSource, or the meter.")
    name: cells.CodeName = column("The counter, or the instrument.", importance=0)
    tags: cells.PrivateText = column("Its tags as written, empty for none; for an EventCounter, its metadata.")
    quantile: cells.Number | None = column(
        "Which quantile of a histogram it is; null for all other series.", importance=3
    )
    kind: cells.Word = column("`rate`, `mean` (EventCounters), `counter`, `updown`, `gauge` or `histogram` (meters).")
    unit: cells.CodeName = column("The unit of the values, empty for none.", importance=1)
    count: cells.Count = column("How many values there are.")
    empty: cells.Count = column("How many have no value, for any reason.", hidden=True)
    first: cells.Number | None = column("The first value.", hidden=True)
    last: cells.Number | None = column("The last value.", importance=1)
    min: cells.Number | None = column(
        "The smallest value; for `mean` and `histogram`, the smallest measurement, null if unknown."
    )
    mean: cells.Number | None = column(
        "The mean of the values; for `mean` and `histogram`, the mean of all measurements, null for quantiles.",
        importance=1,
    )
    max: cells.Number | None = column(
        "The largest value; for `mean` and `histogram`, the largest measurement, null if unknown."
    )
    total: cells.Number | None = column(
        "The sum of all increases of a `rate` or `counter`, or of all measurements of a `histogram`."
    )
    per_second: cells.Number | None = column(
        "The increases, or the number of measurements of a `histogram`, divided by the intervals in which they were "
        "counted; null for other kinds."
    )
    measurements: cells.Count | None = column("The number of measurements of a `mean` or `histogram`.")
    p50: cells.Number | None = column("The median of a histogram's last interval; null if it was not published.")
    p95: cells.Number | None = column("The quantile 0.95 of the same interval.")
    p99: cells.Number | None = column("The quantile 0.99 of the same interval.")
    interval_ns: cells.DurationNs | None = column("The median interval; null if unknown.")
    display_name: cells.CodeName | None = column("Its display name; null without one.", hidden=True)
    instrument: cells.Word | None = column("The type of the instrument; null if it was not announced.", hidden=True)
    version: cells.CodeName | None = column("The version of the meter; null without one.", hidden=True)
    tag_names: tuple[cells.CodeName, ...] = column("The names of the tags.", hidden=True)
    tag_values: tuple[cells.PrivateText, ...] = column("The values of the tags, in the same order.", hidden=True)
    tags_ambiguous: cells.Flag = column(
        "The tags can be split in more than one way, or are not a list of tags.", hidden=True
    )
    session_id: cells.PrivateText | None = column(
        "The metrics session that published it; null for EventCounters.", hidden=True
    )
    other_session: cells.Flag = column("That session belongs to another tool.", hidden=True)


@table_row
class CountersFacts:
    """The facts of a report on counters."""

    counter_interval_ns: cells.DurationNs | None = column("The median interval of EventCounters; null without any.")
    instruments: cells.Count | None = column("The instruments that the process has; null if it did not announce them.")
    instruments_recorded: cells.Count | None = column("Those of them that were recorded; null with the former.")
    metrics_interval_ns: cells.DurationNs | None = column("The median interval of metrics; null without any.")
    sessions: tuple[cells.PrivateText, ...] = column("The ids of all metrics sessions.")
    other_sessions: tuple[cells.PrivateText, ...] = column("The ids of those that belong to other tools.")


_QUANTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""Those that the runtime publishes, as columns."""
_LABELLED: Final = 200
"""The most characters of a name and its tags in a label."""


def split(key: SeriesKey) -> Tags:
    """The tags of a series; without names where its text cannot be split into a list."""
    pairs = split_tags(key.tags, ":" if key.session is None else "=")
    return Tags(ambiguous=True) if pairs is None else pairs


def value_rows(context: Context, values: CounterValues, keys: Sequence[SeriesKey]) -> ReportTable[CounterValue]:
    """Each value."""
    increases = np.array([key.kind in INCREASES for key in keys], dtype=np.bool_)
    seconds = np.where(values.interval_ns == NO_INTERVAL, np.nan, values.interval_ns / 1e9)
    increase = np.where(increases[values.series] if len(keys) else False, values.value, np.nan)
    measured = np.array([key.kind == "histogram" for key in keys], dtype=np.bool_)
    measured = (measured[values.series] if len(keys) else False) & (values.count != NO_COUNT)
    increase = np.where(measured, values.count, increase)
    with np.errstate(over="ignore"):
        per_second = increase / seconds

    def text(of: Callable[[SeriesKey], str | None]) -> Column:
        return text_column([*map(of, keys)], values.series)

    quantiles = np.array([np.nan if key.quantile is None else key.quantile for key in keys], dtype=np.float64)
    columns: dict[str, Cells] = {
        "series_row": values.series,
        "time_ns": values.time_ns,
        "provider": text(lambda key: key.provider),
        "name": text(lambda key: key.name),
        "tags": text(lambda key: key.tags),
        "label": text_column(_labels(keys), values.series),
        "kind": text(lambda key: key.kind),
        "quantile": _finite(quantiles[values.series] if len(keys) else values.value),
        "value": _finite(values.value),
        "unit": text(lambda key: key.unit),
        "interval_ns": _whole(values.interval_ns, NO_INTERVAL),
        "per_second": _finite(per_second),
        "count": _whole(values.count, NO_COUNT),
        **{name: _finite(getattr(values, name)) for name in ("change", "total", "sum", "min", "max", "stddev")},
        "reason": text_column(REASONS, values.reason),
        "unread": [values.unread.get(row) for row in range(len(values))],
        "session_id": text(lambda key: key.session),
        "thread_id": number_column("uint64", values.thread, values.thread != np.uint64(NO_THREAD)),
    }
    return context.table(CounterValue, columns)


def series_rows(
    context: Context,
    sums: Sequence[tuple[int, SeriesSums]],
    keys: Sequence[SeriesKey],
    display_names: Mapping[int, str],
    sessions: MeterSessions,
) -> ReportTable[CounterSeries]:
    """Each series, by provider, name, tags and quantile."""
    others = sessions.others()
    last = {keys[number]: sums_of_series.last for number, sums_of_series in sums}
    rows = []
    for number, sums_of_series in sums:
        key = keys[number]
        tags = split(key)
        quantiles: dict[str, Any] = {
            name: last.get(key._replace(quantile=quantile)) if key.quantile is None else None
            for name, quantile in _QUANTILES.items()
        }
        rows.append(
            CounterSeries(
                row=number,
                provider=key.provider,
                name=key.name,
                tags=key.tags,
                quantile=key.quantile,
                kind=key.kind,
                unit=key.unit,
                **attrs.asdict(sums_of_series),
                **quantiles,
                display_name=display_names.get(number) or None,
                instrument=sessions.instrument(key.session, key.provider, key.version, key.name) or None,
                version=key.version or None,
                tag_names=tags.names,
                tag_values=tags.values,
                tags_ambiguous=tags.ambiguous,
                session_id=key.session,
                other_session=key.session in others,
            )
        )
    rows.sort(key=lambda row: (row.provider, row.name, row.tags, row.session_id or "", row.quantile or 0))
    return context.summed(CounterSeries, rows)


def a_line_each(rows: ReportTable[CounterSeries]) -> ReportTable[CounterSeries]:
    """The series without those of quantiles, which stand in the line of their instrument."""
    return rows.take(np.flatnonzero(~rows.column("quantile").known))


def _labels(keys: Sequence[SeriesKey]) -> list[str]:
    """A unique text for each series; the beginning of one too long for a label."""
    labels = []
    for key in keys:
        quantile = "" if key.quantile is None else f" p{100 * key.quantile:g}"
        name, tags = (text if len(text) <= _LABELLED else f"{text[:_LABELLED]}\u2026" for text in (key.name, key.tags))
        labels.append(f"{name}{{{tags}}}{quantile}" if tags else f"{name}{quantile}")
    often = Counter(labels)
    return [
        label if often[label] == 1 else f"{label} ({key.provider}, series {number})"
        for number, (key, label) in enumerate(zip(keys, labels, strict=True))
    ]


def _finite(values: Floats) -> Column:
    known = np.isfinite(values)
    return number_column("float64", np.where(known, values, 0), known)


def _whole(values: Ints, none: int) -> Column:
    known: NDArray[np.bool_] = values != none
    return number_column("int64", np.where(known, values, 0), known)
