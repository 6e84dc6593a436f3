"""Rows with equal values in some columns → equal numbers: what is paired or added up together.

Knows columns of any type that has an order or a text; lists and structs are refused. Null is equal to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.groups import Interned
from clrevents.table.build import Column

Ints: TypeAlias = NDArray[np.int64]

_TEXT: Final = ("string", "binary")


def group_numbers(columns: Sequence[Sequence[Column]], lengths: Sequence[int]) -> tuple[Ints, int]:
    """Interned from 0 for the rows of several concatenated tables, -1 where a column is null; and how many.

    `columns` has for each key the columns of all tables, `lengths` the tables' rows. TypeError for a list, a struct,
    or a text beside a number.
    """
    total = sum(lengths)
    numbers = np.zeros(total, dtype=np.int64)
    count = min(total, 1)
    null = np.zeros(total, dtype=np.bool_)
    for parts in columns:
        codes, distinct = _codes(parts)
        numbers, count = _packed(numbers * distinct + codes, count * distinct)
        null |= ~np.concatenate([column.known for column in parts])
    numbers[null] = -1
    return numbers, count


def _packed(numbers: Ints, count: int) -> tuple[Ints, int]:
    """Interned without gaps, as soon as there are more of them than rows."""
    if count <= len(numbers):
        return numbers, count
    distinct, places = np.unique(numbers, return_inverse=True)
    return places.astype(np.int64).reshape(-1), len(distinct)


def _codes(parts: Sequence[Column]) -> tuple[Ints, int]:
    kinds = {column.type.kind for column in parts}
    if kinds & {"list", "struct"}:
        raise TypeError("rows cannot be paired on a list or a struct")
    if kinds & set(_TEXT):
        if len(kinds) > 1:
            raise TypeError(f"rows cannot be paired on {' and '.join(sorted(kinds))}")
        return _text_codes(parts)
    values = [column.values for column in parts]
    if any(v.dtype.kind == "f" for v in values):
        whole: NDArray[Any] = np.concatenate([v.astype(np.float64) for v in values])
        negative = np.zeros(len(whole), dtype=np.bool_)
    else:
        # As unsigned numbers with their sign beside, because no type of numpy's holds both kinds of 64 bits.
        negative = np.concatenate([v < 0 if v.dtype.kind == "i" else np.zeros(len(v), np.bool_) for v in values])
        whole = np.concatenate([_unsigned(v) for v in values])
    codes, distinct = _dense(whole)
    return (codes * 2 + negative, distinct * 2) if negative.any() else (codes, distinct)


def _dense(values: NDArray[Any]) -> tuple[Ints, int]:
    """Interned for values; without a sort where they lie close together, as threads do."""
    if len(values) and values.dtype.kind == "u":
        low, high = values.min(), values.max()
        if int(high) - int(low) < len(values):
            return (values - low).astype(np.int64), int(high) - int(low) + 1
    distinct, places = np.unique(values, return_inverse=True)
    return places.astype(np.int64).reshape(-1), len(distinct)


def _unsigned(values: NDArray[Any]) -> NDArray[np.uint64]:
    return values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)


def _text_codes(parts: Sequence[Column]) -> tuple[Ints, int]:
    known: Interned[Any] = Interned()
    found = []
    for column in parts:
        held = column.texts if column.texts is not None else column
        codes = known.of(held.tolist())
        found.append(codes if held is column or not len(codes) else codes[column.values])
    return np.concatenate(found), max(len(known), 1)
