"""No cell of an answer leaves the range of its type: what does is null where it may be, else the nearest that fits.

Sizes of 2^63 bytes and spans that end before they begin come from damaged or made-up traces. Knows cells, no report;
collectors need not look.
"""

from __future__ import annotations

from typing import Any, TypeVar

import attrs
import numpy as np

from clrevents._util.value_classes import define
from clrevents._util.words import counted
from clrevents.analysis.framework.vocabulary.answer_values import Metric, Note
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.framework.vocabulary.row_class import CELLS, Cell, columns_of, shape_of
from clrevents.table.table import Column

_CELLS = {"ns": CELLS["duration"], "bytes": CELLS["bytes"], "count": CELLS["count"], "ratio": CELLS["ratio"]}
"""What a metric of a unit is held to."""

F = TypeVar("F")


@define
class CellRanges:
    """Sees to the range of everything that an answer has, and counts what was out of it."""

    odd: dict[str, int] = attrs.field(factory=dict)
    """How many numbers did not fit, by where they are."""

    def table(self, name: str, rows: ReportTable[Any]) -> ReportTable[Any]:
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
        made = rows.replaced(**changed) if changed else rows
        return self._in_order(name, made)

    def _in_order(self, name: str, rows: ReportTable[Any]) -> ReportTable[Any]:
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
