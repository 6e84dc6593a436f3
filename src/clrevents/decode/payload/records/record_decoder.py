"""BoundLayout → a function from payload bytes to a record.

A payload must match exactly: a short one raises `Misfit` with the field, and the position after the record shows how
much is left over. Knows no event names; a layout and its class suffice.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from clrevents.decode.payload.records.record_values import (
    LocatedBudget,
    Misfit,
    One,
    Scope,
    ShortValue,
    TextCache,
    converter,
    many_values,
    one_value,
)
from clrevents.schema.layout import BoundLayout, FixedStep, VariableStep
from clrevents.schema.wire import BytesType, CountedType, StructType

Decode: TypeAlias = Callable[[bytes, int, int], tuple[Any, int]]
"""`(data, start, end) -> (record, position after it)`; raises Misfit."""
_Values: TypeAlias = list[Any]
_Step: TypeAlias = Callable[[bytes, int, int, _Values], int]


def record_decoder(layout: BoundLayout, record: Callable[..., Any], texts: TextCache) -> Decode:
    """A function that reads one record of a layout."""
    return _record_decoder(layout, record, texts, LocatedBudget(), outer=True)


def _record_decoder(
    layout: BoundLayout,
    record: Callable[..., Any],
    texts: TextCache,
    located: LocatedBudget,
    outer: bool,
) -> Decode:
    """One record of a payload: the `outer` one, which is all of it, or one inside, which shares the budget.

    What is short inside goes to the outer one as it is, since records may nest deeply and payloads be tiny.
    """
    pointer_size = layout.pointer_size
    scope = Scope(texts, pointer_size, lambda wire: _struct(wire, texts, pointer_size, located), located)
    steps = [_fixed(step) if isinstance(step, FixedStep) else _variable(step, scope) for step in layout.steps]
    names = [field.name for field in layout.fields]
    if len(steps) == 1 and isinstance(layout.steps[0], FixedStep):
        return _fixed_only(layout.steps[0], record, names, steps[0], outer)

    scattered = any(field.type.located for field in layout.fields)
    budgeted = outer and located.needed

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        values: _Values = []
        if budgeted:
            located.renew(end - pos)
        try:
            for step in steps:
                pos = step(data, pos, end, values)
        except ShortValue as short:
            if not outer:
                short.inside(names, len(values))
                raise
            raise Misfit.of(short, end, names, values) from None
        # Located elements follow the fields, with any bytes between them.
        return record(*values), end if scattered else pos

    return read


def _fixed_only(step: FixedStep, record: Callable[..., Any], names: list[str], slow: _Step, outer: bool) -> Decode:
    """One step is the whole payload, which needs no list of values if it fits."""
    size = step.size
    unpack = struct.Struct(step.format).unpack_from
    converters = _converters(step)

    def read(data: bytes, pos: int, end: int) -> tuple[Any, int]:
        if end - pos < size:
            values: _Values = []
            try:
                slow(data, pos, end, values)
            except ShortValue as short:
                if not outer:
                    short.inside(names, len(values))
                    raise
                raise Misfit.of(short, end, names, values) from None
        if not converters:
            return record(*unpack(data, pos)), pos + size
        fields = list(unpack(data, pos))
        for index, convert in converters:
            fields[index] = convert(fields[index])
        return record(*fields), pos + size

    return read


def _fixed(step: FixedStep) -> _Step:
    compiled = struct.Struct(step.format)
    converters = _converters(step)

    def read(data: bytes, pos: int, end: int, values: _Values) -> int:
        if end - pos < step.size:
            # Field by field, to keep what fits and name the first that does not.
            for field in step.fields:
                size = field.pad + (field.fixed_size or 0)
                if end - pos < size:
                    raise ShortValue(pos, size, "the payload is too short")
                (value,) = struct.unpack_from(f"<{field.code}", data, pos)
                convert = converter(field.type)
                values.append(convert(value) if convert else value)
                pos += size
        found = list(compiled.unpack_from(data, pos))
        for index, convert in converters:
            found[index] = convert(found[index])
        values += found
        return pos + step.size

    return read


def _converters(step: FixedStep) -> list[tuple[int, Callable[[Any], Any]]]:
    """(place in the step, function) for the fields that are not plain numbers."""
    pairs = ((i, converter(field.type)) for i, field in enumerate(step.fields))
    return [(i, convert) for i, convert in pairs if convert is not None]


def _variable(step: VariableStep, scope: Scope) -> _Step:
    wire, pad, counter = step.field.type, step.field.pad, step.count_index
    if isinstance(wire, CountedType | BytesType):
        many = many_values(wire, scope)

        def counted(data: bytes, pos: int, end: int, values: _Values) -> int:
            value, pos = many(data, pos + pad, end, int(values[counter]))
            values.append(value)
            return pos

        return counted
    read = one_value(wire, scope)

    def one(data: bytes, pos: int, end: int, values: _Values) -> int:
        value, pos = read(data, pos + pad, end)
        values.append(value)
        return pos

    return one


def _struct(wire: StructType, texts: TextCache, pointer_size: int, located: LocatedBudget) -> One:
    """A record inside a record."""
    return _record_decoder(wire.layout.bind(pointer_size), wire.record, texts, located, outer=False)
