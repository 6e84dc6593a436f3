"""Values in numpy: the dtype of a wire type; columns from Python values and FILETIMEs; GUIDs and decimals as text.

Knows no payload and no event.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.kernels.engine import offsets_of
from clrevents.decode.kernels.engine import pick as picked_bytes
from clrevents.decode.payload.columns.column import TIMESTAMP, Column, ColumnType
from clrevents.schema.layout import BoundField, BoundLayout
from clrevents.schema.wire import FixedArrayType, StructType, WireType

_TEXT: Final = frozenset((str, type(None)))


def from_values(type: ColumnType, values: Sequence[Any]) -> Column:
    """A column from Python values as in records; None is null. For types that no kernel reads."""
    length = len(values)
    good = np.array([v is not None for v in values], dtype=np.bool_)
    valid = None if good.all() else good
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
            if _TEXT.issuperset(v.__class__ for v in values) and (text := "".join(parts)).isascii():
                joined = text.encode("ascii")
            else:
                parts = [b"" if v is None else _bytes(v) for v in values]
                joined = b"".join(parts)
            lengths = np.fromiter(map(len, parts), dtype=np.int64, count=length)
            return Column(type, length, np.frombuffer(joined, dtype=np.uint8), offsets_of(lengths), valid=valid)
        case "timestamp":
            found = [None if v is None else filetime_ns(int(v)) for v in values]
            good = np.array([v is not None for v in found], dtype=np.bool_)
            numbers = np.array([v or 0 for v in found], dtype=np.int64)
            return Column(type, length, numbers, valid=None if good.all() else good)
        case _:
            plain = [0 if v is None else getattr(v, "value", v) for v in values]
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


Array: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]

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
