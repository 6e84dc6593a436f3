"""What a record's values are in a table: the rules of the tables page, said once more and independently."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import clrevents
from clrevents.schema.types import FileTime

_UNIX = 116_444_736_000_000_000


def shown(value: Any) -> Any:
    """One field of a record as `Column.tolist` has it."""
    match value:
        case bool() | float() | bytes() | None:
            return value
        case FileTime():
            ns = (int(value) - _UNIX) * 100
            return ns if abs(ns) < 1 << 63 else None
        case Enum():
            return int(value.value)
        case int():
            return value
        case UUID():
            return value.bytes
        case Decimal():
            return format(value, "f")
        case str():
            # Half of a surrogate pair has no place in UTF-8.
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case tuple():
            return [shown(item) for item in value]
        case _:
            return {name: shown(inner) for name, inner in fields(value).items()}


def fields(record: Any) -> dict[str, Any]:
    """A record's fields by wire name, groups inside left as they are."""
    layout = type(record).__layout__
    attributes = getattr(type(record), "__fields__", None) or [field.name for field in layout.fields]
    return {field.name: getattr(record, a) for field, a in zip(layout.fields, attributes, strict=True)}


def same(one: Any, other: Any) -> bool:
    """Equal, and not a number where the other is not a number."""
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def values(event: clrevents.Event[Any]) -> dict[str, Any]:
    """An event's payload as table values, by wire name."""
    return {name: shown(value) for name, value in fields(event.payload).items()}
