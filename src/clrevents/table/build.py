"""Tables of computed results: columns from arrays and from plain rows.

Everything that analyses and exports need from columns is here, because their rooms may not look deeper than tables.
Knows no trace.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.header_columns import ACTIVITY_HEADERS, DEFAULT_HEADERS, EVENT_HEADERS, TABLE_HEADERS
from clrevents.decode.payload.columns.column import STRING, Column, ColumnType
from clrevents.decode.payload.columns.column_values import from_values
from clrevents.table.event_schema import TableField, header_fields, named, shown_fields, unique_name
from clrevents.table.table import Table

UInt64: TypeAlias = Annotated[int, "uint64"]
"""An address or an id in a row class, which may exceed a signed integer."""

_PLAIN: Final = {int: "int64", float: "float64", str: "string", bool: "bool"}


def number_column(kind: str, values: NDArray[Any]) -> Column:
    """Numbers without nulls as a column of this type (`int64`, `bool`, …)."""
    type = ColumnType(kind)
    return Column(type, len(values), values.astype(type.dtype))


def text_column(texts: Sequence[str | None], places: NDArray[Any]) -> Column:
    """A text column, each different text stored once: row i has `texts[places[i]]`; None is null."""
    known: dict[str | None, int] = {}
    codes = [known.setdefault(text, len(known)) for text in texts]
    if len(known) < len(codes):
        places = np.array(codes, dtype=np.int32)[places]
    held = from_values(STRING, [*known])
    valid = None if held.valid is None else held.valid[places]
    return Column(STRING, len(places), places.astype(np.int32), valid=valid, texts=attrs.evolve(held, valid=None))


def row_table(row_class: type[Any], rows: Iterable[Any], metadata: Mapping[str, str] | None = None) -> Table:
    """A table with a column for each attribute of an attrs class, typed by its annotations.

    Annotations are int, `UInt64`, float, str, bool, an enum (shown by name), tuples of these, or any of them with
    `| None`, which makes the column nullable. An attribute with the metadata `{"table": False}` is left out.
    """
    fields = row_fields(row_class)
    held = list(rows)
    if not held:
        return Table(fields, (), metadata or {})
    columns = tuple(from_values(f.type, [plain(getattr(row, f.name)) for row in held]) for f in fields)
    return Table(fields, (columns,), metadata or {})


def row_fields(row_class: type[Any]) -> tuple[TableField, ...]:
    """The columns of `row_table`."""
    hints = typing.get_type_hints(row_class, include_extras=True)
    names = [a.name for a in attrs.fields(row_class) if a.metadata.get("table", True)]
    return tuple(
        TableField(name, *_typed(hints[name]), address=name == "address" or name.endswith("_address")) for name in names
    )


def _typed(hint: Any) -> tuple[ColumnType, bool]:
    """A column's type and whether it is nullable."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        (inner,) = (arg for arg in typing.get_args(hint) if arg is not type(None))
        return _typed(inner)[0], True
    if typing.get_origin(hint) is Annotated:
        return ColumnType(typing.get_args(hint)[1]), False
    if typing.get_origin(hint) is tuple:
        return ColumnType("list", (_typed(typing.get_args(hint)[0])[0],)), False
    if isinstance(hint, type) and issubclass(hint, Enum):
        return STRING, False
    return ColumnType(_PLAIN[hint]), False


def plain(value: Any) -> Any:
    """A result in JSON types: attrs objects as dicts, tuples as lists, enums by name."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if attrs.has(type(value)):
        return {a.name: plain(getattr(value, a.name)) for a in attrs.fields(type(value))}
    return value


def renamed(fields: Sequence[TableField], taken: Iterable[str]) -> tuple[TableField, ...]:
    """The fields renamed so that none clashes with `taken`: `payload.<Name>` instead of a taken name."""
    used = dict.fromkeys((name.lower() for name in taken), 2)
    return tuple(attrs.evolve(field, name=unique_name(field.name, used)) for field in fields)


__all__ = [
    "ACTIVITY_HEADERS",
    "DEFAULT_HEADERS",
    "EVENT_HEADERS",
    "TABLE_HEADERS",
    "Column",
    "ColumnType",
    "TableField",
    "UInt64",
    "from_values",
    "header_fields",
    "named",
    "number_column",
    "plain",
    "renamed",
    "row_fields",
    "row_table",
    "shown_fields",
    "text_column",
]
