"""The layout of a payload: `Layout` (fields in wire order) and `BoundLayout` (the same for one pointer size).

All reading and writing of payloads goes through a bound layout; nothing else knows field order or widths. Pure data:
never sees a byte, and does not know its event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs

from clrevents._util.value_classes import frozen
from clrevents.schema.types import Pad
from clrevents.schema.wire import WireType


@frozen
class Field:
    """One field: its name as on the wire, its wire type, and the bytes of padding before it."""

    name: str
    type: WireType
    pad: Pad | None = None


@frozen
class FixedStep:
    """Adjacent fields that one `struct` format reads together; `first` is the index of the first of them."""

    first: int
    fields: tuple[BoundField, ...]
    format: str
    size: int


@frozen
class VariableStep:
    """One field that no `struct` code reads; `count_index` is the field that holds its count, or -1."""

    index: int
    field: BoundField
    count_index: int = -1


Step: TypeAlias = FixedStep | VariableStep


@frozen
class BoundField:
    """A field with pointers and padding resolved."""

    name: str
    type: WireType
    pad: int = 0

    @property
    def fixed_size(self) -> int | None:
        """Size in bytes on the wire without padding, or None if it depends on the bytes."""
        return self.type.fixed_size

    @property
    def code(self) -> str | None:
        """The `struct` code that reads it, including padding; None if there is none."""
        code = self.type.code
        return code if code is None or not self.pad else f"{self.pad}x{code}"


@frozen(cache_hash=True)
class BoundLayout:
    """A layout for one pointer size. `fixed_size` is None if any field's width depends on the bytes."""

    pointer_size: int
    fields: tuple[BoundField, ...]
    steps: tuple[Step, ...]
    fixed_size: int | None
    min_size: int


@frozen
class Layout:
    """Fields in wire order. Counted fields refer to an earlier integer field."""

    fields: tuple[Field, ...] = ()
    # Here and not in a module-level cache: layouts described by a trace are freed with the trace and its classes.
    _bound: dict[int, BoundLayout] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        seen: dict[str, WireType] = {}
        for field in self.fields:
            if field.name in seen:
                raise TypeError(f"field {field.name!r} is declared twice")
            count = field.type.counted_by
            if count is not None:
                counter = seen.get(count)
                number = None if counter is None else counter.number
                if number is None or number.kind != "int":
                    raise TypeError(
                        f"field {field.name!r} is counted by {count!r}, which is not an integer field before it"
                    )
            seen[field.name] = field.type

    def __reduce__(self) -> tuple[Callable[..., Layout], tuple[Any, ...]]:
        return Layout, (self.fields,)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def bind(self, pointer_size: int) -> BoundLayout:
        """The layout for a process with pointers of 4 or 8 bytes. Cached; raises ValueError for other sizes."""
        if pointer_size not in (4, 8):
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
        bound.append(BoundField(field.name, field.type.bound(pointer_size), padding))
    return bind_fields(tuple(bound), pointer_size)


def bind_fields(fields: tuple[BoundField, ...], pointer_size: int) -> BoundLayout:
    """Merge adjacent fields that `struct` reads into one step each, and add up the sizes that are known."""
    steps: list[Step] = []
    together: list[BoundField] = []
    codes: list[str] = []
    index = {field.name: i for i, field in enumerate(fields)}
    minimum = 0
    fixed = True

    def close(end: int) -> None:
        if together:
            size = sum((f.fixed_size or 0) + f.pad for f in together)
            steps.append(FixedStep(end - len(together), tuple(together), "<" + "".join(codes), size))
            together.clear()
            codes.clear()

    for i, field in enumerate(fields):
        minimum += field.pad + field.type.min_size(pointer_size)
        code = field.code
        if code is not None:
            together.append(field)
            codes.append(code)
            continue
        close(i)
        fixed = fixed and field.fixed_size is not None
        count = field.type.counted_by
        steps.append(VariableStep(i, field, -1 if count is None else index[count]))
    close(len(fields))
    return BoundLayout(pointer_size, fields, tuple(steps), minimum if fixed else None, minimum)


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
