"""Event descriptions of NetTrace 6 (docs/format.md, "Description rows").

Knows a row's layout, its fields and its optional items. Like `metadata`, whose bounds it shares, it does not check
whether the registry agrees.
"""

from __future__ import annotations

from collections.abc import Iterator

from clrevents.decode.container.blocks import Block, Fault, FieldDescription, Metadata, MetadataRow
from clrevents.decode.container.container import bad_fields
from clrevents.decode.container.metadata import BadFields, Budget
from clrevents.decode.container.nettrace6.nettrace6_rows import KnownRows, read_row
from clrevents.decode.container.window import Cursor, Short
from clrevents.errors import Limits, Severity, damage
from clrevents.schema.codes import ARRAYS, MetadataItem, TypeCode

_LOCATED = frozenset({TypeCode.RELLOC, TypeCode.DATALOC})
# The end of a description without fields and optional items, whose counts are two zeros.
_BARE = bytes(4)
_VARIABLE = frozenset({TypeCode.STRING, TypeCode.ARRAY, TypeCode.VARINT, TypeCode.VARUINT})


class Descriptions:
    """Reads the metadata blocks of one stream."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known = KnownRows[MetadataRow]()

    def read(self, cursor: Cursor, broken: bool) -> Iterator[Block]:
        """A metadata block; for a broken one only the complete rows. Raises Short after yielding what was read."""
        cursor.take(cursor.u16("header size"), "header")
        rows: list[MetadataRow] = []
        faults: list[Fault] = []
        while cursor.left:
            offset = cursor.base + cursor.pos
            try:
                row = read_row(cursor, "metadata")
            except Short:
                yield Metadata(tuple(rows))
                yield from faults
                raise
            known = self._known.find(row, offset)
            if known is not None:
                rows.append(known)
                continue
            start, size = row.pos, row.left
            try:
                described, wrong, severity = _description(row, self._limits, offset)
            except Short as short:
                text = f"an event description is truncated in its {short.what}"
                faults.append(Fault(damage("bad-metadata", text, offset, size, "the events it describes")))
                if broken:
                    break
                continue
            if broken and wrong:
                break
            rows.append(described)
            if wrong and severity == "damage":
                text = f"{described.provider}/{described.name}: {wrong}"
                faults.append(Fault(damage("bad-metadata", text, offset, size, "the events it describes")))
            elif wrong:
                faults.append(Fault(bad_fields(described.provider, described.name, wrong, offset, size)))
            else:
                self._known.keep(row.data[start : row.end], described)
        yield Metadata(tuple(rows))
        yield from faults


class _Impossible(BadFields):
    """A field list that no writer can have intended: the description is damaged, not merely unsupported."""


def _description(row: Cursor, limits: Limits, offset: int) -> tuple[MetadataRow, str, Severity]:
    """One description, the fault of its optional parts ("" if there is none), and its severity."""
    metadata_id = row.varint(32, "metadata id")
    provider = row.utf8("provider name")
    event_id = row.varint(32, "event id")
    name = row.utf8("event name")
    if row.left == len(_BARE) and row.data.startswith(_BARE, row.pos):
        return MetadataRow(metadata_id, provider, event_id, 0, name, offset=offset), "", "note"
    wrong = ""
    severity: Severity = "note"
    fields: tuple[FieldDescription, ...] = ()
    values: dict[str, int | None] = {"opcode": None, "keywords": 0, "level": 0, "version": 0}
    attributes: list[tuple[str, str]] = []
    message = description = ""
    guid = None
    try:
        fields = _fields(row, Budget(limits), 0)
        part = read_row(row, "optional")
        while part.left:
            kind = part.u8("optional item")
            match kind:
                case MetadataItem.OPCODE:
                    values["opcode"] = part.u8("opcode")
                case MetadataItem.KEYWORDS:
                    values["keywords"] = part.u64("keywords")
                case MetadataItem.MESSAGE:
                    message = part.utf8("message")
                case MetadataItem.DESCRIPTION:
                    description = part.utf8("description")
                case MetadataItem.ATTRIBUTE:
                    attributes.append((part.utf8("key"), part.utf8("value")))
                case MetadataItem.PROVIDER_GUID:
                    guid = part.guid("provider guid")
                case MetadataItem.LEVEL:
                    values["level"] = part.u8("level")
                case MetadataItem.VERSION:
                    values["version"] = part.u8("version")
                case _:
                    wrong = f"it has an optional item of unknown kind {kind}"
                    break
    except Short as short:
        wrong = f"it is truncated in {short.what}"
        fields = ()
    except BadFields as bad:
        wrong = str(bad)
        fields = ()
        severity = "damage" if isinstance(bad, _Impossible) else "note"
    described = MetadataRow(
        metadata_id,
        provider,
        event_id,
        values["version"] or 0,
        name,
        values["keywords"] or 0,
        values["level"] or 0,
        values["opcode"],
        fields,
        tuple(attributes),
        description,
        message,
        guid,
        offset,
    )
    return described, wrong, severity


def _fields(cursor: Cursor, budget: Budget, depth: int) -> tuple[FieldDescription, ...]:
    count = cursor.u16("field count")
    budget.spend(count, count * 4, cursor.left)
    fields = []
    for _ in range(count):
        field = read_row(cursor, "field")
        name = field.utf8("field name")
        fields.append(_type(field, budget, depth, name))
    return tuple(fields)


def _type(cursor: Cursor, budget: Budget, depth: int, name: str) -> FieldDescription:
    code = cursor.u8("type code")
    if code in ARRAYS:
        element = _type(cursor, budget, budget.enter(depth), "")
        if code in _LOCATED and _variable(element):
            raise _Impossible(f"field {name!r} is a located array, but its elements have no fixed size")
        count = cursor.u16("element count") if code == TypeCode.FIXED_ARRAY else 0
        return FieldDescription(name, code, element=element, count=count)
    if code == TypeCode.OBJECT:
        return FieldDescription(name, code, members=_fields(cursor, budget, budget.enter(depth)))
    return FieldDescription(name, code)


def _variable(field: FieldDescription) -> bool:
    """Whether the width of a value is known only from its bytes."""
    if field.code == TypeCode.OBJECT:
        return any(_variable(m) for m in field.members)
    if field.code == TypeCode.FIXED_ARRAY and field.element is not None:
        return _variable(field.element)
    return field.code in _VARIABLE
