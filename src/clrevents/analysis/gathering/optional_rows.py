"""Values of rows some of which are missing: what is known about pairs if a start or an end is not in the trace.

`NONE` stands for a row that is not there. Knows no events.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]

NONE: Final = -1
"""Stands for an unknown time, size or row."""


def picked(values: Array, rows: Ints) -> Array:
    """The values of these rows; 0 where the row is -1."""
    there = rows >= 0
    found = np.zeros(len(rows), dtype=values.dtype)
    found[there] = values[rows[there]]
    return found


def either(values: Array, rows: Ints, others: Array, other_rows: Ints) -> Array:
    """The values of these rows, and where the row is -1, what the other row tells."""
    return np.where(rows != NONE, picked(values, rows), picked(others, other_rows))


def nulled(values: Array, known: NDArray[np.bool_]) -> list[Any]:
    """Python values, None where they are not known."""
    return [value if mine else None for value, mine in zip(values.tolist(), known.tolist(), strict=True)]
