"""A plan and a record class → a recipe: gets the values of every field from what the plan found, then makes records.

Makes the same records as `records`, many at once. Text that would come out differently raises Unreadable; nothing
else is checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias
from uuid import UUID, SafeUUID

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.arrays import ragged
from clrevents.decode.kernels.objects import Slots
from clrevents.decode.kernels.program import gather, narrow
from clrevents.decode.payload.columns.column_values import as_written
from clrevents.decode.payload.columns.dtypes import Ints, fixed_dtype, pick
from clrevents.decode.payload.plan import FieldPart, Found, Plan
from clrevents.decode.payload.records.conversions import converter
from clrevents.decode.payload.records.record_groups import Objects
from clrevents.decode.payload.records.record_text import narrow_text
from clrevents.schema.wire import (
    AnsiZ,
    ArrayType,
    BytesType,
    FixedArrayType,
    GuidType,
    PrefixedType,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

Values: TypeAlias = Objects | NDArray[Any]
"""Values of one field: Python objects, or numbers that become ints, floats and bools when put into a record."""
_Make: TypeAlias = Callable[[Found], Values]
_Construct: TypeAlias = Callable[[list[Values]], Callable[[int, int], Objects]]

_UUIDS = Slots(UUID, ("int", "is_safe"))


class Unreadable(Exception):
    """Text that differs between the two ways (half a surrogate pair). Never leaves this room."""


@frozen(eq=False)
class Recipe:
    """How to make the records of one layout: the values of each field, and records from them."""

    plan: Plan
    construct: _Construct
    makes: list[_Make]

    @classmethod
    def of(cls, plan: Plan, record: type[Any]) -> Recipe:
        """The recipe for a layout's plan and record class."""
        return cls(plan, constructor(record), [_values(part, plan.pointer_size) for part in plan.parts])

    def values(self, found: Found) -> list[Values]:
        """The values of each field."""
        return [make(found) for make in self.makes]

    def exact(self, data: bytes, starts: Ints, ends: Ints) -> list[Values] | None:
        """The values of each field, if every payload `data[starts[i]:ends[i]]` fits exactly; otherwise None."""
        found = self.plan.find(data, starts, ends)
        if not found.exact:
            return None
        try:
            return self.values(found)
        except Unreadable:
            return None


def constructor(record: Any) -> _Construct:
    """A function (the values of each field) -> (first, last) -> those records."""
    names = record.__fields__
    if not names:
        return lambda columns: lambda first, last: [record() for _ in range(first, last)]

    def construct(columns: list[Values]) -> Callable[[int, int], Objects]:
        objects = list(map(_objects, columns))
        return lambda first, last: list(map(record, *(column[first:last] for column in objects)))

    return construct


def _objects(values: Values) -> Objects:
    """Values as Python objects."""
    return values if isinstance(values, list) else values.tolist()


def _values(part: FieldPart, pointer_size: int) -> _Make:
    """A function from what the kernel found to one field's values."""
    wire, slot = part.wire, part.slot
    if part.dtype is not None:
        convert = _fixed(wire, pointer_size)
        return lambda found: convert(part.values(found))
    match wire:
        case Utf16Z():
            return lambda found: _utf16(found.buf, found.places[slot], found.counts[slot])
        case AnsiZ():
            return lambda found: _narrow(found.buf, found.places[slot], found.counts[slot], narrow_text)
        case VarIntType(signed=False):
            return lambda found: found.places[slot].view(np.uint64)
        case VarIntType():
            return lambda found: [(n >> 1) ^ -(n & 1) for n in found.places[slot].view(np.uint64).tolist()]
        case BytesType():
            return lambda found: _bytes(found.buf, found.places[slot], found.counts[slot])
        case PrefixedType(text="utf-16"):
            return lambda found: _utf16(found.buf, found.places[slot], 2 * found.counts[slot])
        case PrefixedType() if wire.text:
            return lambda found: _narrow(found.buf, found.places[slot], found.counts[slot], _replaced)
        case ArrayType() if part.rest is not None:
            assert isinstance(wire.element, StructType)
            return _structs(Recipe.of(part.rest, wire.element.record), slot)
        case ArrayType():
            return _elements(wire.element, slot, pointer_size)
    raise TypeError(f"no plan contains {wire!r}")


def _elements(wire: WireType, slot: int, pointer_size: int) -> _Make:
    dtype = fixed_dtype(wire, pointer_size)
    assert dtype is not None
    convert = _fixed(wire, pointer_size)

    def elements(found: Found) -> Objects:
        counts = found.counts[slot]
        places = ragged(found.places[slot], counts, dtype.itemsize)
        return _tuples(convert(pick(found.buf, places, dtype)), counts)

    return elements


def _structs(recipe: Recipe, slot: int) -> _Make:
    def structs(found: Found) -> Objects:
        assert found.rest is not None
        counts = found.counts[slot]
        return _tuples(recipe.construct(recipe.values(found.rest))(0, int(counts.sum())), counts)

    return structs


def _fixed(wire: WireType, pointer_size: int) -> Callable[[NDArray[Any]], Values]:
    """A function from numbers and bytes, as split by numpy, to values of one wire type."""
    if isinstance(wire, StructType):
        inner = [_fixed(field.type, pointer_size) for field in wire.layout.bind(pointer_size).fields]
        construct = constructor(wire.record)

        def structs(values: NDArray[Any]) -> Objects:
            columns = [read(values[f"f{i}"]) for i, read in enumerate(inner)]
            return construct(columns)(0, len(values))

        return structs
    if isinstance(wire, FixedArrayType):
        if wire.text:
            text = "utf-16-le" if wire.text == "utf-16" else "utf-8"
            handler = "surrogatepass" if wire.text == "utf-16" else "replace"
            return lambda values: [row.tobytes().decode(text, handler) for row in np.ascontiguousarray(values)]
        each = _fixed(wire.element, pointer_size)
        count = wire.count

        def arrays(values: NDArray[Any]) -> Objects:
            flat = _objects(each(values.reshape(-1)))
            return [tuple(flat[at : at + count]) for at in range(0, len(flat), count)]

        return arrays
    if isinstance(wire, GuidType):
        return _guids
    convert = converter(wire)
    if convert is None:
        return lambda values: values
    if convert is bool:
        return lambda values: values != 0
    return lambda values: list(map(convert, values.tolist()))


def _guids(values: NDArray[Any]) -> Objects:
    """UUIDs without their constructor, which checks every way of specifying one."""
    numbers = [int.from_bytes(as_written(d), "big") for d in values.tolist()]
    return _UUIDS.of(len(numbers), [numbers, [SafeUUID.unknown] * len(numbers)])


def _tuples(values: Values, counts: Ints) -> Objects:
    ends = np.cumsum(counts)
    values = _objects(values)
    return [tuple(values[a:b]) for a, b in zip((ends - counts).tolist(), ends.tolist(), strict=True)]


def _utf16(buf: bytes, places: Ints, lengths: Ints) -> Objects:
    data, ends = narrow(buf, places, lengths)
    return _texts(data, ends - np.diff(ends, prepend=0), ends)


def _texts(data: NDArray[np.uint8], starts: Ints, ends: Ints) -> Objects:
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    if not len(data) or int(data.max()) < 0x80:
        text = data.tobytes().decode("ascii")
        return [text[a:b] for a, b in spans]
    raw = data.tobytes()
    if b"\xef\xbf\xbd" in raw:
        raise Unreadable
    return [raw[a:b].decode() for a, b in spans]


def _narrow(buf: bytes, places: Ints, lengths: Ints, decode: Callable[[bytes], str]) -> Objects:
    data = gather(buf, places, lengths)
    ends = np.cumsum(lengths)
    if not len(data) or int(data.max()) < 0x80:
        return _texts(data, ends - lengths, ends)
    return [decode(raw) for raw in _bytes(buf, places, lengths)]


def _replaced(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _bytes(buf: bytes, places: Ints, lengths: Ints) -> Objects:
    return [buf[a:b] for a, b in zip(places.tolist(), (places + lengths).tolist(), strict=True)]
