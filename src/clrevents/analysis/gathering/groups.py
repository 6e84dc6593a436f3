"""Rows in numpy: equal things as numbers and groups, starts paired with ends, rows that may be missing, percentiles.

`NONE` stands for a row that is not there. What a group is, and what is paired, is up to the caller. Knows no events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from clrevents.table.table import Column

K = TypeVar("K")
T = TypeVar("T")
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


def grouped(things: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The things of each key, in their order; keys are in the order of the first thing of each."""
    groups: dict[K, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def heaviest(weights: Iterable[tuple[K, int]]) -> K | None:
    """The thing whose weights add up to most, of equal ones the first; None without any."""
    sums: dict[K, int] = {}
    for thing, weight in weights:
        sums[thing] = sums.get(thing, 0) + weight
    return max(sums, key=sums.__getitem__) if sums else None


def most_at_once(spans: Iterable[tuple[int, int]]) -> int:
    """How many overlap at most. One that ends when another begins does not meet it."""
    steps = sorted(step for low, high in spans for step in ((low, 1), (high, -1)))
    return max(accumulate((step for _, step in steps), initial=0))


def changes(*columns: NDArray[Any]) -> Mask:
    """Where any of these columns differs from the row before it; the first row does."""
    changed = np.zeros(len(columns[0]), dtype=np.bool_)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def groups(numbers: NDArray[Any], rows: Ints | None = None) -> Iterator[tuple[int, Ints]]:
    """Each number in rising order, with the rows that have it in their order; of these rows only, if they are given."""
    chosen = np.arange(len(numbers)) if rows is None else rows
    order = chosen[np.argsort(numbers[chosen], kind="stable")]
    if len(order):
        starts = np.flatnonzero(changes(numbers[order]))
        yield from zip(numbers[order[starts]].tolist(), np.split(order, starts[1:]), strict=True)


def sum_by(of: NDArray[np.integer[Any]], values: NDArray[N], count: int) -> NDArray[N]:
    """The sum of the values of each number below `count`, in the type of the values."""
    sums = np.zeros_like(values, shape=count)
    np.add.at(sums, of, values)
    return sums


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
    known: Interned[object] = Interned()
    column_codes = []
    for column in parts:
        column_texts = column.texts if column.texts is not None else column
        codes = known.of(column_texts.tolist())
        column_codes.append(codes if column_texts is column or not len(codes) else codes[column.values])
    return np.concatenate(column_codes), max(len(known), 1)


Array: TypeAlias = NDArray[Any]

NONE: Final = -1
"""Stands for an unknown time, size or row."""


def picked(values: Array, rows: Ints) -> Array:
    """The values of these rows; 0 where the row is -1."""
    there = rows >= 0
    values_of_rows = np.zeros(len(rows), dtype=values.dtype)
    values_of_rows[there] = values[rows[there]]
    return values_of_rows


def held_at(values: Sequence[T], rows: Ints) -> list[T | None]:
    """The values of these rows; None where the row is -1."""
    return [None if row == NONE else values[row] for row in rows.tolist()]


def either(values: Array, rows: Ints, others: Array, other_rows: Ints) -> Array:
    """The values of these rows, and where the row is -1, what the other row tells."""
    return np.where(rows != NONE, picked(values, rows), picked(others, other_rows))


def nulled(values: Array, known: NDArray[np.bool_]) -> list[Any]:
    """Python values, None where they are not known."""
    return [value if is_known else None for value, is_known in zip(values.tolist(), known.tolist(), strict=True)]


Numbers: TypeAlias = Sequence[int] | NDArray[Any]


def nearest_rank(in_order: Numbers, percent: int) -> int | None:
    """The percentile of numbers in rising order; None if there are none."""
    return int(in_order[-(-percent * len(in_order) // 100) - 1]) if len(in_order) else None


def pair(groups: NDArray[Any], opens: Mask) -> tuple[Ints, Ints]:
    """The rows of begins and of the ends that belong to them, in the order of the begins.

    Rows are in order of time; `opens` is true for a begin. Within a group an end belongs to the last begin that
    has none yet, as a closing bracket does; an end without one, and a begin that is never closed, are left out.
    """
    order = _sorting(groups)
    if not len(order):
        return order, order
    group, steps = groups[order], np.where(opens[order], 1, -1)
    first = np.flatnonzero(changes(group))
    sizes = np.diff(np.append(first, len(order)))
    number = np.repeat(np.arange(len(first), dtype=np.int64), sizes)
    depth = np.cumsum(steps)
    depth -= np.repeat(depth[first] - steps[first], sizes)
    # The lowest depth so far. Each group lies so far below the one before it that one pass does for all.
    fall = number * (2 * len(order) + 2)
    floor = np.minimum(np.minimum.accumulate(depth - fall) + fall, 0)
    # Within a level begins and their ends take turns. An end that has none follows another end, or nothing.
    level = depth - floor + (steps < 0)
    deepest = int(level.max())
    place = number
    if deepest > 1:
        place = number * (deepest + 1) + level
        again = _sorting(place)
        order, steps, place = order[again], steps[again], place[again]
    opening = steps > 0
    at = np.flatnonzero(opening[:-1] & ~opening[1:] & (place[1:] == place[:-1]))
    ends = np.full(len(order), -1, dtype=np.int64)
    ends[order[at]] = order[at + 1]
    begins = np.flatnonzero(ends >= 0)
    return begins, ends[begins]


def first_in_first_out(groups: NDArray[Any], opens: Mask) -> tuple[Ints, Ints]:
    """The same for queues: within a group an end belongs to the first begin that has none yet."""
    # Which ends have a begin does not depend on which of the open begins they are given.
    _, ends = pair(groups, opens)
    ends = np.sort(ends)
    ends = ends[_sorting(groups[ends])]
    begins = np.flatnonzero(opens)
    begins = begins[_sorting(groups[begins])]
    of, ended = groups[begins], groups[ends]
    place = np.arange(len(begins)) - np.searchsorted(of, of)
    begins = begins[place < np.searchsorted(ended, of, "right") - np.searchsorted(ended, of)]
    order = np.argsort(begins)
    return begins[order], ends[order]


def _sorting(keys: NDArray[Any]) -> Ints:
    """A stable sort of integers that are not negative; numpy has a fast one for narrow ones."""
    narrow = int(keys.max(initial=0)) < 1 << 16
    return np.argsort(keys.astype(np.uint16) if narrow else keys, kind="stable")
