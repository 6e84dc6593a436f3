"""BoundLayout → a plan that reads many payloads at once into columns.

Everything of fixed width is one gather and a view; what varies is walked by the kernel first. A layout that
the kernel's few instructions cannot express has no plan: such payloads go through records.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.arrays import offsets_of, ragged
from clrevents.decode.kernels.program import INSTRUCTION, Program, gather, narrow
from clrevents.decode.payload.column import (
    BINARY,
    STRING,
    TIMESTAMP,
    Array,
    Column,
    ColumnType,
    as_written,
    filetimes,
    from_values,
)
from clrevents.decode.payload.records import decimal_of
from clrevents.schema.layout import BoundField, BoundLayout, FixedStep
from clrevents.schema.types import (
    AnsiZ,
    BytesType,
    CountedType,
    DecimalType,
    EnumType,
    FixedArrayType,
    GuidType,
    LocatedType,
    PointerType,
    PrefixedType,
    Scalar,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

Ints: TypeAlias = NDArray[np.int64]
Place: TypeAlias = tuple[int, str]
Build: TypeAlias = Callable[["Found"], Column]

# The kernel's instructions, as `walk` describes them.
RUN, TEXT16, TEXT8, COUNTED, PREFIXED, NUMBER, REST, PREFIXED_REST = range(8)
_WIDEST: Final = 1 << 16
_GUID_ORDER: Final = np.frombuffer(as_written(bytes(range(16))), dtype=np.uint8)


def column_type(wire: WireType) -> ColumnType:
    """The type of the column that holds values of a wire type, the same for every trace."""
    match wire:
        case Scalar(kind="bool"):
            return ColumnType("bool")
        case Scalar(kind="char") | Utf16Z() | AnsiZ() | DecimalType():
            return STRING
        case Scalar(kind="filetime"):
            return TIMESTAMP
        case Scalar(name="Pointer") | PointerType():
            return ColumnType("uint64")
        case Scalar():
            return ColumnType(str(np.dtype(wire.format)))
        case EnumType():
            return column_type(wire.base)
        case VarIntType():
            return ColumnType("int64" if wire.signed else "uint64")
        case GuidType() | BytesType():
            return BINARY
        case PrefixedType() | FixedArrayType() | LocatedType() if wire.text:
            return STRING
        case CountedType() | PrefixedType() | FixedArrayType() | LocatedType():
            return ColumnType("list", (column_type(wire.element),))
        case StructType():
            fields = wire.record.__layout__.fields  # type: ignore[attr-defined]
            return ColumnType("struct", tuple(column_type(f.type) for f in fields), tuple(f.name for f in fields))


@attrs.define(eq=False)
class Found:
    """Where the parts of many payloads are: two arrays an instruction, and the bytes they point into.

    `fits` when every payload holds its fields, `exact` when none holds more.
    """

    buf: bytes
    places: list[Ints]
    counts: list[Ints]
    stops: Ints
    fits: bool
    exact: bool
    rest: Found | None = None
    _runs: dict[int, Array] = attrs.field(factory=dict)

    def run(self, slot: int, dtype: np.dtype[Any]) -> Array:
        """The values of a fixed run, gathered once."""
        known = self._runs.get(slot)
        if known is None:
            known = self._runs[slot] = pick(self.buf, self.places[slot], dtype)
        return known


@attrs.frozen(eq=False)
class Part:
    """Where a plan finds one field: the instruction, the name in its run (if it is one), and the plan of elements."""

    wire: WireType
    slot: int
    dtype: np.dtype[Any] | None = None
    name: str = ""
    rest: Plan | None = None

    def run(self, found: Found) -> Array:
        """The field's values, of a fixed width."""
        assert self.dtype is not None
        values = found.run(self.slot, self.dtype)
        return values[self.name] if self.name else values


@attrs.define(eq=False)
class Plan:
    """How to read a layout's fields: the kernel's program, and a function from what it found to each column."""

    fields: list[Build] = attrs.field(factory=list)
    parts: list[Part] = attrs.field(factory=list)
    program: list[int] = attrs.field(factory=list)
    size: int | None = None
    rest: Plan | None = None
    _code: Program | None = None

    def find(self, buf: bytes, starts: Ints, ends: Ints, repeats: Ints | None = None) -> Found:
        """Walk the payloads `buf[starts[i]:ends[i]]`; nothing is built yet."""
        if self.size is not None and repeats is None:
            found = self._fixed(buf, starts, ends, self.size)
        else:
            if self._code is None:
                self._code = Program(self.program)
            walked = self._code.walk(buf, starts, ends, repeats)
            exact = walked.fits and bool((walked.stops == ends).all())
            found = Found(buf, walked.places, walked.counts, walked.stops, walked.fits, exact)
        if self.rest is not None and found.fits:
            found.rest = self.rest.find(buf, found.places[-1], ends, found.counts[-1])
            found.stops, found.fits, found.exact = found.rest.stops, found.rest.fits, found.rest.exact
        return found

    def _fixed(self, buf: bytes, starts: Ints, ends: Ints, size: int) -> Found:
        stops = starts + size
        places, at = [], 0
        for step in range(0, len(self.program), INSTRUCTION):
            at += self.program[step + 1]
            places.append(starts + at if at else starts)
            at += self.program[step + 2]
        exact = bool((stops == ends).all())
        return Found(buf, places, places, stops, exact or bool((stops <= ends).all()), exact)


# Weakly: layouts that a trace describes go with their trace.
_plans: weakref.WeakKeyDictionary[BoundLayout, Plan | None] = weakref.WeakKeyDictionary()


def plan(layout: BoundLayout) -> Plan | None:
    """The plan of a layout, made once; None when the kernel cannot read it."""
    found = _plans.get(layout, ...)
    if found is ...:
        found = _plans[layout] = _plan(layout)
    return found


def _plan(layout: BoundLayout) -> Plan | None:
    made = Plan()
    where: dict[int, tuple[Place, np.dtype[Any]]] = {}
    for number, step in enumerate(layout.steps):
        slot = len(made.program) // INSTRUCTION
        if isinstance(step, FixedStep):
            dtype = _structured(step.fields)
            if dtype is None:
                return None
            made.program += [RUN, 0, dtype.itemsize, 0, 0, 0]
            for index, field in enumerate(step.fields):
                where[step.first + index] = (slot, f"f{index}"), dtype
                made.parts.append(Part(field.type, slot, dtype, f"f{index}"))
                made.fields.append(_of_run(made.parts[-1], layout.pointer_size))
            continue
        instruction, build, rest = _variable(step.field.type, slot, layout.pointer_size)
        if build is None or (rest is not None and number + 1 != len(layout.steps)):
            return None
        if instruction[0] in (COUNTED, REST):
            counter = where.get(step.count_index)
            if counter is None:
                return None
            instruction += _counter(counter, layout.fields[step.count_index].type)
        made.rest = rest
        made.program += [instruction[0], step.field.pad, *instruction[1:], *[0] * (5 - len(instruction))]
        made.parts.append(Part(step.field.type, slot, fixed_dtype(step.field.type, layout.pointer_size), "", rest))
        made.fields.append(build)
    if all(op == RUN for op in made.program[::INSTRUCTION]):
        made.size = sum(made.program[1::INSTRUCTION]) + sum(made.program[2::INSTRUCTION])
    return made


def _counter(counter: tuple[Place, np.dtype[Any]], wire: WireType) -> list[int]:
    """Where the kernel finds a count: instruction, offset in its run, width (negative when signed)."""
    (slot, name), dtype = counter
    wire = wire.base if isinstance(wire, EnumType) else wire
    assert isinstance(wire, Scalar)
    assert dtype.fields is not None
    return [slot, dtype.fields[name][1], -wire.size if wire.format.islower() else wire.size]


def _variable(wire: WireType, slot: int, pointer_size: int) -> tuple[list[int], Build | None, Plan | None]:
    """(instruction without padding, builder, plan of what follows) for one field outside a run."""
    dtype = fixed_dtype(wire, pointer_size)
    if dtype is not None:
        return [RUN, dtype.itemsize], _of_run(Part(wire, slot, dtype), pointer_size), None
    match wire:
        case Utf16Z():
            return [TEXT16, 0], lambda found: _utf16(found.buf, found.places[slot], found.counts[slot]), None
        case AnsiZ():
            return [TEXT8, 0], lambda found: _ansi(found.buf, found.places[slot], found.counts[slot]), None
        case VarIntType():
            return [NUMBER, 0], _varint(slot, wire.signed), None
        case BytesType():
            return [COUNTED, 1], lambda found: _raw(found.buf, found.places[slot], found.counts[slot]), None
        case PrefixedType() if wire.text:
            read = _utf16 if wire.text == "utf-16" else _utf8
            width = 2 if wire.text == "utf-16" else 1
            return [PREFIXED, width], lambda f: read(f.buf, f.places[slot], f.counts[slot] * width), None
        case CountedType() | PrefixedType():
            element = fixed_dtype(wire.element, pointer_size)
            if element is not None and element.itemsize:
                op = COUNTED if isinstance(wire, CountedType) else PREFIXED
                return [op, element.itemsize], _elements(wire.element, slot, element, pointer_size), None
            if isinstance(wire.element, StructType):
                op = REST if isinstance(wire, CountedType) else PREFIXED_REST
                bound = bound_of(wire.element, pointer_size)
                rest = plan(bound)
                if rest is not None and rest.rest is None:
                    return [op, max(bound.min_size, 1)], _structs(wire.element, rest), rest
    return [RUN, 0], None, None


def bound_of(wire: StructType, pointer_size: int) -> BoundLayout:
    layout: BoundLayout = wire.record.__layout__.bind(pointer_size)  # type: ignore[attr-defined]
    return layout


def fixed_dtype(wire: WireType, pointer_size: int) -> np.dtype[Any] | None:
    """The bytes of one value as numpy sees them; None where their number depends on them."""
    match wire:
        case Scalar():
            return np.dtype("<" + wire.format)
        case EnumType():
            return np.dtype("<" + wire.base.format)
        case GuidType() | DecimalType():
            return np.dtype("V16")
        case PointerType():
            return np.dtype(f"<u{pointer_size}")
        case FixedArrayType():
            inner = fixed_dtype(wire.element, pointer_size)
            if inner is None or not 0 < inner.itemsize * wire.count <= _WIDEST:
                return None
            return np.dtype((inner, (wire.count,)))
        case StructType():
            return _structured(bound_of(wire, pointer_size).fields, pointer_size)
        case _:
            return None


def _structured(fields: tuple[BoundField, ...], pointer_size: int = 8) -> np.dtype[Any] | None:
    """Fields one behind the other, called f0, f1, …; None where one is not of fixed width."""
    formats, offsets, at = [], [], 0
    for field in fields:
        dtype = fixed_dtype(field.type, pointer_size)
        if dtype is None:
            return None
        formats.append(dtype)
        offsets.append(at + field.pad)
        at += field.pad + dtype.itemsize
    if not 0 < at <= _WIDEST:
        return None
    names = [f"f{i}" for i in range(len(fields))]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at})


def pick(buf: bytes, places: Ints, dtype: np.dtype[Any]) -> Array:
    """Values of a fixed width at any byte positions. The positions must be inside `buf`: the walk saw to it."""
    size = dtype.itemsize
    if not len(places):
        return np.empty(0, dtype=dtype.base).reshape((0, *dtype.shape))
    every = np.ndarray((len(buf) - size + 1,), dtype=np.dtype((np.void, size)), buffer=buf, strides=(1,))
    picked: Array = every[places].view(dtype.base)
    return picked.reshape((len(places), *dtype.shape)) if dtype.shape else picked


def _of_run(part: Part, pointer_size: int) -> Build:
    read = fixed_reader(part.wire, column_type(part.wire), pointer_size)
    return lambda found: read(part.run(found))


def _varint(slot: int, signed: bool) -> Build:
    def build(found: Found) -> Column:
        values = found.places[slot].view(np.uint64)
        if not signed:
            return Column(ColumnType("uint64"), len(values), values)
        numbers = (values >> np.uint64(1)).view(np.int64) ^ -(values & np.uint64(1)).view(np.int64)
        return Column(ColumnType("int64"), len(values), numbers)

    return build


def _elements(wire: WireType, slot: int, dtype: np.dtype[Any], pointer_size: int) -> Build:
    read = fixed_reader(wire, column_type(wire), pointer_size)

    def build(found: Found) -> Column:
        counts = found.counts[slot]
        elements = pick(found.buf, ragged(found.places[slot], counts, dtype.itemsize), dtype)
        return _list(read(elements), counts)

    return build


def _structs(wire: StructType, inner: Plan) -> Build:
    type = column_type(wire)

    def build(found: Found) -> Column:
        assert found.rest is not None
        counts = found.counts[-1]
        fields = tuple(field(found.rest) for field in inner.fields)
        return _list(Column(type, int(counts.sum()), np.empty(0, np.uint8), children=fields), counts)

    return build


def _list(elements: Column, counts: Ints) -> Column:
    type = ColumnType("list", (elements.type,))
    return Column(type, len(counts), np.empty(0, np.uint8), offsets_of(counts), (elements,))


def fixed_reader(wire: WireType, type: ColumnType, pointer_size: int) -> Callable[[Array], Column]:
    """What makes a column of values that numpy has already taken apart; `type` is `column_type(wire)`."""
    match wire:
        case Scalar(kind="bool"):
            return lambda values: Column(type, len(values), values != 0)
        case Scalar(kind="char"):
            return _units
        case Scalar(kind="filetime"):
            return filetimes
        case GuidType():
            return _guids
        case DecimalType():
            return lambda values: from_values(STRING, [decimal_of(v) for v in values.tolist()])
        case FixedArrayType() if wire.text:
            read = _utf16 if wire.text == "utf-16" else _utf8
            return _fixed_text(read, wire.count * (2 if wire.text == "utf-16" else 1))
        case FixedArrayType():
            elements, count = fixed_reader(wire.element, type.children[0], pointer_size), wire.count
            return lambda values: _list(elements(values.reshape(-1)), np.full(len(values), count))
        case StructType():
            typed = zip(bound_of(wire, pointer_size).fields, type.children, strict=True)
            readers = [fixed_reader(field.type, t, pointer_size) for field, t in typed]
            return lambda values: Column(
                type,
                len(values),
                np.empty(0, np.uint8),
                children=tuple(reader(values[f"f{i}"]) for i, reader in enumerate(readers)),
            )
        case _:
            dtype = type.dtype
            return lambda values: Column(type, len(values), values if values.dtype == dtype else values.astype(dtype))


def _units(values: Array) -> Column:
    """Single UTF-16 units as texts."""
    length = len(values)
    units = np.ascontiguousarray(values.astype("<u2"))
    return _utf16(units.tobytes(), np.arange(length) * 2, np.full(length, 2))


def _fixed_text(read: Callable[[bytes, Ints, Ints], Column], size: int) -> Callable[[Array], Column]:
    """Texts of so many bytes each."""

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
    return Column(STRING, len(places), data, _from_ends(ends))


def _raw(buf: bytes, places: Ints, lengths: Ints) -> Column:
    return Column(BINARY, len(places), gather(buf, places, lengths), offsets_of(lengths))


def _ansi(buf: bytes, places: Ints, lengths: Ints) -> Column:
    return _narrow_text(buf, places, lengths, "latin-1")


def _utf8(buf: bytes, places: Ints, lengths: Ints) -> Column:
    return _narrow_text(buf, places, lengths, "replace")


def _narrow_text(buf: bytes, places: Ints, lengths: Ints, otherwise: str) -> Column:
    """Text of one-byte units: as it stands where it is UTF-8, else by what records do with it."""
    raw = _raw(buf, places, lengths)
    if not len(raw.values) or int(raw.values.max()) < 0x80:
        return attrs.evolve(raw, type=STRING)
    return from_values(STRING, [_decoded(data, otherwise) for data in raw.tolist()])


def _decoded(data: bytes, otherwise: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1") if otherwise == "latin-1" else data.decode("utf-8", "replace")


def _from_ends(ends: Ints) -> Ints:
    offsets = np.zeros(len(ends) + 1, dtype=np.int64)
    offsets[1:] = ends
    return offsets
