"""Hypothesis strategies: any record of an event class.

Derived from the layout, so a new event needs nothing here. Counts agree with their arrays; enums take any
number, also nameless ones; strings hold anything but NUL. Needs the `hypothesis` package, on use.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from clrevents.schema.layout import BoundField, BoundLayout
from clrevents.schema.types import (
    AnsiZ,
    BytesType,
    CountedType,
    DecimalType,
    EnumType,
    FileTime,
    FixedArrayType,
    GuidType,
    LocatedType,
    PrefixedType,
    Scalar,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_MANY = 5


def records(event_class: type[Any], pointer_size: int = 8) -> SearchStrategy[Any]:
    """Any record of an event class (or of a class made by `@struct`), as a process of this pointer size writes it."""
    from hypothesis import strategies as st

    layout: BoundLayout = event_class.__layout__.bind(pointer_size)
    names = getattr(event_class, "__fields__", None) or tuple(f.name for f in layout.fields)

    @st.composite
    def draw_record(draw: Any) -> Any:
        counts = {c: draw(st.integers(0, _MANY)) for c in _counters(layout)}
        values = []
        for field in layout.fields:
            if field.name in counts:
                values.append(_counter(field, counts[field.name]))
            elif isinstance(field.type, CountedType):
                n = counts[field.type.count]
                elements = st.lists(_values(field.type.element, pointer_size), min_size=n, max_size=n)
                values.append(tuple(draw(elements)))
            elif isinstance(field.type, BytesType):
                n = counts[field.type.count]
                values.append(draw(st.binary(min_size=n, max_size=n)))
            else:
                values.append(draw(_values(field.type, pointer_size)))
        return event_class(**dict(zip(names, values, strict=True)))

    return draw_record()


def _counters(layout: BoundLayout) -> set[str]:
    return {f.type.count for f in layout.fields if isinstance(f.type, CountedType | BytesType)}


def _counter(field: BoundField, count: int) -> Any:
    return field.type.enum(count) if isinstance(field.type, EnumType) else count


def _values(wire: WireType, pointer_size: int) -> SearchStrategy[Any]:
    """Any value of a wire type."""
    from hypothesis import strategies as st

    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
    match wire:
        case Scalar():
            return _scalar(wire)
        case EnumType():
            return _number(wire.base).map(wire.enum)
        case GuidType():
            return st.uuids()
        case DecimalType():
            return st.decimals(
                allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20
            ).map(Decimal)
        case Utf16Z() | AnsiZ():
            return text
        case VarIntType():
            return st.integers(-(1 << 63), (1 << 63) - 1) if wire.signed else st.integers(0, (1 << 64) - 1)
        case StructType():
            return records(wire.record, pointer_size)
        case PrefixedType() | LocatedType():
            if wire.text:
                return text
            return st.lists(_values(wire.element, pointer_size), max_size=_MANY).map(tuple)
        case FixedArrayType():
            n = wire.count
            if wire.text:
                return st.text("abcdefgh", min_size=n, max_size=n)
            return st.lists(_values(wire.element, pointer_size), min_size=n, max_size=n).map(tuple)
    raise TypeError(f"no values for {wire!r}")


def _scalar(wire: Scalar) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    match wire.kind:
        case "bool":
            return st.booleans()
        case "float":
            return st.floats(width=32 if wire.size == 4 else 64, allow_nan=False)
        case "char":
            return _number(wire).map(chr)
        case "filetime":
            return _number(wire).map(FileTime)
        case _:
            return _number(wire)


def _number(wire: Scalar) -> SearchStrategy[int]:
    from hypothesis import strategies as st

    bits = 8 * wire.size
    if wire.format.islower():
        return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return st.integers(0, (1 << bits) - 1)
