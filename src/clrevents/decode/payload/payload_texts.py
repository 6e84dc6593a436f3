"""Where the texts, bytes and numbers that may go are in a payload: a layout becomes a function that finds them.

The plain reader reads, and what it reads is noted; decides neither what is removed nor what replaces it. Bytes outside
all fields (padding, bytes between located values) are found as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import attrs

from clrevents._util.value_classes import define, frozen
from clrevents.decode.payload.record_decoder import Many, One, Scope, ShortValue, Step, TextCache, one_by_one
from clrevents.schema import wire as wires
from clrevents.schema.disclosure import BYTES, Disclosure, Form
from clrevents.schema.layout import BoundLayout, FixedStep, VariableStep


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
    """What one payload has, in the order of its fields: (start, end, place), and the `regions` of located values."""

    spans: list[tuple[int, int, TextPlace]] = attrs.field(factory=list)
    regions: list[tuple[int, int]] = attrs.field(factory=list)


Choose: TypeAlias = Callable[[str, Form], Disclosure | None]
"""(field, what stands there) → what may stay of it; None if nothing has to be looked at."""

_Reads = TypeVar("_Reads", One, Many)

_FORMS: Final[dict[str, Form]] = {"char": "character", "int": "number", "filetime": "filetime", "guid": "guid"}
_PADDING: Final = ("", "")


class _Unmade(TextCache):
    """Texts are not made: where they are is enough."""

    def utf16(self, data: bytes) -> str:
        return ""


@frozen(eq=False)
class TextWalk:
    """Finds the texts of one layout; `scattered` if bytes between located values may belong to no field."""

    scattered: bool
    _scope: _Finding
    _steps: list[Step]

    def find(self, data: bytes, end: int) -> tuple[FoundTexts, int] | None:
        """The spans in `data[:end]`, until the next call, and where its fields end; None if it does not fit."""
        found = self._scope.found
        found.spans.clear()
        found.regions.clear()
        self._scope.budget.renew(end)
        pos = 0
        values: list[Any] = []
        try:
            for step in self._steps:
                pos = step(data, pos, end, values)
        except ShortValue:
            return None
        return found, pos


def text_walk(layout: BoundLayout, event: tuple[str, str], choose: Choose) -> TextWalk | None:
    """The walk over a layout; None if there is nothing to find in any payload of it."""
    scattered = any(_scattered(field.type) for field in layout.fields)
    # What is located would not be found where texts before it got longer or shorter.
    scope = _Finding(_Unmade(), layout.pointer_size, event=event, choose=choose, fixed=scattered)
    walk = TextWalk(scattered, scope, scope.steps(layout))
    return walk if scope.places or scattered else None


def least_size(layout: BoundLayout) -> int:
    """The number of zeros that fit a layout: empty texts, no elements. A description may make it any number."""
    return sum(field.pad + _least(field.type, layout.pointer_size) for field in layout.fields)


def _least(wire: wires.WireType, pointer_size: int) -> int:
    if isinstance(wire, wires.StructType):
        return least_size(wire.layout.bind(pointer_size))
    if isinstance(wire, wires.FixedArrayType) and not wire.text:
        return wire.count * _least(wire.element, pointer_size)
    # A text without a byte is a null one, which zeros cannot spell.
    return wire.min_size(pointer_size) or int(wire.column == "string" and wire.fixed_size is None)


def _scattered(wire: wires.WireType) -> bool:
    """Whether its values may be anywhere in the payload."""
    return wire.located or any(map(_scattered, wire.parts))


@frozen(kw_only=True)
class _Finding(Scope):
    """Reads the values of one event, and notes where there is something, for the field `path`.

    `places` are those that a payload may have. `fixed` if no length can change.
    """

    event: tuple[str, str]
    choose: Choose
    fixed: bool
    path: str = ""
    found: FoundTexts = attrs.field(factory=FoundTexts)
    places: list[TextPlace] = attrs.field(factory=list)

    def steps(self, layout: BoundLayout) -> list[Step]:
        # Counts must stay.
        counters = {step.count_index for step in layout.steps if isinstance(step, VariableStep)}
        return [self._finding(step, counters) for step in layout.steps]

    def _finding(self, step: FixedStep | VariableStep, counters: set[int]) -> Step:
        """Notes padding and the fields of a fixed size, then reads."""
        fields, first = (step.fields, step.first) if isinstance(step, FixedStep) else ((step.field,), step.index)
        inside = self
        spans: list[tuple[int, int, TextPlace]] = []
        at = 0
        for index, field in enumerate(fields, first):
            inside = attrs.evolve(self, path=f"{self.path}.{field.name}" if self.path else field.name)
            if field.pad:
                self.places.append(TextPlace(_PADDING, "", "padding", BYTES, fixed=True))
                spans.append((at, at + field.pad, self.places[-1]))
            at += field.pad
            if index not in counters and (place := inside._plain_place(field.type)):
                spans.append((at, at + place.width, place))
            at += field.fixed_size or 0
        read = inside.step(step)
        if not spans:
            return read
        found = self.found.spans

        def noted(data: bytes, pos: int, end: int, values: list[Any]) -> int:
            found.extend([(pos + start, pos + stop, place) for start, stop, place in spans])
            return read(data, pos, end, values)

        return noted

    def plain(self, wire: wires.WireType) -> One:
        return self._noted(super().plain(wire), self._plain_place(wire))

    def terminated(self, unit: int) -> One:
        # The zero unit is not part of a text's span.
        return self._noted(super().terminated(unit), self._place("text", unit), less=unit)

    def varint(self, wire: wires.VarIntType) -> One:
        return self._noted(super().varint(wire), self._place("varint" if wire.signed else "varuint", 1))

    def values(self, wire: wires.ArrayType | wires.BytesType) -> Many:
        many = super().values(wire)
        if wire.text:
            form: Form = "bytes" if wire.text == "bytes" else "text"
            prefixed = isinstance(wire, wires.PrefixedType)
            many = self._noted(many, self._place(form, wire.unit_size, prefixed, fixed=not prefixed))
        if not isinstance(wire, wires.LocatedType):
            return many
        regions = self.found.regions

        def located(data: bytes, pos: int, end: int, count: int) -> tuple[Any, int]:
            regions.append((pos, end))
            return many(data, pos, end, count)

        return located

    def many(self, element: wires.WireType) -> Many:
        """Numbers of one byte each are bytes, and characters a text."""
        size = element.fixed_size
        if element.kind == "char" and size:
            return self._noted(super().many(element), self._place("text", size, fixed=True))
        if element.kind == "int" and size == 1:
            return self._noted(super().many(element), self._place("bytes", 1, fixed=True))
        return one_by_one(element, self) if self._plain_place(element) else super().many(element)

    def _noted(self, read: _Reads, place: TextPlace | None, less: int = 0) -> _Reads:
        """The same, which notes what it read, but for the last `less` bytes."""
        if place is None:
            return read
        found = self.found.spans

        def noted(data: bytes, pos: int, *rest: int) -> tuple[Any, int]:
            value, stop = read(data, pos, *rest)
            if stop - less > pos:
                found.append((pos, stop - less, place))
            return value, stop

        return noted

    def _plain_place(self, wire: wires.WireType) -> TextPlace | None:
        form = _FORMS.get(wire.kind if wire.number is None else wire.number.kind)
        return self._place(form, wire.fixed_size or 0, fixed=True) if form else None

    def _place(self, form: Form, width: int, prefixed: bool = False, fixed: bool = False) -> TextPlace | None:
        disclosure = self.choose(self.path, form)
        if disclosure is None:
            return None
        self.places.append(TextPlace(self.event, self.path, form, disclosure, width, prefixed, fixed or self.fixed))
        return self.places[-1]
