"""What each wire type says of its own bytes, next to what `struct` and numpy say of the same codes."""

from __future__ import annotations

import struct
from enum import Enum
from typing import Any

import numpy as np
import pytest

from clrevents.schema import types
from clrevents.schema.event import struct as record_class
from clrevents.schema.wire import (
    AnsiZ,
    BytesType,
    CountedType,
    DecimalType,
    EnumType,
    FixedArrayType,
    GuidType,
    LocatedType,
    PointerType,
    PrefixedType,
    Scalar,
    StructType,
    Utf16Z,
    VarIntType,
    WireType,
)

SCALARS = [
    wire
    for name in sorted(vars(types))
    for wire in getattr(getattr(types, name), "__metadata__", ())
    if isinstance(wire, Scalar)
]
UINT32, CHAR = Scalar("UInt32", 4, "I"), Scalar("Char", 2, "H", "char")


class Colour(Enum):
    """A name for a number."""

    RED = 1


@record_class
class Pair:
    """A pointer and a string."""

    Address: types.Pointer
    Name: types.UnicodeString


@pytest.mark.parametrize("wire", SCALARS, ids=lambda wire: wire.name)
def test_a_number_agrees_with_struct_and_numpy(wire: Scalar) -> None:
    assert wire.code == wire.format
    assert wire.dtype is not None
    assert wire.fixed_size == wire.size == struct.calcsize("<" + wire.code) == np.dtype(wire.dtype).itemsize
    assert np.dtype(wire.dtype) == np.dtype("<" + wire.format)
    assert wire.signed == (np.dtype(wire.dtype).kind == "i")
    assert wire.number is wire


def test_there_are_numbers() -> None:
    assert len(SCALARS) >= 14


@pytest.mark.parametrize(
    ("wire", "fixed", "least", "code", "dtype"),
    [
        (EnumType(UINT32, Colour), 4, (4, 4), "I", "<u4"),
        (GuidType(), 16, (16, 16), "16s", "V16"),
        (DecimalType(), 16, (16, 16), "16s", "V16"),
        (PointerType(), None, (4, 8), None, None),
        (PointerType().bound(8), 8, (8, 8), "Q", "<u8"),
        (PointerType().bound(4), 4, (4, 4), "I", "<u4"),
        (Utf16Z(), None, (2, 2), None, None),
        (AnsiZ(), None, (0, 0), None, None),
        (VarIntType(True), None, (1, 1), None, None),
        (BytesType("Size"), None, (0, 0), None, None),
        (CountedType(UINT32, "Count"), None, (0, 0), None, None),
        (PrefixedType(UINT32), None, (2, 2), None, None),
        (LocatedType(UINT32, relative=True), 4, (4, 4), None, None),
        (FixedArrayType(UINT32, 3), 12, (12, 12), None, None),
        (FixedArrayType(Utf16Z(), 3), None, (6, 6), None, None),
        (FixedArrayType(PointerType(), 2), None, (8, 16), None, None),
        (StructType(Pair), None, (6, 10), None, None),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fixed_size") else "",
)
def test_sizes_and_codes(
    wire: WireType, fixed: int | None, least: tuple[int, int], code: str | None, dtype: str | None
) -> None:
    assert wire.fixed_size == fixed
    assert (wire.min_size(4), wire.min_size(8)) == least
    assert wire.code == code
    assert wire.dtype == dtype


def test_a_count_is_named_where_a_field_holds_it() -> None:
    assert CountedType(UINT32, "Count").counted_by == "Count"
    assert BytesType("Size").counted_by == "Size"
    uncounted: list[Any] = [UINT32, PrefixedType(UINT32), FixedArrayType(UINT32, 3), StructType(Pair)]
    assert [wire.counted_by for wire in uncounted] == [None] * 4
