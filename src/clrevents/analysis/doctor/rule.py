"""`Rule`: the declaration of one thing that may be wrong, the `Case` that it reads, and what it concludes.

A rule reads answers of reports and no events. Every number is cited with the place where it stands, so that it can be
looked up there. The rule's page, its help and its place in an answer follow from its declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import amount_text, counted, duration_text
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import (
    NEVER_RECORDED,
    NOT_RECORDED,
    Need,
    SeenKinds,
    coverage,
    missing_notes,
)
from clrevents.analysis.framework.recording.recorded import merged_lines
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Evidence, Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, columns_of


@frozen
class Cited(Value):
    """A number and where it stands: a metric (`gc.pause_total`), or the sum of cells of a column in these rows.

    The column is written `report/table/column`; rows count from 0, in the report's own order. `side` says that it is a
    bound, as of a metric.
    """

    place: str
    value: int | float
    unit: str
    rows: tuple[int, ...] = ()
    side: str = ""

    @property
    def text(self) -> str:
        """In words: `at least 1.78 s`."""
        return f"{self.side}{amount_text(self.value, self.unit)}"

    def of(self, value: int | float) -> Cited:
        """Another number, which is as good as this one that it follows from."""
        return attrs.evolve(self, value=value)


@frozen
class Ailment(Value):
    """What is wrong: what it costs in ns, bytes or counts, what `share` that is of what, and who is behind it.

    `evidence` are the numbers that the title speaks of; the first is the one that is beyond the threshold. `span` is
    the time to look at first. `nameless` says why there is no culprit although there must be one, and what to record to
    know it. `advice` is what to do where that of the rule does not help.
    """

    title: str
    impact: Cited
    evidence: tuple[Cited, ...]
    share: float | None = None
    culprit: str | None = None
    span: tuple[int, int] | None = None
    nameless: str = ""
    advice: str = ""


@frozen
class Clear(Value):
    """Nothing is wrong, and what was measured. Something would be only with at least so many `events` more, and at
    least so much more time, `ns`."""

    title: str
    evidence: tuple[Cited, ...] = ()
    events: float = 0
    ns: float = 0


@frozen
class Unknown(Value):
    """It cannot be told, and why; `record` is what `dotnet-trace collect --providers` takes to be able to."""

    reason: str
    record: str = ""


Verdict: TypeAlias = Ailment | Clear | Unknown


TRACE: Final = "trace"
"""The prefix of metrics about the trace itself."""
LEAST_EVENTS: Final[Mapping[str, int]] = {"gc.count": 4}
"""How many events each thing has at least that a metric counts, where that is more than one: a collection has its
start, its end, what the heaps are like, and a suspension."""
NOTHING: Final = ("gc.count", "alloc.events", "locks.count", "exceptions.count", "tasks.awaits", "requests.count")
"""The metrics that are 0 where a report has nothing to judge."""
_UNASKED: Final = Metric(None, "count", reason="not recorded")
NO_KINDS: Final = SeenKinds()
"""Where every report was asked."""


@frozen(eq=False)
class Case:
    """Answers by the names of their reports, what each report that rules read needs, and metrics of the trace itself.

    A report without an answer was not asked, because the `kinds` of the trace show that it knows nothing: its numbers
    are unknown and its tables empty. `window_ns` is how long the asked part of the recording is.
    """

    answers: Mapping[str, Answer[Any]]
    needs: Mapping[str, tuple[Need, ...]]
    trace: Mapping[str, Metric]
    window_ns: int
    kinds: SeenKinds = NO_KINDS
    least: bool = False
    """Whether of what lies between two bounds only the least is known."""
    read: tuple[str, ...] = ()
    """The metrics of the rule that reads: if one is a lower bound, so are sums of the rows behind it."""

    def metric(self, name: str) -> Metric:
        """A metric as `report.metric`, or `trace.metric`."""
        report, _, metric = name.partition(".")
        if report == TRACE:
            return self.trace.get(metric, _UNASKED)
        answered = self.answers[report].metrics[metric] if self._asked(report) else _UNASKED
        return (
            attrs.evolve(answered, value=answered.low, high=None)
            if self.least and answered.low is not None
            else answered
        )

    def _asked(self, report: str) -> bool:
        """Whether a report has an answer. KeyError for one that no rule says it reads."""
        if report not in self.needs:
            raise KeyError(report)
        return report in self.answers

    def bounded(self, name: str) -> bool:
        """Whether a metric is only a lower bound."""
        return self.metric(name).side == "at least "

    def cited(self, name: str) -> Cited:
        """A metric that has a value."""
        metric = self.metric(name)
        assert metric.value is not None, "rules are asked only if their metrics are known"
        return Cited(name, metric.value, metric.unit, side=metric.side)

    def value(self, name: str) -> Any:
        """The value of a metric; None if it is unknown."""
        return self.metric(name).value

    def longest(self, name: str) -> str:
        """The value of a maximum in words: others may be longer where it is a lower bound."""
        text = duration_text(self.value(name))
        return f"one for at least {text}" if self.bounded(name) else f"{text} at most"

    def rows(self, report: str, table: str) -> ReportTable[Any]:
        """A table of a report."""
        if self._asked(report):
            return self.answers[report].table(table)
        return ReportTable.empty(next(t.row_class for t in find_report(report).answer.tables() if t.name == table))

    def where(self, report: str, table: str, column: str, fits: Callable[[Any], object]) -> list[int]:
        """The rows of a table whose cell in this column fits."""
        return [row for row, cell in enumerate(self.rows(report, table).column(column).tolist()) if fits(cell)]

    def cells(self, report: str, table: str, column: str, rows: Iterable[int]) -> Cited:
        """The sum of some cells of a column, nulls being 0."""
        places = tuple(int(row) for row in rows)
        table_rows = self.rows(report, table)
        values = [value for value in table_rows.column(column).take(np.array(places, dtype=np.int64)).tolist() if value]
        unit = next(c.cell.unit or "count" for c in columns_of(table_rows.row_class) if c.name == column)
        least = any(self.bounded(name) for name in self.read if name.startswith(f"{report}."))
        return Cited(f"{report}/{table}/{column}", sum(values), unit, places, "at least " if least else "")

    def despite_losses(self, clear: Clear) -> str | None:
        """Why it is clear whatever the lost events were, in words; None if it may not be."""
        lost = int(self.value(f"{TRACE}.lost"))
        if self.value(f"{TRACE}.damaged"):
            return None
        if lost < clear.events:
            return f"{counted(lost, 'lost event')} cannot change that"
        # What is at most so much can only be less.
        times = [metric for metric in map(self.metric, self.read) if metric.unit == "ns" and metric.side != "at most "]
        unseen = [0 if metric.sure else metric.unseen for metric in times]
        known = [ns for ns in unseen if ns is not None]
        is_clear = bool(known) and len(known) == len(unseen) and max(known) < clear.ns
        return f"what was lost adds {duration_text(max(known))} at most" if is_clear else None

    @property
    def missing_events(self) -> bool:
        """Whether events were lost, or destroyed: what was not seen may have happened."""
        return bool(self.value(f"{TRACE}.lost") or self.value(f"{TRACE}.damaged"))

    def may_hide(self, name: str) -> bool:
        """Whether what is missing may have been one of the things that a metric counts."""
        least = LEAST_EVENTS.get(name, 1)
        return bool(self.value(f"{TRACE}.damaged")) or self.value(f"{TRACE}.lost") >= least

    def own_kin(self, fits: Callable[[str], object], kin: str = "own_caller") -> str | None:
        """Of all sampled methods whose names fit, and have an `own_caller` or `own_callee` in the program: that of the
        one that took longest with all that it calls."""
        rows = self.rows("top", "methods")
        names, own = self.names(rows.column(kin).known), rows.column(kin)
        fitting = np.array([row for row, name in names.items() if fits(name)], dtype=np.int64)
        kins = zip(rows.numbers("inclusive_ns")[fitting].tolist(), own.take(fitting).tolist(), strict=True)
        return max(kins, default=(0, None))[1]

    def names(self, which: NDArray[np.bool_]) -> dict[int, str]:
        """The names of these of all sampled methods, by their rows: names are made when they are asked for."""
        rows = np.flatnonzero(which)
        names = self.rows("top", "methods").column("name").take(rows)
        return dict(zip(rows.tolist(), names.tolist(), strict=True))

    def per_second(self, number: float) -> float:
        """A number by the second of the window."""
        return number * 1e9 / max(self.window_ns, 1)

    def share(self, ns: float) -> float:
        """A time as a share of the window; sums over threads may be more than all of it."""
        return ns / max(self.window_ns, 1)

    def missing(self, report: str) -> tuple[str, ...]:
        """What this report needs and was not recorded."""
        return tuple(what for note in self._lacks(report) for what in note.touches)

    def never(self, report: str) -> tuple[str, ...]:
        """What of that no recording of such a program has."""
        return tuple(what for note in self._lacks(report) if note.id == NEVER_RECORDED for what in note.touches)

    def _lacks(self, report: str) -> list[Note]:
        """The notes on what was not recorded."""
        if report == TRACE:
            return []
        notes = self.answers[report].notes if self._asked(report) else missing_notes(self.needs[report], self.kinds)
        return [note for note in notes if note.id in (NOT_RECORDED, NEVER_RECORDED)]

    def coverage(self, report: str) -> Coverage:
        """How much of what this report needs was recorded."""
        return self.answers[report].coverage if self._asked(report) else coverage(self.needs[report], self.kinds)

    def record(self, reports: Iterable[str]) -> str:
        """What to record so that nothing of this is missing."""
        notes = (note for report in reports for note in self._lacks(report))
        return merged_lines(note.record for note in notes if note.record)


WINDOW: Final = "window"
"""What a share is of, where it is of the time that was asked about."""


@frozen
class Threshold(Value):
    """From which number on something is wrong, in words, and whose judgement that is.

    What is wrong may have a size in any recording: the `limit` is then a share `of` the window or of a metric; and it
    is `least` so many ns, bytes or times, and the share `of_window`, too. A rule is asked with that instead of the
    `limit`, and one that is clear says it.
    """

    limit: float
    text: str
    source: str = "our judgement"
    of: str = ""
    least: float = 0
    of_window: float = 0
    unit: str = "ns"

    def size(self, case: Case) -> float:
        """From what size on this recording shows it; the limit, where that is no share."""
        if not self.of:
            return self.limit
        whole = case.window_ns if self.of == WINDOW else case.value(self.of) or 0
        return max(self.least, self.limit * whole, self.of_window * case.window_ns)


@frozen
class Remedy:
    """What to do where a rule finds something for this cause: `when`, in words, and whether it `helps`."""

    when: str
    helps: Callable[[Case], bool]
    advice: str


@frozen
class Rule:
    """One thing that may be wrong.

    `metrics` are those without which it cannot be told, as `report.metric`; `also` are other reports that it reads.
    `need` is what must have been recorded beyond what the first of them needs: no report is asked for a rule that lacks
    either. Where `nothing` is a metric that is 0, there is nothing to judge, whatever is unknown; by default it is the
    one of `NOTHING` for the first report.
    `why` says why it matters, `advice` what to do unless one of the `remedies` fits the cause, `trap` what would make a
    finding wrong; findings with the same `cost` may count the same time or bytes; `see` is the command that shows its
    evidence, after `clrevents`, with `{file}` for the trace; what is in brackets needs stacks of events.
    """

    id: str
    question: str
    metrics: tuple[str, ...]
    threshold: Threshold
    why: str
    advice: str
    trap: str
    see: str
    judge: Callable[[Case, float], Verdict]
    evidence: Evidence = "event"
    also: tuple[str, ...] = ()
    need: Need | None = None
    nothing: str = attrs.field(default=attrs.Factory(lambda rule: _nothing_in(rule.reports), takes_self=True))
    cost: str = ""
    remedies: tuple[Remedy, ...] = ()

    def advice_for(self, case: Case) -> str:
        """What to do: the first remedy that helps."""
        return next((one.advice for one in self.remedies if one.helps(case)), self.advice)

    def command(self, stacks: bool = True) -> str:
        """The command that shows its evidence, where events have `stacks` or not."""
        return re.sub(r"\[(.*?)\]", r"\1" if stacks else "", self.see)

    @property
    def reports(self) -> tuple[str, ...]:
        """The reports that it reads, without what is about the trace itself."""
        names = dict.fromkeys((*(name.partition(".")[0] for name in self.metrics), *self.also))
        return tuple(name for name in names if name != TRACE)


def _nothing_in(reports: Sequence[str]) -> str:
    """The metric that is 0 where the first of these has nothing to judge; nothing, where none is."""
    return next((name for name in NOTHING if reports and name.startswith(f"{reports[0]}.")), "")
