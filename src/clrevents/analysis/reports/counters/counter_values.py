"""`CounterValues`: published values as columns of numbers, each with the number of its series; and the series' names.

Texts are held once for each series. EventCounters: polled ones and statistics have a mean, incrementing ones an
increase. Knows no window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.gathering.groups import Interned
from clrevents.analysis.reports.counters.counter_columns import EMPTY, NO_COUNT, NUMBER, EventFields, Floats, Ints, Mask

NO_INTERVAL: Final = -1
_LONGEST: Final = float(1 << 62)
_COLUMNS: Final[Mapping[str, type[Any]]] = {
    **dict.fromkeys(("place", "rank", "time_ns", "series", "interval_ns", "reason", "count"), np.int64),
    **dict.fromkeys(("value", "change", "total", "sum", "min", "max", "stddev"), np.float64),
    "thread": np.uint64,
}
"""The columns of values, and what they hold."""


class SeriesKey(NamedTuple):
    """What values must have in common to be one series. `session` is None for EventCounters."""

    provider: str
    name: str
    tags: str
    kind: str
    quantile: float | None
    session: str | None
    version: str
    unit: str
    instrument_id: int = -1
    """Tells meters of one name apart (.NET 9 and later); -1 if unknown, and for EventCounters."""


SeriesNumbers: TypeAlias = Interned[SeriesKey]


@frozen(eq=False)
class CounterValues:
    """Values in order of time; NaN, `NO_COUNT`, `NO_INTERVAL` and `NO_THREAD` mean unknown.

    `reason` is a place in `REASONS`, `rank` the order of values within one event. `unread` are texts that are not
    numbers, by row.
    """

    place: Ints
    rank: Ints
    time_ns: Ints
    thread: NDArray[np.uint64]
    series: Ints
    interval_ns: Ints
    value: Floats
    reason: Ints
    change: Floats
    total: Floats
    count: Ints
    sum: Floats
    min: Floats
    max: Floats
    stddev: Floats
    unread: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.place)

    @classmethod
    def of(
        cls,
        fields: EventFields,
        rows: Ints,
        series: Ints,
        value: Floats,
        reason: Ints,
        unread: Mapping[int, str],
        rank: Ints | None = None,
        **more: NDArray[Any],
    ) -> CounterValues:
        """Values of these rows of events; all that is given is of these rows, `unread` by the row among them."""
        count = len(rows)
        given: dict[str, Any] = {
            "interval_ns": np.full(count, NO_INTERVAL, dtype=np.int64),
            "count": np.full(count, NO_COUNT, dtype=np.int64),
            **{name: np.full(count, np.nan) for name in ("change", "total", "sum", "min", "max", "stddev")},
            **more,
        }
        return cls(
            place=fields.rows.places[rows],
            rank=np.zeros(count, dtype=np.int64) if rank is None else rank,
            time_ns=fields.time_ns[rows],
            thread=fields.thread[rows],
            series=series,
            value=value,
            reason=reason,
            unread=unread,
            **given,
        )

    @classmethod
    def joined(cls, parts: Sequence[CounterValues]) -> CounterValues:
        """All of them, in order of time."""
        whole: dict[str, Any] = {name: np.zeros(0, dtype=dtype) for name, dtype in _COLUMNS.items()}
        if parts:
            whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
        order = np.lexsort((whole["rank"], whole["place"]))
        unread: dict[int, str] = {}
        first = 0
        for part in parts:
            unread.update((first + row, text) for row, text in part.unread.items())
            first += len(part)
        if unread:
            moved = np.empty(len(order), dtype=np.int64)
            moved[order] = np.arange(len(order))
            unread = {int(moved[row]): text for row, text in unread.items()}
        return cls(**{name: values[order] for name, values in whole.items()}, unread=unread)

    def take(self, rows: Ints) -> CounterValues:
        """These rows, which must be in order."""
        places = {row: place for place, row in enumerate(rows.tolist())} if self.unread else {}
        unread = {places[row]: text for row, text in self.unread.items() if row in places}
        return CounterValues(**{name: getattr(self, name)[rows] for name in _COLUMNS}, unread=unread)

    @property
    def known(self) -> Mask:
        """Which rows have a value."""
        found: Mask = self.reason == NUMBER
        return found


def as_interval(seconds: Floats) -> Ints:
    """Seconds as nanoseconds; `NO_INTERVAL` for anything but a length of time."""
    ns = seconds * 1e9
    good = (ns >= 0.5) & (ns < _LONGEST)
    return np.where(good, np.rint(np.where(good, ns, 0)), NO_INTERVAL).astype(np.int64)


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
