"""Show the values of counters and metrics over time.

A bar covers the interval before its value, where that is known; all have the same axis of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary.answer_values import Note, count_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.gathering.groups import Array, Ints, nearest_rank
from clrevents.analysis.reports.counters import counter_tables
from clrevents.analysis.reports.counters.counter_tables import in_order
from clrevents.analysis.reports.counters.counter_values import (
    NO_INTERVAL,
    PUBLISHED,
    START,
    TOLD,
    CounterInstrument,
    CounterProblem,
    CounterValues,
    EventFields,
    MeterSessions,
    SeriesKey,
    SeriesNumbers,
    read_event_counters,
    read_meter_values,
)
from clrevents.schema.source_message import SOURCE_MESSAGE, source_error


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


def sparklines(
    answer: Answer[object], rows: ReportTable[counter_tables.CounterSeries], width: int, bars: str
) -> list[str]:
    """What the values of each of these series were over the window that was asked for, or over the trace."""
    values = answer.table("values")
    if values.left_out is not None or not len(values):
        return [""] * len(rows)
    times, of = values.numbers("time_ns"), values.numbers("series_row")
    column = values.column("value")
    window, duration = answer.question.window, answer.question.trace.duration_ns
    low = min(int(times.min()), 0) if window.start_ns is None else window.start_ns
    last = int(times.max()) if duration is None else max(duration, int(times.max()))
    high = last + 1 if window.end_ns is None else min(window.end_ns, last + 1)
    span = max(high - low, 1)
    since, until = _bins(times - values.numbers("interval_ns") - low, times - low, span, width)
    order = np.argsort(of, kind="stable")
    in_order = of[order]
    lines = []
    for number in rows.numbers("row").tolist():
        first, after = np.searchsorted(in_order, [number, number + 1])
        part = order[first:after]
        part = part[column.known[part]]
        lines.append(sparkline(_largest(column.values[part], since[part], until[part], width), bars))
    return lines


def _bins(starts: Ints, ends: Ints, span: int, width: int) -> tuple[Ints, Ints]:
    """The first and the last part of the axis that each stretch fills by half; that of its middle, if there is none."""
    low, high = (np.clip(moments / span, -1, 2) * width for moments in (starts, ends))
    first, last = np.floor(low + 0.5), np.floor(high + 0.5) - 1
    middle = np.floor((low + high) / 2)
    short = last < first
    parts = (np.where(short, middle, side) for side in (first, last))
    since, until = (np.clip(part, 0, width - 1).astype(np.int64) for part in parts)
    return since, until


def _largest(values: Array, since: Ints, until: Ints, width: int) -> list[float | None]:
    """The largest value of each part of the axis."""
    largest: list[float | None] = []
    for place in range(width):
        here = values[(since <= place) & (until >= place)]
        largest.append(float(here.max()) if len(here) else None)
    return largest


METERS: Final = "System.Diagnostics.Metrics"
_RUNTIME_COUNTERS: Final = "System.Runtime"
_COUNTERS: Final = "EventCounters"
_MOST_NAMES: Final = 5
_MOST_BROKEN: Final = 8

_ANY: Final = "counters or metrics"
_NEEDS: Final = (
    Need(
        _ANY,
        (_COUNTERS, f"*/{_COUNTERS}", *(f"{METERS}/{name}" for name in (START, *PUBLISHED))),
        0,
        4,
        _RUNTIME_COUNTERS,
        essential=True,
        proof=0,
        argument="EventCounterIntervalSec=1",
    ),
    Need(
        "counters of EventSources",
        (_COUNTERS, f"*/{_COUNTERS}"),
        0,
        4,
        _RUNTIME_COUNTERS,
        proof=0,
        argument="EventCounterIntervalSec=1",
    ),
    Need("metrics of meters", (START, *PUBLISHED), 0x2, 4, METERS, proof=0, argument="Metrics=System.Runtime"),
)
_METRICS: Final = (
    count_of("count", "Published values; a histogram counts once in each interval."),
    count_of("counters", "Different counters and instruments that have a value.", windows=False),
    count_of("empty", "Values without a number, for any reason.", better="less"),
    count_of("odd", "Counter events in no known format.", better="less"),
    count_of("problems", "Errors and limits that the metrics source reported.", better="less"),
)


METERS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "http": (
        *("System.Net.Http", "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Routing"),
        *("Microsoft.AspNetCore.Server.Kestrel", "Microsoft-AspNetCore-Server-Kestrel"),
    ),
    "ef": ("Microsoft.EntityFrameworkCore",),
    "runtime": ("System.Runtime",),
}
"""The meters and EventSources of a purpose."""


@parameters
class CountersParameters:
    """Which counters are wanted."""

    provider: str | None = parameter(
        None, "Only counters of this EventSource or meter: its name, or a pattern with *.", joined=","
    )
    name: str | None = parameter(
        None, "Only counters or instruments with this name, or matching a pattern with *.", joined=","
    )
    meters: str | None = parameter(
        None, "Only counters of requests and connections, of Entity Framework, or of the runtime.", tuple(METERS_OF)
    )

    @property
    def providers(self) -> str | None:
        """The names and patterns of EventSources and meters, with commas between them; None for all."""
        named = [self.provider] if self.provider else []
        return ",".join([*named, *METERS_OF.get(self.meters or "", ())]) or None


@answer(
    name="counters",
    summary="counters count problems instruments instruments_recorded counter_interval_ns",
    charts=(
        ChartDeclaration(
            "values",
            "The values over time of up to twelve counters, those that change most often.",
            (Panel("values", "time_ns", "value", "steps", by="label", each="name"),),
        ),
    ),
)
class CountersReport(Answer[counter_tables.CountersFacts]):
    """The values of EventCounters and of meters' instruments (System.Diagnostics.Metrics) over time, as one long table.

    The same counter with other tags is another series. The value of an increase (`rate`, `counter`) is what was added
    in one interval; `per_second` divides it by the recorded interval: as measured for an EventCounter, that of the
    collection for an instrument. Quantiles of histograms are series of their own, and are never averaged. A value that
    is not a number is null with a reason, and culture-specific number formats are not guessed.

    Values published for another tool's metrics session are in the trace, too; `other_session` marks them. After a limit
    of time series or histograms is reached, further series are missing; the table `problems` says since when.

    In a window, a value counts where it was published: at the end of its interval.
    """

    series: ReportTable[counter_tables.CounterSeries] = table("Each series, with a summary of its values.")
    instruments: ReportTable[CounterInstrument] = table("Each instrument of the process, recorded or not.")
    problems: ReportTable[CounterProblem] = table("Errors and limits that the metrics source reported.")
    values: ReportTable[counter_tables.CounterValue] = table("Each value, in order of time.", bulk=True)


class CountersCollector(Collector[CountersReport]):
    """Keeps numbers, and texts once for each series."""

    selectors = (f"*/{_COUNTERS}", f"{METERS}/*", f"*/{SOURCE_MESSAGE}")
    headers = ("time_ns", "thread_id")

    def __init__(self, asked: CountersParameters) -> None:
        self._asked = asked
        self._numbers = SeriesNumbers()
        self._values: list[CounterValues] = []
        self._sessions = MeterSessions()
        self._display_names: dict[int, str] = {}
        self._odd: list[Ints] = []
        self._broken: dict[str, None] = {}
        self._unread_quantiles = 0

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        for rows in chunk.events.values():
            assert rows.event is not None
            provider, name = rows.event
            if name == _COUNTERS:
                counters = read_event_counters(rows, self._numbers)
                self._values.append(counters.values)
                self._display_names |= counters.display_names
                self._odd.append(counters.odd_ns)
            elif name == SOURCE_MESSAGE:
                texts = EventFields(rows).texts("message")
                errors = (source_error(provider, text) for text in texts if text is not None)
                self._broken |= dict.fromkeys(islice(filter(None, errors), _MOST_BROKEN))
            elif provider == METERS and name in PUBLISHED:
                meters = read_meter_values(rows, self._numbers)
                self._values += meters.values
                self._sessions.saw(meters.sessions, rows.places.tolist())
                self._odd.append(meters.odd_ns)
                self._unread_quantiles += meters.unread_quantiles
            elif provider == METERS and name in TOLD:
                self._sessions.take(name, rows)

    def finish(self, context: Context) -> CountersReport:
        """Find the intervals, number the series, and sum them up."""
        keys = self._sessions.told_apart(list(self._numbers))
        values = CounterValues.joined(self._values)
        sessions = [keys[number].session for number in values.series.tolist()]
        intervals = self._sessions.intervals(values, sessions, context.marks)
        values = attrs.evolve(
            values, interval_ns=np.where(values.interval_ns == NO_INTERVAL, intervals, values.interval_ns)
        )
        renumbered = in_order(values.series, len(keys))
        values = attrs.evolve(values, series=renumbered[values.series])
        ordered = [key for _, key in sorted(zip(renumbered.tolist(), keys, strict=True))]
        display = {int(renumbered[number]): name for number, name in self._display_names.items()}
        wanted = np.array([self._asks_for(key.provider, key.name) for key in ordered], dtype=np.bool_)
        values = counter_tables.within(values, wanted[values.series] if len(ordered) else np.zeros(0, dtype=np.bool_))
        shown = counter_tables.within(values, context.window.holds(values.time_ns))
        problems = self._sessions.problems()
        times = np.array([problem.time_ns for problem in problems], dtype=np.int64)
        inside = [problem for problem, here in zip(problems, context.window.holds(times).tolist(), strict=True) if here]
        instruments = [one for one in self._sessions.instruments() if self._asks_for(one.provider, one.name)]
        sums = counter_tables.series_sums(shown, ordered)
        counted_once = shown.rank == 0
        odd = np.concatenate([np.zeros(0, dtype=np.int64), *self._odd])
        metrics: dict[str, int | None] = {
            "count": int(counted_once.sum()),
            "counters": len({ordered[number][:2] for number, sums_of_series in sums if sums_of_series.count}),
            "empty": int((counted_once & ~shown.known).sum()),
            "odd": int(context.window.holds(odd).sum()),
            "problems": len(inside),
        }
        if _ANY in context.unknown:
            # Errors come without values, too.
            metrics = {**dict.fromkeys(metrics), "problems": len(inside) or None}
        return context.answer(
            CountersReport,
            facts=self._facts(shown, ordered),
            metrics=metrics,
            notes=self._notes(shown, ordered, wanted, inside, metrics["odd"] or 0),
            series=counter_tables.series_rows(context, sums, ordered, display, self._sessions),
            instruments=context.table(CounterInstrument, instruments),
            problems=context.table(CounterProblem, problems),
            values=counter_tables.value_rows(context, values, ordered),
        )

    def _asks_for(self, provider: str, name: str) -> bool:
        return fits(self._asked.providers, provider) and fits(self._asked.name, name)

    def _facts(self, shown: CounterValues, keys: list[SeriesKey]) -> counter_tables.CountersFacts:
        of_meter = np.array([key.session is not None for key in keys], dtype=np.bool_)
        meter = of_meter[shown.series] if len(keys) else np.zeros(0, dtype=np.bool_)
        known = shown.interval_ns != NO_INTERVAL
        others = self._sessions.others()
        announced = self._sessions.instruments() if self._sessions.announced else None
        return counter_tables.CountersFacts(
            instruments=None if announced is None else len(announced),
            instruments_recorded=None if announced is None else sum(each.recorded for each in announced),
            counter_interval_ns=nearest_rank(np.sort(shown.interval_ns[known & ~meter]), 50),
            metrics_interval_ns=nearest_rank(np.sort(shown.interval_ns[known & meter]), 50),
            sessions=tuple(self._sessions.sessions()),
            other_sessions=tuple(session for session in self._sessions.sessions() if session in others),
        )

    def _notes(
        self,
        shown: CounterValues,
        keys: list[SeriesKey],
        wanted: np.ndarray[tuple[int], np.dtype[np.bool_]],
        problems: list[CounterProblem],
        odd: int,
    ) -> list[Note]:
        broken = islice(self._broken, _MOST_BROKEN)
        notes = [Note("broken-event-source", "warning", text, ("series", "values")) for text in broken]
        if keys and not wanted.any():
            names = sorted({f"{key.provider}/{key.name}" for key in keys})
            text = f"no counter matches; there are {', '.join(names[:_MOST_NAMES])}"
            more = len(names) - _MOST_NAMES
            text += f" and {counted(more, 'other', 'others')}" if more > 0 else ""
            notes.append(Note("no-such-counter", "warning", text, ("series", "values")))
        kinds = {problem.kind for problem in problems}
        if kinds & {"time-series limit", "histogram limit"}:
            text = "a limit of time series or histograms was reached: further series are silently missing"
            notes.append(Note("limit-reached", "warning", text, ("series", "values"), {}, "raise the limit"))
        errors = sum(problem.kind in ("error", "callback error") for problem in problems)
        if errors:
            text = f"the metrics source reported {counted(errors, 'error')}; see the table `problems`"
            notes.append(Note("metric-errors", "warning", text, ("series", "values"), {"errors": errors}))
        others = self._sessions.others()
        if others:
            who = ", ".join(sorted(others)[:_MOST_NAMES])
            text = (
                f"metrics are those of {counted(len(others), 'session')} of other tools that were already "
                f"running ({who}): their instruments and intervals, not the requested ones"
            )
            notes.append(Note("other-session", "warning", text, ("series", "values"), {"sessions": len(others)}))
        if unheard := self._sessions.unheard():
            who = ", ".join(sorted(unheard)[:_MOST_NAMES])
            text = f"metrics were refused: the process publishes them for a session of another tool ({who})"
            notes.append(Note("session-refused", "warning", text, ("series", "values")))
        used = np.unique(shown.series).tolist()
        ambiguous = sum(counter_tables.split(keys[number]).ambiguous for number in used)
        if ambiguous:
            text = f"the tags of {counted(ambiguous, 'series', 'series')} can be split in more than one way"
            notes.append(Note("ambiguous-tags", "info", text, ("tag_names", "tag_values"), {"series": ambiguous}))
        lacking = int((shown.interval_ns == NO_INTERVAL).sum())
        if lacking:
            text = f"the interval of {counted(lacking, 'value')} is unknown; they have no rate per second"
            notes.append(Note("no-interval", "info", text, ("interval_ns", "per_second"), {"values": lacking}))
        if odd:
            text = f"{counted(odd, 'event is', 'events are')} in no known counter format"
            notes.append(Note("odd-events", "warning", text, ("values",), {"events": odd}))
        if self._unread_quantiles:
            text = f"the quantiles of {counted(self._unread_quantiles, 'histogram')} could not all be read"
            notes.append(Note("unread-quantiles", "warning", text, ("values",), {"values": self._unread_quantiles}))
        return notes


def fits(patterns: str | None, text: str) -> bool:
    """Whether a text is one of these names, with commas between them, or matches one as a pattern; None is any."""
    if patterns is None or patterns == text:
        return True
    return any(pattern == text or fnmatchcase(text, pattern) for pattern in patterns.split(","))


REPORT: Final = ReportDeclaration(
    answer=CountersReport,
    question="How did counters and metrics change over time?",
    topic="program",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=CountersCollector,
    parameters=CountersParameters,
    shown=(
        *("last", "mean", "per_second", "min", "max", "measurements", "p50", "p95", "p99"),
        *("unit", "quantile", "name", "tags"),
    ),
    sparklines=sparklines,
    folded=counter_tables.a_line_each,
    listing="instruments",
    examples=(
        ("What are the values of all counters?", "clrevents counters app.nettrace"),
        ("How did the heap grow?", "clrevents counters app.nettrace --name 'gc-heap*'"),
        ("Which instruments does the process have?", "clrevents counters -p 4711 --list"),
        ("Each value of the last ten seconds:", "clrevents counters app.nettrace --table values --start 10s"),
        ("Which errors did metrics report?", "clrevents counters app.nettrace --table problems"),
        ("Draw them:", "clrevents counters app.nettrace --chart values > counters.svg"),
    ),
    not_compared="its metrics count what was published; what it said is compared as rows",
)
