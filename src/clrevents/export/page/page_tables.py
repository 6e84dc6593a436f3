"""Tables of answers → columns for the page's script, with what was left out of them.

Values stay numbers where the script can sort and write them as `cell_text` does; what JavaScript's numbers cannot hold
goes as text. Bulk tables are counted only: the page shows what was added up from them.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.render.show import column_texts, people_columns, text_last
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration, cell_text, heading, is_number
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, TableDeclaration
from clrevents.analysis.framework.vocabulary.row_class import shape_of
from clrevents.export.page.page_texts import PageTexts

_EXACT: Final = 1 << 53
"""Integers below this are exact in JavaScript, and numbers have a fraction."""
_NUMBERS: Final = ("time", "duration", "count", "bytes", "ratio", "number")
"""Cells that the script writes itself, by their names."""


def page_tables(
    declared: ReportDeclaration[Any, Any], found: Answer[Any], most: int, texts: PageTexts
) -> list[dict[str, Any]]:
    """The tables of an answer that have rows, the headline first; none has more than `most` rows."""
    first = (declared.headline, *declared.beside)
    tables = sorted(found.tables(), key=lambda table: (table.name != declared.urgent, table.name not in first))
    return [_page_table(declared, found, table, most, texts) for table in tables if len(found.table(table.name))]


def _page_table(
    declared: ReportDeclaration[Any, Any], found: Answer[Any], table: TableDeclaration, most: int, texts: PageTexts
) -> dict[str, Any]:
    rows = found.table(table.name)
    made: dict[str, Any] = {
        "name": table.name,
        "about": table.description,
        "rows": len(rows),
        "command": f"clrevents {declared.name} FILE --table {table.name}",
    }
    if table.bulk or rows.left_out is not None:
        return {**made, "shown": 0, "how": "", "columns": []}
    in_headline = table.name in (declared.headline, *declared.beside)
    if in_headline and declared.sort:
        name, _, direction = declared.sort.partition(":")
        rows = rows.sorted_by(name, _falls(rows, name) if not direction else direction == "desc")
    head, how = _head(rows, most, sorted_already=in_headline)
    columns = _columns(head, declared.shown if in_headline else ())
    lossy = [row for row, spoilt in enumerate(head.column("lossy").tolist()) if spoilt]
    values = column_texts(head, columns, indent="\u2003")
    return {
        **made,
        "shown": len(head),
        "how": how,
        "lossy": lossy,
        "columns": [_page_column(head, column, shown, texts) for column, shown in zip(columns, values, strict=True)],
    }


def _falls(rows: ReportTable[Any], name: str) -> bool:
    """Whether the largest values of a column come first where nothing else is said."""
    cell = next(field for field in rows.table.fields if field.name == name).type.kind
    return cell != "string"


def _head(rows: ReportTable[Any], most: int, sorted_already: bool) -> tuple[ReportTable[Any], str]:
    """The rows that are shown, and how they were chosen: the longest, where they last; otherwise the first ones."""
    if len(rows) <= most:
        return rows, ""
    span = shape_of(rows.row_class).span
    if shape_of(rows.row_class).tree is not None:
        return rows.head(most), f"the {most:,} heaviest of {counted(len(rows), 'row')}"
    if span is None or sorted_already:
        return rows.head(most), f"the first {most:,} of {counted(len(rows), 'row')}"
    starts, ends = rows.column(span[0]), rows.column(span[1])
    # One without an end comes last: nobody knows how long it was.
    lasted = np.where(starts.known & ends.known, ends.filled(0) - starts.filled(0), -1)
    longest = np.sort(np.argsort(-lasted, kind="stable")[:most])
    return rows.take(longest), f"the {most:,} longest of {counted(len(rows), 'row')}"


def _columns(rows: ReportTable[Any], wanted: tuple[str, ...]) -> list[ColumnDeclaration]:
    """As the command shows them: the declared ones first."""
    known = {column.name: column for column in people_columns(rows) if column.name != "lossy"}
    first = [known[name] for name in wanted if name in known]
    rest = [column for column in known.values() if column not in first]
    return [*first, *sorted(rest, key=text_last)]


def _page_column(
    rows: ReportTable[Any], column: ColumnDeclaration, shown: list[str], texts: PageTexts
) -> dict[str, Any]:
    made = {
        "name": column.name,
        "title": heading(column.name, column.cell),
        "about": column.description,
        "right": is_number(column.cell),
    }
    values = rows.column(column.name).tolist()
    if column.many or column.cell.name not in (*_NUMBERS, "ordinal", "row", "process", "thread", "stack", "flag"):
        cells = [None if value is None else texts.place(text) for value, text in zip(values, shown, strict=True)]
        return {**made, "cell": "text", "values": cells}
    if not all(value is None or _plain(value) for value in values):
        cells = [None if value is None else texts.place(cell_text(column.cell, value)) for value in values]
        return {**made, "cell": "text", "values": cells}
    cells = [int(value) if isinstance(value, bool) else value for value in values]
    return {**made, "cell": column.cell.name if column.cell.name in (*_NUMBERS, "flag") else "code", "values": cells}


def _plain(value: Any) -> bool:
    return math.isfinite(value) and abs(value) < _EXACT
