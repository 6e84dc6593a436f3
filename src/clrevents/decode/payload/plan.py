"""BoundLayout → a plan that finds the fields of many payloads at once.

Fixed-width fields are one gather and a view; the kernel walks variable ones first. A layout that the kernel's few
instructions cannot express has no plan, and its payloads are read one by one. Makes no column and no record.
"""

from __future__ import annotations

import weakref
from typing import Any, TypeAlias

import attrs
import numpy as np

from clrevents._util.value_classes import define, frozen
from clrevents.decode.kernels.program import INSTRUCTION, Program
from clrevents.decode.payload.columns.column_values import Array, Ints, fixed_dtype, pick, structured
from clrevents.schema.layout import BoundLayout, FixedStep, VariableStep
from clrevents.schema.wire import (
    AnsiZ,
    BytesType,
    CountedType,
    PrefixedType,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

Place: TypeAlias = tuple[int, int, int]
"""Where the kernel finds a count: instruction, offset in what it found, width (negative if signed)."""

# The kernel's instruction numbers, as described in `walk`.
FIXED, TEXT16, TEXT8, COUNTED, PREFIXED, NUMBER, REST, PREFIXED_REST = range(8)


@define(eq=False)
class Found:
    """Where the parts of many payloads are: two arrays per instruction, and the bytes they refer to.

    `fits` if every payload holds its fields, `exact` if none holds more.
    """

    buf: bytes
    places: list[Ints]
    counts: list[Ints]
    stops: Ints
    fits: bool
    exact: bool
    rest: Found | None = None
    _fixed: dict[int, Array] = attrs.field(factory=dict)

    def fixed(self, slot: int, dtype: np.dtype[Any]) -> Array:
        """The values of a FIXED instruction, gathered once."""
        known = self._fixed.get(slot)
        if known is None:
            known = self._fixed[slot] = pick(self.buf, self.places[slot], dtype)
        return known


@frozen(eq=False)
class FieldPart:
    """Where a plan finds one field: the instruction, its name among the fields read together, the elements' plan.

    `dtype` is what the instruction reads; None if it is not of fixed width.
    """

    wire: WireType
    slot: int
    dtype: np.dtype[Any] | None = None
    name: str = ""
    rest: Plan | None = None

    def values(self, found: Found) -> Array:
        """The field's values, if of fixed width."""
        assert self.dtype is not None
        values = found.fixed(self.slot, self.dtype)
        return values[self.name] if self.name else values


@define(eq=False)
class Plan:
    """The kernel's program for a layout, and where it finds each field.

    `size` is that of a payload whose fields all have a fixed width, which needs no walk. `rest` reads the elements that
    follow the last field.
    """

    pointer_size: int
    parts: list[FieldPart] = attrs.field(factory=list)
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


# Weakly: layouts described by a trace are freed with their trace.
_plans: weakref.WeakKeyDictionary[BoundLayout, Plan | None] = weakref.WeakKeyDictionary()


def plan(layout: BoundLayout) -> Plan | None:
    """The plan of a layout, made once; None if the kernel cannot read it."""
    found = _plans.get(layout, ...)
    if found is ...:
        found = _plans[layout] = _plan(layout)
    return found


def _plan(layout: BoundLayout) -> Plan | None:
    made = Plan(layout.pointer_size)
    numbers: dict[int, Place] = {}
    for place, step in enumerate(layout.steps):
        if isinstance(step, FixedStep):
            added = _add_fixed(made, step, numbers)
        else:
            added = _add_variable(made, step, numbers, last=place + 1 == len(layout.steps))
        if not added:
            return None
    if all(op == FIXED for op in made.program[::INSTRUCTION]):
        made.size = sum(made.program[1::INSTRUCTION]) + sum(made.program[2::INSTRUCTION])
    return made


def _add_fixed(made: Plan, step: FixedStep, numbers: dict[int, Place]) -> bool:
    """Adjacent fixed-width fields: one instruction; possible counts are remembered by field."""
    dtype = structured(step.fields, made.pointer_size)
    if dtype is None or dtype.fields is None:
        return False
    slot = len(made.program) // INSTRUCTION
    made.program += [FIXED, 0, dtype.itemsize, 0, 0, 0]
    for index, field in enumerate(step.fields):
        made.parts.append(FieldPart(field.type, slot, dtype, f"f{index}"))
        number = field.type.number
        if number is not None:
            width = -number.size if number.signed else number.size
            numbers[step.first + index] = slot, dtype.fields[f"f{index}"][1], width
    return True


def _add_variable(made: Plan, step: VariableStep, numbers: dict[int, Place], last: bool) -> bool:
    wire = step.field.type
    dtype = fixed_dtype(wire, made.pointer_size)
    if dtype is not None:
        operation, size, rest = FIXED, dtype.itemsize, None
    else:
        known = _instruction(wire, made.pointer_size)
        if known is None:
            return False
        operation, size, rest = known
    counter = 0, 0, 0
    if operation in (COUNTED, REST):
        if step.count_index not in numbers:
            return False
        counter = numbers[step.count_index]
    if rest is not None:
        # A second walk reads to the end of the payload.
        if not last:
            return False
        made.rest = rest
    made.parts.append(FieldPart(wire, len(made.program) // INSTRUCTION, dtype, "", rest))
    made.program += [operation, step.field.pad, size, *counter]
    return True


def _instruction(wire: WireType, pointer_size: int) -> tuple[int, int, Plan | None] | None:
    """(operation, element size in bytes, plan of the elements) for a variable type; None if there is none for it."""
    match wire:
        case Utf16Z():
            return TEXT16, 0, None
        case AnsiZ():
            return TEXT8, 0, None
        case VarIntType():
            return NUMBER, 0, None
        case BytesType():
            return COUNTED, 1, None
        case PrefixedType() if wire.text:
            return PREFIXED, wire.unit_size, None
        case CountedType() | PrefixedType():
            counted = isinstance(wire, CountedType)
            element = fixed_dtype(wire.element, pointer_size)
            if element is not None and element.itemsize:
                return COUNTED if counted else PREFIXED, element.itemsize, None
            if isinstance(wire.element, StructType):
                bound: BoundLayout = wire.element.layout.bind(pointer_size)
                rest = plan(bound)
                if rest is not None and rest.rest is None:
                    return REST if counted else PREFIXED_REST, max(bound.min_size, 1), rest
    return None
