"""What a payload looks like: `Layout` (fields in wire order) and `BoundLayout` (the same for one pointer size).

Everything that reads or writes payloads asks a bound layout; nothing else knows field order or widths.
Pure data: never sees a byte, and has no idea which event it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import attrs

from clrevents.schema.types import (
    BytesType,
    CountedType,
    EnumType,
    FixedArrayType,
    GuidType,
    LocatedType,
    Pad,
    PointerType,
    PrefixedType,
    Scalar,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
    fixed_size,
)

PointerSize: TypeAlias = Literal[4, 8]

_POINTERS: dict[int, Scalar] = {4: Scalar("Pointer", 4, "I"), 8: Scalar("Pointer", 8, "Q")}


@attrs.frozen
class Field:
    """One field: its name as on the wire, its wire type, and bytes of padding in front of it."""

    name: str
    type: WireType
    pad: Pad | None = None


@attrs.frozen
class FixedStep:
    """A run of fixed-width fields, read in one go; `first` is the index of its first field."""

    first: int
    fields: tuple[BoundField, ...]
    format: str
    size: int


@attrs.frozen
class VariableStep:
    """One field whose width is only known from the bytes; `count_index` is the field that counts it."""

    index: int
    field: BoundField
    count_index: int = -1


Step: TypeAlias = FixedStep | VariableStep


@attrs.frozen
class BoundField:
    """A field with pointers and padding resolved."""

    name: str
    type: WireType
    pad: int = 0

    @property
    def fixed_size(self) -> int | None:
        """Bytes on the wire without padding, or None when the bytes decide."""
        return fixed_size(self.type)

    @property
    def in_run(self) -> bool:
        """Whether one `struct` code reads it together with its neighbours."""
        return isinstance(self.type, Scalar | EnumType | GuidType)


@attrs.frozen(cache_hash=True)
class BoundLayout:
    """A layout for one pointer size. `fixed_size` is None when any field's width depends on the bytes."""

    pointer_size: int
    fields: tuple[BoundField, ...]
    steps: tuple[Step, ...]
    fixed_size: int | None
    min_size: int


@attrs.frozen
class Layout:
    """Fields in wire order. Counted fields name an earlier integer field."""

    fields: tuple[Field, ...] = ()
    # Here and in no cache of the module's: a layout that a trace describes, and the classes in it, go with the trace.
    _bound: dict[int, BoundLayout] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        seen: dict[str, WireType] = {}
        for field in self.fields:
            if field.name in seen:
                raise TypeError(f"field {field.name!r} is declared twice")
            if isinstance(field.type, CountedType | BytesType):
                counter = seen.get(field.type.count)
                if isinstance(counter, EnumType):
                    counter = counter.base
                if not isinstance(counter, Scalar) or counter.kind != "int":
                    raise TypeError(
                        f"field {field.name!r} is counted by {field.type.count!r}, "
                        "which is not an integer field before it"
                    )
            seen[field.name] = field.type

    def __reduce__(self) -> tuple[Callable[..., Layout], tuple[Any, ...]]:
        return Layout, (self.fields,)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def starts_with(self, other: Layout) -> bool:
        """Whether the other's fields are a prefix of these: then a newer version only appended."""
        return self.fields[: len(other.fields)] == other.fields

    def bind(self, pointer_size: int) -> BoundLayout:
        """The layout for a process with pointers of 4 or 8 bytes. Cached; ValueError for other sizes."""
        if pointer_size not in _POINTERS:
            raise ValueError(f"pointer size must be 4 or 8, not {pointer_size!r}")
        if pointer_size not in self._bound:
            self._bound[pointer_size] = _bind(self, pointer_size)
        return self._bound[pointer_size]


def _bind(layout: Layout, pointer_size: int) -> BoundLayout:
    bound = []
    for field in layout.fields:
        padding = 0
        if field.pad is not None:
            padding = field.pad.bytes64 if pointer_size == 8 else field.pad.bytes32
        wire = _resolve(field.type, pointer_size)
        bound.append(BoundField(field.name, wire, padding))
    return bind_fields(tuple(bound), pointer_size)


def bind_fields(fields: tuple[BoundField, ...], pointer_size: int) -> BoundLayout:
    """Merge neighbouring fixed-width fields into runs and add up what can be added up."""
    steps: list[Step] = []
    run: list[BoundField] = []
    index = {field.name: i for i, field in enumerate(fields)}
    minimum = 0
    fixed = True

    def close_run(end: int) -> None:
        if run:
            text = "<" + "".join(_struct_code(f) for f in run)
            size = sum((f.fixed_size or 0) + f.pad for f in run)
            steps.append(FixedStep(end - len(run), tuple(run), text, size))
            run.clear()

    for i, field in enumerate(fields):
        size = field.fixed_size
        minimum += field.pad + (size if size is not None else _minimum(field.type, pointer_size))
        if size is not None and field.in_run:
            run.append(field)
            continue
        close_run(i)
        fixed = fixed and size is not None
        counter = index[field.type.count] if isinstance(field.type, CountedType | BytesType) else -1
        steps.append(VariableStep(i, field, counter))
    close_run(len(fields))
    return BoundLayout(pointer_size, fields, tuple(steps), minimum if fixed else None, minimum)


def _resolve(wire: WireType, pointer_size: int) -> WireType:
    if isinstance(wire, PointerType):
        return _POINTERS[pointer_size]
    if isinstance(wire, CountedType | PrefixedType | FixedArrayType | LocatedType):
        return attrs.evolve(wire, element=_resolve(wire.element, pointer_size))
    return wire


def _minimum(wire: WireType, pointer_size: int) -> int:
    """The fewest bytes a variable field takes. A null AnsiString is written as nothing, hence 0."""
    match wire:
        case Utf16Z() | PrefixedType():
            return 2
        case VarIntType():
            return 1
        case StructType():
            inner: Layout = wire.record.__layout__  # type: ignore[attr-defined]
            return inner.bind(pointer_size).min_size
        case _:
            return 0


def _struct_code(field: BoundField) -> str:
    """The field's `struct` code, padding included. GUIDs come out as their 16 bytes."""
    padding = f"{field.pad}x" if field.pad else ""
    match field.type:
        case Scalar():
            return padding + field.type.format
        case EnumType():
            return padding + field.type.base.format
        case _:
            return padding + "16s"


__all__ = [
    "BoundField",
    "BoundLayout",
    "Field",
    "FixedStep",
    "Layout",
    "Step",
    "VariableStep",
    "bind_fields",
]
