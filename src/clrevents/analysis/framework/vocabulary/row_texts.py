"""How rows of a table show themselves to people: which columns, in which order, with which units.

Text of a cell is as `row_class` says. Knows rows and widths, and no report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, Self

from clrevents._util.fitting import TextColumn, fitted_table
from clrevents._util.notebook_views import html_table
from clrevents._util.words import counted, safe
from clrevents.analysis.framework.vocabulary.cells import (
    ColumnDeclaration,
    cell_text,
    heading,
    is_number,
    short_cell,
    text_kind,
)
from clrevents.analysis.framework.vocabulary.row_class import columns_of, hidden_columns, shape_of
from clrevents.table.display import WIDTH

_AMOUNTS: Final = ("duration", "bytes", "bytes_change", "count", "count_change", "number", "ratio", "flag")
"""Cells that say how much, not which."""
_DEEPEST: Final = 30
"""How far names of a tree are indented at most."""


class PeopleRows(Protocol):
    """What is shown of a table."""

    @property
    def row_class(self) -> type[Any]: ...
    def __len__(self) -> int: ...
    def column(self, name: str) -> Any: ...
    def head(self, count: int) -> Self: ...


def people_columns(rows: PeopleRows) -> list[ColumnDeclaration]:
    """The columns that people see: not hidden ones, nor those that say nothing in these rows."""
    hidden = hidden_columns(rows.row_class)
    columns = []
    for column in columns_of(rows.row_class):
        if column.name in hidden or (column.nullable and not any(v is not None for v in _values(rows, column.name))):
            continue
        if column.name in ("process_id", "clipped", "lossy", "open"):
            values = set(_values(rows, column.name))
            if values <= {None, False} or (column.name == "process_id" and len(values) < 2):
                continue
        columns.append(column)
    return columns


def shown_columns(rows: PeopleRows, wanted: Sequence[str] = ()) -> list[ColumnDeclaration]:
    """Those without the mark of losses, in the order for people: as `wanted`, else numbers, then words, then texts."""
    columns = {c.name: c for c in people_columns(rows) if c.name != "lossy"}
    if wanted:
        # A process is there only where there are several.
        return [columns[name] for name in dict.fromkeys(("process_id", *wanted)) if name in columns]
    return sorted(columns.values(), key=text_last)


def _values(rows: PeopleRows, name: str) -> list[Any]:
    values: list[Any] = rows.column(name).tolist()
    return values


def _whole_cell(column: ColumnDeclaration, value: object) -> str:
    return cell_text(column.cell, value)


def column_texts(
    rows: PeopleRows,
    columns: Sequence[ColumnDeclaration],
    text_of: Callable[[ColumnDeclaration, object], str] = _whole_cell,
    indent: str = "  ",
) -> list[list[str]]:
    """The cells of each column as text, not escaped; names of a tree are indented."""
    tree = shape_of(rows.row_class).tree
    depths = [0] * len(rows) if tree is None else rows.column(tree.depth).tolist()
    text_columns = []
    for column in columns:
        texts = [text_of(column, value) for value in _values(rows, column.name)]
        if tree is not None and column.name == tree.name:
            texts = [f"{indent * min(max(d, 0), _DEEPEST)}{text}" for d, text in zip(depths, texts, strict=True)]
        text_columns.append(texts)
    return text_columns


def text_last(column: ColumnDeclaration) -> int:
    """Sorts columns: numbers, then words, then names and other texts, which may be long."""
    if column.cell.python is not str:
        return 0
    return 1 if column.cell.name in ("word", "guid") else 2


def told_columns(
    columns: Sequence[ColumnDeclaration], texts: Sequence[Sequence[str]], raw: bool = False
) -> list[TextColumn]:
    """Columns for a table that fits, but those of dashes. The one that tells most rows apart always stays; without one
    that is declared to, the first name does.
    """
    telling = [
        (c, cells) for c, cells in zip(columns, texts, strict=True) if any(text not in ("", "-") for text in cells)
    ]
    kept = [c for c, _ in telling if c.importance == 0]
    if not kept:
        kept = [c for c, _ in telling if text_kind(c.cell) in ("name", "text")][:1]
    apart = {c: len(set(cells)) for c, cells in telling if c.cell.name not in _AMOUNTS}
    most = max(apart.values(), default=0)
    ranks = {c: 0 if c in kept else c.importance for c, _ in telling}
    if apart and all(apart.get(c, 0) < most for c in kept):
        ranks[next(c for c in sorted(apart, key=text_last, reverse=True) if apart[c] == most)] = -1
    return [
        TextColumn(heading(c.name, c.cell, raw), list(map(safe, cells)), text_kind(c.cell), ranks[c])
        for c, cells in telling
    ]


def row_lines(rows: PeopleRows, room: int, name: str) -> list[str]:
    """The first rows as text, in at most so many lines of `WIDTH`, which say what they leave out."""
    count = min(len(rows), room - 4)
    if count < 1:
        return []
    head = rows.head(count)
    columns = sorted(people_columns(head), key=text_last)
    fitted = fitted_table(told_columns(columns, column_texts(head, columns)), WIDTH - 4)
    lines = [f"    {line}" for line in fitted.lines]
    lines += [f"    {text}" for text in fitted.not_shown()]
    if count < len(rows):
        lines.append(f"    {count} of {counted(len(rows), 'row')} of {name}")
    return lines


def rows_html(rows: PeopleRows, count: int) -> str:
    """The first rows as a table of a page, and how many there are where they are more."""
    if not len(rows):
        return html_table([heading(c.name, c.cell) for c in columns_of(rows.row_class)], ()) + "<p>0 rows</p>"
    head = rows.head(count)
    columns = people_columns(head)
    texts = column_texts(head, columns, short_cell, "\u00a0\u00a0")
    more = f"<p>{len(head)} of {counted(len(rows), 'row')}</p>" if len(head) < len(rows) else ""
    names = tuple(heading(c.name, c.cell) for c in columns)
    right = [is_number(c.cell) for c in columns]
    return html_table(names, list(zip(*texts, strict=True)), right) + more
