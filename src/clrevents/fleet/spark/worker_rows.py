"""What a Spark worker does with one trace: rows of an event, of a report's table, of findings, or of its problems.

Each is a value that is sent to the workers. Knows Spark's types and nothing else of it, and no other traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.decode.selection import FilterOptions, Selector
from clrevents.errors import UnknownEventError
from clrevents.fleet.fleet_answer import fleet_answer
from clrevents.fleet.joined import with_trace
from clrevents.fleet.outcome import Opening, Question, TraceProblem, asked, error_row, problems_table
from clrevents.fleet.questions import AskDoctor, AskReport, KeptAnswer
from clrevents.fleet.spark.types import cast_batch, fields_of, spark_batches
from clrevents.fleet.trace_batches import TraceBatches
from clrevents.table.table import Table
from clrevents.trace import Trace

T = TypeVar("T")
SparkSchema: TypeAlias = Mapping[str, Any]
"""A schema as its `jsonValue()` gives it."""


class SparkRows(Protocol):
    """Rows of traces, asked for by their path."""

    def batches(self, path: str, schema: SparkSchema, found: list[TraceProblem]) -> Iterator[Any]:
        """A trace's record batches, as Spark expects them for `schema`; what is wrong with it is added to `found`."""
        ...


@frozen
class SparkEventRows:
    """The rows of one event. `columns` is None for all that the trace has."""

    selector: Selector
    columns: tuple[str, ...] | None
    enum_names: bool
    filters: FilterOptions
    opening: Opening

    def batches(self, path: str, schema: SparkSchema, found: list[TraceProblem]) -> Iterator[Any]:
        read = TraceBatches(
            path,
            self.selector,
            Table(fields_of(schema)),
            self.opening,
            columns=self.columns,
            enum_names=self.enum_names,
            filters=self.filters,
        )
        for batch in read:
            yield cast_batch(batch, schema)
        found.extend(read.problems)


def summary(table: str, question: AskReport, found: Sequence[tuple[str, KeptAnswer]] = ()) -> Table:
    """What a report says besides its tables, for each trace: one of `SUMMARIES`."""
    answer = fleet_answer(find_report(question.name), question.parameters, (), found)
    return {"by_trace": answer.by_trace, "facts": answer.facts, "notes": answer.notes}[table]


SUMMARIES: Final = ("by_trace", "facts", "notes")
"""Names of what `FleetAnswer` has besides the report's tables; no report has a table called so."""


def _answers(question: Question[T], path: str, opening: Opening, found: list[TraceProblem]) -> tuple[T, ...]:
    """What a question answers of one trace, if it does; problems, and why it does not, go to `found`."""
    outcome = asked(question, path, opening)
    found.extend(outcome.problems)
    if outcome.refused is not None:
        found.append(error_row(path, outcome.refused))
    return outcome.values


@frozen
class SparkReportRows:
    """The rows of one table of a report, or of a summary."""

    question: AskReport
    table: str
    opening: Opening

    def batches(self, path: str, schema: SparkSchema, found: list[TraceProblem]) -> Iterator[Any]:
        for answer in _answers(self.question, path, self.opening, found):
            if self.table in SUMMARIES:
                rows = summary(self.table, self.question, [(path, answer)])
            else:
                rows = with_trace(path, answer.tables[self.table])
            yield from spark_batches(rows, schema)


@frozen
class SparkFindingRows:
    """What is wrong: a row for each conclusion of each rule."""

    question: AskDoctor
    opening: Opening

    def batches(self, path: str, schema: SparkSchema, found: list[TraceProblem]) -> Iterator[Any]:
        for findings in _answers(self.question, path, self.opening, found):
            yield from spark_batches(with_trace(path, findings), schema)


@frozen
class SparkProblemRows:
    """The problems of a trace: those found by a scan of its headers and by the questions."""

    questions: tuple[Question[Any], ...]
    opening: Opening

    def batches(self, path: str, schema: SparkSchema, found: list[TraceProblem]) -> Iterator[Any]:
        met: dict[TraceProblem, None] = {}
        asks: tuple[Question[Any], ...] = (Trace.event_counts, *self.questions)
        for question in asks:
            outcome = asked(question, path, self.opening)
            met.update(dict.fromkeys(outcome.problems))
            if outcome.refused is not None and not isinstance(outcome.refused, UnknownEventError):
                met[error_row(path, outcome.refused)] = None
        yield from spark_batches(problems_table(met), schema)


@frozen
class AskThrough:
    """Every row of an event; none is kept."""

    selector: Selector
    filters: FilterOptions

    def __call__(self, trace: Trace) -> None:
        for _ in trace.table_parts(self.selector, **self.filters):
            pass


@frozen
class AskFields:
    """The columns of an event's table in one trace, without rows; None if the trace does not know the event."""

    selector: Selector
    enum_names: bool

    def __call__(self, trace: Trace) -> Table | None:
        try:
            first = next(iter(trace.table_parts(self.selector, enum_names=self.enum_names)))
        except UnknownEventError:
            return None
        return Table(first.fields)
