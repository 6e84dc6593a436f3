"""Things that are equal → numbers; rows with equal numbers, or equal neighbours → groups of rows, and their sums.

Knows no events, and no columns but arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from clrevents.table.build import Column

K = TypeVar("K")
N = TypeVar("N", bound=np.generic)

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


class Interned(dict[K, int]):
    """A number for each thing, from 0 on in the order in which they were first asked for: `numbers[thing]`.

    Iteration gives the things by their numbers.
    """

    def __missing__(self, thing: K) -> int:
        self[thing] = number = len(self)
        return number

    def of(self, things: Iterable[K]) -> Ints:
        """The number of each."""
        # Without a call of Python for a new one: most may be.
        return np.array([self.setdefault(thing, len(self)) for thing in things], dtype=np.int64)


def numbered(things: Iterable[K]) -> tuple[Ints, list[K]]:
    """The number of each thing, and the different things by their numbers."""
    numbers: Interned[K] = Interned()
    return numbers.of(things), list(numbers)


def changes(*columns: NDArray[Any]) -> Mask:
    """Where any of these columns differs from the row before it; the first row does."""
    found = np.zeros(len(columns[0]), dtype=np.bool_)
    found[:1] = True
    for column in columns:
        found[1:] |= column[1:] != column[:-1]
    return found


def groups(numbers: NDArray[Any], rows: Ints | None = None) -> Iterator[tuple[int, Ints]]:
    """Each number in rising order, with the rows that have it in their order; of these rows only, if they are given."""
    chosen = np.arange(len(numbers)) if rows is None else rows
    order = chosen[np.argsort(numbers[chosen], kind="stable")]
    if len(order):
        starts = np.flatnonzero(changes(numbers[order]))
        yield from zip(numbers[order[starts]].tolist(), np.split(order, starts[1:]), strict=True)


def sum_by(of: NDArray[np.integer[Any]], values: NDArray[N], count: int) -> NDArray[N]:
    """The sum of the values of each number below `count`, in the type of the values."""
    found = np.zeros_like(values, shape=count)
    np.add.at(found, of, values)
    return found


def offsets(sizes: Sequence[int] | Ints) -> Ints:
    """Where parts of these sizes begin that lie one after another, and where the last of them ends."""
    return np.append(0, np.cumsum(sizes, dtype=np.int64))


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
