"""Where the texts, bytes and numbers that may go are in a payload: a layout becomes a function that finds them.

Made for payloads known to fit, so it only counts and skips; decides neither what is removed nor what replaces it. Bytes
outside all fields (padding, bytes between located values) are found as well.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import attrs

from clrevents._util.value_classes import define, frozen
from clrevents.schema.disclosure import BYTES, Disclosure, NumberForm
from clrevents.schema.layout import BoundField, BoundLayout, FixedStep, VariableStep
from clrevents.schema.wire import (
    ArrayType,
    ByWriting,
    FixedArrayType,
    LocatedType,
    PrefixedType,
    StructType,
    VarIntType,
    WireType,
)

Form: TypeAlias = Literal["text", "character", "bytes", "padding"] | NumberForm


@frozen
class TextPlace:
    """A field with a text, bytes or a number. `width` is the size of a code unit, or of the number.

    `prefixed`: the text follows two bytes with its number of units. `fixed`: its length cannot change.
    """

    event: tuple[str, str]
    field: str
    form: Form
    disclosure: Disclosure
    width: int = 1
    prefixed: bool = False
    fixed: bool = False


@define
class FoundTexts:
    """What was found in one payload, in the order of its fields.

    `spans` are (start, end, place), of which those at or after `located_from` are `regions` of located values.
    """

    spans: list[tuple[int, int, TextPlace]] = attrs.field(factory=list)
    regions: list[tuple[int, int]] = attrs.field(factory=list)


class Unwalkable(Exception):
    """The payload is not what its layout says."""


Choose: TypeAlias = Callable[[str, Form], Disclosure | None]
"""(field, what stands there) → what may stay of it; None if nothing has to be looked at."""
_Step: TypeAlias = Callable[[bytes, int, int, dict[int, int], FoundTexts], int]
_One: TypeAlias = Callable[[bytes, int, int, FoundTexts], int]
_Many: TypeAlias = Callable[[bytes, int, int, int, FoundTexts], int]

_FORMS: Final[dict[str, Form]] = {"char": "character", "int": "number", "filetime": "filetime", "guid": "guid"}
_PADDING: Final = ("", "")
_COUNT: Final = struct.Struct("<H")


@frozen(eq=False)
class TextWalk:
    """Finds the texts of one layout; `scattered` if bytes between located values may belong to no field."""

    scattered: bool
    _walk: _One

    def find(self, data: bytes, end: int) -> tuple[FoundTexts, int]:
        """The spans in `data[:end]`, and where its fields end. Raises Unwalkable."""
        texts = FoundTexts()
        return texts, self._walk(data, 0, end, texts)


def text_walk(layout: BoundLayout, event: tuple[str, str], choose: Choose) -> TextWalk | None:
    """The walk over a layout; None if there is nothing to find in any payload of it."""
    scattered = any(_scattered(field.type) for field in layout.fields)
    # What is located would not be found where texts before it got longer or shorter.
    maker = _Maker(layout.pointer_size, event, choose, "", fixed=scattered)
    walk, finds = maker.fields(layout, whole=scattered)
    return TextWalk(scattered, walk) if finds or scattered else None


def least_size(layout: BoundLayout) -> int:
    """The number of zeros that fit a layout: empty texts, no elements. A description may make it any number."""
    return sum(field.pad + _least(field.type, layout.pointer_size) for field in layout.fields)


def _least(wire: WireType, pointer_size: int) -> int:
    if isinstance(wire, StructType):
        return least_size(wire.layout.bind(pointer_size))
    if isinstance(wire, FixedArrayType) and not wire.text:
        return wire.count * _least(wire.element, pointer_size)
    # A text without a byte is a null one, which zeros cannot spell.
    return wire.min_size(pointer_size) or int(wire.column == "string" and wire.fixed_size is None)


def _scattered(wire: WireType) -> bool:
    """Whether its values may be anywhere in the payload."""
    return wire.located or any(map(_scattered, wire.parts))


_Walker: TypeAlias = tuple[_One, bool]
"""The walk over one value, and whether it finds anything."""


@frozen
class _Maker(ByWriting[_Walker]):
    """Makes the walks of one event's layout, for the field `path`. `fixed` in a value whose length cannot change."""

    pointer_size: int
    event: tuple[str, str]
    choose: Choose
    path: str
    fixed: bool = False

    def fields(self, layout: BoundLayout, whole: bool = True) -> _Walker:
        """The walk over a record.

        Unless it has to reach the record's end (`whole`), it stops after the last field that it looks for.
        """
        walks = [self._step(step, _counters(layout)) for step in layout.steps]
        last = max((i for i, (_, finds) in enumerate(walks) if finds), default=-1)
        steps = [step for step, _ in (walks if whole else walks[: last + 1])]

        def walk(data: bytes, pos: int, end: int, texts: FoundTexts) -> int:
            counts: dict[int, int] = {}
            for step in steps:
                pos = step(data, pos, end, counts, texts)
            return pos

        return walk, last >= 0

    def _inside(self, name: str) -> _Maker:
        return attrs.evolve(self, path=f"{self.path}.{name}" if self.path else name)

    def _step(self, step: FixedStep | VariableStep, counters: frozenset[int]) -> tuple[_Step, bool]:
        if isinstance(step, FixedStep):
            return self._run(step, counters)
        field, counter = step.field, step.count_index
        wire, inside = field.type, self._inside(field.name)
        padding = self._padding(field)
        pad = field.pad
        if counter >= 0:
            many, finds = inside.many(wire.parts[0]) if wire.parts else inside.raw()

            def counted(data: bytes, pos: int, end: int, counts: dict[int, int], texts: FoundTexts) -> int:
                if padding:
                    texts.spans.append((pos, pos + pad, padding))
                return many(data, pos + pad, end, counts[counter], texts)

            return counted, finds or padding is not None
        one, finds = wire.read_by(inside)

        def single(data: bytes, pos: int, end: int, counts: dict[int, int], texts: FoundTexts) -> int:
            if padding:
                texts.spans.append((pos, pos + pad, padding))
            return one(data, pos + pad, end, texts)

        return single, finds or padding is not None

    def _run(self, step: FixedStep, counters: frozenset[int]) -> tuple[_Step, bool]:
        """Adjacent fields of a fixed size: characters, numbers and padding, and counts that later fields need."""
        size = step.size
        spans: list[tuple[int, int, TextPlace]] = []
        counts: list[tuple[int, int, struct.Struct]] = []
        at = 0
        for index, field in enumerate(step.fields, step.first):
            padding = self._padding(field)
            if padding:
                spans.append((at, at + field.pad, padding))
            at += field.pad
            width = field.fixed_size or 0
            if index in counters:
                counts.append((index, at, struct.Struct(f"<{field.type.code}")))
            elif place := self._inside(field.name)._plain_place(field.type):
                spans.append((at, at + width, place))
            at += width

        def run(data: bytes, pos: int, end: int, known: dict[int, int], texts: FoundTexts) -> int:
            if end - pos < size:
                raise Unwalkable
            for index, at, number in counts:
                (known[index],) = number.unpack_from(data, pos + at)
            for start, stop, place in spans:
                texts.spans.append((pos + start, pos + stop, place))
            return pos + size

        return run, bool(spans)

    def plain(self, wire: WireType) -> _Walker:
        size = wire.fixed_size or 0
        place = self._plain_place(wire)

        def skip(data: bytes, pos: int, end: int, texts: FoundTexts) -> int:
            if end - pos < size:
                raise Unwalkable
            if place:
                texts.spans.append((pos, pos + size, place))
            return pos + size

        return skip, place is not None

    def terminated(self, unit: int) -> _Walker:
        """The zero unit is not part of a text's span."""
        place = self._place("text", unit)
        zero = bytes(unit)

        def read(data: bytes, pos: int, end: int, texts: FoundTexts) -> int:
            at = data.find(zero, pos, end)
            # Two zero bytes may be the end of one unit and the start of the next.
            while at >= 0 and (at - pos) % unit:
                at = data.find(zero, at + 1, end)
            if at < 0:
                raise Unwalkable
            if place and at > pos:
                texts.spans.append((pos, at, place))
            return at + unit

        return read, place is not None

    def record(self, wire: StructType) -> _Walker:
        return self.fields(wire.layout.bind(self.pointer_size))

    def prefixed(self, wire: PrefixedType) -> _Walker:
        many, finds = self._elements(wire, prefixed=True)

        def read(data: bytes, pos: int, end: int, texts: FoundTexts) -> int:
            if end - pos < 2:
                raise Unwalkable
            return many(data, pos + 2, end, _COUNT.unpack_from(data, pos)[0], texts)

        return read, finds

    def repeated(self, wire: FixedArrayType) -> _Walker:
        many, finds = self._elements(wire, fixed=True)
        return (lambda data, pos, end, texts: many(data, pos, end, wire.count, texts)), finds

    def elsewhere(self, wire: LocatedType) -> _Walker:
        """Values elsewhere in the payload, whose length cannot change."""
        many, finds = attrs.evolve(self, fixed=True)._elements(wire, fixed=True)
        width = wire.element.fixed_size or 1

        def read(data: bytes, pos: int, end: int, texts: FoundTexts) -> int:
            if end - pos < 4:
                raise Unwalkable
            place, size = _COUNT.unpack_from(data, pos)[0], _COUNT.unpack_from(data, pos + 2)[0]
            start = pos + 4 + place if wire.relative else place
            if start + size > end:
                raise Unwalkable
            texts.regions.append((start, start + size))
            many(data, start, start + size, size // width, texts)
            return pos + 4

        return read, finds

    def _elements(self, wire: ArrayType, fixed: bool = False, prefixed: bool = False) -> tuple[_Many, bool]:
        if not wire.text:
            return self.many(wire.element)
        place = self._place("text", wire.unit_size, prefixed, fixed)
        return _counted(wire.unit_size, place), place is not None

    def many(self, element: WireType) -> tuple[_Many, bool]:
        """The walk over a number of elements. Numbers of one byte each are bytes, and characters a text."""
        size = element.fixed_size
        if element.kind == "char" and size:
            place = self._place("text", size, fixed=True)
            return _counted(size, place), place is not None
        if element.kind == "int" and size == 1:
            return self.raw()
        one, finds = element.read_by(self)
        if not finds and size is not None and element.code is not None:
            return _counted(size, None), False

        def read(data: bytes, pos: int, end: int, count: int, texts: FoundTexts) -> int:
            if not 0 <= count <= end - pos:
                raise Unwalkable
            for _ in range(count):
                pos = one(data, pos, end, texts)
            return pos

        return read, finds

    def raw(self) -> tuple[_Many, bool]:
        """The walk over a number of bytes."""
        place = self._place("bytes", 1, fixed=True)
        return _counted(1, place), place is not None

    def varint(self, wire: VarIntType) -> _Walker:
        place = self._place("varint" if wire.signed else "varuint", 1)

        def read(data: bytes, pos: int, end: int, texts: FoundTexts) -> int:
            stop = _number(data, pos, end)
            if place:
                texts.spans.append((pos, stop, place))
            return stop

        return read, place is not None

    def _plain_place(self, wire: WireType) -> TextPlace | None:
        form = _FORMS.get(wire.kind if wire.number is None else wire.number.kind)
        return self._place(form, wire.fixed_size or 0, fixed=True) if form else None

    def _place(self, form: Form, width: int, prefixed: bool = False, fixed: bool = False) -> TextPlace | None:
        disclosure = self.choose(self.path, form)
        if disclosure is None:
            return None
        return TextPlace(self.event, self.path, form, disclosure, width, prefixed, fixed or self.fixed)

    def _padding(self, field: BoundField) -> TextPlace | None:
        return TextPlace(_PADDING, "", "padding", BYTES, fixed=True) if field.pad else None


def _counted(width: int, place: TextPlace | None) -> _Many:
    """A number of units that are one span, or nothing to look at."""

    def read(data: bytes, pos: int, end: int, count: int, texts: FoundTexts) -> int:
        stop = pos + count * width
        if count < 0 or stop > end:
            raise Unwalkable
        if place and stop > pos:
            texts.spans.append((pos, stop, place))
        return stop

    return read


def _number(data: bytes, pos: int, end: int) -> int:
    """The end of a number of variable size, up to a byte below 128."""
    while pos < end:
        pos += 1
        if data[pos - 1] < 128:
            return pos
    raise Unwalkable


def _counters(layout: BoundLayout) -> frozenset[int]:
    """The places of the fields that count others."""
    steps = (step for step in layout.steps if isinstance(step, VariableStep))
    return frozenset(step.count_index for step in steps if step.count_index >= 0)
