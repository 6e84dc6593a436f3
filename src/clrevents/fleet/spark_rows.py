"""What a Spark worker does with one trace: rows of an event, of a report's table, of findings, or of its problems.

Each is a value that is sent to the workers. Spark has no unsigned numbers: each becomes the next larger signed type,
and unsigned 64 bits become `decimal(20,0)`, which is exact. Its timestamps are microseconds: finer digits are cut off.
Imports nothing of Spark, and knows no other traces.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from clrevents.analysis.framework.run.asking import find_report
from clrevents.decode.payload.column import ColumnType, common
from clrevents.decode.selection import FilterOptions, Filters, Selection, Selector
from clrevents.errors import TraceError, TraceWarning, UnknownEventError
from clrevents.fleet.fleet_answer import fleet_answer
from clrevents.fleet.joined import fitted, with_trace
from clrevents.fleet.questions import (
    SALVAGING,
    UNREAD,
    AskReport,
    KeptAnswer,
    Opening,
    Question,
    TraceProblem,
    asked,
    error_row,
    found_in,
)
from clrevents.schema.registry import DEFAULT, Registry
from clrevents.table.arrow import arrow_type
from clrevents.table.event_schema import shown_fields
from clrevents.table.read import Wanted, event_fields, facts
from clrevents.table.table import Table, TableField, needed, row_table
from clrevents.trace import Trace

_NAMES: Final[Mapping[str, str]] = {
    "bool": "boolean",
    "int8": "byte",
    "int16": "short",
    "int32": "integer",
    "int64": "long",
    "uint64": "decimal(20,0)",
    "float32": "float",
    "float64": "double",
    "string": "string",
    "binary": "binary",
    "timestamp": "timestamp",
}
"""A column's type → Spark's, which has the same values, as schemas in words and in JSON name it."""
_WIDER: Final = {"uint8": "int16", "uint16": "int32", "uint32": "int64"}
_KINDS: Final = {name: kind for kind, name in _NAMES.items()}


def in_words(fields: Sequence[TableField]) -> str:
    """The columns as a schema in Spark's language. Every column may be null, as in all files that Spark reads."""
    return ", ".join(f"{_quoted(field.name)} {_word(field.type)}" for field in fields)


def _word(type: ColumnType) -> str:
    if type.kind == "list":
        return f"array<{_word(type.children[0])}>"
    if type.kind == "struct":
        inner = ", ".join(f"{_quoted(n)}: {_word(c)}" for n, c in zip(type.names, type.children, strict=True))
        return f"struct<{inner}>"
    return _NAMES[_WIDER.get(type.kind, type.kind)]


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def fields_of(schema: Mapping[str, Any]) -> tuple[TableField, ...]:
    """The columns of a Spark schema, given as its `jsonValue()`.

    Raises TypeError for a type that no column of a trace has: a date, a map, a decimal with another precision.
    """
    return tuple(
        TableField(field["name"], _column_type(field["name"], field["type"]), nullable=True)
        for field in schema["fields"]
    )


def _column_type(name: str, type: Any) -> ColumnType:
    if isinstance(type, str) and type in _KINDS:
        return ColumnType(_KINDS[type])
    if isinstance(type, Mapping) and type.get("type") == "array":
        return ColumnType("list", (_column_type(name, type["elementType"]),))
    if isinstance(type, Mapping) and type.get("type") == "struct":
        fields = fields_of(type)
        return ColumnType("struct", tuple(f.type for f in fields), tuple(f.name for f in fields))
    shown = type if isinstance(type, str) else type.get("type")
    raise TypeError(f"{name} cannot be {shown}: columns of traces are {', '.join(_KINDS)}, arrays and structs of these")


def arrow_target(fields: Sequence[TableField]) -> Any:
    """The Arrow schema of the batches that Spark expects for these columns."""
    pa = needed("pyarrow", "spark", "Spark's data source")
    instead = {"uint64": pa.decimal128(20, 0), "timestamp": pa.timestamp("us", tz="UTC")}
    return pa.schema([(field.name, arrow_type(field.type, instead)) for field in fields])


def spark_batches(table: Table, schema: Mapping[str, object]) -> Iterator[object]:
    """A table's rows as the record batches that Spark expects for a schema; columns that the table lacks are null."""
    wanted = fields_of(schema)
    parts = tuple(tuple(fitted(wanted, table.fields, part)) for part in table.parts)
    for batch in Table(wanted, parts).to_arrow().to_batches():
        yield cast_batch(batch, schema)


def cast_batch(batch: Any, schema: Mapping[str, Any]) -> Any:
    """A record batch with the columns of `schema` in the types that Spark expects."""
    pa = needed("pyarrow", "spark", "Spark's data source")
    target = arrow_target(fields_of(schema))
    # Not safe: only nanoseconds get lost, and other values always fit.
    columns = [column.cast(field.type, safe=False) for column, field in zip(batch.columns, target, strict=True)]
    return pa.record_batch(columns, schema=target)


SparkSchema: TypeAlias = Mapping[str, Any]
"""A schema as its `jsonValue()` gives it."""


SparkRows: TypeAlias = Callable[[str, SparkSchema, list[TraceProblem]], Iterator[object]]
"""Gives the record batches of a trace, as Spark expects them for a schema; what is wrong with it goes to the list."""


def event_table(
    selector: Selector,
    columns: Sequence[str] | None = None,
    enum_names: bool = False,
    registry: Registry = DEFAULT,
) -> Table:
    """The columns of an event's table from the registry alone, with `trace` in front, and no row.

    Raises UnknownEventError for an event that the registry does not know, AmbiguousEventError for a selector that means
    several, and KeyError for an unknown column.
    """
    selection = Selection((selector,), Filters(), registry)
    event = selection.one_event(())
    selection.check_names(())
    if event is None:
        raise UnknownEventError(f"no event of the registry matches {selector!r}")
    wanted = Wanted.of(columns, enum_names)
    fields = wanted.choose(event_fields(registry, event, (), None), event[1])
    return with_trace("", Table(shown_fields(fields, enum_names), (), facts(event, registry, (), 0, 0)))


def event_batches(
    path: str,
    selector: Selector,
    like: Table,
    problems: list[TraceProblem],
    opening: Opening = SALVAGING,
    rows: int = 1 << 16,
    filters: FilterOptions | None = None,
    **wanted: Any,
) -> Iterator[Any]:
    """The rows of one event in one trace as `pyarrow.RecordBatch`; what is wrong with it goes to the list at the end.

    Every batch has the columns of `like`, such as a table from `event_table`, in its order: additional columns of a
    trace are left out, and missing ones are null. `wanted` are the `columns` and `enum_names` of `Trace.table`. Damage
    ends the rows or makes them incomplete, as `opening` says, and raises nothing.
    """

    def read() -> Iterator[Any]:
        trace: Trace | None = None
        try:
            with opening.trace(path) as trace:
                for table in trace.table_parts(selector, rows=rows, **wanted, **(filters or {})):
                    own = with_trace(path, table)
                    types = {field.name: field.type for field in own.fields}
                    for field in like.fields:
                        if field.name in types and common(field.type, types[field.name]) != field.type:
                            why = f"{field.name} is {types[field.name]} in this trace and {field.type} in the schema"
                            problems.append(TraceProblem(path, "columns", UNREAD, why, impact="the rows after it"))
                            return
                    parts = tuple(tuple(fitted(like.fields, own.fields, part)) for part in own.parts)
                    yield from Table(like.fields, parts, like.metadata).to_arrow().to_batches()
        except UnknownEventError:
            # Another trace may have it.
            pass
        except TraceError as error:
            problems.append(error_row(path, error))
        finally:
            problems.extend(found_in(path, trace))

    batches = read()
    while True:
        # Not around the whole loop: what the reader warns of is no business of ours.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TraceWarning)
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def event_rows(
    path: str, schema: SparkSchema, problems: list[TraceProblem], *, selector: Selector, opening: Opening, **wanted: Any
) -> Iterator[object]:
    """The rows of one event; `wanted` are its `columns` (None for all), `enum_names` and `filters`."""
    for batch in event_batches(path, selector, Table(fields_of(schema)), problems, opening, **wanted):
        yield cast_batch(batch, schema)


def summary(table: str, question: AskReport, answers: Sequence[tuple[str, KeptAnswer]] = ()) -> Table:
    """What a report says besides its tables, for each trace: one of `SUMMARIES`."""
    answer = fleet_answer(find_report(question.name), question.parameters, (), answers)
    return {"by_trace": answer.by_trace, "facts": answer.facts, "notes": answer.notes}[table]


SUMMARIES: Final = ("by_trace", "facts", "notes")
"""Names of what `FleetAnswer` has besides the report's tables; no report has a table called so."""


def answer_rows(
    path: str,
    schema: SparkSchema,
    problems: list[TraceProblem],
    *,
    question: Question[KeptAnswer | Table],
    table: str | None,
    opening: Opening,
) -> Iterator[object]:
    """The rows of one table of a report, of a summary of it, or (None) what the doctor concludes."""
    outcome = asked(question, path, opening)
    problems.extend(outcome.problems)
    if outcome.refused is not None:
        problems.append(error_row(path, outcome.refused))
    for answer in outcome.values:
        if isinstance(answer, Table):
            rows = with_trace(path, answer)
        elif isinstance(question, AskReport) and table in SUMMARIES:
            rows = summary(table, question, [(path, answer)])
        else:
            rows = with_trace(path, answer.tables[str(table)])
        yield from spark_batches(rows, schema)


def rows_of_problems(
    path: str,
    schema: SparkSchema,
    problems: list[TraceProblem],
    *,
    questions: tuple[Question[object], ...],
    opening: Opening,
) -> Iterator[object]:
    """The problems of a trace: those found by a scan of its headers and by the questions."""
    met: dict[TraceProblem, None] = {}
    for question in (Trace.event_counts, *questions):
        outcome = asked(question, path, opening)
        met.update(dict.fromkeys(outcome.problems))
        if outcome.refused is not None and not isinstance(outcome.refused, UnknownEventError):
            met[error_row(path, outcome.refused)] = None
    yield from spark_batches(row_table(TraceProblem, met), schema)


def ask_through(trace: Trace, selector: Selector, filters: FilterOptions) -> None:
    """Reads every row of an event; none is kept."""
    for _ in trace.table_parts(selector, **filters):
        pass


def ask_fields(trace: Trace, selector: Selector, enum_names: bool) -> Table | None:
    """The columns of an event's table in one trace, without rows; None if the trace does not know the event."""
    try:
        first = next(iter(trace.table_parts(selector, enum_names=enum_names)))
    except UnknownEventError:
        return None
    return Table(first.fields)
