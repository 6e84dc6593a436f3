"""`Answer`: what every report returns, a plain value that can be made by hand, saved and read back.

The class body of a report is its declaration: its tables are its attributes. No cell leaves the range of its type: what
does is null where it may be, else the nearest that fits, because sizes of 2^63 bytes and spans that end before they
begin come from damaged traces, and collectors need not look. Knows no trace.
"""

from __future__ import annotations

import inspect
import os
import typing
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeVar, dataclass_transform

import attrs
import numpy as np

from clrevents._util.offered import offered
from clrevents._util.value_classes import define, frozen
from clrevents._util.words import counted
from clrevents.analysis.framework.render.show import answer_html, answer_text
from clrevents.analysis.framework.vocabulary.answer_values import (
    Coverage,
    Metric,
    Note,
    Question,
    TimeWindow,
    TraceIdentity,
)
from clrevents.analysis.framework.vocabulary.cells import CELLS, Cell
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, TableDeclaration, columns_of, shape_of
from clrevents.table.table import Column, plain
from clrevents.trace import Tabled

if TYPE_CHECKING:
    from clrevents.analysis.framework.render.charts import Chart, ChartDeclaration

_CELLS = {"ns": CELLS["duration"], "bytes": CELLS["bytes"], "count": CELLS["count"], "ratio": CELLS["ratio"]}
"""What a metric of a unit is held to."""

F = TypeVar("F")


@define
class CellRanges:
    """Sees to the range of everything that an answer has, and counts what was out of it."""

    odd: dict[str, int] = attrs.field(factory=dict)
    """How many numbers did not fit, by where they are."""

    def table(self, name: str, rows: ReportTable[object]) -> ReportTable[object]:
        """The rows with cells that fit."""
        changed = {}
        for declared in columns_of(rows.row_class):
            if declared.cell.low is None or not len(rows.table):
                continue
            column = rows.column(declared.name)
            inner = column.children[0] if declared.many else column
            wrong = _wrong(inner, declared.cell)
            if not wrong.any():
                continue
            self.odd[name] = self.odd.get(name, 0) + int(wrong.sum())
            if declared.nullable and not declared.many:
                changed[declared.name] = attrs.evolve(column, valid=column.known & ~wrong)
            else:
                fits = attrs.evolve(inner, values=np.clip(inner.values, declared.cell.low, declared.cell.high))
                changed[declared.name] = attrs.evolve(column, children=(fits,)) if declared.many else fits
        table = rows.replaced(**changed) if changed else rows
        return self._in_order(name, table)

    def _in_order(self, name: str, rows: ReportTable[object]) -> ReportTable[object]:
        """Spans that do not end before they begin: such an end is none, or the begin where there must be one."""
        shape = shape_of(rows.row_class)
        if shape.span is None or not len(rows.table):
            return rows
        start, end = map(rows.column, shape.span)
        wrong = start.known & end.known & (end.values < start.values)
        if not wrong.any():
            return rows
        self.odd[name] = self.odd.get(name, 0) + int(wrong.sum())
        if next(column for column in columns_of(rows.row_class) if column.name == shape.span[1]).nullable:
            return rows.replaced(**{shape.span[1]: attrs.evolve(end, valid=end.known & ~wrong)})
        return rows.replaced(**{shape.span[1]: attrs.evolve(end, values=np.where(wrong, start.values, end.values))})

    def facts(self, facts: F) -> F:
        """The facts with values that fit."""
        changed: dict[str, Any] = {}
        for declared in columns_of(type(facts)):
            value = getattr(facts, declared.name)
            if declared.many or value is None or _fits(value, declared.cell):
                continue
            self.odd["facts"] = self.odd.get("facts", 0) + 1
            changed[declared.name] = None if declared.nullable else declared.cell.python(declared.cell.low)
        return attrs.evolve(facts, **changed) if changed else facts  # type: ignore[misc]

    def metric(self, metric: Metric) -> Metric:
        """The metric; null where its value cannot be one."""
        cell = _CELLS.get(metric.unit)
        given = [number for number in (metric.value, metric.low, metric.high) if number is not None]
        if cell is None or all(_fits(number, cell) for number in given):
            return metric
        self.odd["metrics"] = self.odd.get("metrics", 0) + 1
        return metric.unknown("numbers of the trace that cannot be right are part of it")

    def notes(self) -> tuple[Note, ...]:
        """A note, if anything did not fit."""
        if not self.odd:
            return ()
        total = sum(self.odd.values())
        text = f"{counted(total, 'number')} cannot be right, as of damaged events: null, or the nearest that can be"
        return (Note("out-of-range", "warning", text, tuple(self.odd), {"numbers": total}),)


def _wrong(column: Column, cell: Cell) -> Any:
    values = column.values
    wrong = ~(values >= cell.low)
    if cell.high is not None:
        wrong |= ~(values <= cell.high)
    return wrong if column.valid is None else wrong & column.known


def _fits(value: Any, cell: Cell) -> bool:
    return (cell.low is None or value >= cell.low) and (cell.high is None or value <= cell.high)


F_co = TypeVar("F_co", covariant=True)
A = TypeVar("A", bound=type[Any])

_TABLES: Final = "__tables__"


def table(description: str, *, bulk: bool = False) -> Any:
    """Declare a table of a report. A `bulk` one may be very long, so it is only included on request."""
    return attrs.field(metadata={"table": description, "bulk": bulk})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(table, attrs.field))
def answer(*, name: str, summary: str = "", charts: tuple[ChartDeclaration, ...] = ()) -> Callable[[A], A]:
    """Make a report's class: `name` is the name of the report, its sub-command and its schema.

    `summary` names the metrics and facts that people see, in order, with blanks between; all of them when empty.
    """

    def make(body: A) -> A:
        frozen_class = frozen(kw_only=True, eq=True, repr=False)(body)
        frozen_class.name = name
        frozen_class.summary = tuple(summary.split())
        frozen_class.declared_charts = charts
        return frozen_class

    return make


@frozen(kw_only=True, repr=False)
class Answer(Tabled, Generic[F_co]):
    """The answer of a report: facts, metrics, tables, and everything that limits how far to trust them.

    Plain values: it outlives the trace, pickles, and can be saved with `to_dict` and read back with `from_dict`.
    """

    name: ClassVar[str] = ""
    summary: ClassVar[tuple[str, ...]] = ()
    """The metrics and facts that people see first."""
    declared_charts: ClassVar[tuple[ChartDeclaration, ...]] = ()
    """The charts of this kind of report, as they are declared."""

    question: Question
    """What was asked of which trace; enough to ask it again."""
    coverage: Coverage
    """`full`, `partial` or `none`: how much of what the report needs was recorded."""
    notes: tuple[Note, ...]
    """All caveats: what was not recorded and how to record it, losses, damage, assumptions."""
    facts: F_co
    """The report's verdicts and other facts."""
    metrics: Mapping[str, Metric]
    """The report's numbers, by name."""

    @classmethod
    def tables(cls) -> tuple[TableDeclaration, ...]:
        """The tables of this kind of report, in order."""
        return _tables(cls)

    @classmethod
    def facts_class(cls) -> type[Any]:
        """The class of `facts`."""
        for base in getattr(cls, "__orig_bases__", ()):
            if typing.get_origin(base) is Answer:
                class_of_facts: type[Any] = typing.get_args(base)[0]
                return class_of_facts
        raise TypeError(f"{cls.__name__} does not declare its facts: extend Answer[…]")

    def charts(self) -> tuple[Chart, ...]:
        """The charts of the answer. Drawing one needs the extra `plot`; a table that is left out draws nothing."""
        # Not every answer has charts, and few are drawn.
        from clrevents.analysis.framework.render.charts import Chart

        title = f"{self.name}: {os.path.basename(self.question.trace.path or '') or 'trace in memory'}"
        tables = {t.name: self.table(t.name) for t in self.tables()}
        return tuple(Chart(declared, tables, title) for declared in self.declared_charts)

    def show(self, *, height: int | None = None) -> None:
        """Show sortable, searchable tables and the charts: below a notebook's cell, otherwise in a browser.

        In a notebook it is one sandboxed frame of at most 1 MB, which says which rows it leaves out. `height` is in
        pixels. Elsewhere the page is written to a temporary file and opened; raises OSError if no browser can be
        started.
        """
        offered("show_answer")(self, height)

    def unmet(self, *conditions: str) -> list[str]:
        """The conditions (such as `"pause_max<50ms"`) that do not hold, and why: a sentence each.

        Numbers take units of their metric (ns to min, B to TiB, %). Raises ValueError for an unknown metric, and for a
        unit that does not fit it.
        """
        if not conditions:
            return []
        from clrevents.analysis.framework.model.conditions import Condition

        parsed = [Condition.parse(text, self.metrics) for text in conditions]
        reasons = [condition.unmet(self.metrics[condition.metric]) for condition in parsed]
        return [reason for reason in reasons if reason is not None]

    def to_dict(self, tables: Collection[str] = ()) -> dict[str, Any]:
        """Everything in JSON types; bulk tables only if named in `tables`. Keys are only ever added."""
        json = self.to_dict_of_rows(tables)
        return {**json, "tables": {name: list(rows) for name, rows in json["tables"].items()}}

    def to_dict_of_rows(self, tables: Collection[str] = ()) -> dict[str, Any]:
        """The same with an iterator over each table's rows, for callers that take them one at a time."""
        shown = [t for t in self.tables() if not t.bulk or t.name in tables]
        return {
            "schema": f"clrevents.{self.name}/1",
            "question": plain(self.question),
            "coverage": self.coverage,
            "notes": plain(self.notes),
            "facts": plain(self.facts),
            "metrics": plain(self.metrics),
            "tables": {t.name: self.table(t.name).rows() for t in shown if self.table(t.name).left_out is None},
            "rows": {t.name: len(self.table(t.name)) for t in self.tables()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` gave. Raises ValueError for the answer of another report or of a newer schema."""
        schema = f"clrevents.{cls.name}/1"
        if data.get("schema") != schema:
            raise ValueError(f"the schema is {data.get('schema')!r}, not {schema!r}")
        question = dict(data["question"])
        question["window"] = TimeWindow(**question["window"])
        question["trace"] = TraceIdentity(**question["trace"])
        question["processes"] = tuple(question["processes"])
        facts_class = cls.facts_class()
        many = {c.name for c in columns_of(facts_class) if c.many}
        facts = {key: tuple(value) if key in many else value for key, value in data["facts"].items()}
        return cls(
            question=Question(**question),
            coverage=data["coverage"],
            notes=tuple(Note(**{**note, "touches": tuple(note["touches"])}) for note in data["notes"]),
            facts=facts_class(**facts),
            metrics={name: Metric(**metric) for name, metric in data["metrics"].items()},
            **{t.name: _table_of(t, data) for t in cls.tables()},
        )

    def __repr__(self) -> str:
        return answer_text(self)

    def _repr_html_(self) -> str:
        return answer_html(self)


def _tables(cls: type[Any]) -> tuple[TableDeclaration, ...]:
    known: tuple[TableDeclaration, ...] | None = cls.__dict__.get(_TABLES)
    if known is None:
        known = _read_tables(cls)
        setattr(cls, _TABLES, known)
    return known


def _read_tables(cls: type[Any]) -> tuple[TableDeclaration, ...]:
    # `Answer` has no tables, and its charts' class may not be loaded.
    bases = [base for base in reversed(cls.__mro__) if issubclass(base, Answer) and base is not Answer]
    hints = {name: hint for base in bases for name, hint in inspect.get_annotations(base, eval_str=True).items()}
    tables = []
    for field in attrs.fields(cls):
        if "table" in field.metadata:
            row_class = typing.get_args(hints[field.name])[0]
            tables.append(TableDeclaration(field.name, row_class, field.metadata["table"], field.metadata["bulk"]))
    return tuple(tables)


def _table_of(declared: TableDeclaration, data: Mapping[str, Any]) -> ReportTable[object]:
    columns = columns_of(declared.row_class)
    rows = data["tables"].get(declared.name)
    columns_of_rows = {c.name: [row[c.name] for row in rows or ()] for c in columns}
    table: ReportTable[object] = ReportTable.from_columns(declared.row_class, columns_of_rows)
    return table if rows is not None else attrs.evolve(table, left_out=data["rows"][declared.name])
