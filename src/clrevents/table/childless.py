"""Tables without structs that have no fields: Parquet cannot hold them, and they hold nothing.

They are left out at any depth, and so is what consists of nothing else. Knows columns, and no file.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from clrevents.decode.payload.columns.column import Column, ColumnType
from clrevents.table.event_schema import TableField
from clrevents.table.table import Table


def without_childless(table: Table) -> Table:
    """The same table without them; the table itself if it has none."""
    if all(_kept(field.type) == field.type for field in table.fields):
        return table
    fields = childful_fields(table.fields)
    kept = [index for index, field in enumerate(table.fields) if _kept(field.type) is not None]
    parts = tuple(tuple(_shaped(part[index]) for index in kept) for part in table.parts)
    return Table(fields, parts, table.metadata)


def childful_fields(fields: Sequence[TableField]) -> tuple[TableField, ...]:
    """The fields of such a table."""
    found = ((field, _kept(field.type)) for field in fields)
    return tuple(
        field if kept == field.type else attrs.evolve(field, type=kept) for field, kept in found if kept is not None
    )


def _kept(type: ColumnType) -> ColumnType | None:
    """What is left of a type; None if that is nothing."""
    if type.kind not in ("struct", "list"):
        return type
    found = [_kept(child) for child in type.children]
    children = tuple(child for child in found if child is not None)
    if not children:
        return None
    if type.kind == "list":
        return attrs.evolve(type, children=children)
    names = tuple(name for name, child in zip(type.names, found, strict=True) if child is not None)
    return attrs.evolve(type, children=children, names=names)


def _shaped(column: Column) -> Column:
    type = _kept(column.type)
    if type is None or type == column.type:
        return column
    children = tuple(_shaped(child) for child in column.children if _kept(child.type) is not None)
    return attrs.evolve(column, type=type, children=children)
