"""Rows of a report's tables: their classes, the table that keeps them as columns, and how it shows itself to people.

A row class is a table's schema, its documentation and its rows' type: `@row` makes a frozen class of a body of `cells`
whose values are `column("…")`. A row's times, and the threads whose losses affect it, are declared with it, so the
framework cuts and marks rows by itself. Row objects are made on demand. What people see is which columns, in which
order, with which units. Knows widths, and no report.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, dataclass_transform, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.fitting import TextColumn, fitted_table
from clrevents._util.notebook_views import Value, framed_html, html_table, html_text
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, safe
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.cells import (
    ColumnDeclaration,
    cell_text,
    column_of,
    heading,
    is_number,
    short_cell,
    text_kind,
)
from clrevents.analysis.gathering.groups import Array
from clrevents.table.display import LINES, WIDTH
from clrevents.table.table import Column, Table, TableField, from_values, number_column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

C = TypeVar("C", bound=type[Any])

_SHAPE: Final = "__row_shape__"
_COLUMNS: Final = "__row_columns__"
_LAST: Final = ("clipped", "lossy")
_FILLED: Final = ("process_id", *_LAST)
"""The columns that the framework fills."""


@frozen
class TreeShape:
    """Rows that are a tree, each before those below it: the columns of their depth, and of the name that people see
    indented by it. No row's `weight` is more than that of the row above it."""

    depth: str
    name: str
    weight: str


@frozen
class RowShape:
    """What a row's times mean.

    `span` are the columns of its begin and its end, `at` the column of its time; `since` that of the time from which
    on a loss spoils it, to the trace's end. A row with none of these is spoilt by any loss. Losses of the threads in
    the columns `threads` count; of every thread where there are none. Where `text` names a column of private texts,
    there is a row for each text, so that a redacted copy of the trace may have other rows. `tree` says that rows are
    one.
    """

    span: tuple[str, str] | None = None
    at: str | None = None
    since: str | None = None
    threads: tuple[str, ...] = ()
    text: str | None = None
    tree: TreeShape | None = None


def _row_html(row: Any) -> str:
    """One row, or facts: a line for each column that says something."""
    cells = [(c, getattr(row, c.name)) for c in columns_of(type(row))]
    lines = [(heading(c.name, c.cell), short_cell(c, value)) for c, value in cells if value not in (None, (), False)]
    return framed_html(f"<b>{html_text(type(row).__name__)}</b>{html_table((), lines)}", lambda: repr(row))


def column(
    description: str,
    *,
    hidden: bool = False,
    windowed: bool = False,
    importance: int = 2,
    share_of: tuple[str, ...] = (),
    default: Any = attrs.NOTHING,
) -> Any:
    """Declare a column of a row class; `hidden` ones are shown to people only on request.

    If not all fit, columns of `importance` 3 are dropped first, then those of 2, from the right; those of 0 never are.
    A row is the same in every window that it touches, except for its `windowed` columns, which sum up what happened in
    one. `share_of` names columns of which one is not null: over several processes, this column is the share of that one
    in all rows (of a tree: in its roots), and the largest share stands first.
    """
    return attrs.field(
        default=default,
        metadata={
            "description": description,
            "hidden": hidden,
            "windowed": windowed,
            "importance": importance,
            "share_of": share_of,
        },
    )


@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(column,))
def row(cls: C, /) -> C: ...
@overload
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(column,))
def row(
    *,
    span: tuple[str, str] | None = None,
    at: str | None = None,
    since: str | None = None,
    threads: tuple[str, ...] = (),
    text: str | None = None,
    tree: TreeShape | None = None,
) -> Callable[[C], C]: ...
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(column,))
def row(cls: C | None = None, /, **shape: Any) -> Any:
    """Make a frozen class of rows, or of facts.

    A class that extends a row class inherits its shape, unless it declares its own.
    """

    def make(body: C) -> C:
        cls = frozen(kw_only=True)(body)
        cls._repr_html_ = _row_html
        if shape or not hasattr(cls, _SHAPE):
            setattr(cls, _SHAPE, RowShape(**shape))
        return cls

    return make if cls is None else make(cls)


@row
class Row:
    """The columns that every row of every table has. The framework fills both."""

    process_id: cells.ProcessId | None = column("The process that the row is about; null if unknown.", default=None)
    lossy: cells.Flag = column(
        "Events that this row depends on were lost or destroyed, so it may be wrong.", default=False
    )


@row
class SpanRow(Row):
    """A row with a start and an end. The framework fills `clipped`."""

    clipped: cells.Flag = column("The row extends beyond the requested window.", default=False)


def shape_of(row_class: type[Any]) -> RowShape:
    """How the rows of a class lie in time."""
    shape: RowShape = getattr(row_class, _SHAPE)
    return shape


def columns_of(row_class: type[Any]) -> tuple[ColumnDeclaration, ...]:
    """The columns of a row class: its process first, `lossy` last. Raises TypeError for types that are not cells."""
    known: tuple[ColumnDeclaration, ...] | None = row_class.__dict__.get(_COLUMNS)
    if known is None:
        hints = typing.get_type_hints(row_class, include_extras=True)
        columns = [
            column_of(field.name, hints[field.name], field.metadata["description"], field.metadata["importance"])
            for field in attrs.fields(row_class)
        ]
        ranks = {"process_id": -1, **{name: rank for rank, name in enumerate(_LAST, 1)}}
        known = tuple(sorted(columns, key=lambda column: ranks.get(column.name, 0)))
        setattr(row_class, _COLUMNS, known)
    return known


def as_columns(row_class: type[Any], rows: Sequence[Any]) -> Mapping[str, list[Any]]:
    """Rows → the columns of their class, but those that the frame fills."""
    names = [column.name for column in columns_of(row_class) if column.name not in _FILLED]
    return {name: [getattr(row, name) for row in rows] for name in names}


def hidden_columns(row_class: type[Any]) -> frozenset[str]:
    """The columns that are shown to people only on request."""
    return frozenset(field.name for field in attrs.fields(row_class) if field.metadata.get("hidden"))


def shares_of(row_class: type[Any]) -> dict[str, tuple[str, ...]]:
    """The columns that are shares, and those of which one is what they share."""
    return {
        field.name: field.metadata["share_of"] for field in attrs.fields(row_class) if field.metadata.get("share_of")
    }


def windowed_columns(row_class: type[Any]) -> frozenset[str]:
    """The columns about what happened in the window, which therefore differ between windows."""
    return frozenset(field.name for field in attrs.fields(row_class) if field.metadata.get("windowed"))


_AMOUNTS: Final = ("duration", "bytes", "bytes_change", "count", "count_change", "number", "ratio", "flag")
"""Cells that say how much, not which."""
_DEEPEST: Final = 30
"""How far names of a tree are indented at most."""


def people_columns(rows: ReportTable[Any]) -> list[ColumnDeclaration]:
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


def shown_columns(rows: ReportTable[Any], wanted: Sequence[str] = ()) -> list[ColumnDeclaration]:
    """Those without the mark of losses, in the order for people: as `wanted`, else numbers, then words, then texts."""
    columns = {c.name: c for c in people_columns(rows) if c.name != "lossy"}
    if wanted:
        # A process is there only where there are several.
        return [columns[name] for name in dict.fromkeys(("process_id", *wanted)) if name in columns]
    return sorted(columns.values(), key=text_last)


def _values(rows: ReportTable[Any], name: str) -> list[Any]:
    values: list[Any] = rows.column(name).tolist()
    return values


def column_texts(
    rows: ReportTable[Any],
    columns: Sequence[ColumnDeclaration],
    text_of: Callable[[ColumnDeclaration, object], str] = lambda column, value: cell_text(column.cell, value),
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


def row_lines(rows: ReportTable[Any], room: int, name: str) -> list[str]:
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


def rows_html(rows: ReportTable[Any], count: int) -> str:
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


R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Cells: TypeAlias = Column | Array | Sequence[object]
"""The values of a column as they are given: with nulls, as numbers without, or as Python values."""

_SHOWN: Final = 20
"""How many rows a notebook shows."""
_FIELDS: Final[dict[type[Any], tuple[TableField, ...]]] = {}
"""By row class, once one was asked for."""


@frozen(eq=False, repr=False)
class ReportTable(Generic[R_co]):
    """Rows of one class, in order: iterate over them, index them, or convert them to a data frame.

    `left_out` is the number of rows of a bulk table that a saved answer does not contain; None if all are here.
    """

    row_class: type[R_co]
    table: Table
    left_out: int | None = None

    @classmethod
    def of(cls, row_class: type[R], rows: Iterable[R]) -> ReportTable[R]:
        """A table of these rows."""
        listed = list(rows)
        return cls.from_columns(
            row_class, {c.name: [getattr(row, c.name) for row in listed] for c in columns_of(row_class)}
        )

    @classmethod
    def from_columns(cls, row_class: type[R], values: Mapping[str, Cells]) -> ReportTable[R]:
        """A table from columns: `Column`s, numpy arrays without nulls, or sequences of Python values.

        Raises ValueError unless they are the columns of the row class, all of one length.
        """
        declared = columns_of(row_class)
        if set(values) != {c.name for c in declared}:
            odd = sorted(set(values) ^ {c.name for c in declared})
            raise ValueError(f"{row_class.__name__}: missing or unexpected columns: {', '.join(odd)}")
        if not any(map(len, values.values())):
            # Most tables of most processes, of which there may be many.
            return cls.empty(row_class)
        fields = _fields_of(row_class)
        columns = tuple(_column(field, values[field.name]) for field in fields)
        if len({len(column) for column in columns}) > 1:
            sizes = ", ".join(f"{f.name} {len(c)}" for f, c in zip(fields, columns, strict=True))
            raise ValueError(f"{row_class.__name__}: columns of different lengths: {sizes}")
        return ReportTable(row_class, Table(fields, (columns,) if len(columns[0]) else ()))

    @classmethod
    def empty(cls, row_class: type[R]) -> ReportTable[R]:
        """A table without a row."""
        return ReportTable(row_class, Table(_fields_of(row_class)))

    @classmethod
    def joined(cls, row_class: type[R], tables: Sequence[ReportTable[R]]) -> ReportTable[R]:
        """All rows of several tables of one class."""
        parts = tuple(part for table in tables for part in table.table.parts)
        return ReportTable(row_class, Table(_fields_of(row_class), parts))

    def __len__(self) -> int:
        return len(self.table) if self.left_out is None else self.left_out

    def __iter__(self) -> Iterator[R_co]:
        names = self.table.columns
        lists = [tuple(map(tuple, values)) if field.type.kind == "list" else values for field, values in self._lists()]
        for values in zip(*lists, strict=True):
            yield self.row_class(**dict(zip(names, values, strict=True)))

    @overload
    def __getitem__(self, index: int) -> R_co: ...
    @overload
    def __getitem__(self, index: slice) -> ReportTable[R_co]: ...
    @overload
    def __getitem__(self, index: str) -> Array: ...
    def __getitem__(self, index: int | slice | str) -> R_co | ReportTable[R_co] | Array:
        """A row, some rows, or a column as a numpy array (masked where it may be null)."""
        if isinstance(index, str):
            return self.table[index]
        if isinstance(index, slice):
            return self.take(np.arange(len(self.table))[index])
        place = index + len(self.table) if index < 0 else index
        if not 0 <= place < len(self.table):
            raise IndexError(f"row {index} of {len(self.table)}")
        return next(iter(self.take(np.array([place]))))

    def take(self, rows: NDArray[np.int64]) -> ReportTable[R_co]:
        """These rows in this order."""
        columns = tuple(self.table.column(field.name).take(rows) for field in self.table.fields)
        return ReportTable(self.row_class, Table(self.table.fields, (columns,) if len(rows) else ()))

    def head(self, count: int) -> ReportTable[R_co]:
        """The first rows; of a tree, the heaviest ones with all their ancestors, in the tree's order."""
        tree = shape_of(self.row_class).tree
        if tree is None or count >= len(self.table):
            return self[:count]
        weights = self.numbers(tree.weight, -1)
        return self.take(np.sort(np.argsort(-weights, kind="stable")[: max(count, 0)]))

    def replaced(self, **columns: Any) -> ReportTable[R_co]:
        """The same rows with other values in some columns."""
        column_values = {field.name: self.table.column(field.name) for field in self.table.fields}
        return ReportTable.from_columns(self.row_class, {**column_values, **columns})

    def column(self, name: str) -> Column:
        """A column with its nulls. Raises KeyError if there is none."""
        return self.table.column(name)

    def numbers(self, name: str, null: int = 0) -> Array:
        """A column of numbers, with this one for null."""
        return self.table.column(name).filled(null)

    def sorted_by(self, name: str, descending: bool = False) -> ReportTable[R_co]:
        """The rows sorted by a column, nulls last; the sort is stable.

        Raises KeyError if there is no such column.
        """
        return self.take(self.order(name, descending))

    def order(self, name: str, descending: bool = False) -> NDArray[np.int64]:
        """The places of the rows, as `sorted_by` has them."""
        values = self.table.column(name).tolist()
        known = [place for place, value in enumerate(values) if value is not None]
        known.sort(key=lambda place: values[place], reverse=descending)
        null = [place for place, value in enumerate(values) if value is None]
        return np.array([*known, *null], dtype=np.int64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReportTable):
            return NotImplemented
        return (
            self.row_class is other.row_class
            and self.left_out == other.left_out
            and [values for _, values in self._lists()] == [values for _, values in other._lists()]
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        what = f"{counted(len(self), 'row')} of {self.row_class.__name__}"
        if not len(self) or self.left_out is not None:
            return f"<{what}: {', '.join(self.table.columns)}>"
        return "\n".join([f"<{what}>", *row_lines(self, LINES - 1, self.row_class.__name__)])

    def _repr_html_(self) -> str:
        return framed_html(rows_html(self, _SHOWN), lambda: repr(self))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows in JSON types."""
        return self.table.rows()

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a `pandas.DataFrame`. Raises ImportError unless pandas and pyarrow are installed."""
        return self.table.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Convert to a `polars.DataFrame`. Raises ImportError unless polars and pyarrow are installed."""
        return self.table.to_polars()

    def to_arrow(self) -> pyarrow.Table:
        """Convert to a `pyarrow.Table`. Raises ImportError unless pyarrow is installed."""
        return self.table.to_arrow()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export as an Arrow C stream. Raises ImportError unless pyarrow is installed."""
        return self.table.__arrow_c_stream__(requested_schema)

    def _lists(self) -> list[tuple[TableField, list[Any]]]:
        return [(field, self.table.column(field.name).tolist()) for field in self.table.fields]


@frozen
class TableDeclaration(Value):
    """One table of a report, as it was declared."""

    name: str
    row_class: type[Any]
    description: str
    bulk: bool


def _fields_of(row_class: type[Any]) -> tuple[TableField, ...]:
    known = _FIELDS.get(row_class)
    if known is None:
        known = _FIELDS[row_class] = tuple(
            TableField(c.name, c.type, c.nullable, address=c.cell.name == "address") for c in columns_of(row_class)
        )
    return known


def _column(field: TableField, values: Any) -> Column:
    if isinstance(values, Column):
        if values.type != field.type:
            raise ValueError(f"{field.name} is {values.type}, and {field.type} was declared")
        column = values
    elif isinstance(values, np.ndarray) and values.dtype != object:
        column = number_column(field.type.kind, values)
    else:
        cells = list(values)
        try:
            column = from_values(field.type, cells)
        except OverflowError:
            # A sum of crafted numbers: the nearest that the column can hold.
            low, high = int(np.iinfo(field.type.dtype).min), int(np.iinfo(field.type.dtype).max)
            column = from_values(field.type, [None if cell is None else max(low, min(cell, high)) for cell in cells])
    if not field.nullable and column.valid is not None and not column.valid.all():
        raise ValueError(f"{field.name} has nulls, but was not declared with `| None`")
    return column
