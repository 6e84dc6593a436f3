"""BoundLayout → the program by which the kernel of objects reads its payloads; None where it has no operation for one.

Makes the same records as `record_decoder`. Knows what fields mean, but reads no byte.
"""

from __future__ import annotations

import weakref
from typing import Any, Final
from uuid import UUID, SafeUUID

import attrs

from clrevents._util.value_classes import define
from clrevents.decode.kernels.engine import SLOTS
from clrevents.decode.kernels.objects import COUNTS, Slots, program
from clrevents.decode.payload.records.record_values import converter
from clrevents.schema.layout import BoundField, BoundLayout
from clrevents.schema.wire import (
    AnsiZ,
    ArrayType,
    BytesType,
    CountedType,
    DecimalType,
    FixedArrayType,
    GuidType,
    PrefixedType,
    StructType,
    TextArrayType,
    Utf16Z,
    VarIntType,
    WireType,
)

_UUIDS: Final = Slots(UUID, ("int", "is_safe"))
_UNITS: Final = {"utf-16": 2, "utf-8": 1}
_PREFIXED: Final = -1


class _Inexpressible(Exception):
    """Never leaves this module."""


@define(eq=False)
class _Writer:
    """Writes the fields of one layout, and behind them those of what is inside."""

    pointer_size: int
    code: list[int] = attrs.field(factory=list)
    parts: list[Any] = attrs.field(factory=list)
    counts: int = 0

    def fields(self, fields: tuple[BoundField, ...]) -> int:
        """Returns where they begin."""
        begin = len(self.code)
        self.code += [0] * (SLOTS.WIDTH * len(fields))
        counting = {field.type.counted_by for field in fields} - {None}
        kept: dict[str, int] = {}
        for place, field in enumerate(fields):
            if field.name in counting:
                kept[field.name] = self.counts
                self.counts += 1
            self._put(begin + SLOTS.WIDTH * place, field.type, field.pad, kept.get(field.name, -1), kept)
        return begin

    def _put(self, at: int, wire: WireType, pad: int, keep: int, kept: dict[str, int]) -> None:
        operation, least, *rest = self._field(wire, keep, kept)
        self.code[at : at + SLOTS.WIDTH] = [operation, pad, least, *rest, *[0] * (SLOTS.WIDTH - 3 - len(rest))]

    def _field(self, wire: WireType, keep: int, kept: dict[str, int]) -> list[int]:
        """(operation, least size, a, b, …)"""
        number = wire.number
        if number is not None:
            if number.kind == "float":
                return [SLOTS.REAL, number.size]
            if number.kind == "bool":
                return [SLOTS.BOOL, number.size, keep]
            convert = converter(wire)
            if convert is not None:
                return [SLOTS.CONVERTED, number.size, keep, self._part(convert), int(number.signed)]
            return [SLOTS.SIGNED if number.signed else SLOTS.UNSIGNED, number.size, keep]
        match wire:
            case Utf16Z():
                return [SLOTS.TEXT16, 2]
            case AnsiZ():
                return [SLOTS.TEXT8, 1]
            case GuidType():
                return [SLOTS.GUID, 16, 0, self._part(_UUIDS.shape), self._part(SafeUUID.unknown)]
            case DecimalType():
                return [SLOTS.RAW, 16, 0, self._part(converter(wire))]
            case VarIntType():
                how = int(wire.signed)
                if wire.delta:
                    how, self.counts = 2 + self.counts, self.counts + 1
                return [SLOTS.NUMBER, 1, how]
            case StructType():
                return self._struct(wire)
            case BytesType():
                return [SLOTS.SPAN, 0, kept[wire.count], 0, 1]
            case CountedType():
                return self._array(wire, kept[wire.count])
            case PrefixedType():
                return self._array(wire, _PREFIXED)
            case FixedArrayType():
                return self._array(wire, -2 - wire.count)
        raise _Inexpressible

    def _array(self, wire: ArrayType, how: int) -> list[int]:
        least = 2 if how == _PREFIXED else 0
        if isinstance(wire, TextArrayType) and wire.text:
            return [SLOTS.SPAN, least, how, _UNITS[wire.text], wire.unit_size]
        # At least one byte each, which bounds a declared count.
        smallest = max(wire.element.min_size(self.pointer_size), 1)
        at = len(self.code)
        self.code += [0] * SLOTS.WIDTH
        self._put(at, wire.element, 0, -1, {})
        return [SLOTS.ARRAY, least, how, at, smallest, int(wire.element.fixed_size == smallest)]

    def _struct(self, wire: StructType) -> list[int]:
        bound: BoundLayout = wire.layout.bind(self.pointer_size)
        if not fillable(wire.record):
            raise _Inexpressible
        return [SLOTS.STRUCT, 0, self._part(shape_of(wire.record)), self.fields(bound.fields), len(bound.fields)]

    def _part(self, part: Any) -> int:
        self.parts.append(part)
        return len(self.parts) - 1


def fillable(record: type[Any]) -> bool:
    """Whether a record is nothing but its slots: its class does not hook into creation."""
    return not hasattr(record, "__attrs_post_init__")


def shape_of(record: Any) -> Any:
    """The slots of a record class for the kernel, which the class keeps: so they are freed with it."""
    known = vars(record).get("__shape__")
    if known is None:
        known = record.__shape__ = Slots(record, record.__fields__).shape
    return known


# Weakly: layouts described by a trace are freed with their trace.
_programs: weakref.WeakKeyDictionary[BoundLayout, Any] = weakref.WeakKeyDictionary()


def record_program(layout: BoundLayout) -> Any:
    """The program of a layout, made once; None if the kernel cannot read it."""
    found = _programs.get(layout, ...)
    if found is ...:
        found = _programs[layout] = _program(layout)
    return found


def _program(layout: BoundLayout) -> Any:
    writer = _Writer(layout.pointer_size)
    try:
        writer.fields(layout.fields)
    except _Inexpressible:
        return None
    if writer.counts > COUNTS:
        return None
    return program(writer.code, writer.parts, len(layout.fields), layout.fixed_size)
