"""`clrevents schema NAME` of a report: its metrics, facts and tables as text, or the JSON schema of its answer.

Reads the declaration and no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clrevents.analysis.framework.model.declaration import ReportDeclaration, parameters_of
from clrevents.analysis.framework.model.json_schema import report_schema
from clrevents.analysis.framework.model.needs import record_needs
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration
from clrevents.analysis.framework.vocabulary.row_class import columns_of
from clrevents.cli.output import Output


def write_report_schema(out: Output, declared: ReportDeclaration[Any, Any], as_json: bool) -> None:
    """Write what the report gives."""
    if as_json:
        out.json(report_schema(declared))
        return
    out.line(f"{out.bold(declared.name)}  {declared.question}")
    out.line(f"  dotnet-trace collect --providers {record_needs(declared.needs)}")
    own = [(p.name, repr(p.default), p.description) for p in parameters_of(declared.parameters)]
    _part(out, ("parameter", "default", ""), own)
    _part(out, ("metric", "unit", ""), [(m.name, m.unit, m.description) for m in declared.metrics])
    _part(out, ("fact", "type", ""), _columns(columns_of(declared.answer.facts_class())))
    for table in declared.answer.tables():
        out.line()
        out.line(f"table {out.bold(table.name)}{' (bulk)' if table.bulk else ''}: {table.description}")
        out.table(("column", "type", ""), _columns(columns_of(table.row_class)))


def type_text(column: ColumnDeclaration) -> str:
    """The type of a column in words."""
    text = f"list of {column.cell.name}" if column.many else column.cell.name
    return f"{text}, may be null" if column.nullable else text


def _part(out: Output, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        out.line()
        out.table(head, rows)


def _columns(columns: Sequence[ColumnDeclaration]) -> list[tuple[str, str, str]]:
    return [(c.name, type_text(c), c.description) for c in columns]
