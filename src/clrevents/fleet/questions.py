"""One question asked of one trace, whatever is wrong with it: the value or why there is none, and the problems met, as
rows (`TraceProblem`).

Questions are functions, or values where somebody reads what is asked. Each is called with a trace, in any process, and
returns a value that can be sent to another one. Knows one trace at a time.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Generic, TypeAlias, TypeVar

import attrs

from clrevents._util.value_classes import frozen
from clrevents.analysis.about.describing import HeaderFacts, header_facts
from clrevents.analysis.doctor.diagnosing import doctor
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import WindowOptions
from clrevents.analysis.framework.run.asking import ask_one, find_report, reports_of
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.answer_values import Coverage, Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, column, row
from clrevents.errors import (
    DamageError,
    ErrorMode,
    LimitError,
    Limits,
    PayloadError,
    SourceError,
    TraceError,
    TraceWarning,
    UnknownEventError,
    UnreadableError,
)
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.table.table import Column, Table
from clrevents.trace import Trace, passes_of, tables_in_sql

UNREAD: Final = "error"
"""The severity of what kept a question from being answered for a trace."""
_KINDS: Final[Mapping[type[TraceError], str]] = {
    SourceError: "source",
    UnreadableError: "unreadable",
    DamageError: "damage",
    PayloadError: "payload",
    LimitError: "limit",
}


@frozen
class TraceProblem:
    """A problem of a trace: one of those listed by `Trace.problems`, or, with the severity `error`, why it has no
    answer to a question: the `kind` is then `source`, `unreadable`, `damage`, `payload`, `limit`, `question`,
    `columns`, `internal-error` or `process-died`.
    """

    trace: str
    kind: str
    severity: str
    message: str
    offset: int | None = None
    length: int | None = None
    event: str | None = None
    field: str | None = None
    impact: str = ""


def error_row(path: str, error: Exception) -> TraceProblem:
    """Why there is no answer for a trace."""
    impact = "the answer has nothing of this trace"
    if isinstance(error, TraceError):
        kind = next((kind for known, kind in _KINDS.items() if isinstance(error, known)), "question")
        return TraceProblem(
            path, kind, UNREAD, error.reason, error.offset, error.available, error.event, error.field, impact
        )
    if isinstance(error, KeyError | TypeError | ValueError):
        return TraceProblem(path, "question", UNREAD, str(error.args[0] if error.args else error), impact=impact)
    return TraceProblem(path, "internal-error", UNREAD, f"{type(error).__name__}: {error}", impact=impact)


T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

Question: TypeAlias = Callable[[Trace], T]


@frozen
class Opening:
    """How each trace is opened. Can be pickled if the registry can."""

    errors: ErrorMode
    limits: Limits
    registry: Registry
    symbols: tuple[str, ...] = ()

    def trace(self, path: str, progress: Callable[[int, int], object] | None = None) -> Trace:
        """One trace, opened so."""
        how = {field.name: getattr(self, field.name) for field in attrs.fields(Opening)}
        return Trace(path, progress=progress, **how)


SALVAGING: Final = Opening("salvage", Limits(), DEFAULT)


@frozen
class TraceOutcome(Generic[T_co]):
    """What one trace gave: a value, or the `refused` question or a problem that says why there is none."""

    path: str
    values: tuple[T_co, ...] = ()
    """The value, or nothing."""
    problems: tuple[TraceProblem, ...] = ()
    refused: Exception | None = None
    """A possible mistake in the question: a name or a column that this trace does not have."""


def asked(
    question: Question[T], path: str, opening: Opening, progress: Callable[[int, int], object] | None = None
) -> TraceOutcome[T]:
    """Ask one trace. Raises only what `progress` raises, and only if that is not an Exception."""
    trace: Trace | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        try:
            with opening.trace(path, progress) as trace:
                value = question(trace)
            return TraceOutcome(path, (value,), found_in(path, trace))
        except (LookupError, TypeError, ValueError) as error:
            # Also the fault of a question is one trace's, if others can answer it.
            return TraceOutcome(path, problems=found_in(path, trace), refused=_plain(error))
        except Exception as error:
            if os.environ.get("CLREVENTS_TRACEBACK") and not isinstance(error, TraceError):
                raise
            row = error_row(path, error)
            same = (row.offset, row.message)
            rest = tuple(p for p in found_in(path, trace) if (p.offset, p.message) != same)
            return TraceOutcome(path, problems=(row, *rest))


def found_in(path: str, trace: Trace | None) -> tuple[TraceProblem, ...]:
    """The problems of a trace that were met so far."""
    return tuple(
        TraceProblem(path, p.kind, p.severity, p.message, p.offset, p.length, p.event, p.field, p.impact)
        for p in (() if trace is None else passes_of(trace).found)
    )


def _plain(error: Exception) -> Exception:
    """Without a partial answer, which is never used."""
    if isinstance(error, TraceError):
        error.report = None
    return error.with_traceback(None)


@row
class TraceFacts(HeaderFacts):
    """What a trace is: a row of the table from `Traces.overview`."""

    duration_ns: cells.DurationNs = column("From the session's start to the last event.")
    events: cells.Count = column("The number of events.", importance=0)
    lost: cells.Count = column("How many were lost.")
    bytes: cells.Bytes = column("The size of the trace, unpacked.")


@row
class OverviewRow(TraceFacts):
    """The same with its trace."""

    trace: cells.FilePath = column("The path or URL.", importance=0)


def facts_of(trace: Trace) -> TraceFacts:
    """What the trace is, from its header and one scan of all headers."""
    return TraceFacts(
        **header_facts(trace.info),
        duration_ns=trace.duration_ns,
        events=sum(trace.event_counts().values()),
        lost=trace.lost,
        bytes=passes_of(trace).source.size,
    )


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
    def of(cls, report: str, answer: Answer[object], tables: tuple[str, ...] | None) -> KeptAnswer:
        """With these tables, or without the bulk ones."""
        tables_kept = {
            t.name: answer.table(t.name).table
            for t in answer.tables()
            if (not t.bulk if tables is None else t.name in tables)
        }
        return cls(report, answer.coverage, answer.notes, answer.facts, answer.metrics, tables_kept)

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
    tables = {name: Table(empty[name].fields, columns) for name, columns in parts.items()}
    return KeptAnswer(report, coverage, notes, facts, metrics, tables)


@cache
def empty_tables(report: str) -> Mapping[str, Table]:
    """The tables of a report by name, without any rows."""
    tables: dict[str, Table] = {}
    for table in find_report(report).answer.tables():
        tables[table.name] = ReportTable.empty(table.row_class).table
    return tables


@frozen
class AskReport:
    """One report, with its parameters."""

    name: str
    parameters: Any
    window: WindowOptions
    tables: tuple[str, ...] | None

    def __call__(self, trace: Trace) -> KeptAnswer:
        answer = ask_one(trace, find_report(self.name), self.parameters, self.window)
        return KeptAnswer.of(self.name, answer, self.tables)


def findings_of(trace: Trace, rules: tuple[str, ...], window: WindowOptions) -> Table:
    """What is wrong, by these rules: the table of findings."""
    return doctor(trace, *rules, **window).findings.table


def kept_answers(trace: Trace, names: Sequence[str], window: WindowOptions) -> dict[str, KeptAnswer]:
    """Several reports from one pass, each without its bulk tables."""
    return {name: KeptAnswer.of(name, answer, None) for name, answer in reports_of(trace, names, window).items()}
