"""`Column`: values of one field in Arrow's layout, in numpy buffers; and the types columns have.

Knows offsets, validity, how columns are taken, concatenated, widened, and made from Python values; which type and which
dtype holds a wire type's values. Knows no payload, no event and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Summary, Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.kernels.engine import Ints, gather, offsets_of, ragged
from clrevents.decode.kernels.engine import pick as picked_bytes
from clrevents.schema.layout import BoundField, BoundLayout, Layout
from clrevents.schema.wire import FixedArrayType, StructType, WireType

Array: TypeAlias = NDArray[Any]

INTEGERS: Final = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
NUMBERS: Final = (*INTEGERS, "float32", "float64", "bool")
_NO_INTS: Final = np.zeros(0, dtype=np.int64)


@frozen
class ColumnType(Value):
    """`kind` is a number's numpy name, `string`, `binary`, `timestamp` (ns, UTC), `list` or `struct`."""

    kind: str
    children: tuple[ColumnType, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "list":
            return f"list<{self.children[0]}>"
        if self.kind == "struct":
            inner = ", ".join(f"{n}: {c}" for n, c in zip(self.names, self.children, strict=True))
            return f"struct<{inner}>"
        return self.kind

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of `Column.values`."""
        if self.kind in NUMBERS:
            return np.dtype(self.kind)
        return np.dtype(np.int64 if self.kind == "timestamp" else np.uint8)


STRING: Final = ColumnType("string")
BINARY: Final = ColumnType("binary")
TIMESTAMP: Final = ColumnType("timestamp")


@frozen(eq=False)
class Column(Summary):
    """One field of many rows.

    `values` are the numbers (bytes of text, nanoseconds since 1970 for a timestamp); `offsets` has one number more
    than there are rows, for text, bytes and lists; `children` are a list's elements or a struct's fields; `valid` is
    None if nothing is null. If text repeats, `texts` may hold it once, and `values` then are the places in it.
    """

    type: ColumnType
    length: int
    values: Array
    offsets: NDArray[np.int64] = _NO_INTS
    children: tuple[Column, ...] = ()
    valid: NDArray[np.bool_] | None = None
    texts: Column | None = None

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"<Column of {counted(self.length, 'row')} of {self.type}>"

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows are not null."""
        return np.ones(self.length, dtype=np.bool_) if self.valid is None else self.valid

    def filled(self, null: int = 0) -> Array:
        """The numbers, with this one where they are null; -1 becomes the largest of an unsigned type."""
        if self.valid is None:
            return self.values
        return np.where(self.valid, self.values, np.array(null).astype(self.values.dtype))

    def take(self, rows: NDArray[np.int64]) -> Column:
        """These rows, in this order."""
        valid = None if self.valid is None else self.valid[rows]
        kind = self.type.kind
        if kind == "struct":
            children = tuple(child.take(rows) for child in self.children)
            return Column(self.type, len(rows), self.values, children=children, valid=valid)
        if kind not in ("list", "string", "binary") or self.texts is not None:
            return Column(self.type, len(rows), self.values[rows], valid=valid, texts=self.texts)
        starts = self.offsets[:-1][rows]
        lengths = self.offsets[1:][rows] - starts
        offsets = offsets_of(lengths)
        if kind == "list":
            child = (self.children[0].take(ragged(starts, lengths)),)
            return Column(self.type, len(rows), self.values, offsets, child, valid)
        data = gather(np.ascontiguousarray(self.values), starts, lengths)
        return Column(self.type, len(rows), data, offsets, valid=valid)

    def slice(self, start: int, end: int) -> Column:
        """Rows `start` to `end`; shares memory with this column."""
        valid = None if self.valid is None else self.valid[start:end]
        kind = self.type.kind
        if kind == "struct":
            children = tuple(child.slice(start, end) for child in self.children)
            return Column(self.type, end - start, self.values, children=children, valid=valid)
        if kind not in ("list", "string", "binary") or self.texts is not None:
            return Column(self.type, end - start, self.values[start:end], valid=valid, texts=self.texts)
        low, high = int(self.offsets[start]), int(self.offsets[end])
        offsets = self.offsets[start : end + 1] - low
        if kind == "list":
            return Column(self.type, end - start, self.values, offsets, (self.children[0].slice(low, high),), valid)
        return Column(self.type, end - start, self.values[low:high], offsets, valid=valid)

    def tolist(self) -> list[Any]:
        """Python values: int, float, bool, str, bytes, list, dict; None for null; nanoseconds for a timestamp."""
        values: list[Any]
        if self.texts is not None:
            # Each text once, and only those that occur: few rows may be of a column with very many texts.
            used, places = np.unique(self.values, return_inverse=True)
            texts = self.texts.take(used).tolist()
            values = [texts[place] for place in places.tolist()]
            return values if self.valid is None else _nulled(values, self.valid)
        match self.type.kind:
            case "struct":
                columns = [child.tolist() for child in self.children]
                values = [dict(zip(self.type.names, row, strict=True)) for row in zip(*columns, strict=True)]
                values = values or [{} for _ in range(self.length)]
            case "list":
                inner = self.children[0].tolist()
                values = [inner[a:b] for a, b in self._spans()]
            case "string":
                data = self.values.tobytes()
                if data.isascii():
                    text = data.decode("ascii")
                    values = [text[a:b] for a, b in self._spans()]
                else:
                    values = [data[a:b].decode("utf-8") for a, b in self._spans()]
            case "binary":
                data = self.values.tobytes()
                values = [data[a:b] for a, b in self._spans()]
            case _:
                values = self.values.tolist()
        return values if self.valid is None else _nulled(values, self.valid)

    def plain(self) -> Column:
        """The same without shared texts."""
        if self.texts is None:
            return self
        return attrs.evolve(self.texts.take(self.values), valid=self.valid)

    def _spans(self) -> Iterator[tuple[int, int]]:
        return pairwise(self.offsets.tolist())

    def numpy(self) -> Array:
        """One numpy array: numbers and `datetime64[ns]` masked where null, objects for everything else."""
        if self.type.kind in NUMBERS or self.type.kind == "timestamp":
            values = np.ascontiguousarray(self.values)
            values = values.view("datetime64[ns]") if self.type.kind == "timestamp" else values
            return values if self.valid is None else np.ma.MaskedArray(values, mask=~self.valid)
        values_array = np.empty(self.length, dtype=object)
        values_array[:] = self.tolist() if self.type.kind != "list" else [None] * self.length
        if self.type.kind == "list":
            # Lists of equal length would become a second dimension.
            for row, value in enumerate(self.tolist()):
                values_array[row] = value
        return values_array


class DeferredTexts(Column):
    """Texts that are made when they are asked for: tables have thousands of names, and people see twenty."""

    __slots__ = ("_text",)

    def __init__(self, length: int, text: Callable[[int], str]) -> None:
        """`text` gives that of a row."""
        known = {"type": STRING, "length": length, "children": (), "valid": None, "texts": None, "_text": text}
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        # Of those that are not set yet.
        if name not in ("values", "offsets"):
            raise AttributeError(name)
        whole = self.take(np.arange(self.length))
        object.__setattr__(self, "values", whole.values)
        object.__setattr__(self, "offsets", whole.offsets)
        return whole.values if name == "values" else whole.offsets

    def __reduce__(self) -> tuple[type[Column], tuple[object, ...]]:
        return Column, (STRING, self.length, self.values, self.offsets)

    def take(self, rows: NDArray[np.int64]) -> Column:
        """These rows, in this order."""
        return from_values(STRING, [self._text(row) for row in rows.tolist()])


def _nulled(values: list[Any], valid: NDArray[np.bool_]) -> list[Any]:
    if not valid.any():
        return [None] * len(values)
    return [value if good else None for value, good in zip(values, valid.tolist(), strict=True)]


def nulls(type: ColumnType, length: int) -> Column:
    """A column of nulls."""
    valid = np.zeros(length, dtype=np.bool_)
    values = np.zeros(length if type.kind in NUMBERS or type.kind == "timestamp" else 0, dtype=type.dtype)
    if type.kind == "struct":
        return Column(type, length, values, children=tuple(nulls(c, length) for c in type.children), valid=valid)
    if type.kind == "list":
        return Column(type, length, values, np.zeros(length + 1, dtype=np.int64), (nulls(type.children[0], 0),), valid)
    if type.kind in ("string", "binary"):
        return Column(type, length, values, np.zeros(length + 1, dtype=np.int64), valid=valid)
    return Column(type, length, values, valid=valid)


def concat(type: ColumnType, columns: Sequence[Column]) -> Column:
    """The concatenation of columns, all of this type."""
    if len(columns) == 1:
        return columns[0]
    length = sum(c.length for c in columns)
    valid = None
    if any(c.valid is not None for c in columns):
        valid = np.concatenate([np.ones(c.length, np.bool_) if c.valid is None else c.valid for c in columns])
    if type.kind == "struct":
        inner = [concat(t, [c.children[i] for c in columns]) for i, t in enumerate(type.children)]
        return Column(type, length, np.zeros(0, type.dtype), children=tuple(inner), valid=valid)
    if type.kind == "list":
        child = (
            (concat(type.children[0], [c.children[0] for c in columns]),) if columns else (nulls(type.children[0], 0),)
        )
        return Column(type, length, np.zeros(0, type.dtype), _joined(columns), child, valid)
    if any(c.texts is not None for c in columns):
        if all(c.texts is columns[0].texts for c in columns):
            codes = np.concatenate([c.values for c in columns])
            return Column(type, length, codes, valid=valid, texts=columns[0].texts)
        columns = [c.plain() for c in columns]
    values = np.concatenate([c.values for c in columns]) if columns else np.zeros(0, type.dtype)
    offsets = _joined(columns) if type.kind in ("string", "binary") else _NO_INTS
    return Column(type, length, values, offsets, valid=valid)


def _joined(columns: Sequence[Column]) -> NDArray[np.int64]:
    parts, at = [np.zeros(1, dtype=np.int64)], 0
    for c in columns:
        parts.append(c.offsets[1:] + at)
        at += int(c.offsets[-1])
    return np.concatenate(parts)


def common(one: ColumnType, other: ColumnType) -> ColumnType | None:
    """The type that holds both without loss; None if there is none."""
    if one == other:
        return one
    if one.kind in INTEGERS and other.kind in INTEGERS:
        wide = np.promote_types(one.kind, other.kind)
        return ColumnType(str(wide)) if wide.kind in "iu" else None
    if {one.kind, other.kind} == {"float32", "float64"}:
        return ColumnType("float64")
    if one.kind == other.kind == "list":
        inner = common(one.children[0], other.children[0])
        return None if inner is None else ColumnType("list", (inner,))
    if one.kind == other.kind == "struct":
        return _joined_struct(one, other)
    return None


def fits(wanted: ColumnType, given: ColumnType) -> bool:
    """Whether a column of the wanted type holds the values of the given one; a sign may differ without harm."""
    if wanted.kind in INTEGERS and given.kind in INTEGERS:
        return np.dtype(given.kind).itemsize <= np.dtype(wanted.kind).itemsize
    return common(wanted, given) == wanted


def has_fields(described: Layout, known: Layout) -> bool:
    """Whether a layout has all fields of a known one, by name, with types whose values those hold."""
    types = {field.name: column_type(field.type) for field in described}
    return all(field.name in types and fits(column_type(field.type), types[field.name]) for field in known)


def _joined_struct(one: ColumnType, other: ColumnType) -> ColumnType | None:
    """The fields of both, if they are compatible; what one side lacks is null there."""
    fields = dict(zip(one.names, one.children, strict=True))
    for name, type in zip(other.names, other.children, strict=True):
        wide = common(fields.get(name, type), type)
        if wide is None:
            return None
        fields[name] = wide
    return ColumnType("struct", tuple(fields.values()), tuple(fields))


def widened(column: Column, type: ColumnType) -> Column:
    """The same values in a type returned by `common`."""
    if column.type == type:
        return column
    if type.kind == "list":
        child = (widened(column.children[0], type.children[0]),)
        return attrs.evolve(column, type=type, children=child)
    if type.kind == "struct":
        own = dict(zip(column.type.names, column.children, strict=True))
        pairs = zip(type.names, type.children, strict=True)
        fields = tuple(widened(own[n], t) if n in own else nulls(t, column.length) for n, t in pairs)
        return attrs.evolve(column, type=type, children=fields)
    return attrs.evolve(column, type=type, values=column.values.astype(type.dtype))


# Made once: a description may have thousands of numbers.
_PLAIN: Final = {kind: ColumnType(kind) for kind in (*NUMBERS, "string", "binary", "timestamp")}


def column_type(wire: WireType) -> ColumnType:
    """The type of the column that holds values of a wire type."""
    plain = _PLAIN.get(wire.column)
    if plain is not None:
        return plain
    names = tuple(field.name for field in wire.layout.fields) if isinstance(wire, StructType) else ()
    return ColumnType(wire.column, tuple(map(column_type, wire.parts)), names)


_NONE: Final = type(None)
_TEXT: Final = frozenset((str, _NONE))
_NUMBERS: Final = frozenset((int, float, bool, _NONE))


def from_values(type: ColumnType, values: Sequence[Any]) -> Column:
    """A column from Python values as in records; None is null. For types that no kernel reads."""
    length = len(values)
    kinds = {v.__class__ for v in values}
    if kinds == {_NONE}:
        return nulls(type, length)
    valid = np.array([v is not None for v in values], dtype=np.bool_) if _NONE in kinds else None
    match type.kind:
        case "struct":
            children = tuple(
                from_values(t, [None if v is None else getattr(v, v.__fields__[i]) for v in values])
                for i, t in enumerate(type.children)
            )
            return Column(type, length, np.zeros(0, np.uint8), children=children, valid=valid)
        case "list":
            lengths = np.array([0 if v is None else len(v) for v in values], dtype=np.int64)
            inner = [item for v in values if v is not None for item in v]
            child = (from_values(type.children[0], inner),)
            return Column(type, length, np.zeros(0, np.uint8), offsets_of(lengths), child, valid)
        case "string" | "binary":
            parts: list[Any] = [v or "" for v in values]
            if _TEXT.issuperset(kinds) and (text := "".join(parts)).isascii():
                joined = text.encode("ascii")
            else:
                parts = [b"" if v is None else _bytes(v) for v in values]
                joined = b"".join(parts)
            lengths = np.fromiter(map(len, parts), dtype=np.int64, count=length)
            return Column(type, length, np.frombuffer(joined, dtype=np.uint8), offsets_of(lengths), valid=valid)
        case "timestamp":
            times = [None if v is None else filetime_ns(int(v)) for v in values]
            good = np.array([v is not None for v in times], dtype=np.bool_)
            numbers = np.array([v or 0 for v in times], dtype=np.int64)
            return Column(type, length, numbers, valid=None if good.all() else good)
        case _:
            plain = values if valid is None else [0 if v is None else v for v in values]
            if not _NUMBERS.issuperset(kinds):
                plain = [getattr(v, "value", v) for v in plain]
            return Column(type, length, np.array(plain, dtype=type.dtype), valid=valid)


_FILETIME_UNIX: Final = 116_444_736_000_000_000
_NS_MAX: Final = (1 << 63) - 1


def filetime_ns(ticks: int) -> int | None:
    """A FILETIME as nanoseconds since 1970; None if that exceeds 64 bits (before 1678, after 2262)."""
    ns = (ticks - _FILETIME_UNIX) * 100
    return ns if -_NS_MAX <= ns <= _NS_MAX else None


def filetimes(ticks: NDArray[np.uint64]) -> Column:
    """FILETIMEs as timestamps; null if a nanosecond timestamp cannot hold them."""
    low, high = _FILETIME_UNIX - _NS_MAX // 100, _FILETIME_UNIX + _NS_MAX // 100
    good = (ticks >= low) & (ticks <= high)
    ns = (np.where(good, ticks, _FILETIME_UNIX).astype(np.int64) - _FILETIME_UNIX) * 100
    return Column(TIMESTAMP, len(ticks), ns, valid=None if good.all() else good)


def as_written(guid: bytes) -> bytes:
    """The sixteen bytes of a GUID from a trace, in the order in which it is written."""
    return guid[3::-1] + guid[5:3:-1] + guid[7:5:-1] + guid[8:]


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, Decimal):
        value = decimal_text(value)
    text = str(value)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # UTF-8 cannot encode half a surrogate pair.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")


def decimal_text(value: Decimal) -> str:
    """All digits, without an exponent."""
    return format(value, "f")


_WIDEST: Final = 1 << 16


def fixed_dtype(wire: WireType, pointer_size: int) -> np.dtype[Any] | None:
    """The numpy dtype of one value; None if its size depends on its bytes."""
    plain = wire.bound(pointer_size).dtype
    if plain is not None:
        return np.dtype(plain)
    match wire:
        case FixedArrayType():
            inner = fixed_dtype(wire.element, pointer_size)
            if inner is None or not 0 < inner.itemsize * wire.count <= _WIDEST:
                return None
            return np.dtype((inner, (wire.count,)))
        case StructType():
            bound: BoundLayout = wire.layout.bind(pointer_size)
            return structured(bound.fields, pointer_size)
        case _:
            return None


def structured(fields: tuple[BoundField, ...], pointer_size: int) -> np.dtype[Any] | None:
    """Consecutive fields, named f0, f1, …; None if one is not of fixed width."""
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
    """Values at any byte positions, which must be inside `buf`: the walk ensures it."""
    size = dtype.itemsize
    if not len(places):
        return np.empty(0, dtype=dtype.base).reshape((0, *dtype.shape))
    picked: Array = picked_bytes(buf, places, size).view(dtype.base)
    return picked.reshape((len(places), *dtype.shape)) if dtype.shape else picked
