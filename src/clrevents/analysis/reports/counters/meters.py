"""What System.Diagnostics.Metrics publishes: values, and the intervals, instruments, errors and limits of sessions.

All numbers except counts and sums are texts, and each quantile is a value. A rate is the increase in an interval, not
per second. The intervals of values are those of the collection around them, in the same session.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.needs import Marks
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import Row, column
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import Gathered, Ints
from clrevents.analysis.reports.counters.counter_values import (
    EMPTY,
    MISSING,
    NO_INTERVAL,
    NO_THREAD,
    NUMBER,
    CounterValues,
    EventFields,
    SeriesKey,
    SeriesNumbers,
    read_quantiles,
)

START: Final = "CollectionStart"
_STOP: Final = "CollectionStop"
_RECORDED: Final = "BeginInstrumentReporting"
_INSTRUMENTS: Final = (_RECORDED, "InstrumentPublished")
_REFUSED: Final = "MultipleSessionsNotSupportedError"
_MISCONFIGURED: Final = "MultipleSessionsConfiguredIncorrectlyError"
_PROBLEMS: Final = {
    "Error": "error",
    "ObservableInstrumentCallbackError": "callback error",
    "TimeSeriesLimitReached": "time-series limit",
    "HistogramLimitReached": "histogram limit",
    _REFUSED: "session refused",
    _MISCONFIGURED: "session misconfigured",
}
_SETTINGS: Final = (
    "expectedMaxHistograms",
    "actualMaxHistograms",
    "expectedMaxTimeSeries",
    "actualMaxTimeSeries",
    "expectedRefreshInterval",
    "actualRefreshInterval",
)
TOLD: Final = (START, _STOP, *_INSTRUMENTS, *_PROBLEMS)
"""The events that this reads."""


@table_row
class CounterInstrument(Row):
    """An instrument of a meter, whether its values were recorded or not."""

    recorded: cells.Flag = column("Its values were recorded.")
    kind: cells.Word = column("Its type, such as `Counter` or `Histogram`.")
    unit: cells.CodeName = column("Its unit, empty for none.")
    provider: cells.CodeName = column("Its meter.")
    version: cells.CodeName | None = column("The version of the meter; null without one.")
    tags: cells.PrivateText | None = column("The tags of the meter; null without any.")
    name: cells.CodeName = column("Its name.", importance=0)
    description: cells.PrivateText | None = column("What the program says that it is; null if nothing.")
    option: cells.PrivateText = column("The options that record it, together with -p PID.")


@table_row(at="time_ns", threads=("thread_id",))
class CounterProblem(Row):
    """A problem that the metrics source reported."""

    time_ns: cells.Ns = column("When it was reported.")
    kind: cells.Word = column(
        "`error`, `callback error` (of an observable instrument), `time-series limit`, `histogram limit`,"
        " `session refused` or `session misconfigured`."
    )
    session_id: cells.PrivateText | None = column(
        "The session concerned; for a refused session, the one already running."
    )
    message: cells.PrivateText | None = column("The runtime's message; null without one.")
    thread_id: cells.ThreadId | None = column("The thread that wrote it.", hidden=True)


class MeterSessions:
    """Takes the events of `TOLD` in any chunks."""

    def __init__(self) -> None:
        self._collections: list[tuple[int, int, bool, int, str]] = []
        self._first_seen: dict[str, int] = {}
        self._refused: dict[str, int] = {}
        self._instruments: dict[tuple[str, str, str, str], tuple[int, str]] = {}
        self._listed: dict[tuple[str, ...], bool] = {}
        self._announced = False
        self._meter_tags: dict[tuple[str, int], str] = {}
        self._problems: list[tuple[int, CounterProblem]] = []

    def take(self, name: str, rows: Gathered) -> None:
        """The next events of one of the names in `TOLD`."""
        fields = EventFields(rows)
        places = rows.places.tolist()
        if name in (START, _STOP):
            self._collected(fields, places, name == START)
        elif name in _INSTRUMENTS:
            self._published(fields, places)
            self._list(fields, recorded=name == _RECORDED)
        else:
            self._reported(name, fields, places)
        if name != _REFUSED:
            self.saw(fields.texts("sessionId"), places)

    def saw(self, sessions: list[str | None], places: list[int]) -> None:
        """Events of these sessions at these places."""
        first = self._first_seen
        for session, place in zip(sessions, places, strict=True):
            if session and place < first.get(session, place + 1):
                first[session] = place

    def problems(self) -> list[CounterProblem]:
        """All that was reported, in order of time."""
        return [problem for _, problem in sorted(self._problems, key=lambda one: one[0])]

    def sessions(self) -> list[str]:
        """The ids of all sessions that published, or could have, in the order in which they were first seen."""
        return sorted(self._first_seen, key=self._first_seen.__getitem__)

    def others(self) -> frozenset[str]:
        """Sessions of other tools: one of this trace was refused because of each, before it was heard of."""
        return frozenset(
            session for session, place in self._refused.items() if self._first_seen.get(session, place) > place
        )

    def unheard(self) -> frozenset[str]:
        """Sessions of other tools that one of this trace was refused for, and of which nothing came."""
        return frozenset(session for session in self._refused if session not in self._first_seen)

    def instrument(self, session: str | None, meter: str, version: str, name: str) -> str | None:
        """The type of an instrument; None for one that was never announced."""
        instrument = self._instruments.get((session or "", meter, version, name))
        return None if instrument is None else instrument[1]

    @property
    def announced(self) -> bool:
        """Whether all instruments of the process are listed, not just those that were recorded."""
        return self._announced

    def instruments(self) -> list[CounterInstrument]:
        """Those that the process announced or began to record, by meter and name."""
        return [
            CounterInstrument(
                recorded=recorded,
                kind=type.partition("`")[0],
                unit=unit,
                provider=meter,
                version=version or None,
                tags=tags or None,
                name=name,
                description=description or None,
                option=shlex.join(("--provider", meter, "--name", name)),
            )
            for (meter, version, tags, name, type, unit, description), recorded in sorted(
                self._listed.items(), key=lambda each: each[0][:4]
            )
        ]

    def told_apart(self, keys: Sequence[SeriesKey]) -> list[SeriesKey]:
        """The keys, with the tags of their meters where several meters have an instrument of this name."""
        instruments = {_instrument(key): key for key in keys}
        same = Counter((key.session, key.provider, key.name) for key in instruments.values())
        return [
            key._replace(tags=",".join(filter(None, (self._meter_tags.get(_instrument(key)), key.tags))))
            if same[key.session, key.provider, key.name] > 1
            else key
            for key in keys
        ]

    def intervals(self, values: CounterValues, sessions: list[str | None], marks: Marks) -> Ints:
        """The interval of each value, whose session is given: that of its collection, unless an event of that may be
        missing in between.
        """
        intervals = np.full(len(values), NO_INTERVAL, dtype=np.int64)
        numbers = {session: number for number, session in enumerate(dict.fromkeys(one[4] for one in self._collections))}
        of = np.array([-1 if session is None else numbers.get(session, -1) for session in sessions], dtype=np.int64)
        asked = np.flatnonzero(of >= 0)
        if not len(asked):
            return intervals
        timed = sorted((numbers[one[4]], *one[:4]) for one in self._collections)
        number, place, time, begins, interval = (
            np.array(column, dtype=np.int64) for column in zip(*timed, strict=True)
        )
        # One key for session and place, which is sorted as both are.
        width = int(max(place.max(), values.place.max())) + 1
        before = np.searchsorted(number * width + place, of[asked] * width + values.place[asked]) - 1
        good = (before >= 0) & (number[before] == of[asked]) & (begins[before] > 0)
        asked, before = asked[good], before[good]
        since, until = time[before], values.time_ns[asked]
        whole = ~marks.touched(since, until, [values.thread[asked]])
        intervals[asked[whole]] = interval[before[whole]]
        return intervals

    def _collected(self, fields: EventFields, places: list[int], begins: bool) -> None:
        (starts, begun), (ends, ended) = fields.times("intervalStartTime"), fields.times("intervalEndTime")
        known = begun & ended & (ends > starts)
        lengths = np.where(known, ends - starts, NO_INTERVAL).tolist()
        told_by = (places, fields.time_ns.tolist(), lengths, fields.texts("sessionId"))
        self._collections += [(p, time, begins, length, s or "") for p, time, length, s in zip(*told_by, strict=True)]

    def _published(self, fields: EventFields, places: list[int]) -> None:
        names = ("sessionId", "meterName", "meterVersion", "instrumentName", "instrumentType")
        for place, *texts in zip(places, *map(fields.texts, names), strict=True):
            session, meter, version, name, type = (text or "" for text in texts)
            known = self._instruments.get((session, meter, version, name))
            # Begin and announcement say the same; the last one holds.
            if known is None or known[0] < place:
                self._instruments[session, meter, version, name] = place, type
        sessions, tags, ids = fields.texts("sessionId"), fields.texts("meterTags"), fields.counts("instrumentId")
        for each, tagged, number in zip(sessions, tags, ids.tolist(), strict=True):
            if tagged and number >= 0:
                self._meter_tags[each or "", number] = tagged

    def _list(self, fields: EventFields, recorded: bool) -> None:
        self._announced = self._announced or not recorded
        names = ("meterName", "meterVersion", "meterTags", "instrumentName", "instrumentType", "unit", "description")
        for texts in zip(*map(fields.texts, names), strict=True):
            each = tuple(text or "" for text in texts)
            self._listed[each] = recorded or self._listed.get(each, False)

    def _reported(self, name: str, fields: EventFields, places: list[int]) -> None:
        sessions = fields.texts({_REFUSED: "runningSessionId", _MISCONFIGURED: "clientId"}.get(name, "sessionId"))
        messages = fields.texts("errorMessage")
        settings: list[list[object]] = []
        if name == _MISCONFIGURED:
            pairs = [zip(fields.texts(s), fields.numbers(s).values.tolist(), strict=True) for s in _SETTINGS]
            settings = [[_setting(*pair) for pair in of] for of in pairs]
        times, threads = fields.time_ns.tolist(), fields.thread.tolist()
        for row, place in enumerate(places):
            session, message = sessions[row], messages[row]
            if name == _REFUSED and session and place < self._refused.get(session, place + 1):
                self._refused[session] = place
            if settings:
                texts = [f"{s} {of[row]}" for s, of in zip(_SETTINGS, settings, strict=True) if of[row] is not None]
                message = ", ".join(texts) or None
            thread = None if threads[row] == NO_THREAD else threads[row]
            problem = CounterProblem(
                time_ns=times[row],
                kind=_PROBLEMS[name],
                session_id=session or None,
                message=message or None,
                thread_id=thread,
            )
            self._problems.append((place, problem))


def _setting(text: str | None, number: float) -> str | None:
    """A setting as it is written, or as a number."""
    if text is not None:
        return text
    return None if math.isnan(number) else f"{number:g}"


def _instrument(key: SeriesKey) -> tuple[str, int]:
    return key.session or "", key.instrument_id


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
    rows, ranks, numbers_read, values, reasons = [], [], [], [], []
    unread = 0
    for row, key in zip(kept.tolist(), keys, strict=True):
        pieces, whole = read(texts[row] or "")
        unread += not whole
        for rank, (quantile, value, reason) in enumerate(pieces):
            rows.append(row)
            ranks.append(rank + 1)
            numbers_read.append(key._replace(quantile=quantile))
            values.append(value)
            reasons.append(reason)
    if not rows:
        return [], unread
    quantile_values = CounterValues.of(
        fields,
        np.array(rows, dtype=np.int64),
        numbers.of(numbers_read),
        np.array(values, dtype=np.float64),
        np.array(reasons, dtype=np.int64),
        {},
        np.array(ranks, dtype=np.int64),
    )
    return [quantile_values], unread
