"""The questions for each of many traces, as functions, or as values where somebody reads what is asked.

Each is called with a trace, and returns a value that can be sent to another process. Knows one trace at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from clrevents._util.value_classes import frozen
from clrevents.analysis.about.describing import HeaderFacts, header_facts
from clrevents.analysis.doctor.diagnosing import doctor
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.asking import ask_one, find_report, reports_of
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import Bytes, Count, DurationNs, FilePath, column, row
from clrevents.decode.selection import Selector
from clrevents.errors import UnknownEventError
from clrevents.table.table import Column, Table
from clrevents.trace import Trace, passes_of, tables_in_sql


@row
class TraceFacts(HeaderFacts):
    """What a trace is: a row of the table from `Traces.overview`."""

    duration_ns: DurationNs = column("From the session's start to the last event.")
    events: Count = column("The number of events.", importance=0)
    lost: Count = column("How many were lost.")
    bytes: Bytes = column("The size of the trace, unpacked.")


@row
class OverviewRow(TraceFacts):
    """The same with its trace."""

    trace: FilePath = column("The path or URL.", importance=0)


def facts_of(trace: Trace) -> TraceFacts:
    """What the trace is, from its header and one scan of all headers."""
    return TraceFacts(
        **header_facts(trace.info),
        duration_ns=trace.duration_ns,
        events=sum(trace.event_counts().values()),
        lost=trace.lost,
        bytes=passes_of(trace).source.size,
    )


def table_of(trace: Trace, selector: Selector, **asked: Any) -> Table:
    """The table of one event."""
    return trace.table(selector, **asked)


def sql_table(trace: Trace, name: str) -> Table | None:
    """A table by its name in SQL; None if this trace has none."""
    return tables_in_sql(trace).table(name)


def unknown_table(trace: Trace, name: str) -> UnknownEventError:
    """What to say about a name that no trace knows."""
    return tables_in_sql(trace).unknown(name)


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

    def __reduce__(self) -> tuple[object, ...]:
        parts = {name: table.parts for name, table in self.tables.items()}
        return _received, (self.report, self.coverage, self.notes, self.facts, self.metrics, parts)


def _received(
    report: str,
    coverage: Coverage,
    notes: tuple[Note, ...],
    facts: object,
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


def kept_answers(trace: Trace, names: Sequence[str], window: WindowOptions) -> dict[str, KeptAnswer]:
    """Several reports from one pass, each without its bulk tables."""
    return {name: KeptAnswer.of(name, answer, None) for name, answer in reports_of(trace, names, window).items()}
