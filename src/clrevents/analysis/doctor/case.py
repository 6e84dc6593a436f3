"""`Case`: the answers about one trace, as rules read them. Every number comes out with the place where it stands.

Reads no trace; knows no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import duration_text
from clrevents.analysis.doctor.verdicts import Cited
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import (
    NEVER_RECORDED,
    NOT_RECORDED,
    Need,
    SeenKinds,
    coverage,
    met,
    record_needs,
    recordable,
)
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Metric
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import columns_of

TRACE: Final = "trace"
"""The prefix of metrics about the trace itself."""
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

    def metric(self, name: str) -> Metric:
        """A metric as `report.metric`, or `trace.metric`."""
        report, _, metric = name.partition(".")
        if report == TRACE:
            return self.trace[metric]
        return self.answers[report].metrics[metric] if self._asked(report) else _UNASKED

    def _asked(self, report: str) -> bool:
        """Whether a report has an answer. KeyError for one that no rule says it reads."""
        if report not in self.needs:
            raise KeyError(report)
        return report in self.answers

    def bounded(self, name: str) -> bool:
        """Whether a metric is only a lower bound."""
        metric = self.metric(name)
        return metric.low is not None and metric.high is None

    def cited(self, name: str) -> Cited:
        """A metric that has a value."""
        metric = self.metric(name)
        assert metric.value is not None, "rules are asked only if their metrics are known"
        return Cited(name, metric.value, metric.unit)

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

    def cells(self, report: str, table: str, column: str, rows: Iterable[int]) -> Cited:
        """The sum of some cells of a column, nulls being 0."""
        places = tuple(int(row) for row in rows)
        found = self.rows(report, table)
        values = [value for value in found.column(column).take(np.array(places, dtype=np.int64)).tolist() if value]
        unit = next(c.cell.unit or "count" for c in columns_of(found.row_class) if c.name == column)
        return Cited(f"{report}/{table}/{column}", sum(values), unit, places)

    @property
    def missing_events(self) -> bool:
        """Whether events were lost, or destroyed: what was not seen may have happened."""
        return bool(self.value(f"{TRACE}.lost") or self.value(f"{TRACE}.damaged"))

    def per_second(self, number: float) -> float:
        """A number by the second of the window."""
        return number * 1e9 / max(self.window_ns, 1)

    def share(self, ns: float) -> float:
        """A time as a share of the window; sums over threads may be more than all of it."""
        return ns / max(self.window_ns, 1)

    def missing(self, report: str) -> tuple[str, ...]:
        """What this report needs and was not recorded."""
        if report == TRACE:
            return ()
        if not self._asked(report):
            return tuple(need.what for need in self.needs[report] if met(need, self.kinds) == "unknown")
        notes = self.answers[report].notes
        return tuple(what for note in notes if note.id in (NOT_RECORDED, NEVER_RECORDED) for what in note.touches)

    def never(self, report: str) -> tuple[str, ...]:
        """What of that no recording of such a program has."""
        wanted = {need.what for need in recordable(self.needs.get(report, ()), self.kinds.native_aot)}
        return tuple(what for what in self.missing(report) if what not in wanted)

    def coverage(self, report: str) -> Coverage:
        """How much of what this report needs was recorded."""
        return self.answers[report].coverage if self._asked(report) else coverage(self.needs[report], self.kinds)

    def record(self, reports: Iterable[str]) -> str:
        """What to record so that nothing of this is missing."""
        missing = {report: frozenset(self.missing(report)) for report in reports}
        lacking = [need for report in missing for need in self.needs.get(report, ()) if need.what in missing[report]]
        lacking = recordable(lacking, self.kinds.native_aot)
        return record_needs(lacking) if lacking else ""
