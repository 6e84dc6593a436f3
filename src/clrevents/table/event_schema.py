"""The columns of an event's table: the fields of all its versions, with names and types.

Depends on layouts alone, so that the tables of all traces fit together. Sees no file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, TypeAlias

import attrs
import numpy as np

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import define, frozen
from clrevents.decode.header_columns import HEADERS, TABLE_HEADERS
from clrevents.decode.kernels.engine import end_to_end
from clrevents.decode.payload.column import (
    INTEGERS,
    STRING,
    Column,
    ColumnType,
    column_type,
    common,
    concat,
    fits,
    from_values,
    nulls,
    widened,
)
from clrevents.decode.payload.column_maker import KindColumns
from clrevents.decode.push_passes import Chunk
from clrevents.decode.selection import EventName
from clrevents.schema.layout import Layout
from clrevents.schema.self_described import SELF_DESCRIBED
from clrevents.schema.wire import PointerType, WireType

Enumeration: TypeAlias = type[Enum]

_AMOUNT: Final = "Size|Before|After|Surv|Alloc|Commit|Reject|Refs|^In$|Count"
"""Pointer-sized numbers that are not addresses: the collector's sizes in bytes."""
_PLACE: Final = "Address$"
"""Numbers that are addresses although they are not pointer-sized."""


@frozen
class TableField(Value):
    """One column of a table. `wire` is the payload field's name on the wire, None for a header column.

    `address` marks numbers that are addresses, which are shown in hex.
    """

    name: str
    type: ColumnType
    nullable: bool = False
    wire: str | None = None
    enum: Enumeration | None = None
    address: bool = False


@define
class _Union:
    type: ColumnType
    enum: Enumeration | None
    count: int
    address: bool


def header_fields(names: Iterable[str]) -> tuple[TableField, ...]:
    """The fields of header columns. Raises KeyError for any other name."""
    return tuple(TableField(name, HEADERS[name].type, HEADERS[name].nullable) for name in names)


_BEGIN: Final = ("", -1)


def payload_fields(layouts: Sequence[Layout], optional: bool = False) -> tuple[TableField, ...]:
    """The union of all versions, oldest first: a field missing from some is nullable, all are if `optional`.

    A field whose width changed gets the wider type; one that changed otherwise becomes two.
    """
    fields: dict[tuple[str, int], _Union] = {}
    # From each field to the next one; the first follows _BEGIN.
    follows: dict[tuple[str, int], tuple[str, int] | None] = {_BEGIN: None}
    for layout in layouts:
        before = _BEGIN
        for field in layout.fields:
            type = column_type(field.type)
            key = (field.name, 0)
            while key in fields and common(fields[key].type, type) is None:
                key = (field.name, key[1] + 1)
            known = fields.get(key)
            if known is None:
                # In wire order: right after the preceding field.
                follows[key], follows[before] = follows[before], key
                before = key
                fields[key] = _Union(type, field.type.enum, 1, is_address(field.name, field.type))
                continue
            wide = common(known.type, type)
            assert wide is not None
            known.type, known.count = wide, known.count + 1
            known.enum = field.type.enum or known.enum
            known.address |= is_address(field.name, field.type)
            before = key
    taken = dict.fromkeys((name.lower() for name in TABLE_HEADERS), 2)
    columns: list[TableField] = []
    place = follows[_BEGIN]
    while place is not None:
        key, index, place = place, len(columns), follows[place]
        union = fields[key]
        name = unique_name(key[0] or f"field_{index}", taken)
        # A time may be outside the range of a timestamp.
        nullable = optional or union.count < len(layouts) or union.type.kind == "timestamp"
        columns.append(TableField(name, union.type, nullable, key[0], union.enum, union.address))
    return tuple(columns)


def known_fields(event: EventName, registered: Sequence[Layout], optional: bool) -> tuple[TableField, ...]:
    """The payload fields of an event as they are known, whatever a trace says of it; none if nobody knows it."""
    if registered:
        return payload_fields(registered, optional)
    return tuple(
        TableField(field.name, ColumnType(field.type), not field.needed, field.name)
        for field in SELF_DESCRIBED.get(event, ())
    )


def further_fields(known: Sequence[TableField], described: Sequence[Layout]) -> tuple[TableField, ...]:
    """Those that only the trace describes, under names of their own, after the known ones."""
    wires = {field.wire for field in known}
    taken = dict.fromkeys((name.lower() for name in (*TABLE_HEADERS, *(field.name for field in known))), 2)
    return tuple(
        attrs.evolve(field, name=unique_name(field.wire or "", taken))
        for field in payload_fields(described, optional=True)
        if field.wire not in wires
    )


def holds(fields: Sequence[TableField], part: KindColumns) -> bool:
    """Whether a kind's columns have every field that is never null, as its type."""
    needed = ((field.wire, field.type) for field in fields if field.wire is not None and not field.nullable)
    return all(wire in part.columns and fits(type, part.columns[wire].type) for wire, type in needed)


def unique_name(name: str, taken: dict[str, int]) -> str:
    """An unused column name, ignoring case: `payload.<Name>` if it is taken. Adds the result to `taken`, which holds
    the number to try next for each name (2 at first), so that many equal names do not all count from there.
    """
    if name.lower() in taken:
        name = f"payload.{name}"
    plain = name
    while name.lower() in taken:
        number = taken[plain.lower()]
        taken[plain.lower()] = number + 1
        name = f"{plain} ({number})"
    taken[name.lower()] = 2
    return name


def is_address(name: str, wire: WireType) -> bool:
    """Whether a payload field holds addresses: pointers that are not sizes, and numbers named as addresses."""
    inner = wire.innermost
    if isinstance(inner, PointerType):
        return not re.search(_AMOUNT, name)
    return inner.enum is None and inner.column in INTEGERS and re.search(_PLACE, name) is not None


def assemble(
    fields: Sequence[TableField], chunk: Chunk, payloads: Sequence[KindColumns], enum_names: bool = False
) -> list[Column]:
    """The columns of one event in a chunk, whatever kinds its payloads have, in the order of the chunk's rows."""
    rows = end_to_end([part.rows for part in payloads]) if payloads else np.zeros(0, dtype=np.int64)
    order = None if len(payloads) < 2 else np.argsort(rows, kind="stable")
    whole = order is None and len(rows) == chunk.length
    rows = rows if order is None else rows[order]
    columns = []
    wires = Counter(field.wire for field in fields)
    for field in fields:
        if field.wire is None:
            header = chunk.headers[field.name]
            columns.append(header if whole else header.take(rows))
            continue
        parts = [_column(field, part, wires[field.wire] == 1) for part in payloads]
        column = concat(field.type, parts)
        column = column if order is None else column.take(order)
        columns.append(named(column, field.enum) if enum_names and field.enum is not None else column)
    return columns


def _column(field: TableField, part: KindColumns, alone: bool) -> Column:
    """A kind's part of a column: null if its version lacks the field or has it with another type, of which another
    column may be unless this one is `alone` with its field."""
    assert field.wire is not None
    column = part.columns.get(field.wire)
    wider = column is not None and (
        fits(field.type, column.type) if alone else common(field.type, column.type) == field.type
    )
    if column is None or not wider:
        return nulls(field.type, len(part.rows))
    return widened(column, field.type)


def named(column: Column, enum: Enumeration) -> Column:
    """Numbers as the text of their enum names."""
    values, places = np.unique(column.values, return_inverse=True)
    texts = from_values(STRING, [str(enum(value)) for value in values.tolist()])
    return Column(STRING, len(column), places.astype(np.int64), valid=column.valid, texts=texts)


def shown_fields(fields: Sequence[TableField], enum_names: bool) -> tuple[TableField, ...]:
    """The fields as in a table: with `enum_names` enums are text."""
    if not enum_names:
        return tuple(fields)
    return tuple(attrs.evolve(f, type=STRING) if f.enum is not None else f for f in fields)
