"""Payloads of one kind → columns, by a plan that finds the fields of many payloads at once.

Fixed-width fields are one gather and a view; the kernel walks variable ones first. A layout that the kernel's few
instructions cannot express has no plan, and its payloads are read one by one, through records. Knows neither the source
of payloads nor the consumers of problems.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.decode.kernels.engine import INSTRUCTION, Ints, Program, gather, narrow, offsets_of, ragged
from clrevents.decode.kernels.header_scan import arranged
from clrevents.decode.kinds import EventKind
from clrevents.decode.payload.column import (
    BINARY,
    STRING,
    Array,
    Column,
    ColumnType,
    as_written,
    column_type,
    filetimes,
    fixed_dtype,
    from_values,
    pick,
    structured,
)
from clrevents.decode.payload.payload_decoder import PayloadDecoder, RawPayload
from clrevents.decode.payload.record_decoder import decimal_of, narrow_text
from clrevents.errors import Problem
from clrevents.schema.layout import BoundLayout, FixedStep, VariableStep
from clrevents.schema.wire import (
    ArrayType,
    BytesType,
    ByWriting,
    CountedType,
    FixedArrayType,
    PrefixedType,
    StructType,
    VarIntType,
    WireType,
)

Place: TypeAlias = tuple[int, int, int]
"""Where the kernel finds a count: instruction, offset in what it found, width (negative if signed)."""

# The kernel's instruction numbers, as described in `walk`.
FIXED, TEXT16, TEXT8, COUNTED, PREFIXED, NUMBER, REST, PREFIXED_REST = range(8)


@define(eq=False)
class Located:
    """Where the parts of many payloads are: two arrays per instruction, and the bytes they refer to.

    `fits` if every payload holds its fields, `exact` if none holds more.
    """

    buf: bytes
    places: list[Ints]
    counts: list[Ints]
    stops: Ints
    fits: bool
    exact: bool
    rest: Located | None = None
    _fixed: dict[int, Array] = attrs.field(factory=dict)

    def fixed(self, slot: int, dtype: np.dtype[Any]) -> Array:
        """The values of a FIXED instruction, gathered once."""
        known = self._fixed.get(slot)
        if known is None:
            known = self._fixed[slot] = pick(self.buf, self.places[slot], dtype)
        return known


Build: TypeAlias = Callable[[Located], Column]
"""A field's column."""
_Texts: TypeAlias = Callable[[bytes, Ints, Ints], Column]
"""Texts or bytes of `lengths[i]` bytes at `places[i]`."""

_GUID_ORDER: Final = np.frombuffer(as_written(bytes(range(16))), dtype=np.uint8)


@define(eq=False)
class Plan:
    """The kernel's program for a layout, and a function for the column of each field, in the layout's order.

    `size` is that of a payload whose fields all have a fixed width, which needs no walk. `rest` reads the elements that
    follow the last field.
    """

    pointer_size: int
    builders: list[Build] = attrs.field(factory=list)
    program: list[int] = attrs.field(factory=list)
    size: int | None = None
    rest: Plan | None = None
    _code: Program | None = None

    def find(self, buf: bytes, starts: Ints, ends: Ints, repeats: Ints | None = None) -> Located:
        """Walk the payloads `buf[starts[i]:ends[i]]`; nothing is built yet."""
        if self.size is not None and repeats is None:
            located = self._fixed(buf, starts, ends, self.size)
        else:
            if self._code is None:
                self._code = Program(self.program)
            walked = self._code.walk(buf, starts, ends, repeats)
            exact = walked.fits and bool((walked.stops == ends).all())
            located = Located(buf, walked.places, walked.counts, walked.stops, walked.fits, exact)
        if self.rest is not None and located.fits:
            located.rest = self.rest.find(buf, located.places[-1], ends, located.counts[-1])
            located.stops, located.fits, located.exact = located.rest.stops, located.rest.fits, located.rest.exact
        return located

    def _fixed(self, buf: bytes, starts: Ints, ends: Ints, size: int) -> Located:
        stops = starts + size
        places, at = [], 0
        for step in range(0, len(self.program), INSTRUCTION):
            at += self.program[step + 1]
            places.append(starts + at if at else starts)
            at += self.program[step + 2]
        exact = bool((stops == ends).all())
        return Located(buf, places, places, stops, exact or bool((stops <= ends).all()), exact)


# Weakly: layouts described by a trace are freed with their trace.
_plans: weakref.WeakKeyDictionary[BoundLayout, Plan | None] = weakref.WeakKeyDictionary()


def plan(layout: BoundLayout) -> Plan | None:
    """The plan of a layout, made once; None if the kernel cannot read it."""
    made_plan = _plans.get(layout, ...)
    if made_plan is ...:
        made_plan = _plans[layout] = _plan(layout)
    return made_plan


def _plan(layout: BoundLayout) -> Plan | None:
    new = Plan(layout.pointer_size)
    numbers: dict[int, Place] = {}
    for place, step in enumerate(layout.steps):
        if isinstance(step, FixedStep):
            added = _add_fixed(new, step, numbers)
        else:
            added = _add_variable(new, step, numbers, last=place + 1 == len(layout.steps))
        if not added:
            return None
    if all(op == FIXED for op in new.program[::INSTRUCTION]):
        new.size = sum(new.program[1::INSTRUCTION]) + sum(new.program[2::INSTRUCTION])
    return new


def _add_fixed(new: Plan, step: FixedStep, numbers: dict[int, Place]) -> bool:
    """Adjacent fixed-width fields: one instruction; possible counts are remembered by field."""
    dtype = structured(step.fields, new.pointer_size)
    if dtype is None or dtype.fields is None:
        return False
    slot = len(new.program) // INSTRUCTION
    new.program += [FIXED, 0, dtype.itemsize, 0, 0, 0]
    for index, field in enumerate(step.fields):
        new.builders.append(_one_of(dtype, f"f{index}", slot, field.type, new.pointer_size))
        number = field.type.number
        if number is not None:
            width = -number.size if number.signed else number.size
            numbers[step.first + index] = slot, dtype.fields[f"f{index}"][1], width
    return True


def _one_of(dtype: np.dtype[Any], name: str, slot: int, wire: WireType, pointer_size: int) -> Build:
    """The column of one of several fields that an instruction reads together."""
    convert = _fixed(wire, column_type(wire), pointer_size)
    return lambda located: convert(located.fixed(slot, dtype)[name])


def _add_variable(new: Plan, step: VariableStep, numbers: dict[int, Place], last: bool) -> bool:
    wire = step.field.type
    known = _instruction(wire, len(new.program) // INSTRUCTION, new.pointer_size)
    if known is None:
        return False
    operation, size, build, rest = known
    counter = 0, 0, 0
    if operation in (COUNTED, REST):
        if step.count_index not in numbers:
            return False
        counter = numbers[step.count_index]
    if rest is not None:
        # A second walk reads to the end of the payload.
        if not last:
            return False
        new.rest = rest
    new.builders.append(build)
    new.program += [operation, step.field.pad, size, *counter]
    return True


_Instruction: TypeAlias = tuple[int, int, Build, Plan | None] | None
"""The operation, the size of an element in bytes, the column of what the instruction found, and the plan of the
elements, if they need a walk of their own. None if there is no operation."""


def _instruction(wire: WireType, slot: int, pointer_size: int) -> _Instruction:
    """How the kernel finds values of a type that is not read with others, and how they become a column."""
    dtype = fixed_dtype(wire, pointer_size)
    if dtype is None:
        return wire.read_by(_Variable(slot, pointer_size))
    convert = _fixed(wire, column_type(wire), pointer_size)
    return FIXED, dtype.itemsize, lambda located: convert(located.fixed(slot, dtype)), None


@frozen
class _Variable(ByWriting[_Instruction]):
    """The instruction `slot`, for values whose size depends on the bytes."""

    slot: int
    pointer_size: int

    def other(self, wire: WireType) -> _Instruction:
        return None

    def terminated(self, unit: int) -> _Instruction:
        return (TEXT16, 0, _spans(_utf16, self.slot), None) if unit == 2 else (TEXT8, 0, _spans(_ansi, self.slot), None)

    def varint(self, wire: VarIntType) -> _Instruction:
        return NUMBER, 0, _varint(self.slot, wire.signed), None

    def counted(self, wire: CountedType | BytesType) -> _Instruction:
        return self._many(wire, COUNTED, REST)

    def prefixed(self, wire: PrefixedType) -> _Instruction:
        return self._many(wire, PREFIXED, PREFIXED_REST)

    def _many(self, wire: ArrayType | BytesType, read_here: int, read_apart: int) -> _Instruction:
        if isinstance(wire, BytesType) or wire.text:
            return read_here, wire.unit_size, _spans(_TEXTS[wire.text], self.slot, wire.unit_size), None
        element = fixed_dtype(wire.element, self.pointer_size)
        if element is not None and element.itemsize:
            return read_here, element.itemsize, _elements(wire.element, element, self.slot, self.pointer_size), None
        if isinstance(wire.element, StructType):
            bound: BoundLayout = wire.element.layout.bind(self.pointer_size)
            rest = plan(bound)
            if rest is not None and rest.rest is None:
                return read_apart, max(bound.min_size, 1), _structs(wire.element, rest), rest
        return None


def _spans(read: _Texts, slot: int, width: int = 1) -> Build:
    """Texts or bytes, of which the instruction counts units of `width` bytes."""
    if width == 1:
        return lambda located: read(located.buf, located.places[slot], located.counts[slot])
    return lambda located: read(located.buf, located.places[slot], located.counts[slot] * width)


def _varint(slot: int, signed: bool) -> Build:
    def build(located: Located) -> Column:
        values = located.places[slot].view(np.uint64)
        if not signed:
            return Column(ColumnType("uint64"), len(values), values)
        numbers = (values >> np.uint64(1)).view(np.int64) ^ -(values & np.uint64(1)).view(np.int64)
        return Column(ColumnType("int64"), len(values), numbers)

    return build


def _elements(wire: WireType, dtype: np.dtype[Any], slot: int, pointer_size: int) -> Build:
    convert = _fixed(wire, column_type(wire), pointer_size)

    def build(located: Located) -> Column:
        counts = located.counts[slot]
        elements = pick(located.buf, ragged(located.places[slot], counts, dtype.itemsize), dtype)
        return _list(convert(elements), counts)

    return build


def _structs(wire: StructType, elements: Plan) -> Build:
    type = column_type(wire)

    def build(located: Located) -> Column:
        assert located.rest is not None
        counts = located.counts[-1]
        children = [build(located.rest) for build in elements.builders]
        for place in wire.deltas:
            children[place] = attrs.evolve(children[place], values=_without_deltas(children[place].values, counts))
        return _list(Column(type, int(counts.sum()), np.empty(0, np.uint8), children=tuple(children)), counts)

    return build


def _without_deltas(read: Array, counts: Ints) -> Array:
    """The values of arrays of so many elements, whose first is a value and all others are differences."""
    firsts = offsets_of(counts)[:-1][counts > 0]
    steps = (read >> np.uint64(1)) ^ -(read & np.uint64(1))
    steps[firsts] = read[firsts]
    sums = np.cumsum(steps, dtype=np.uint64)
    before = sums[firsts] - steps[firsts]
    return sums - np.repeat(before, counts[counts > 0])


def _list(elements: Column, counts: Ints) -> Column:
    type = ColumnType("list", (elements.type,))
    return Column(type, len(counts), np.empty(0, np.uint8), offsets_of(counts), (elements,))


_Convert: TypeAlias = Callable[[Array], Column]
"""Values already split by numpy as a column."""


def _fixed(wire: WireType, type: ColumnType, pointer_size: int) -> _Convert:
    """The column of values of a fixed width; `type` is `column_type(wire)`."""
    return wire.read_by(_Fixed(type, pointer_size))


@frozen
class _Fixed(ByWriting[_Convert]):
    type: ColumnType
    pointer_size: int

    def plain(self, wire: WireType) -> _Convert:
        type, dtype = self.type, self.type.dtype
        return _BY_KIND.get(wire.kind) or (
            lambda values: Column(type, len(values), values if values.dtype == dtype else values.astype(dtype))
        )

    def repeated(self, wire: FixedArrayType) -> _Convert:
        if wire.text:
            return _fixed_text(_TEXTS[wire.text], wire.count * wire.unit_size)
        elements, count = _fixed(wire.element, self.type.children[0], self.pointer_size), wire.count
        return lambda values: _list(elements(values.reshape(-1)), np.full(len(values), count))

    def record(self, wire: StructType) -> _Convert:
        type = self.type
        typed = zip(wire.layout.bind(self.pointer_size).fields, type.children, strict=True)
        fields = [_fixed(field.type, child, self.pointer_size) for field, child in typed]
        return lambda values: Column(
            type,
            len(values),
            np.empty(0, np.uint8),
            children=tuple(field(values[f"f{i}"]) for i, field in enumerate(fields)),
        )


def _units(values: Array) -> Column:
    """Single UTF-16 units as texts."""
    length = len(values)
    units = np.ascontiguousarray(values.astype("<u2"))
    return _utf16(units.tobytes(), np.arange(length) * 2, np.full(length, 2))


def _fixed_text(read: _Texts, size: int) -> Callable[[Array], Column]:
    """Texts of `size` bytes each."""

    def texts(values: Array) -> Column:
        length = len(values)
        return read(np.ascontiguousarray(values).tobytes(), np.arange(length) * size, np.full(length, size))

    return texts


def _guids(values: Array) -> Column:
    length = len(values)
    data = np.ascontiguousarray(values).view(np.uint8).reshape(length, 16)[:, _GUID_ORDER].reshape(-1)
    return Column(BINARY, length, data, np.arange(length + 1) * 16)


def _utf16(buf: bytes, places: Ints, lengths: Ints) -> Column:
    data, ends = narrow(buf, places, lengths)
    offsets = np.zeros(len(ends) + 1, dtype=np.int64)
    offsets[1:] = ends
    return Column(STRING, len(places), data, offsets)


def _raw(buf: bytes, places: Ints, lengths: Ints) -> Column:
    return Column(BINARY, len(places), gather(buf, places, lengths), offsets_of(lengths))


def _ansi(buf: bytes, places: Ints, lengths: Ints) -> Column:
    return _narrow(buf, places, lengths, narrow_text)


def _utf8(buf: bytes, places: Ints, lengths: Ints) -> Column:
    return _narrow(buf, places, lengths, lambda data: data.decode("utf-8", "replace"))


def _narrow(buf: bytes, places: Ints, lengths: Ints, decode: Callable[[bytes], str]) -> Column:
    """Text of one-byte units: unchanged if all of it is ASCII, otherwise decoded as in records."""
    raw = _raw(buf, places, lengths)
    if not len(raw.values) or int(raw.values.max()) < 0x80:
        return attrs.evolve(raw, type=STRING)
    return from_values(STRING, [decode(data) for data in raw.tolist()])


_TEXTS: Final[dict[str, _Texts]] = {"bytes": _raw, "utf-16": _utf16, "utf-8": _utf8}
_BY_KIND: Final[dict[str, _Convert]] = {
    "bool": lambda values: Column(ColumnType("bool"), len(values), values != 0),
    "char": _units,
    "filetime": filetimes,
    "guid": _guids,
    "decimal": lambda values: from_values(STRING, [decimal_of(value) for value in values.tolist()]),
}


Report: TypeAlias = Callable[[Problem, int], None]


@frozen(eq=False)
class KindColumns:
    """Payload columns of some rows of a chunk, which share a kind and a layout; by wire name."""

    kind: EventKind
    rows: Ints
    columns: dict[str, Column]


@frozen(eq=False)
class Group:
    """Payloads of one kind: their places in `buf`, their rows in the chunk, and the stream offsets of all the chunk's
    payloads.
    """

    kind: EventKind
    buf: bytes
    starts: Ints
    ends: Ints
    offsets: Ints
    rows: Ints


class ColumnMaker:
    """Makes columns of one trace's groups. `fields` (None for all) are wanted; `report` is called with each problem and
    the number of times it occurred."""

    def __init__(self, decoder: PayloadDecoder, fields: frozenset[str] | None, report: Report) -> None:
        self._decoder = decoder
        self._fields = fields
        self._report = report

    def columns(
        self,
        kinds: Sequence[EventKind],
        kind_indexes: Ints,
        buf: bytes,
        starts: Ints,
        ends: Ints,
        offsets: Ints,
        chosen: Callable[[EventKind], bool],
    ) -> list[KindColumns]:
        """The columns of each chosen kind among rows whose payloads are `buf[starts[i]:ends[i]]`; `offsets` are those
        in the stream."""
        columns: list[KindColumns] = []
        order, groups = arranged(kind_indexes)
        starts, ends = starts.take(order), ends.take(order)
        for index, part in groups:
            if chosen(kinds[index]):
                columns += self.columns_of(Group(kinds[index], buf, starts[part], ends[part], offsets, order[part]))
        return columns

    def columns_of(self, group: Group) -> Iterator[KindColumns]:
        """By the first layout that accounts for any payload exactly, if it does for all; otherwise row by row."""
        kind = group.kind
        ends = group.ends
        layouts = [layout for layout, _ in self._decoder.layouts(kind)]
        for index, layout in enumerate(layouts):
            planned = plan(layout)
            if planned is None:
                break
            located = planned.find(group.buf, group.starts, ends)
            # A layout without fields leaves no tail: records decide what such bytes are.
            tails = index == 0 and bool(layout.fields) and self._decoder.leaves_tails(kind)
            if not (located.fits and (tails or located.exact)):
                if (located.stops == ends).any():
                    break  # It may account for some: others after it would read these differently than records do.
                continue
            if self._decoder.drifted(kind):
                self._read(group, 0)
            if not located.exact:
                over = np.flatnonzero(located.stops != ends)
                self._read(group, int(over[0]), len(over))
            wanted = self._fields
            columns = {
                field.name: build(located)
                for field, build in zip(layout.fields, planned.builders, strict=True)
                if wanted is None or field.name in wanted
            }
            yield KindColumns(kind, group.rows, columns)
            return
        if layouts:
            yield from self._by_records(group)
        else:
            self._read(group, 0, len(group.rows))

    def _by_records(self, group: Group) -> Iterator[KindColumns]:
        """Row by row: payloads without a plan, damaged ones, and those written in several layouts."""
        by_class: dict[type[Any], tuple[list[int], list[Any]]] = {}
        for row in range(len(group.rows)):
            payload = self._read(group, row)
            if not isinstance(payload, RawPayload):
                rows, records = by_class.setdefault(type(payload), ([], []))
                rows.append(row)
                records.append(payload)
        for record, (rows, records) in by_class.items():
            cls: Any = record
            columns = {
                field.name: from_values(column_type(field.type), [getattr(r, attribute) for r in records])
                for field, attribute in zip(cls.__layout__.fields, cls.__fields__, strict=True)
                if self._fields is None or field.name in self._fields
            }
            yield KindColumns(group.kind, group.rows[rows], columns)

    def _read(self, group: Group, row: int, times: int = 1) -> Any:
        """One payload as a record; its problem is reported with the number of times it occurred."""
        data = group.buf[int(group.starts[row]) : int(group.ends[row])]
        payload, _, problem = self._decoder.read(group.kind, data, int(group.offsets[group.rows[row]]))
        if problem is not None:
            self._report(problem, times)
        return payload
