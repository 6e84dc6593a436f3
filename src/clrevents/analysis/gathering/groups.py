"""Things that are equal → numbers; rows with equal numbers, or equal neighbours → groups of rows, and their sums.

Knows no events, and no columns but arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

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
