"""Fixed-width values in numpy: the dtype of a wire type, and values gathered from a buffer.

Knows bytes and shapes; the values' meaning is up to others.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.kernels.program import pick as picked_bytes
from clrevents.schema.layout import BoundField, BoundLayout
from clrevents.schema.wire import FixedArrayType, StructType, WireType

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
