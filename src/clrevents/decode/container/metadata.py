"""Metadata records of NetPerf 3 and NetTrace 4/5: an event's name and the fields it describes.

Knows field layouts and tags (docs/format.md, "Event descriptions"). Does not check whether the registry agrees.
"""

from __future__ import annotations

from clrevents._util.words import counted
from clrevents.decode.container.blocks import FieldDescription, MetadataRow
from clrevents.decode.container.window import Cursor, Short
from clrevents.errors import Limits
from clrevents.schema.codes import MetadataTag, TypeCode


class BadFields(Exception):
    """The field list is invalid; the event keeps its name and has no fields. Never leaves this room."""


def read_record(cursor: Cursor, limits: Limits) -> tuple[MetadataRow, str]:
    """One metadata record, and the fault of its optional part ("" if there is none).

    Raises Short if even the fixed part is incomplete.
    """
    offset = cursor.base + cursor.pos
    metadata_id = cursor.i32("metadata id")
    provider = cursor.utf16z("provider name")
    event_id = cursor.i32("event id") & 0xFFFF
    name = cursor.utf16z("event name")
    keywords = cursor.u64("keywords")
    version = cursor.i32("event version") & 0xFF
    level = cursor.i32("level") & 0xFF
    fields: tuple[FieldDescription, ...] = ()
    opcode = None
    wrong = ""
    try:
        if cursor.left >= 4:
            fields = read_fields_v1(cursor, limits)
        while cursor.left >= 5:
            length = cursor.i32("tag length")
            kind = cursor.u8("tag kind")
            end = cursor.take(length, "tag") + length
            tag = Cursor(cursor.data, end - length, end, cursor.base, cursor.limit)
            if kind == MetadataTag.OPCODE:
                opcode = tag.u8("opcode")
            elif kind == MetadataTag.PARAMETERS:
                budget = Budget(limits)
                fields = tuple(_field_v2(tag, budget, 0) for _ in range(budget.count(tag, 10)))
    except Short as short:
        wrong = f"its description is truncated in {short.what}"
        fields = ()
    except BadFields as bad:
        wrong = str(bad)
        fields = ()
    row = MetadataRow(metadata_id, provider, event_id, version, name, keywords, level, opcode, fields, offset=offset)
    return row, wrong


def read_fields_v1(cursor: Cursor, limits: Limits) -> tuple[FieldDescription, ...]:
    """A field count and fields in the older layout. Raises BadFields or Short."""
    budget = Budget(limits)
    return tuple(_field_v1(cursor, budget, 0) for _ in range(budget.count(cursor, 6)))


class Budget:
    """Bounds the fields and the depth of one description before anything is built from them."""

    def __init__(self, limits: Limits) -> None:
        self.left = limits.fields
        self.depth = limits.nesting

    def count(self, cursor: Cursor, smallest: int) -> int:
        """A field count that the remaining bytes can hold, with fields of at least `smallest` bytes."""
        count = cursor.i32("field count")
        self.spend(count, count * smallest, cursor.left)
        return count

    def spend(self, count: int, needed: int, left: int) -> None:
        if count < 0 or needed > left:
            raise BadFields(f"it declares {counted(count, 'field')} in {left} bytes")
        self.left -= count
        if self.left < 0:
            raise BadFields("it declares more fields than Limits.fields")

    def enter(self, depth: int) -> int:
        if depth >= self.depth:
            raise BadFields("its fields nest deeper than Limits.nesting")
        return depth + 1


def _field_v1(cursor: Cursor, budget: Budget, depth: int) -> FieldDescription:
    """Type first, name last; an object's own name comes after its members."""
    code = cursor.i32("type code")
    members: tuple[FieldDescription, ...] = ()
    if code == TypeCode.OBJECT:
        inner = budget.enter(depth)
        members = tuple(_field_v1(cursor, budget, inner) for _ in range(budget.count(cursor, 6)))
    elif code == TypeCode.ARRAY:
        raise BadFields("it has an array, which only the newer field list allows")
    return FieldDescription(cursor.utf16z("field name"), code, members=members)


def _field_v2(cursor: Cursor, budget: Budget, depth: int) -> FieldDescription:
    """Size first (counting itself), then name, then type; bytes after the type are skipped."""
    start = cursor.pos
    size = cursor.i32("field size")
    if size < 4 or size - 4 > cursor.left:
        raise BadFields(f"a field of {size} bytes does not fit in the remaining {cursor.left + 4}")
    inside = Cursor(cursor.data, cursor.pos, start + size, cursor.base, cursor.limit)
    name = inside.utf16z("field name")
    field = _type_v2(inside, budget, depth, name)
    cursor.pos = start + size
    return field


def _type_v2(cursor: Cursor, budget: Budget, depth: int, name: str) -> FieldDescription:
    code = cursor.i32("type code")
    if code == TypeCode.ARRAY:
        return FieldDescription(name, code, element=_type_v2(cursor, budget, budget.enter(depth), ""))
    if code == TypeCode.OBJECT:
        inner = budget.enter(depth)
        members = tuple(_field_v2(cursor, budget, inner) for _ in range(budget.count(cursor, 10)))
        return FieldDescription(name, code, members=members)
    return FieldDescription(name, code)
