"""Payloads of a whole batch → records, a kind at a time: the same records as `records` makes, many at once.

Takes what a layout's plan finds and turns it into values field by field; into objects only some rows at a time.
Leaves to `payloads` whatever does not fit exactly, so that it decides alone what counts as a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias
from uuid import UUID, SafeUUID

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.arrays import ragged
from clrevents.decode.kernels.engine import COMPILED
from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kernels.objects import Maker, scatter
from clrevents.decode.kernels.program import gather, narrow
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column import as_written
from clrevents.decode.payload.payload_decoder import PayloadDecoder
from clrevents.decode.payload.plan import Found, Part, Plan, bound_of, fixed_dtype, pick, plan
from clrevents.decode.payload.records import converter, narrow_text
from clrevents.schema.layout import BoundLayout
from clrevents.schema.types import (
    AnsiZ,
    BytesType,
    CountedType,
    FixedArrayType,
    GuidType,
    PrefixedType,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

Ints: TypeAlias = NDArray[np.int64]
Objects: TypeAlias = list[Any]
# Of one field: Python's own, or numbers that become ints, floats and bools when they are put into a record.
Values: TypeAlias = Objects | NDArray[Any]
Make: TypeAlias = Callable[[Found], Values]
Construct: TypeAlias = Callable[[list[Values]], Callable[[int, int], Objects]]

# So many rows are made at once that they are still in the processor's cache when they are let go.
PORTION: Final = 1 << 12
# Fewer payloads of a kind than this, and fewer bytes, are read one by one: that costs less than a group's calls.
_FEW = 24
_FEW_BYTES = 1 << 12
_UUIDS = Maker(UUID, ("int", "is_safe"))


class Unreadable(Exception):
    """Text that is not the same both ways (half a surrogate pair). Never leaves this room."""


@attrs.frozen(eq=False)
class _Recipe:
    """How to make the records of one layout."""

    plan: Plan
    construct: Construct
    makes: list[Make]

    def values(self, found: Found) -> list[Values]:
        """A column of values a field."""
        return [make(found) for make in self.makes]

    def records(self, found: Found, rows: int) -> Objects:
        """A record a row."""
        return self.construct(self.values(found))(0, rows)


@attrs.frozen(eq=False)
class _Group:
    """Records of one kind: those of the batch's rows `rows`, which rise. `make` makes so many, from one to another."""

    rows: Ints
    make: Callable[[int, int], Objects]


class Records:
    """The payloads of a batch: some that were read one by one, and groups that are made when they are asked for."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._groups: list[_Group] = []
        self._single: dict[int, Any] = {}

    def add(self, group: _Group) -> None:
        self._groups.append(group)

    def put(self, row: int, payload: Any) -> None:
        """A payload that belongs to no group; rows rise."""
        self._single[row] = payload

    def portions(self) -> Iterator[Objects]:
        """All payloads, so many at a time that they are worth their calls. Made anew each time."""
        done = [0] * len(self._groups)
        singles = [*self._single.items()]
        at = 0
        for first in range(0, self._length, PORTION):
            last = min(first + PORTION, self._length)
            made: Objects = [None] * (last - first)
            for index, group in enumerate(self._groups):
                start, stop = done[index], int(group.rows.searchsorted(last))
                done[index] = stop
                if stop - start == last - first:
                    made = group.make(start, stop)
                elif stop > start:
                    scatter(made, group.rows[start:stop] - first, group.make(start, stop))
            while at < len(singles) and singles[at][0] < last:
                row, payload = singles[at]
                made[row - first] = payload
                at += 1
            yield made

    def all(self) -> Objects:
        """All of them at once."""
        return [record for portion in self.portions() for record in portion]


class RecordMaker:
    """Makes records of whole groups of one trace's events; recipes are made when a kind is first met."""

    def __init__(self, reader: PayloadDecoder) -> None:
        self._reader = reader
        self._recipes: dict[int, _Recipe | None] = {}

    def read(
        self, kinds: list[EventKind], places: Ints, data: bytes, starts: Ints, ends: Ints
    ) -> tuple[Records, list[int]]:
        """The payloads, and the rows in rising order whose payload is still missing."""
        records = Records(len(places))
        left: list[Ints] = []
        order, groups = arranged(places)
        starts, ends = starts.take(order), ends.take(order)
        for index, part in groups:
            rows = order[part]
            worth = len(rows) >= _FEW or int((ends[part] - starts[part]).sum()) >= _FEW_BYTES
            recipe = self._recipe(kinds[index]) if worth else None
            columns = None if recipe is None else _read(recipe, data, starts[part], ends[part])
            if recipe is None or columns is None:
                left.append(rows)
            else:
                records.add(_Group(rows, recipe.construct(columns)))
        return records, np.sort(np.concatenate(left)).tolist() if left else []

    def _recipe(self, kind: EventKind) -> _Recipe | None:
        """None for what must be read one by one: unknown, newer than the registry, or in doubt."""
        if kind.index not in self._recipes:
            self._recipes[kind.index] = None if kind.newer else self._make(kind)
        recipe = self._recipes[kind.index]
        return None if recipe is None or self._reader.drifted(kind) else recipe

    def _make(self, kind: EventKind) -> _Recipe | None:
        layouts = self._reader.layouts(kind)
        if not layouts:
            return None
        bound = layouts[0][0]
        made = plan(bound)
        record = self._reader.record(kind)
        if made is None or record is None:
            return None
        return _recipe(made, bound, record)


def _recipe(made: Plan, bound: BoundLayout, record: type[Any]) -> _Recipe:
    return _Recipe(made, constructor(record), [_values(part, bound.pointer_size) for part in made.parts])


def _read(recipe: _Recipe, data: bytes, starts: Ints, ends: Ints) -> list[Values] | None:
    """The values of the records, if every payload is used up exactly."""
    found = recipe.plan.find(data, starts, ends)
    if not found.exact:
        return None
    try:
        return recipe.values(found)
    except Unreadable:
        return None


def constructor(record: Any) -> Construct:
    """A function (a list of values a field) -> (first, last) -> those records. By slots, unless the class sees its
    records made."""
    names = record.__fields__
    if not names:
        return lambda columns: lambda first, last: [record() for _ in range(first, last)]
    if COMPILED and not hasattr(record, "__attrs_post_init__"):
        return Maker(record, names).of

    def construct(columns: list[Values]) -> Callable[[int, int], Objects]:
        objects = list(map(_objects, columns))
        return lambda first, last: list(map(record, *(column[first:last] for column in objects)))

    return construct


def _objects(values: Values) -> Objects:
    """Values as Python objects."""
    return values if isinstance(values, list) else values.tolist()


def _values(part: Part, pointer_size: int) -> Make:
    """A function from what the kernel found to one field's values."""
    wire, slot = part.wire, part.slot
    if part.dtype is not None:
        convert = _fixed(wire, pointer_size)
        return lambda found: convert(part.run(found))
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
        case CountedType() | PrefixedType():
            return _elements(wire.element, part, pointer_size)
    raise TypeError(f"no plan has {wire!r}")


def _elements(wire: WireType, part: Part, pointer_size: int) -> Make:
    slot = part.slot
    if part.rest is None:
        dtype = fixed_dtype(wire, pointer_size)
        assert dtype is not None
        convert = _fixed(wire, pointer_size)

        def fixed(found: Found) -> Objects:
            counts = found.counts[slot]
            places = ragged(found.places[slot], counts, dtype.itemsize)
            return _tuples(convert(pick(found.buf, places, dtype)), counts)

        return fixed
    assert isinstance(wire, StructType)
    recipe = _recipe(part.rest, bound_of(wire, pointer_size), wire.record)

    def structs(found: Found) -> Objects:
        assert found.rest is not None
        counts = found.counts[slot]
        return _tuples(recipe.records(found.rest, int(counts.sum())), counts)

    return structs


def _fixed(wire: WireType, pointer_size: int) -> Callable[[NDArray[Any]], Values]:
    """A function from numbers and bytes, as numpy takes them apart, to values of one wire type."""
    if isinstance(wire, StructType):
        bound = bound_of(wire, pointer_size)
        inner = [_fixed(field.type, pointer_size) for field in bound.fields]
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
    """UUIDs without their constructor, which looks at every way in which one can be given."""
    numbers = [int.from_bytes(as_written(d), "big") for d in values.tolist()]
    return _UUIDS.of([numbers, [SafeUUID.unknown] * len(numbers)])(0, len(numbers))


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
