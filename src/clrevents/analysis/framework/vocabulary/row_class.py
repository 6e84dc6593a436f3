"""Row classes: an annotated class body is a table's schema, its documentation and its rows' type.

`@row` makes a frozen class of a body of `cells` whose values are `column("…")`. A row's times, and the threads whose
losses affect it, are declared with it, so the framework cuts and marks rows by itself.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, dataclass_transform, overload

import attrs

from clrevents._util.notebook_views import framed_html, html_table, html_text
from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.cells import (
    ColumnDeclaration,
    column_of,
    heading,
    short_cell,
)

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
def row(
    cls: C | None = None,
    /,
    *,
    span: tuple[str, str] | None = None,
    at: str | None = None,
    since: str | None = None,
    threads: tuple[str, ...] = (),
    text: str | None = None,
    tree: TreeShape | None = None,
) -> Any:
    """Make a frozen class of rows, or of facts. The columns are checked by `columns_of`.

    A class that extends a row class inherits its shape, unless it declares its own.
    """

    def make(body: C) -> C:
        cls = frozen(kw_only=True)(body)
        cls._repr_html_ = _row_html
        shape = RowShape(span, at, since, threads, text, tree)
        if shape != RowShape() or not hasattr(cls, _SHAPE):
            setattr(cls, _SHAPE, shape)
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
    """The columns of a row class: its process first, `lossy` last.

    Raises TypeError listing everything that is wrong: types that are not cells, columns without a description, a shape
    that names missing columns.
    """
    known: tuple[ColumnDeclaration, ...] | None = row_class.__dict__.get(_COLUMNS)
    if known is None:
        known = _checked_columns(row_class)
        setattr(row_class, _COLUMNS, known)
    return known


def _checked_columns(row_class: type[Any]) -> tuple[ColumnDeclaration, ...]:
    hints = typing.get_type_hints(row_class, include_extras=True)
    columns, wrong = [], []
    for field in attrs.fields(row_class):
        description = field.metadata.get("description", "")
        if not description.endswith("."):
            wrong.append(f'{field.name}: describe it with one sentence, column("…")')
        try:
            columns.append(column_of(field.name, hints[field.name], description, field.metadata.get("importance", 2)))
        except TypeError as error:
            wrong.append(str(error))
    names = {column.name for column in columns}
    shape = shape_of(row_class)
    tree = () if shape.tree is None else (shape.tree.depth, shape.tree.name, shape.tree.weight)
    for name in (*(shape.span or ()), shape.at, shape.since, *shape.threads, shape.text, *tree):
        if name is not None and name not in names:
            wrong.append(f"{name}: the shape of {row_class.__name__} names this column, which is not there")
    if shape.span and "clipped" not in names:
        wrong.append(f"{row_class.__name__} has a span and no column `clipped`: extend SpanRow")
    if not shape.span and "clipped" in names and row_class is not SpanRow:
        wrong.append(f"{row_class.__name__} extends SpanRow: say which columns are its span, @row(span=(…, …))")
    if sum(part is not None for part in (shape.span, shape.at, shape.since)) > 1:
        wrong.append(f"{row_class.__name__} has more than one of span, at and since")
    kinds = {column.name: column for column in columns}
    for name, cell in [(n, "time") for n in (*(shape.span or ()), shape.at, shape.since)] + [
        (n, "thread") for n in shape.threads
    ]:
        declared = kinds.get(name or "")
        if declared is not None and (declared.cell.name != cell or declared.many):
            wrong.append(f"{name}: the shape of {row_class.__name__} needs one {cell} there")
    texts = kinds.get(shape.text or "")
    if texts is not None and texts.cell.privacy != "private":
        wrong.append(f"{shape.text}: the shape of {row_class.__name__} needs private texts there")
    if wrong:
        raise TypeError(f"{row_class.__name__}: {'; '.join(wrong)}")
    return tuple(sorted(columns, key=lambda c: (c.name != "process_id", c.name in _LAST and _LAST.index(c.name) + 1)))


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
