"""Rows of descriptions at another place, or without their fields, are otherwise what they were."""

from __future__ import annotations

from uuid import UUID

import attrs
import pytest

from clrevents.decode.container.blocks import MetadataRow, ThreadRow
from clrevents.schema.dynamic import FieldDescription

FIELDS = (FieldDescription("x", 9),)
GUID = UUID(int=12)
EVENT = MetadataRow(1, "P", 2, 3, "E", 4, 5, 6, FIELDS, (("a", "b"),), "what", "message", GUID, 11)
THREAD = ThreadRow(1, 2, 3, "worker", (("a", "b"),), 11)


def values(row: MetadataRow | ThreadRow) -> dict[str, object]:
    return {field.name: getattr(row, field.name) for field in attrs.fields(type(row))}


@pytest.mark.parametrize("row", [EVENT, THREAD])
def test_moved(row: MetadataRow | ThreadRow) -> None:
    assert values(row.moved(99)) == {**values(row), "offset": 99}
    assert None not in values(row).values()


def test_without_fields() -> None:
    assert values(EVENT.without_fields()) == {**values(EVENT), "fields": ()}
