"""Fields that writers put behind those that they describe: where payloads are known to go on, the description does too.

Knows events by name, and reads no payload. A payload that ends before such a field has it null.
"""

from __future__ import annotations

from typing import Final

import attrs

from clrevents.schema.dynamic import FieldDescription

_MAPPING: Final = ("Id", "StartAddress", "EndAddress", "FileOffset", "FileName", "MetadataId")
_UNDECLARED: Final[dict[tuple[str, str, tuple[str, ...]], tuple[str, tuple[str, ...]]]] = {
    # By one-collect's nettrace.rs, and in every recording seen.
    ("Universal.System", "ProcessMapping", _MAPPING): ("FileName", ("SymbolMetadata", "VersionMetadata")),
}
"""By provider, event and described fields: the field that the others are like, and their names."""


def with_undeclared(provider: str, name: str, fields: tuple[FieldDescription, ...]) -> tuple[FieldDescription, ...]:
    """The described fields of an event, and those that its writer leaves out."""
    found = _UNDECLARED.get((provider, name, tuple(field.name for field in fields)))
    if found is None:
        return fields
    like = next(field for field in fields if field.name == found[0])
    return (*fields, *(attrs.evolve(like, name=more) for more in found[1]))
