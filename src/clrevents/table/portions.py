"""The columns of many rows → those of some at a time: cells as Python values take ten times the room.

Knows no table and no type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from clrevents.decode.payload.columns.column import Column

_CELLS: Final = 1 << 18
"""At most so many cells become Python values at once, but at least a row."""


def portions(columns: Sequence[Column]) -> Iterator[tuple[Column, ...]]:
    """The rows of columns, which have one length, in consecutive portions."""
    if not columns:
        return
    length = len(columns[0])
    rows = max(1, _CELLS // len(columns))
    for at in range(0, length, rows):
        yield tuple(column.slice(at, min(at + rows, length)) for column in columns)
