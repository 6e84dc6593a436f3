"""Self-described events: a description from the trace → the same `Layout`, and a record class for it.

No text from a file reaches generated source: a field is called `field_<n>` unless its name is a plain identifier
not used otherwise; `record["wire name"]` always works. Learned classes are bounded and belong to one trace; only the
latest small ones are there for the next trace with the same description.
"""

from __future__ import annotations

import copyreg
import keyword
import linecache
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import attrs

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, safe
from clrevents.schema import wire as wires
from clrevents.schema.codes import ARRAYS, TypeCode
from clrevents.schema.event import record_text
from clrevents.schema.layout import Field, Layout

_RESERVED: Final = frozenset({"self", "cls"})
_TYPES: Final[dict[int, wires.WireType]] = {
    TypeCode.BOOLEAN: wires.Scalar("Boolean", 4, "I", "bool"),
    TypeCode.CHAR: wires.Scalar("Char", 2, "H", "char"),
    TypeCode.INT8: wires.Scalar("Int8", 1, "b"),
    TypeCode.UINT8: wires.Scalar("UInt8", 1, "B"),
    TypeCode.INT16: wires.Scalar("Int16", 2, "h"),
    TypeCode.UINT16: wires.Scalar("UInt16", 2, "H"),
    TypeCode.INT32: wires.Scalar("Int32", 4, "i"),
    TypeCode.UINT32: wires.Scalar("UInt32", 4, "I"),
    TypeCode.INT64: wires.Scalar("Int64", 8, "q"),
    TypeCode.UINT64: wires.Scalar("UInt64", 8, "Q"),
    TypeCode.FLOAT: wires.Scalar("Float", 4, "f", "float"),
    TypeCode.DOUBLE: wires.Scalar("Double", 8, "d", "float"),
    TypeCode.DECIMAL: wires.DecimalType(),
    TypeCode.FILETIME: wires.Scalar("FileTime", 8, "Q", "filetime"),
    TypeCode.GUID: wires.GuidType(),
    TypeCode.STRING: wires.Utf16Z(),
    TypeCode.VARINT: wires.VarIntType(True),
    TypeCode.VARUINT: wires.VarIntType(False),
    TypeCode.UTF8: wires.Scalar("UTF8", 1, "B", "char"),
    TypeCode.BOOLEAN8: wires.Scalar("Boolean8", 1, "B", "bool"),
}
_TEXTS: Final[dict[int, wires.Text]] = {TypeCode.CHAR: "utf-16", TypeCode.UTF8: "utf-8"}
_BOOLEAN8: Final = wires.Scalar("Boolean", 1, "B", "bool")
_DOUBLE: Final = wires.Scalar("Double", 8, "d", "float")
_COUNTED_UTF8: Final = wires.PrefixedType(wires.Scalar("UTF8", 1, "B", "char"), "utf-8")


@frozen
class FieldDescription:
    """One field as described by the trace's metadata: its name, type code, and contents."""

    name: str
    code: int
    element: FieldDescription | None = None
    members: tuple[FieldDescription, ...] = ()
    count: int = 0


@frozen
class Variant:
    """How a writer may have deviated from its own description (docs/format.md, "Payloads unlike their description")."""

    small_booleans: bool = False
    decimals_as_doubles: bool = False
    counted_utf8: bool = False


class Undescribable(Exception):
    """The description uses an undefined type, named in the message."""


class _LearnedType(type):
    """Learned classes pickle by their layout, because nested records refer to them."""


class Learned(Value, metaclass=_LearnedType):
    """Base of learned records: fields by wire name, and a pickle that needs no module."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        """The field with this wire name. Raises KeyError if there is none."""
        return getattr(self, _attributes(type(self))[name])

    def __eq__(self, other: object) -> bool:
        """Equal for the same fields with the same values, even if the classes are of different traces."""
        if not isinstance(other, Learned):
            return NotImplemented
        own_class: Any = type(self)
        theirs: Any = type(other)
        return bool(_outline(own_class.__layout__) == _outline(theirs.__layout__) and _values(self) == _values(other))

    def __hash__(self) -> int:
        return hash(_values(self))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        cls: Any = type(self)
        return _remake, (cls.__name__, cls.__layout__, _values(self))


def _outline(layout: Layout) -> tuple[Any, ...]:
    """A layout with nested records by their fields instead of their classes, which are created per trace."""
    return tuple((field.name, _outlined(field.type)) for field in layout.fields)


def _outlined(wire: wires.WireType) -> Any:
    if isinstance(wire, wires.StructType):
        return _outline(wire.layout)
    if isinstance(wire, wires.ArrayType):
        return type(wire), _outlined(wire.element)
    return wire


def _values(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, attribute) for attribute in type(record).__fields__)


# How many fields classes and layouts may have on average if there are as many classes as allowed; and so many more,
# because few may be large. A field of a class takes two kilobytes with all that is made for reading it.
_CLASS_FIELDS: Final = 16
_LAYOUT_FIELDS: Final = 32
_MORE_FIELDS: Final = 8192
# The classes that outlive their trace: so many, of at most so many fields, and characters of their names. At most six
# megabytes in all.
_KEPT_CLASSES: Final = 128
_KEPT_FIELDS: Final = 16
_KEPT_CHARACTERS: Final = 1 << 10
# Fields without a byte that a description may have: each costs as much an event as one that is there.
_EMPTY_FIELDS: Final = 16


class ClassCache:
    """Makes one class per layout, at most `limit` of them, with 16 fields on average; the same layout gets the same
    class again.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: dict[tuple[str, Layout], type[Any]] = {}
        self._layouts: dict[tuple[tuple[FieldDescription, ...], Variant], Layout] = {}
        self._class_room = _CLASS_FIELDS * limit + _MORE_FIELDS
        self._layout_room = _LAYOUT_FIELDS * limit + _MORE_FIELDS

    def get(self, name: str, layout: Layout) -> type[Any] | None:
        """The record class; None if there are too many already."""
        known = self._known.get((name, layout))
        size = len(layout.fields)
        if known is None and len(self._known) < self._limit and size <= self._class_room:
            self._class_room -= size
            make = _kept_class if _small(layout) else make_class
            known = self._known[name, layout] = make(name, layout)
        return known

    def layout(self, fields: tuple[FieldDescription, ...], variant: Variant) -> Layout | None:
        """The layout of a described event; None if there would be too many nested records, or fields in all layouts.

        Raises Undescribable.
        """
        if len(fields) == 1 and fields[0].code == TypeCode.OBJECT and not fields[0].name:
            # The unnamed wrapper of EventSource's self-describing format.
            fields = fields[0].members
        if sum(_empty_fields(field) for field in fields) > _EMPTY_FIELDS:
            raise Undescribable(f"more than {_EMPTY_FIELDS} fields take no bytes")
        known = self._layouts.get((fields, variant))
        if known is None:
            try:
                known = self._layouts[fields, variant] = self._layout(fields, variant)
            except _TooMany:
                return None
        return known

    def _layout(self, fields: tuple[FieldDescription, ...], variant: Variant) -> Layout:
        if len(fields) > self._layout_room:
            raise _TooMany
        self._layout_room -= len(fields)
        names = list(_unique_names(fields))
        return Layout(
            tuple(Field(name, self._type(f, variant, top=True)) for name, f in zip(names, fields, strict=True))
        )

    def _type(self, field: FieldDescription, variant: Variant, top: bool = False) -> wires.WireType:
        code = field.code
        if code == TypeCode.OBJECT:
            record = self.get("Object", self._layout(field.members, variant))
            if record is None:
                raise _TooMany
            return wires.StructType(record)
        if code in ARRAYS:
            if field.element is None:
                raise Undescribable(f"field {field.name!r} is an array without an element type")
            text = _TEXTS.get(field.element.code, "")
            element = self._type(field.element, variant)
            if not text and not element.min_size(4):
                # Any number of them would fit in zero bytes.
                raise Undescribable(f"field {field.name!r} is an array of zero-size values")
            if code == TypeCode.ARRAY:
                return wires.PrefixedType(element, text)
            if code == TypeCode.FIXED_ARRAY:
                return wires.FixedArrayType(element, field.count, text)
            return wires.LocatedType(element, code == TypeCode.RELLOC, text)
        if code == TypeCode.BOOLEAN and variant.small_booleans:
            return _BOOLEAN8
        if code == TypeCode.DECIMAL and variant.decimals_as_doubles:
            return _DOUBLE
        if code == TypeCode.UTF8 and top and variant.counted_utf8:
            return _COUNTED_UTF8
        wire = _TYPES.get(code)
        if wire is None:
            raise Undescribable(f"field {field.name!r} has type code {code}, which is undefined")
        return wire


def _empty_fields(field: FieldDescription) -> int:
    """How many fields without a byte there are in a field: objects of such fields, and arrays of a fixed size 0."""
    if field.code == TypeCode.OBJECT:
        inner = sum(map(_empty_fields, field.members))
        return inner + all(map(_takes_nothing, field.members))
    return int(_takes_nothing(field))


def _takes_nothing(field: FieldDescription) -> bool:
    if field.code == TypeCode.OBJECT:
        return all(map(_takes_nothing, field.members))
    return field.code == TypeCode.FIXED_ARRAY and field.count == 0


class _TooMany(Exception):
    pass


def variants(fields: tuple[FieldDescription, ...], provider: str) -> tuple[Variant, ...]:
    """The readings to try, in order; the first that matches a payload exactly is right.

    Before a text or an array, the wide readings come last: with their many zeros, what was written wide hardly fits a
    narrow reading, while what was written narrow may fit a wide one that begins with a part of the text.
    """
    codes = set(described_codes(fields))
    tries = [Variant()]
    if TypeCode.BOOLEAN in codes:
        tries.append(Variant(small_booleans=True))
    if TypeCode.DECIMAL in codes:
        tries.append(Variant(decimals_as_doubles=True))
        if TypeCode.BOOLEAN in codes:
            tries.append(Variant(small_booleans=True, decimals_as_doubles=True))
    if codes & {TypeCode.STRING, *ARRAYS}:
        tries.reverse()
    if any(f.code == TypeCode.UTF8 for f in fields):
        counted = Variant(counted_utf8=True)
        tries = [counted, *tries] if provider.startswith("Universal.") else [*tries, counted]
    return tuple(tries)


def drift(declared: Layout, described: Iterable[Field]) -> str:
    """How a trace's own description of an event differs from the registry's; "" if it does not.

    Compares the number of fields and their widths: names and signs may differ without harm.
    """
    own_fields, theirs = list(declared.fields), list(described)
    if len(own_fields) != len(theirs):
        return f"the registry has {counted(len(own_fields), 'field')}, the trace describes {len(theirs)}"
    for ours, own in zip(own_fields, theirs, strict=True):
        if _shape(ours.type) != _shape(own.type):
            return f"field {ours.name}: the registry has {ours.type.name}, the trace describes {own.type.name}"
    return ""


def _shape(wire: wires.WireType) -> object:
    """What must be equal for the bytes to have the same meaning."""
    number = wire.bound(8).number
    if number is not None:
        return number.size, number.kind == "float"
    return type(wire), *map(_shape, wire.parts)


def make_class(name: str, layout: Layout) -> type[Any]:
    """An attrs class for a learned layout. `name` is for display only; attribute names are checked identifiers."""
    attributes = list(attribute_names(layout))
    cls: Any = attrs.make_class(
        "LearnedRecord",
        {a: attrs.field() for a in attributes},
        bases=(Learned,),
        frozen=True,
        slots=True,
        repr=False,
        eq=False,
    )
    _forget_source(cls)
    cls.__name__ = cls.__qualname__ = name
    cls.__doc__ = "A record as the trace describes it."
    cls.__layout__ = layout
    cls.__fields__ = tuple(attributes)
    cls.__repr__ = _repr
    return cls  # type: ignore[no-any-return]


def _small(layout: Layout) -> bool:
    """Whether a class for this layout keeps little in memory: no other class, for one."""
    fields = layout.fields
    if len(fields) > _KEPT_FIELDS or sum(len(field.name) for field in fields) > _KEPT_CHARACTERS:
        return False
    return not any(isinstance(field.type.innermost, wires.StructType) for field in fields)


_kept_class: Final = lru_cache(_KEPT_CLASSES)(make_class)
"""The same class again for the same layout: making one takes half a millisecond, reading its events often less."""


def _forget_source(cls: type[Any]) -> None:
    """attrs keeps the source of the methods that it generates in `linecache`, for as long as the process lives."""
    for value in vars(cls).values():
        code = getattr(value, "__code__", None)
        if code is not None and code.co_filename.startswith("<attrs generated"):
            linecache.cache.pop(code.co_filename, None)


def is_plain(name: str) -> bool:
    """Whether a wire name can be used as an attribute name."""
    return (
        name.isascii()
        and name.isidentifier()
        and not keyword.iskeyword(name)
        and not name.startswith("_")
        and name not in _RESERVED
    )


def attribute_names(layout: Layout) -> Iterator[str]:
    """For each field its wire name if that is a plain identifier, otherwise `field_<n>`; all distinct."""
    wire_names = {field.name for field in layout.fields}
    for index, field in enumerate(layout.fields):
        if is_plain(field.name):
            yield field.name
            continue
        name = f"field_{index}"
        while name in wire_names:
            name += "_"
        yield name


def _unique_names(fields: tuple[FieldDescription, ...]) -> Iterator[str]:
    """Wire names, made distinct if a description repeats one."""
    seen: set[str] = set()
    # From where to count on, or equal names would all count from 2.
    numbers: dict[str, int] = {}
    for field in fields:
        name = field.name
        while name in seen:
            number = numbers.get(field.name, 2)
            numbers[field.name] = number + 1
            name = f"{field.name} ({number})"
        seen.add(name)
        yield name


def described_codes(fields: Iterable[FieldDescription]) -> Iterator[int]:
    """The type codes of described fields, with those inside them."""
    for field in fields:
        yield field.code
        yield from described_codes(field.members)
        if field.element is not None:
            yield from described_codes((field.element,))


def _attributes(cls: Any) -> dict[str, str]:
    """From wire names to attributes; made once for a class."""
    known: dict[str, str] | None = cls.__dict__.get("__by_wire_name__")
    if known is None:
        known = dict(zip((f.name for f in cls.__layout__.fields), cls.__fields__, strict=True))
        cls.__by_wire_name__ = known
    return known


def _shown_names(cls: Any) -> list[tuple[str, str]]:
    """How each field is shown, and its attribute; made once for a class."""
    known: list[tuple[str, str]] | None = cls.__dict__.get("__shown_names__")
    if known is None:
        known = [(safe(f.name), name) for f, name in zip(cls.__layout__.fields, cls.__fields__, strict=True)]
        cls.__shown_names__ = known
    return known


def _repr(self: Any) -> str:
    cls = type(self)
    return record_text(safe(cls.__name__), ((shown, getattr(self, name)) for shown, name in _shown_names(cls)))


_REMADE: Final = ClassCache(1000)


def _reduce_class(cls: Any) -> str | tuple[Callable[..., Any], tuple[Any, ...]]:
    return "Learned" if cls is Learned else (_remake_class, (cls.__name__, cls.__layout__))


def _remake_class(name: str, layout: Layout) -> type[Any]:
    return _REMADE.get(name, layout) or make_class(name, layout)


copyreg.pickle(_LearnedType, _reduce_class)


def _remake(name: str, layout: Layout, values: tuple[Any, ...]) -> Any:
    return _remake_class(name, layout)(*values)
