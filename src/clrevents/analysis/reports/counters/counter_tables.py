"""Values, series and problems → the tables of the report. Splits tags; decides nothing about numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.model.collector import Context
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import as_columns
from clrevents.analysis.reports.counters.counter_columns import NO_COUNT, NO_THREAD, Floats, Ints
from clrevents.analysis.reports.counters.counter_rows import CounterProblem, CounterSeries, CounterValue
from clrevents.analysis.reports.counters.counter_series import INCREASES, SeriesSums
from clrevents.analysis.reports.counters.counter_texts import REASONS, Tags, read_time_span, split_tags
from clrevents.analysis.reports.counters.counter_values import NO_INTERVAL, CounterValues, SeriesKey
from clrevents.analysis.reports.counters.meter_sessions import MeterProblem, MeterSessions
from clrevents.table.build import Column, ColumnType, text_column

_LABELLED: Final = 200
"""Of so many characters are a name and tags in a label at most."""


def split(key: SeriesKey) -> Tags:
    """The tags of a series; without names where its text is no list that can be split."""
    found = split_tags(key.tags, ":" if key.session is None else "=")
    return Tags(ambiguous=True) if found is None else found


def value_rows(context: Context, values: CounterValues, keys: Sequence[SeriesKey]) -> ReportTable[CounterValue]:
    """Each value."""
    increases = np.array([key.kind in INCREASES for key in keys], dtype=np.bool_)
    seconds = np.where(values.interval_ns == NO_INTERVAL, np.nan, values.interval_ns / 1e9)
    increase = np.where(increases[values.series] if len(keys) else False, values.value, np.nan)
    with np.errstate(over="ignore"):
        per_second = increase / seconds

    def text(of: Callable[[SeriesKey], str | None]) -> Column:
        return text_column([*map(of, keys)], values.series)

    quantiles = np.array([np.nan if key.quantile is None else key.quantile for key in keys], dtype=np.float64)
    columns: dict[str, Any] = {
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
        "thread_id": Column(
            ColumnType("uint64"), len(values), values.thread, valid=values.thread != np.uint64(NO_THREAD)
        ),
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
    rows = []
    for number, found in sums:
        key = keys[number]
        tags = split(key)
        rows.append(
            {
                "row": number,
                "provider": key.provider,
                "name": key.name,
                "tags": key.tags,
                "quantile": key.quantile,
                "kind": key.kind,
                "unit": key.unit,
                **attrs.asdict(found),
                "scale_ns": read_time_span(key.scale),
                "display_name": display_names.get(number) or None,
                "instrument": sessions.instrument(key.session, key.provider, key.version, key.name) or None,
                "version": key.version or None,
                "tag_names": tags.names,
                "tag_values": tags.values,
                "tags_ambiguous": tags.ambiguous,
                "session_id": key.session,
                "other_session": key.session in others,
            }
        )
    rows.sort(
        key=lambda row: (row["provider"], row["name"], row["tags"], row["session_id"] or "", row["quantile"] or 0)
    )
    return context.summed(CounterSeries, rows)


def problem_rows(context: Context, problems: Sequence[MeterProblem]) -> ReportTable[CounterProblem]:
    """What was reported, in order of time."""
    rows = [
        {
            "time_ns": problem.time_ns,
            "kind": problem.kind,
            "session_id": problem.session,
            "message": problem.message,
            "thread_id": None if problem.thread == NO_THREAD else problem.thread,
        }
        for problem in problems
    ]
    return context.table(CounterProblem, as_columns(CounterProblem, rows))


def _labels(keys: Sequence[SeriesKey]) -> list[str]:
    """A text for each series, which no other one has; the beginning of what is too long for a label."""
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
    return Column(ColumnType("float64"), len(values), np.where(known, values, 0), valid=known)


def _whole(values: Ints, none: int) -> Column:
    known: NDArray[np.bool_] = values != none
    return Column(ColumnType("int64"), len(values), np.where(known, values, 0), valid=known)
