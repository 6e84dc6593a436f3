"""EventCounters events → values: polled ones and statistics have a mean, incrementing ones an increase.

Their payload is one object; its fields are found by name, because their order differs. Knows no meters.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.reports.counters.counter_columns import EMPTY, NO_COUNT, NUMBER, EventFields, Ints
from clrevents.analysis.reports.counters.counter_values import CounterValues, SeriesKey, SeriesNumbers, as_interval

_WRAPPER: Final = "Payload"


@frozen(eq=False)
class ReadCounters:
    """Values, the names that programs show of series, by number, and when there were events in no known form."""

    values: CounterValues
    display_names: dict[int, str]
    odd_ns: Ints


def read_event_counters(rows: Gathered, numbers: SeriesNumbers) -> ReadCounters:
    """The values of some EventCounters events of one provider."""
    fields = EventFields(rows, _WRAPPER)
    assert rows.event is not None
    provider = rows.event[0]
    mean, increment = fields.numbers("Mean"), fields.numbers("Increment")
    names, types = fields.texts("Name"), fields.texts("CounterType")
    says_sum = np.array([text == "Sum" for text in types], dtype=np.bool_)
    says_mean = np.array([text == "Mean" for text in types], dtype=np.bool_)
    told = ~fields.missing("Mean"), ~fields.missing("Increment")
    is_rate = says_sum | (~says_mean & told[1] & ~told[0])
    is_mean = ~is_rate & (says_mean | told[0])
    named = np.array([bool(name) for name in names], dtype=np.bool_)
    kept = np.flatnonzero(named & (is_rate | is_mean))
    keys = [
        SeriesKey(provider, name or "", tags or "", "rate" if rate else "mean", None, None, "", unit or "")
        for name, tags, unit, rate in zip(
            names, fields.texts("Metadata"), fields.texts("DisplayUnits"), is_rate.tolist(), strict=True
        )
    ]
    series = numbers.of(keys[row] for row in kept.tolist())
    rate = is_rate[kept]
    value = np.where(rate, increment.values[kept], mean.values[kept])
    reason = np.where(rate, increment.reasons[kept], mean.reasons[kept])
    count = np.where(rate, NO_COUNT, fields.counts("Count")[kept])
    # Without a measurement in the interval the mean is written as 0, and the extremes are infinite.
    empty = (count == 0) & (reason == NUMBER)
    value, reason = np.where(empty, np.nan, value), np.where(empty, EMPTY, reason)
    places = {row: place for place, row in enumerate(kept.tolist())} if mean.unread or increment.unread else {}
    unread = {
        places[row]: text
        for side, wanted in ((mean, is_mean), (increment, is_rate))
        for row, text in side.unread.items()
        if row in places and wanted[row]
    }
    statistics: dict[str, Any] = {
        name: np.where(rate | empty, np.nan, fields.numbers(field).values[kept])
        for name, field in (("min", "Min"), ("max", "Max"), ("stddev", "StandardDeviation"))
    }
    values = CounterValues.of(
        fields,
        kept,
        series,
        value,
        reason,
        unread,
        interval_ns=as_interval(fields.numbers("IntervalSec").values[kept]),
        change=np.where(rate, value, np.nan),
        count=count,
        **statistics,
    )
    shown = fields.texts("DisplayName")
    display = {number: shown[row] or "" for number, row in zip(series.tolist(), kept.tolist(), strict=True)}
    return ReadCounters(values, display, np.delete(fields.time_ns, kept))
