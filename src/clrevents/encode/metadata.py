"""Event descriptions as bytes: both field layouts and the tags of NetTrace 4/5, and the rows of NetTrace 6.

Includes slack and unknown parts (docs/format.md, "Event descriptions"). Does not check whether a description makes
sense for an event; rejects only what a layout cannot hold.
"""

from __future__ import annotations

from clrevents.encode.values import FieldDescription, MetadataRecord, guid, signed, unsigned, utf8, utf16z, varuint
from clrevents.schema.codes import ARRAYS, MetadataItem, MetadataTag, TypeCode


def record(described: MetadataRecord) -> bytes:
    """The payload of a metadata record of NetPerf 3 and NetTrace 4/5 (docs/format.md, "Event descriptions")."""
    style = described.style
    layout = style.layout
    if layout == "auto":
        layout = "v2" if any(_has_array(f) for f in described.fields) else "v1"
    out = [
        signed(described.metadata_id, 4, "metadata_id"),
        utf16z(described.provider, "provider"),
        # Readers use the low 16 bits of the id and the low 8 of version and level.
        unsigned(described.id, 2, "id") + bytes(2),
        utf16z(described.name, "name"),
        unsigned(described.keywords, 8, "keywords"),
        unsigned(described.version, 1, "version") + bytes(3),
        unsigned(described.level, 1, "level") + bytes(3),
    ]
    if layout != "none":
        out.append(fields_v1(described.fields if layout == "v1" else ()))
    if layout == "none" and (described.fields or described.opcode is not None or style.tags):
        raise ValueError("a description without a field count cannot have fields or tags")
    if described.opcode is not None:
        out.append(_tag(MetadataTag.OPCODE, unsigned(described.opcode, 1, "opcode") + style.opcode_slack))
    if layout == "v2":
        out.append(_tag(MetadataTag.PARAMETERS, fields_v2(described.fields, style.field_slack) + style.parameter_slack))
    out += (_tag(kind, payload) for kind, payload in style.tags)
    out.append(style.tail)
    return b"".join(out)


def row(described: MetadataRecord) -> bytes:
    """One row of a NetTrace 6 metadata block, after its size (docs/format.md, "Description rows")."""
    style = described.style
    optional = []
    if described.opcode is not None:
        optional.append(_item(MetadataItem.OPCODE, unsigned(described.opcode, 1, "opcode")))
    for kind, value, size, what in (
        (MetadataItem.KEYWORDS, described.keywords, 8, "keywords"),
        (MetadataItem.LEVEL, described.level, 1, "level"),
        (MetadataItem.VERSION, described.version, 1, "version"),
    ):
        if value or style.write_zeros:
            optional.append(_item(kind, unsigned(value, size, what)))
    for kind, text, what in (
        (MetadataItem.MESSAGE, described.message, "message"),
        (MetadataItem.DESCRIPTION, described.description, "text"),
    ):
        if text:
            optional.append(_item(kind, utf8(text, what)))
    for key, value_text in described.attributes:
        pair = utf8(key, "attribute key") + utf8(value_text, f"attribute {key!r}")
        optional.append(_item(MetadataItem.ATTRIBUTE, pair))
    if described.provider_guid is not None:
        optional.append(_item(MetadataItem.PROVIDER_GUID, guid(described.provider_guid, "provider_guid")))
    optional.append(style.optional)
    return _sized(
        varuint(described.metadata_id, 32, "metadata_id")
        + utf8(described.provider, "provider")
        + varuint(described.id, 32, "id")
        + utf8(described.name, "name")
        + fields_v6(described.fields, style.field_slack)
        + _sized(b"".join(optional), "the optional part")
        + style.row_slack,
        "the description",
    )


def fields_v1(fields: tuple[FieldDescription, ...]) -> bytes:
    """A field count and fields, type first and name last, without arrays (docs/format.md, "Field layout 1")."""
    return signed(len(fields), 4, "field count") + b"".join(map(_field_v1, fields))


def fields_v2(fields: tuple[FieldDescription, ...], slack: bytes = b"") -> bytes:
    """A field count and size-prefixed fields, each ending with `slack` (docs/format.md, "Field layout 2")."""
    return signed(len(fields), 4, "field count") + b"".join(_field_v2(f, slack) for f in fields)


def fields_v6(fields: tuple[FieldDescription, ...], slack: bytes = b"") -> bytes:
    """The fields of NetTrace 6, each ending with `slack` (docs/format.md, "Description rows")."""
    return unsigned(len(fields), 2, "field count") + b"".join(
        _sized(utf8(f.name, "field name") + _type_v6(f, slack) + slack, f"field {f.name!r}") for f in fields
    )


def _field_v1(field: FieldDescription) -> bytes:
    if field.code in ARRAYS:
        raise ValueError(f"field {field.name!r} is an array, which the older field layout cannot describe")
    members = fields_v1(field.members) if field.code == TypeCode.OBJECT else b""
    return signed(field.code, 4, f"type code of {field.name!r}") + members + utf16z(field.name, "field name")


def _field_v2(field: FieldDescription, slack: bytes) -> bytes:
    body = utf16z(field.name, "field name") + _type_v2(field, slack) + slack
    return signed(len(body) + 4, 4, f"field {field.name!r}") + body


def _type_v2(field: FieldDescription, slack: bytes) -> bytes:
    code = signed(field.code, 4, f"type code of {field.name!r}")
    if field.code == TypeCode.ARRAY:
        return code + _type_v2(_element(field), slack)
    if field.code in ARRAYS:
        raise ValueError(f"field {field.name!r} has type code {field.code}, which exists only in NetTrace 6")
    return code + (fields_v2(field.members, slack) if field.code == TypeCode.OBJECT else b"")


def _type_v6(field: FieldDescription, slack: bytes) -> bytes:
    code = unsigned(field.code, 1, f"type code of {field.name!r}")
    if field.code in ARRAYS:
        code += _type_v6(_element(field), slack)
        if field.code == TypeCode.FIXED_ARRAY:
            code += unsigned(field.count, 2, f"element count of {field.name!r}")
        return code
    return code + (fields_v6(field.members, slack) if field.code == TypeCode.OBJECT else b"")


def _element(field: FieldDescription) -> FieldDescription:
    if field.element is None:
        raise ValueError(f"field {field.name!r} is an array without an element type")
    return field.element


def _has_array(field: FieldDescription) -> bool:
    return field.code == TypeCode.ARRAY or any(map(_has_array, field.members))


def _tag(kind: int, payload: bytes) -> bytes:
    return signed(len(payload), 4, "tag length") + unsigned(kind, 1, "tag kind") + payload


def _item(kind: MetadataItem, value: bytes) -> bytes:
    return unsigned(kind, 1, "item") + value


def _sized(data: bytes, what: str) -> bytes:
    return unsigned(len(data), 2, f"the size of {what}") + data
