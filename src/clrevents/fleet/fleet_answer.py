"""`FleetAnswer`: one report's answers about many traces: their rows together, their metrics merged and side by side.

Metrics are merged as their declarations say, like those of several processes. Measures nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from clrevents._util.notebook_views import framed_html, html_table, html_text
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.model.conditions import Condition
from clrevents.analysis.framework.model.declaration import AnyReport
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.run.report_reading import merged_metric
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Metric, metric_text
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.decode.payload.column import STRING
from clrevents.fleet.joined import Joined, rows_of_traces
from clrevents.fleet.questions import KeptAnswer, empty_tables
from clrevents.table.display import LINES, fitted
from clrevents.table.table import ColumnType, Table, TableField, from_values, row_table

_WHOLE: Final = ("count", "ns", "bytes")
"""Units of numbers without a fraction."""
_SEVERAL: Final = "there is no common value for several traces; `by_trace` has each trace's"


@frozen
class _NoteRow:
    trace: str
    id: str
    severity: str
    message: str
    touches: tuple[str, ...]
    remedy: str | None
    record: str | None


@frozen(eq=False, repr=False)
class FleetAnswer:
    """A report's answer about many traces. Owns its data.

    `traces` are those with an answer; `Traces.problems` says why others have none.
    """

    name: str
    """The report's name."""
    parameters: Any
    """The parameters that it was asked with."""
    traces: tuple[str, ...]
    """The traces with an answer, in order."""
    coverage: Coverage
    """`full` or `none` if all traces agree, otherwise `partial`."""
    metrics: Mapping[str, Metric]
    """The report's numbers over all traces, merged as declared; null, with a reason, if a trace's own is unknown, or if
    there is no common number for several."""
    by_trace: Table
    """One row for each trace: `coverage`, and a column for each metric."""
    facts: Table
    """One row for each trace: the report's facts."""
    notes: Table
    """All caveats, each with its trace."""
    tables: Mapping[str, Table]
    """The report's tables by name, with a column `trace`."""
    _metrics_of: Mapping[str, Mapping[str, Metric]]

    def table(self, name: str | None = None) -> Table:
        """The table called `name`, or the first of those that were asked for.

        Raises KeyError for a table that the report does not have or that was not requested.
        """
        name = name or next(iter(self.tables), "")
        if name not in self.tables:
            raise KeyError(f"no table {name!r}; there are {', '.join(self.tables)}; ask for others with tables=")
        return self.tables[name]

    def unmet(self, *conditions: str) -> list[str]:
        """The conditions that do not hold for a trace, and why: a sentence each, which begins with the trace.

        `*conditions` are those of `Answer.unmet`, such as `"pause_max<50ms"`; a trace in which a metric is unknown
        meets none on it. Raises ValueError for an unknown metric, and for a unit that does not fit it.
        """
        names = [metric.name for metric in find_report(self.name).metrics]
        parsed = [Condition.parse(text, names) for text in conditions]
        return [
            f"{path}: {reason}"
            for path, metrics in self._metrics_of.items()
            for condition in parsed
            if (reason := condition.unmet(metrics[condition.metric])) is not None
        ]

    def __repr__(self) -> str:
        lines = [f"<{self.name} of {counted(len(self.traces), 'trace')}, coverage {self.coverage}>"]
        for name, metric in self.metrics.items():
            lines.append(f"  {name}: {metric_text(metric)}")
        lines += [f"  {name}: {counted(len(table), 'row')}" for name, table in self.tables.items()]
        return "\n".join(fitted(line) for line in lines[:LINES])

    def _repr_html_(self) -> str:
        metrics = html_table((), [(name, metric_text(metric)) for name, metric in self.metrics.items()])
        parts = [
            f"<b>{html_text(self.name)}</b> of {counted(len(self.traces), 'trace')}, coverage {self.coverage}{metrics}"
        ]
        headline = next(iter(self.tables), "")
        for name, table in {"by_trace": self.by_trace, **self.tables}.items():
            parts.append(f"<p><b>{html_text(name)}</b>: {counted(len(table), 'row')}</p>")
            if name in ("by_trace", headline):
                parts.append(table._repr_html_())
        return framed_html("".join(parts), lambda: repr(self))


def fleet_answer(
    declared: AnyReport,
    parameters: object,
    wanted: Sequence[str] | None,
    answers: Sequence[tuple[str, KeptAnswer]],
) -> FleetAnswer:
    """The answers of these traces as one; `wanted` are the tables, None for all that are not bulk."""
    chosen = [t for t in declared.answer.tables() if (not t.bulk if wanted is None else t.name in wanted)]
    tables = {}
    for table in chosen:
        joined = Joined()
        joined.add("", empty_tables(declared.name)[table.name])
        for path, one in answers:
            joined.add(path, one.tables[table.name])
        tables[table.name] = joined.table()
    traces = tuple(path for path, _ in answers)
    metrics = declared.metrics if answers else ()
    coverages = [one.coverage for _, one in answers]
    return FleetAnswer(
        declared.name,
        parameters,
        traces,
        coverages[0] if len(set(coverages)) == 1 else "partial" if coverages else "none",
        {m.name: _over_all([one.metrics[m.name] for _, one in answers]) for m in metrics},
        _by_trace(declared, answers),
        _facts(declared.answer.facts_class(), answers),
        row_table(
            _NoteRow,
            (
                _NoteRow(path, n.id, n.severity, n.message, n.touches, n.remedy, n.record)
                for path, one in answers
                for n in one.notes
            ),
        ),
        tables,
        {path: one.metrics for path, one in answers},
    )


def _over_all(metrics: Sequence[Metric]) -> Metric:
    """One metric over all traces. A sum without some of them would be wrong: the reason says how many are unknown."""
    merged = merged_metric(metrics, _SEVERAL)
    known = [metric for metric in metrics if metric.value is not None]
    if merged.value is None and merged.merge != "none" and known:
        traces = counted(len(metrics), "trace lacks", "traces lack")
        why = f"{len(metrics) - len(known)} of {traces} it; the {merged.merge} of the others is "
        return attrs.evolve(merged, reason=f"{why}{metric_text(merged_metric(known))}")
    return merged


def _by_trace(declared: AnyReport, answers: Sequence[tuple[str, KeptAnswer]]) -> Table:
    fields, columns = [TableField("coverage", STRING)], [from_values(STRING, [one.coverage for _, one in answers])]
    for metric in declared.metrics:
        # The same type whatever the traces say, so that any number of them agree.
        type = ColumnType("int64" if metric.unit in _WHOLE else "float64")
        fields.append(TableField(metric.name, type, nullable=True))
        columns.append(from_values(type, [one.metrics[metric.name].value for _, one in answers]))
    return rows_of_traces([path for path, _ in answers], Table(tuple(fields), (tuple(columns),)))


def _facts(facts_class: type[Any], answers: Sequence[tuple[str, KeptAnswer]]) -> Table:
    facts: ReportTable[object] = ReportTable.of(facts_class, [one.facts for _, one in answers])
    return rows_of_traces([path for path, _ in answers], facts.table)
