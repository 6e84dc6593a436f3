"""The questions for each of many traces, as values that can be sent to another process.

Each is called with a trace, and returns a value that can be sent back. Knows one trace at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from clrevents._util.value_classes import frozen
from clrevents.analysis.doctor.diagnosing import doctor
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.catalogue import ask_one, find_report, reports_of
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.decode.kinds import EventKey
from clrevents.decode.selection import FilterOptions, Selector
from clrevents.errors import UnknownEventError
from clrevents.table.build import Column
from clrevents.table.table import Table
from clrevents.trace import Trace, passes_of, tables_in_sql


@frozen
class TraceFacts:
    """What a trace is: a row of the table from `Traces.overview`."""

    format: str
    format_version: int
    process_id: int | None
    pointer_size: int
    processors: int | None
    start: str | None
    duration_ns: int
    events: int
    lost: int
    bytes: int


@frozen
class AskFacts:
    """What the trace is, from its header and one scan of all headers."""

    def __call__(self, trace: Trace) -> TraceFacts:
        info = trace.info
        return TraceFacts(
            info.format,
            info.version,
            info.process_id,
            info.pointer_size,
            info.processors,
            None if info.start is None else info.start.isoformat(),
            trace.duration_ns,
            sum(trace.event_counts().values()),
            trace.lost,
            passes_of(trace).source.size,
        )


@frozen
class AskCounts:
    """How many events there are of each kind."""

    def __call__(self, trace: Trace) -> dict[EventKey, int]:
        return trace.event_counts()


@frozen
class AskTable:
    """The table of one event."""

    selector: Selector
    columns: tuple[str, ...] | None
    enum_names: bool
    order: Any
    filters: FilterOptions

    def __call__(self, trace: Trace) -> Table:
        return trace.table(
            self.selector, columns=self.columns, enum_names=self.enum_names, order=self.order, **self.filters
        )


@frozen
class AskHeaders:
    """The headers of all events."""

    columns: tuple[str, ...] | None
    order: Any
    filters: FilterOptions

    def __call__(self, trace: Trace) -> Table:
        return trace.headers(columns=self.columns, order=self.order, **self.filters)


@frozen
class AskSql:
    """A table by its name in SQL; None if this trace has none."""

    name: str

    def __call__(self, trace: Trace) -> Table | None:
        return tables_in_sql(trace).table(self.name)


@frozen
class AskUnknown:
    """What to say about a name that no trace knows."""

    name: str

    def __call__(self, trace: Trace) -> UnknownEventError:
        return tables_in_sql(trace).unknown(self.name)


@frozen
class KeptAnswer:
    """What is kept of a report's answer about one trace: everything except unrequested tables.

    Sent without the names and types of columns, which are known from the report's row classes: with them, a thousand
    small answers would take longer to send than to make.
    """

    report: str
    coverage: Coverage
    notes: tuple[Note, ...]
    facts: Any
    metrics: Mapping[str, Metric]
    tables: Mapping[str, Table]

    @classmethod
    def of(cls, report: str, answer: Answer[Any], tables: tuple[str, ...] | None) -> KeptAnswer:
        """With these tables, or without the bulk ones."""
        held = {
            t.name: answer.table(t.name).table
            for t in answer.tables()
            if (not t.bulk if tables is None else t.name in tables)
        }
        return cls(report, answer.coverage, answer.notes, answer.facts, answer.metrics, held)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {name: table.parts for name, table in self.tables.items()}
        return _received, (self.report, self.coverage, self.notes, self.facts, self.metrics, parts)


def _received(
    report: str,
    coverage: Coverage,
    notes: tuple[Note, ...],
    facts: Any,
    metrics: Mapping[str, Metric],
    parts: Mapping[str, tuple[tuple[Column, ...], ...]],
) -> KeptAnswer:
    empty = empty_tables(report)
    tables = {name: Table(empty[name].fields, held) for name, held in parts.items()}
    return KeptAnswer(report, coverage, notes, facts, metrics, tables)


@cache
def empty_tables(report: str) -> Mapping[str, Table]:
    """The tables of a report by name, without any rows."""
    found: dict[str, Table] = {}
    for table in find_report(report).answer.tables():
        found[table.name] = ReportTable.empty(table.row_class).table
    return found


@frozen
class AskReport:
    """One report, with its parameters."""

    name: str
    parameters: Any
    window: WindowOptions
    tables: tuple[str, ...] | None

    def __call__(self, trace: Trace) -> KeptAnswer:
        return KeptAnswer.of(
            self.name, ask_one(trace, find_report(self.name), self.parameters, self.window), self.tables
        )


@frozen
class AskDoctor:
    """What is wrong, by these rules: the table of findings."""

    rules: tuple[str, ...]
    window: WindowOptions

    def __call__(self, trace: Trace) -> Table:
        return doctor(trace, *self.rules, **self.window).findings.table


@frozen
class AskReports:
    """Several reports from one pass, each without its bulk tables."""

    names: tuple[str, ...]
    window: WindowOptions

    def __call__(self, trace: Trace) -> dict[str, KeptAnswer]:
        answers = reports_of(trace, self.names, self.window)
        return {name: KeptAnswer.of(name, answer, None) for name, answer in answers.items()}
