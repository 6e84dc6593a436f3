"""Many objects of one slotted class at once, through the fill kernel.

Knows slots and columns, but not what is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from clrevents.decode.kernels.engine import COMPILED, FILL, given, scratch

T = TypeVar("T")


class Maker(Generic[T]):
    """Makes objects of one slotted class without running `__init__`."""

    def __init__(self, cls: type[T], names: Sequence[str]) -> None:
        self._cls = cls
        # What writes each slot, wherever in the class's ancestry it was defined.
        self._setters = [next(vars(c)[name] for c in cls.__mro__ if name in vars(c)) for name in names]

    def of(self, columns: Sequence[list[Any] | NDArray[Any]]) -> Callable[[int, int], list[T]]:
        """A function that makes objects `first` to `last`: slot `names[k]` of object i is `columns[k][i]`.

        Numbers of an array become ints, floats and bools.
        """
        lists: list[list[Any] | None] = []
        places, numbers, length = [], [], 0
        for column in columns:
            place = 0
            if isinstance(column, list):
                lists.append(column)
            elif not COMPILED or column.dtype.kind not in "iu":
                lists.append(column.tolist())
            else:
                lists.append(None)
                place = length if column.dtype.kind == "u" else -1 - length
                numbers.append(column)
                length += len(column)
            places.append(place)
        unsigned = scratch(length)
        at = 0
        for column in numbers:
            unsigned[at : at + len(column)] = column
            at += len(column)
        signed = unsigned.view(np.int64) if COMPILED else []
        arguments = (self._cls, self._setters, lists, given(np.array(places)), unsigned, signed)

        def make(first: int, last: int) -> list[T]:
            made: list[T] = FILL.fill(*arguments, first, last)
            return made

        return make


def scatter(into: list[Any], rows: NDArray[np.int64], values: list[Any]) -> None:
    """Put each value at its row."""
    FILL.scatter(into, given(rows), values)
