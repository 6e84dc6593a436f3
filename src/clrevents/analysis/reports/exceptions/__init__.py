"""What was thrown, where, who caught it, and what it cost.

Counts each exception where it was thrown, and the part of its time inside the window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from clrevents._util.varying import message_pattern
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Context, KeepingCollector, Kept
from clrevents.analysis.framework.model.declaration import ReportDeclaration, StackParameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.render.charts import ChartDeclaration, Panel
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import (
    ComparedRows,
    Dated,
    Metric,
    TimeWindow,
    count_of,
    time_of,
)
from clrevents.analysis.framework.vocabulary.report_table import Cells, ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import Array, Ints, Mask, nearest_rank, numbered, sum_by
from clrevents.analysis.reports.exceptions.exception_build import EVENTS, HEADERS, KEPT, BuiltExceptions, built

_TYPE = "The type of the exception; null where its throw is not in the trace."
_THROWING = "The innermost method that is not part of the runtime's dispatch; null without a stack."
_CATCHING = "The method whose catch handler ran last; null if none did."
_THROWN = "How many were thrown for the first time while no other was being handled."
_NESTED = "How many were thrown for the first time while another was being handled."
_AWAIT = "How many had been captured, mostly by a task, and were rethrown; inferred from stacks."
_RETHROWN = "How often `throw;` rethrew one of them."
_FILTERED = "How often a filter accepted one; inferred from where its handler lies."
_DISPATCH = "How long it took to find handlers and to run filters and finally handlers, excluding nested exceptions."
_HANDLING = "From the start of the first catch handler to the end of the last, excluding nested exceptions."
_OUTCOME = (
    "`caught`: a catch handler ended it; `replaced`: another exception left its handler; `rejected`: it left a "
    "filter, which ends it; `in_flight`: no handler had caught it when the trace ended, or it left its thread; "
    "`handling`: its catch handler was running when the trace ended; `unseen`: its thread went on, but when is not "
    "recorded; null if no handlers were recorded."
)


@row(span=("start_ns", "end_ns"), threads=("thread_id",))
class ThrownException(SpanRow):
    """One exception, from its throw to the end of its last catch handler."""

    row: cells.RowNumber = column("The number of the exception in its process.", hidden=True)
    start_ns: cells.Ns | None = column("When it was thrown; null if that is not in the trace.")
    end_ns: cells.Ns | None = column("When its handling ended; null if unknown.", hidden=True)
    duration_ns: cells.DurationNs | None = column("How long that took, including everything inside.")
    dispatch_ns: cells.DurationNs | None = column(
        "From the throw to the start of the first catch handler, excluding nested exceptions; null without either."
    )
    handling_ns: cells.DurationNs | None = column(f"{_HANDLING[:-1]}; null without either.", hidden=True)
    thread_id: cells.ThreadId | None = column("The thread that threw it.", hidden=True)
    type: cells.CodeName | None = column(_TYPE)
    message: cells.PrivateText | None = column("Its message; `NULL` if it has none.")
    hresult: cells.Word | None = column("Its HRESULT, in hexadecimal.", hidden=True)
    throwing_method: cells.CodeName | None = column(_THROWING)
    catching_method: cells.CodeName | None = column(_CATCHING, hidden=True)
    outcome: cells.Word | None = column(_OUTCOME)
    nested: cells.Flag = column("It was thrown while another exception was being handled.", hidden=True)
    nested_in_row: cells.RowNumber | None = column("The `row` of that exception; null if unknown.", hidden=True)
    by_await: cells.Flag = column("It had been captured, mostly by a task, and was rethrown; inferred from the stack.")
    repeats_row: cells.RowNumber | None = column(
        "For rethrown ones, the `row` of the last exception before it, on any thread, with the same type and "
        "message; inferred.",
        hidden=True,
    )
    rethrown: cells.Count | None = column(
        "How often `throw;` rethrew it; null if no handlers were recorded.", hidden=True
    )
    filters: cells.Count | None = column(
        "How many filters examined it; null if no handlers were recorded.", hidden=True
    )
    filtered: cells.Count | None = column(
        "How many of them accepted it, inferred from where the handler lies; null if no handlers were recorded.",
        hidden=True,
    )
    finallys: cells.Count | None = column(
        "How many finally and fault handlers it ran; null if no handlers were recorded.", hidden=True
    )
    inner: cells.Flag | None = column("It has an inner exception.", hidden=True)
    stack_id: cells.StackId = column("The stack of the throw, 0 for none.", hidden=True)


@row
class ExceptionGroup(Row):
    """All exceptions of one type, thrown by one method and caught by one method."""

    type: cells.CodeName | None = column(_TYPE, importance=0)
    throwing_method: cells.CodeName | None = column(_THROWING, importance=0)
    catching_method: cells.CodeName | None = column(_CATCHING)
    thrown: cells.Count = column(_THROWN, importance=0)
    rethrown: cells.Count | None = column(f"{_RETHROWN[:-1]}; null if unknown.")
    nested: cells.Count = column(_NESTED, importance=3)
    rethrown_by_await: cells.Count = column(_AWAIT, hidden=True)
    filtered: cells.Count | None = column(f"{_FILTERED[:-1]}; null if no handlers were recorded.", hidden=True)
    uncaught: cells.Count | None = column(
        "How many have no known catch handler; null if no handlers were recorded.", hidden=True
    )
    dispatch_ns: cells.DurationNs | None = column(f"{_DISPATCH[:-1]}; null if no handlers were recorded.", importance=1)
    handling_ns: cells.DurationNs | None = column(f"{_HANDLING[:-1]}; null if no handlers were recorded.", hidden=True)
    hresult: cells.Word | None = column("Their HRESULT, in hexadecimal; null if they differ.", hidden=True)


@row(text="message")
class ExceptionMessage(Row):
    """All exceptions of one type whose messages differ in numbers and ids only."""

    count: cells.Count = column("How many were thrown, including nested and rethrown ones.")
    distinct: cells.Count = column("How many different messages they had.")
    type: cells.CodeName | None = column(_TYPE)
    message: cells.PrivateText | None = column("The message with `#` for each number, GUID and other id.")
    example: cells.PrivateText | None = column("The first of the messages, unchanged.", hidden=True)


@row
class ExceptionOutcome(Row):
    """All exceptions with the same outcome."""

    outcome: cells.Word | None = column(_OUTCOME)
    count: cells.Count = column("How many there are.")


@row(span=("start_ns", "end_ns"))
class ExceptionInterval(SpanRow):
    """The exceptions thrown in one interval."""

    start_ns: cells.Ns = column("The beginning of the interval. All intervals of a process have the same length.")
    end_ns: cells.Ns = column("Its end (exclusive).")
    thrown: cells.Count = column(_THROWN, windowed=True)
    rethrown: cells.Count | None = column(f"{_RETHROWN[:-1]}, of those thrown in it.", windowed=True)
    nested: cells.Count = column(_NESTED, windowed=True)
    rethrown_by_await: cells.Count = column(_AWAIT, windowed=True)
    per_second: cells.Number = column(
        "Throws of all three kinds per second, over the part of the interval inside the window.", windowed=True
    )
    dispatch_ns: cells.DurationNs | None = column(_DISPATCH, windowed=True)


@row
class ExceptionFacts:
    """How exceptions were recorded."""

    rethrows_by: cells.Word | None = column(
        "How `throw;` is recognized: by `events` of its own, up to .NET 8, or by `handlers` that begin again; null "
        "if it is not."
    )


_STRETCHES: Final = 100
"""The most stretches of time."""
_SHORTEST: Final = 1_000_000


class ExceptionSums:
    """What is added up of the exceptions that a window holds. `handled` says whether handlers were recorded."""

    def __init__(
        self, context: Context, exceptions: BuiltExceptions, listed: ReportTable[ThrownException], handled: bool
    ) -> None:
        self._context = context
        self._exceptions = exceptions
        self._listed = listed
        self._handled = handled
        self._begun = context.begun(listed) if len(listed) else np.zeros(0, dtype=np.bool_)
        self._start_known = listed.column("start_ns").known
        again = listed.numbers("by_await").astype(np.bool_)
        nested = listed.numbers("nested").astype(np.bool_)
        counted = self._begun & self._start_known
        self.again: Mask = counted & again
        self.nested: Mask = counted & nested & ~again
        self.thrown: Mask = counted & ~nested & ~again

    def groups(self) -> ReportTable[ExceptionGroup]:
        """By type, throwing and catching method: most often thrown first."""
        names = ("type", "throwing_method", "catching_method")
        of, first = self._grouped(names)
        count = len(first)
        times = self._times(self._context.window)
        caught = self._listed.column("catching_method").known
        columns: dict[str, Any] = {
            **{name: self._text(name, first) for name in names},
            "thrown": _added(of, self.thrown, count),
            "rethrown": self._if(self._rethrown_known, _added(of, self._numbers("rethrown"), count)),
            "nested": _added(of, self.nested, count),
            "rethrown_by_await": _added(of, self.again, count),
            "filtered": self._if(self._handled, _added(of, self._numbers("filtered"), count)),
            "uncaught": self._if(self._handled, _added(of, self._begun & ~caught, count)),
            "dispatch_ns": self._if(self._handled, _added(of, times[0], count)),
            "handling_ns": self._if(self._handled, _added(of, times[1], count)),
            "hresult": self._common("hresult", of, first),
            "lossy": _added(of, self._listed["lossy"], count) + self._missing() > 0,
        }
        throws = columns["thrown"] + columns["nested"] + columns["rethrown_by_await"]
        table = self._context.table(ExceptionGroup, columns)
        # A group of which the window only has time stays; one with neither throws nor time does not.
        some = throws + _added(of, self._begun, count) + _added(of, times[0] + times[1], count) > 0
        order = np.lexsort((-_added(of, times[0], count), -throws, columns["thrown"] == 0))
        return table.take(order[some[order]])

    def messages(self) -> ReportTable[ExceptionMessage]:
        """By type and message without numbers: most frequent first."""
        rows = np.flatnonzero(self._begun & self._start_known)
        types, texts = self._text("type", rows), self._listed.column("message").take(rows).tolist()
        patterns = {text: None if text is None else message_pattern(text) for text in set(texts)}
        of, groups = numbered((type, patterns[text]) for type, text in zip(types, texts, strict=True))
        distinct: list[dict[str | None, None]] = [{} for _ in groups]
        for group, text in zip(of.tolist(), texts, strict=True):
            distinct[group].setdefault(text)
        counts = np.bincount(of, minlength=len(groups)).astype(np.int64)
        lossy = _added(of, self._listed["lossy"][rows], len(groups)) + self._missing() > 0
        table = self._context.table(
            ExceptionMessage,
            {
                "count": counts,
                "distinct": [len(known) for known in distinct],
                "type": [type for type, _ in groups],
                "message": [pattern for _, pattern in groups],
                "example": [next(iter(known)) for known in distinct],
                "lossy": lossy,
            },
        )
        return table.take(np.argsort(-counts, kind="stable"))

    def timeline(self) -> ReportTable[ExceptionInterval]:
        """By stretches of time, from the first throw in the trace to the last."""
        all_starts = self._exceptions.columns["start_ns"]
        starts = all_starts.values[all_starts.known]
        edges = _edges(int(starts.min()), int(starts.max())) if len(starts) else np.zeros(1, dtype=np.int64)
        count = len(edges) - 1
        window, duration = self._context.window, self._context.duration_ns
        times = self._listed.numbers("start_ns")
        counted = self._begun & self._start_known
        place = np.searchsorted(edges, times[counted], side="right") - 1
        inside = window.overlap(edges[:-1], np.minimum(edges[1:], max(duration, int(edges[-2]) + 1 if count else 0)))
        sums = {name: _added(place, getattr(self, name)[counted], count) for name in ("thrown", "nested", "again")}
        throws = sums["thrown"] + sums["nested"] + sums["again"]
        rates = [n / (ns / 1e9) if ns else 0.0 for n, ns in zip(throws.tolist(), inside.tolist(), strict=True)]
        dispatch = [
            self._share_sum(low, high) for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        ]
        rethrown = _added(place, self._numbers("rethrown")[counted], count)
        return self._context.table(
            ExceptionInterval,
            {
                "start_ns": edges[:-1],
                "end_ns": edges[1:],
                "thrown": sums["thrown"],
                "rethrown": self._if(self._rethrown_known, rethrown),
                "nested": sums["nested"],
                "rethrown_by_await": sums["again"],
                "per_second": rates,
                "dispatch_ns": self._if(self._handled, np.array(dispatch, dtype=np.int64)),
            },
        )

    def outcomes(self) -> ReportTable[ExceptionOutcome]:
        """By what became of them: most frequent first."""
        counts = Counter(self._outcomes()).most_common()
        lossy = [bool(self._missing())] * len(counts)
        columns: dict[str, Cells] = {
            "outcome": [word for word, _ in counts],
            "count": [n for _, n in counts],
            "lossy": lossy,
        }
        return self._context.table(ExceptionOutcome, columns)

    def metrics(self) -> dict[str, int | None]:
        """The report's numbers."""
        outcomes = self._outcomes()
        dispatch, handling = (int(times.sum()) for times in self._times(self._context.window))
        lengths = self._listed.column("dispatch_ns")
        known = np.sort(lengths.values[lengths.known & self._begun])
        tells = {
            "filtered": int(self._numbers("filtered").sum()),
            "in_flight": outcomes.count("in_flight"),
            "without_throw": int((self._begun & ~self._start_known).sum()),
            "unmatched": int(self._context.window.holds(self._exceptions.unmatched).sum()),
            "dispatch_total": dispatch,
            "handling_total": handling,
            "dispatch_median": nearest_rank(known, 50),
            "dispatch_max": nearest_rank(known, 100),
        }
        return {
            "count": int((self.thrown | self.nested | self.again).sum()),
            "thrown": int(self.thrown.sum()),
            "rethrown": int(self._numbers("rethrown").sum()) if self._rethrown_known else None,
            "nested": int(self.nested.sum()),
            "rethrown_by_await": int(self.again.sum()),
            **{name: value if self._handled else None for name, value in tells.items()},
        }

    @cached_property
    def _rows(self) -> Ints:
        """The numbers of the exceptions in the table."""
        return self._listed.numbers("row").astype(np.int64)

    def _grouped(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """The group of each exception by these texts, and the first place of each group, in order of these."""
        keys = np.zeros(len(self._listed), dtype=np.int64)
        for name in names:
            texts = self._exceptions.texts[name]
            _, keys = np.unique(keys * (len(texts.texts) + 1) + texts.of[self._rows], return_inverse=True)
        _, first, of = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place[of], first[order]

    def _text(self, name: str, places: Ints) -> list[str | None]:
        texts = self._exceptions.texts[name]
        return [texts.texts[n] for n in texts.of[self._rows[places]].tolist()]

    def _common(self, name: str, of: Ints, first: Ints) -> list[str | None]:
        """The text that all of each group have, None where they differ."""
        numbers = self._exceptions.texts[name].of[self._rows]
        differs = _added(of, numbers != numbers[first][of], len(first)) > 0
        return [None if odd else text for odd, text in zip(differs.tolist(), self._text(name, first), strict=True)]

    def _outcomes(self) -> list[str | None]:
        """What became of each exception that counts in the window."""
        return self._text("outcome", np.flatnonzero(self._begun))

    @property
    def _rethrown_known(self) -> bool:
        return self._handled or self._exceptions.rethrows_by == "events"

    def _numbers(self, name: str) -> Ints:
        """A count of each exception, as far as it counts in the window."""
        numbers: Ints = np.where(self._begun, self._listed.numbers(name), 0).astype(np.int64)
        return numbers

    def _if(self, known: bool, values: Ints) -> Any:
        return values if known else [None] * len(values)

    def _missing(self) -> int:
        """1 if any event of the window is missing, so that no sum is sure."""
        return int(self._context.touched())

    @cached_property
    def _share_place(self) -> Ints:
        """The place of each share's exception in the table, -1 where the window leaves it out."""
        places = np.full(len(self._exceptions.columns["row"]), -1, dtype=np.int64)
        places[self._rows] = np.arange(len(self._listed))
        return places[self._exceptions.share_row]

    def _times(self, window: TimeWindow) -> tuple[Ints, Ints]:
        """Of each exception in the table, how long it took in the window: before and after a handler had caught it."""
        exceptions = self._exceptions
        length = window.overlap(exceptions.share_start, exceptions.share_end)
        in_window = (self._share_place >= 0) & (length > 0)
        both = []
        for caught in (False, True):
            shares = in_window & (exceptions.share_caught == caught)
            both.append(sum_by(self._share_place[shares], length[shares], len(self._listed)))
        return both[0], both[1]

    def _share_sum(self, low: int, high: int) -> int:
        """How long handlers were looked for in a stretch, as far as it lies in the window."""
        window = self._context.window
        part = TimeWindow(max(low, window.low), min(high, window.high))
        lengths = part.overlap(self._exceptions.share_start, self._exceptions.share_end)
        return int(lengths[~self._exceptions.share_caught].sum())


def _edges(first: int, last: int) -> Ints:
    """Edges of stretches of one length, of which there are not too many."""
    length = _SHORTEST
    while last // length - first // length >= _STRETCHES:
        length *= 2
    return np.arange(first // length, last // length + 2, dtype=np.int64) * length


def _added(of: Ints, values: Array, count: int) -> Ints:
    """The sums of values by group. In whole numbers."""
    return sum_by(of, values.astype(np.int64), count)


_HANDLERS: Final = "exception handlers and their times"
_NEEDS: Final = (
    Need("exceptions", ("ExceptionThrown",), 0x8000, 2, essential=True),
    Need(_HANDLERS, tuple(name.partition("/")[2] for name in EVENTS[1:]), 0x8000, 4),
)
_METRICS: Final = (
    count_of("thrown", "Exceptions thrown for the first time while no other was being handled.", better="less"),
    count_of(
        "count",
        "All exceptions, each counted once: `thrown`, `nested` and `rethrown_by_await`.",
        better="less",
        quantity="exceptions.thrown",
        dated=Dated("exceptions"),
    ),
    count_of("rethrown", "How often `throw;` rethrew one of them.", lossy="unknown"),
    count_of("nested", "Exceptions thrown for the first time while another was being handled.", lossy="unknown"),
    count_of(
        "rethrown_by_await",
        "Exceptions that had been captured, mostly by a task, and were rethrown.",
        evidence="inferred",
    ),
    count_of("filtered", "How often a filter accepted an exception.", evidence="inferred"),
    count_of(
        "in_flight",
        "Exceptions that no handler had caught when the trace ended, or that left their thread.",
        lossy="unknown",
    ),
    count_of("without_throw", "Exceptions whose throw is not in the trace.", lossy="unknown"),
    count_of("unmatched", "Ends of handlers whose start is not in the trace.", lossy="unknown"),
    time_of(
        "dispatch_total",
        "How long searching for handlers took, including filters and finally handlers.",
        better="less",
        lossy="unknown",
        dated=Dated("exceptions", amount="dispatch_ns"),
        hides="exceptions/dispatch_ns",
    ),
    time_of("handling_total", "How long catch handlers took, including what they rethrew.", lossy="unknown"),
    time_of("dispatch_median", "The median time from a throw to its catch handler.", better="less", merge="none"),
    time_of(
        "dispatch_max",
        "The longest time from a throw to its catch handler.",
        better="less",
        merge="max",
        lossy="unknown",
    ),
)


_CHART: Final = ChartDeclaration(
    "rate",
    "How many exceptions were thrown in each interval.",
    (Panel("timeline", "start_ns", "thrown"),),
)


@answer(
    name="exceptions",
    summary="thrown rethrown nested in_flight dispatch_total dispatch_max",
    charts=(_CHART,),
)
class ExceptionsReport(Answer[ExceptionFacts]):
    """What was thrown, by which method, who caught it, how often, and how long that took.

    An exception is counted once, where it was thrown: as `thrown`, as `nested` if another was being handled on its
    thread, or as `rethrown_by_await` if it had been captured, for example by a task, and was rethrown, which follows
    from the stack. `rethrown` counts how often `throw;` rethrew one of these. From .NET 9 on, `throw;` raises no event
    of its own and is recognized by a second catch handler, so a rethrow that is never caught is not counted.

    The throwing method is the innermost one that is not part of the runtime's dispatch. It may be a framework helper;
    `my_code` looks for the first method of the program.

    Dispatch lasts from the throw to the start of the first catch handler: the search for it, filters, and finally
    handlers on the way. Handling lasts from there to the end of the last catch handler. Time spent on an exception
    thrown meanwhile counts for that exception alone, so times can be added up.

    Whether a filter accepted is not recorded. It is assumed to have accepted if the catch handler that begins next lies
    directly after it; if a filter's own handler never ran, that handler may belong to another filter.

    In a window, an exception counts where it was thrown, with the part of its time inside the window.
    """

    groups: ReportTable[ExceptionGroup] = table(
        "Exceptions by type, throwing and catching method, most frequent first."
    )
    messages: ReportTable[ExceptionMessage] = table(
        "Exceptions by type and message, with numbers and ids replaced by `#`."
    )
    outcomes: ReportTable[ExceptionOutcome] = table("What became of exceptions.")
    timeline: ReportTable[ExceptionInterval] = table("What was thrown over time, in equal intervals.")
    exceptions: ReportTable[ThrownException] = table("Each exception, in order of time.", bulk=True)


class ExceptionsCollector(KeepingCollector[ExceptionsReport]):
    """Keeps a few columns of each exception event."""

    selectors = EVENTS
    headers = HEADERS
    stacks = True

    def __init__(self, asked: StackParameters) -> None:
        self._asked = asked
        self._kept = Kept({selector: (*HEADERS, *columns) for selector, columns in KEPT.items()})

    def finish(self, context: Context) -> ExceptionsReport:
        """Give the answer."""
        handled = _HANDLERS not in context.unknown
        rows = self._kept.all(EVENTS, context.nothing)
        exceptions = built(context, rows, handled, self._asked.raw, self._asked.my_code)
        listed = context.table(ThrownException, exceptions.columns)
        sums = ExceptionSums(context, exceptions, listed, handled)
        counts = sums.metrics() if "exceptions" not in context.unknown or len(listed) else {}
        numbers: dict[str, int | Metric | None] = {**counts}
        if counts.get("count") and not (handled and context.named):
            # Names show what an await rethrew, and handlers what was thrown while another was handled.
            again = counts["rethrown_by_await"]
            numbers["rethrown_by_await"] = context.metric("rethrown_by_await", again or None, least=bool(again))
            for name in ("thrown", "nested"):
                numbers[name] = context.metric(name, counts[name], most=True)
        return context.answer(
            ExceptionsReport,
            facts=ExceptionFacts(rethrows_by=exceptions.rethrows_by),
            metrics={metric.name: numbers.get(metric.name) for metric in context.metrics},
            groups=sums.groups(),
            messages=sums.messages(),
            outcomes=sums.outcomes(),
            timeline=sums.timeline(),
            exceptions=listed,
        )


REPORT: Final = ReportDeclaration(
    answer=ExceptionsReport,
    question="What is thrown, where, and what does it cost?",
    topic="program",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=ExceptionsCollector,
    in_part={
        "thrown": "at most",
        **dict.fromkeys(("nested", "dispatch_total", "dispatch_max", "handling_total"), "at least"),
        **dict.fromkeys(("in_flight", "dispatch_median", "unmatched", "without_throw"), "unknown"),
    },
    parameters=StackParameters,
    shown=("thrown", "nested", "dispatch_ns", "type", "throwing_method", "catching_method"),
    examples=(
        ("What is thrown, and by which method?", "clrevents exceptions app.nettrace"),
        ("Where does my own code throw?", "clrevents exceptions app.nettrace --my-code"),
        ("What do the messages say?", "clrevents exceptions app.nettrace --table messages"),
        ("When were the most thrown?", "clrevents exceptions app.nettrace --table timeline"),
        ("Which exception took longest?", "clrevents exceptions app.nettrace --table exceptions --sort dispatch_ns"),
    ),
    compared=(ComparedRows("exceptions", "exceptions", ("type", "throwing_method")),),
)
