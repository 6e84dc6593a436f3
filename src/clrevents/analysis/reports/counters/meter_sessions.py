"""What System.Diagnostics.Metrics publishes besides values: intervals, instruments, errors, limits, and whose session
it is.

The intervals of values are those of the collection around them, in the same session. Knows no values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.report_table import Marks
from clrevents.analysis.gathering.gather import Gathered
from clrevents.analysis.reports.counters.counter_columns import EventFields, Ints
from clrevents.analysis.reports.counters.counter_values import NO_INTERVAL, CounterValues, SeriesKey

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


@frozen
class MeterInstrument:
    """An instrument of the process, `recorded` or only announced."""

    meter: str
    version: str
    meter_tags: str
    name: str
    type: str
    unit: str
    description: str
    recorded: bool = False


@frozen
class MeterProblem:
    """Something that the source of metrics reported."""

    place: int
    time_ns: int
    thread: int
    kind: str
    session: str | None
    message: str | None


class MeterSessions:
    """Takes the events of `TOLD` in any chunks."""

    def __init__(self) -> None:
        self._collections: list[tuple[int, int, bool, int, str]] = []
        self._first_seen: dict[str, int] = {}
        self._refused: dict[str, int] = {}
        self._instruments: dict[tuple[str, str, str, str], tuple[int, str]] = {}
        self._listed: dict[MeterInstrument, bool] = {}
        self._announced = False
        self._meter_tags: dict[tuple[str, int], str] = {}
        self._problems: list[MeterProblem] = []

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

    def problems(self) -> list[MeterProblem]:
        """All that was reported, in order of time."""
        return sorted(self._problems, key=lambda problem: problem.place)

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
        found = self._instruments.get((session or "", meter, version, name))
        return None if found is None else found[1]

    @property
    def announced(self) -> bool:
        """Whether all instruments of the process are listed, not just those that were recorded."""
        return self._announced

    def instruments(self) -> list[MeterInstrument]:
        """Those that the process announced or began to record, by meter and name."""
        found = [attrs.evolve(each, recorded=recorded) for each, recorded in self._listed.items()]
        return sorted(found, key=lambda each: (each.meter, each.version, each.meter_tags, each.name))

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
        found = np.full(len(values), NO_INTERVAL, dtype=np.int64)
        numbers = {session: number for number, session in enumerate(dict.fromkeys(one[4] for one in self._collections))}
        of = np.array([-1 if session is None else numbers.get(session, -1) for session in sessions], dtype=np.int64)
        asked = np.flatnonzero(of >= 0)
        if not len(asked):
            return found
        told = sorted((numbers[one[4]], *one[:4]) for one in self._collections)
        number, place, time, begins, interval = (np.array(column, dtype=np.int64) for column in zip(*told, strict=True))
        # One key for session and place, which is sorted as both are.
        width = int(max(place.max(), values.place.max())) + 1
        before = np.searchsorted(number * width + place, of[asked] * width + values.place[asked]) - 1
        good = (before >= 0) & (number[before] == of[asked]) & (begins[before] > 0)
        asked, before = asked[good], before[good]
        since, until = time[before], values.time_ns[asked]
        whole = ~marks.touched(since, until, [values.thread[asked]])
        found[asked[whole]] = interval[before[whole]]
        return found

    def _collected(self, fields: EventFields, places: list[int], begins: bool) -> None:
        (starts, told), (ends, ended) = fields.times("intervalStartTime"), fields.times("intervalEndTime")
        known = told & ended & (ends > starts)
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
            meter, version, tags, name, type, unit, description = (text or "" for text in texts)
            each = MeterInstrument(meter, version, tags, name, type, unit, description)
            self._listed[each] = recorded or self._listed.get(each, False)

    def _reported(self, name: str, fields: EventFields, places: list[int]) -> None:
        sessions = fields.texts({_REFUSED: "runningSessionId", _MISCONFIGURED: "clientId"}.get(name, "sessionId"))
        messages = fields.texts("errorMessage")
        settings: list[list[Any]] = []
        if name == _MISCONFIGURED:
            pairs = [zip(fields.texts(s), fields.numbers(s).values.tolist(), strict=True) for s in _SETTINGS]
            settings = [[_setting(*pair) for pair in of] for of in pairs]
        times, threads = fields.time_ns.tolist(), fields.thread.tolist()
        for row, place in enumerate(places):
            session, message = sessions[row], messages[row]
            if name == _REFUSED and session and place < self._refused.get(session, place + 1):
                self._refused[session] = place
            if settings:
                told = [f"{s} {of[row]}" for s, of in zip(_SETTINGS, settings, strict=True) if of[row] is not None]
                message = ", ".join(told) or None
            problem = MeterProblem(place, times[row], threads[row], _PROBLEMS[name], session or None, message or None)
            self._problems.append(problem)


def _setting(text: str | None, number: float) -> str | None:
    """A setting as it is written, or as a number."""
    if text is not None:
        return text
    return None if math.isnan(number) else f"{number:g}"


def _instrument(key: SeriesKey) -> tuple[str, int]:
    return key.session or "", key.instrument_id
