"""Counters: fields of chunks of events by name, the published values as columns of numbers, and what meters tell.

A writer may describe an event in several shapes, each with columns of its own; a row has a field in one of them at
most. Texts are written without escapes, so whatever can be read in two ways is marked as ambiguous, and a
culture-specific number is not read at all: `1,234` may be more than a thousand, or little more than one. Of what
System.Diagnostics.Metrics publishes, a rate is the increase in an interval, not per second, and the intervals of values
are those of the collection around them, in the same session. Knows no window.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.needs import Marks
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import Row
from clrevents.analysis.framework.vocabulary.report_table import column as declared
from clrevents.analysis.framework.vocabulary.report_table import row as table_row
from clrevents.analysis.gathering.groups import Array, Gathered, Interned, Ints, Mask
from clrevents.table.table import Column

NUMBER: Final = 0
NOT_A_NUMBER: Final = 1
INFINITE: Final = 2
UNREADABLE: Final = 3
MISSING: Final = 4
EMPTY: Final = 5
REASONS: Final = (None, "not a number", "infinite", "unreadable", "missing", "empty")
"""Why there is no value, as words; the constants above are places in it."""

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?", re.ASCII)
_INFINITIES: Final = frozenset(("Infinity", "+Infinity", "-Infinity", "\u221e", "-\u221e"))
_MOST_QUANTILES: Final = 16
"""The runtime writes three. Each is a series with all tags of its histogram."""
_MOST_PIECES: Final = 256
"""Between the commas of tags, which each quantile of a histogram repeats."""


def read_number(text: str) -> tuple[float, int]:
    """A number in the invariant notation, and a place in `REASONS`; NaN where that is not `NUMBER`."""
    if not text:
        return math.nan, EMPTY
    if text == "NaN":
        return math.nan, NOT_A_NUMBER
    if text in _INFINITIES:
        return math.nan, INFINITE
    if len(text) > 400 or not _NUMBER.fullmatch(text):
        return math.nan, UNREADABLE
    value = float(text)
    return (value, NUMBER) if math.isfinite(value) else (math.nan, INFINITE)


def read_quantiles(text: str) -> tuple[tuple[tuple[float, float, int], ...], bool]:
    """`0.5=…;0.95=…` → (quantile, value, place in `REASONS`) of each, and whether all was read; 16 at most."""
    quantiles = []
    pieces = text.split(";", _MOST_QUANTILES) if text else []
    whole = len(pieces) <= _MOST_QUANTILES
    for piece in pieces[:_MOST_QUANTILES]:
        name, equals, value = piece.partition("=")
        quantile, reason = read_number(name)
        if not equals or reason != NUMBER or not 0 <= quantile <= 1:
            whole = False
            continue
        quantiles.append((quantile, *read_number(value)))
    return tuple(quantiles), whole


@frozen
class Tags:
    """Names and values of tags, in order. `ambiguous` if a comma or a separator may belong to one of them."""

    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    ambiguous: bool = False

    def joined(self, separator: str = "=") -> str:
        """The text that they were split from."""
        return ",".join(f"{name}{separator}{value}" for name, value in zip(self.names, self.values, strict=True))


def split_tags(text: str, separator: str = "=") -> Tags | None:
    """Names and values of `k=v,k=v`; None where the text has no separator at all, and so is no list of tags, or more
    than 255 commas.

    A piece between two commas without a separator belongs to the value before it, or to the name after it where it is
    the first one.
    """
    if not text:
        return Tags()
    pieces = text.split(",", _MOST_PIECES)
    if len(pieces) > _MOST_PIECES:
        return None
    first = next((place for place, piece in enumerate(pieces) if separator in piece), None)
    if first is None:
        return None
    grouped = [pieces[: first + 1]]
    for piece in pieces[first + 1 :]:
        if separator in piece:
            grouped.append([piece])
        else:
            grouped[-1].append(piece)
    joined = [",".join(group) for group in grouped]
    pairs = [piece.partition(separator) for piece in joined]
    ambiguous = any("," in piece or piece.count(separator) > 1 for piece in joined)
    return Tags(tuple(pair[0] for pair in pairs), tuple(pair[2] for pair in pairs), ambiguous)


Floats: TypeAlias = NDArray[np.float64]

NO_COUNT: Final = -1
NO_THREAD: Final = (1 << 64) - 1
_LARGEST: Final = float(1 << 53)


@frozen(eq=False)
class ReadNumbers:
    """A number of each row, NaN where there is none, and why, as a place in `REASONS`; what could not be read."""

    values: Floats
    reasons: Ints
    unread: dict[int, str]

    @property
    def known(self) -> Mask:
        """Which rows have one."""
        mask: Mask = self.reasons == NUMBER
        return mask


@frozen(eq=False)
class EventFields:
    """The fields of some rows; those inside the structs of the field `inside`, where it is given."""

    rows: Gathered
    inside: str | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def time_ns(self) -> Ints:
        """When each was written."""
        return self.rows.numbers("time_ns").astype(np.int64)

    @property
    def thread(self) -> NDArray[np.uint64]:
        """Who wrote each; `NO_THREAD` if unknown."""
        column = self.rows.column("thread_id")
        return np.where(column.known, column.values, np.uint64(NO_THREAD)).astype(np.uint64)

    def texts(self, name: str) -> list[str | None]:
        """A field as text; None where it is missing or not text."""
        texts: list[str | None] = [None] * len(self)
        for column, known in self._columns(name):
            if column.type.kind == "string":
                values = column.tolist()
                if known.all():
                    return values
                for row in np.flatnonzero(known).tolist():
                    texts[row] = values[row]
        return texts

    def numbers(self, name: str) -> ReadNumbers:
        """A field as a number, which may be written as text."""
        values = np.full(len(self), np.nan)
        reasons = np.full(len(self), MISSING, dtype=np.int64)
        unread: dict[int, str] = {}
        read = cache(read_number)
        for column, known in self._columns(name):
            rows = np.flatnonzero(known)
            if column.type.kind == "string":
                texts = column.take(rows).tolist()
                for row, text in zip(rows.tolist(), texts, strict=True):
                    values[row], reasons[row] = read(text)
                    if reasons[row] == UNREADABLE:
                        unread[row] = text
            elif column.type.kind in ("struct", "list", "binary", "timestamp", "bool"):
                reasons[rows] = UNREADABLE
            else:
                given = column.values[rows].astype(np.float64)
                finite = np.isfinite(given)
                values[rows] = np.where(finite, given, np.nan)
                reasons[rows] = np.where(finite, NUMBER, np.where(np.isnan(given), NOT_A_NUMBER, INFINITE))
        return ReadNumbers(values, reasons, unread)

    def missing(self, name: str) -> Mask:
        """Which rows do not have a field, or have null there."""
        mask = np.ones(len(self), dtype=np.bool_)
        for _, known in self._columns(name):
            mask &= ~known
        return mask

    def counts(self, name: str) -> Ints:
        """A field as a whole number that is not negative; `NO_COUNT` where there is none."""
        values = self.numbers(name).values
        good = (values >= 0) & (values < _LARGEST)
        return np.where(good, np.where(good, values, 0), NO_COUNT).astype(np.int64)

    def times(self, name: str) -> tuple[Ints, Mask]:
        """A field as moments in ns, and which rows have one."""
        values, mask = np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=np.bool_)
        for column, known in self._columns(name):
            if column.type.kind == "timestamp":
                values[known], mask[known] = column.values[known], True
        return values, mask

    def _columns(self, name: str) -> list[tuple[Column, Mask]]:
        """The columns of all fields of this name, and which rows have each."""
        wire = name if self.inside is None else self.inside
        columns = []
        for field in self.rows.payload:
            if field.wire != wire:
                continue
            column = self.rows.column(field.name)
            if self.inside is None:
                columns.append((column, column.known))
            elif column.type.kind == "struct" and name in column.type.names:
                child: Any = column.children[column.type.names.index(name)]
                columns.append((child, column.known & child.known))
        return columns


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
        **more: Array,
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
        mask: Mask = self.reason == NUMBER
        return mask


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
    told_by_mean = ~fields.missing("Mean"), ~fields.missing("Increment")
    is_rate = says_sum | (~says_mean & told_by_mean[1] & ~told_by_mean[0])
    is_mean = ~is_rate & (says_mean | told_by_mean[0])
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

    recorded: cells.Flag = declared("Its values were recorded.")
    kind: cells.Word = declared("Its type, such as `Counter` or `Histogram`.")
    unit: cells.CodeName = declared("Its unit, empty for none.")
    provider: cells.CodeName = declared("Its meter.")
    version: cells.CodeName | None = declared("The version of the meter; null without one.")
    tags: cells.PrivateText | None = declared("The tags of the meter; null without any.")
    name: cells.CodeName = declared("Its name.", importance=0)
    description: cells.PrivateText | None = declared("What the program says that it is; null if nothing.")
    option: cells.PrivateText = declared("The options that record it, together with -p PID.")


@table_row(at="time_ns", threads=("thread_id",))
class CounterProblem(Row):
    """A problem that the metrics source reported."""

    time_ns: cells.Ns = declared("When it was reported.")
    kind: cells.Word = declared(
        "`error`, `callback error` (of an observable instrument), `time-series limit`, `histogram limit`,"
        " `session refused` or `session misconfigured`."
    )
    session_id: cells.PrivateText | None = declared(
        "The session concerned; for a refused session, the one already running."
    )
    message: cells.PrivateText | None = declared("The runtime's message; null without one.")
    thread_id: cells.ThreadId | None = declared("The thread that wrote it.", hidden=True)


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
