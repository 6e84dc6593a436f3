"""Values that System.Diagnostics.Metrics published → columns of values, one for each quantile too.

All numbers except counts and sums are texts. A rate is the increase in an interval, not per second. Knows no intervals:
they come from the events around the values.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.reports.counters.counter_columns import (
    EMPTY,
    MISSING,
    NUMBER,
    EventFields,
    Ints,
    read_quantiles,
)
from clrevents.analysis.reports.counters.counter_values import CounterValues, SeriesKey, SeriesNumbers

COUNTER: Final = "CounterRateValuePublished"
UP_DOWN: Final = "UpDownCounterRateValuePublished"
GAUGE: Final = "GaugeValuePublished"
HISTOGRAM: Final = "HistogramValuePublished"
EXPONENTIAL: Final = "Base2ExponentialHistogramValuePublished"
_KINDS: Final = {
    COUNTER: "counter",
    UP_DOWN: "updown",
    GAUGE: "gauge",
    HISTOGRAM: "histogram",
    EXPONENTIAL: "histogram",
}
PUBLISHED: Final = tuple(_KINDS)
"""The events that publish values."""


@frozen(eq=False)
class ReadMeters:
    """Values, the session of each event, when there were events without an instrument, and how many histograms have
    quantiles that cannot be read.
    """

    values: tuple[CounterValues, ...]
    sessions: list[str | None]
    odd_ns: Ints
    unread_quantiles: int


def read_meter_values(rows: Gathered, numbers: SeriesNumbers) -> ReadMeters:
    """The values of some events of one of the kinds in `PUBLISHED`."""
    fields = EventFields(rows)
    assert rows.event is not None
    event = rows.event[1]
    meters, names = fields.texts("meterName"), fields.texts("instrumentName")
    kept = np.array([row for row, name in enumerate(names) if name and meters[row] is not None], dtype=np.int64)
    tags, sessions, versions, units = map(fields.texts, ("tags", "sessionId", "meterVersion", "unit"))
    ids = fields.counts("instrumentId")
    keys = [
        SeriesKey(
            meters[row] or "",
            names[row] or "",
            tags[row] or "",
            _KINDS[event],
            None,
            sessions[row] or "",
            versions[row] or "",
            units[row] or "",
            int(ids[row]),
        )
        for row in kept.tolist()
    ]
    odd = np.delete(fields.time_ns, kept)
    if event in (HISTOGRAM, EXPONENTIAL):
        main = _histograms(fields, kept, numbers.of(keys), event == EXPONENTIAL)
        quantiles, unread = _quantiles(fields, kept, keys, numbers)
        return ReadMeters((main, *quantiles), sessions, odd, unread)
    return ReadMeters((_numbers(fields, kept, numbers.of(keys), event),), sessions, odd, 0)


def _numbers(fields: EventFields, kept: Ints, series: Ints, event: str) -> CounterValues:
    """A counter's value is its increase in the interval; that of a gauge and of an up-down counter is its level."""
    shown = fields.numbers({COUNTER: "rate", UP_DOWN: "value", GAUGE: "lastValue"}[event])
    places = {row: place for place, row in enumerate(kept.tolist())} if shown.unread else {}
    more: dict[str, Any] = {}
    if event != GAUGE:
        more = {"change": fields.numbers("rate").values[kept], "total": fields.numbers("value").values[kept]}
    return CounterValues.of(
        fields,
        kept,
        series,
        shown.values[kept],
        shown.reasons[kept],
        {places[row]: text for row, text in shown.unread.items() if row in places},
        **more,
    )


def _histograms(fields: EventFields, kept: Ints, series: Ints, exponential: bool) -> CounterValues:
    """The mean of an interval, from the sum and the count of its measurements."""
    sums, counts = fields.numbers("sum"), fields.counts("count")[kept]
    total = sums.values[kept]
    measured = counts > 0
    reason = np.where(counts < 0, MISSING, np.where(measured, sums.reasons[kept], EMPTY))
    known = reason == NUMBER
    value = np.where(known, np.where(known, total, 0) / np.where(measured, counts, 1), np.nan)
    extremes = (("min", "minimum"), ("max", "maximum")) if exponential else ()
    more: dict[str, Any] = {name: fields.numbers(field).values[kept] for name, field in extremes}
    return CounterValues.of(fields, kept, series, value, reason, {}, count=counts, sum=total, **more)


def _quantiles(
    fields: EventFields, kept: Ints, keys: list[SeriesKey], numbers: SeriesNumbers
) -> tuple[list[CounterValues], int]:
    """A value for each quantile of each histogram."""
    read = cache(read_quantiles)
    texts = fields.texts("quantiles")
    rows, ranks, found, values, reasons = [], [], [], [], []
    unread = 0
    for row, key in zip(kept.tolist(), keys, strict=True):
        pieces, whole = read(texts[row] or "")
        unread += not whole
        for rank, (quantile, value, reason) in enumerate(pieces):
            rows.append(row)
            ranks.append(rank + 1)
            found.append(key._replace(quantile=quantile))
            values.append(value)
            reasons.append(reason)
    if not rows:
        return [], unread
    made = CounterValues.of(
        fields,
        np.array(rows, dtype=np.int64),
        numbers.of(found),
        np.array(values, dtype=np.float64),
        np.array(reasons, dtype=np.int64),
        {},
        np.array(ranks, dtype=np.int64),
    )
    return [made], unread
