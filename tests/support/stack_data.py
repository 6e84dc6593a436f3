"""Stacks of a region by their numbers, as tests ask for them."""

from __future__ import annotations

import numpy as np

from clrevents.decode.rows import Rows
from clrevents.decode.stacks import StackTable


def stack_data(table: StackTable, number: int) -> bytes | None:
    """The address bytes of a trace-wide stack number; None if the table does not hold all of it."""
    for _, window, starts, sizes in table.pieces(np.array([number], dtype=np.int64)):
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            return window[start : start + size]
    return None


def each_stack(rows: Rows) -> dict[int, bytes | None]:
    """The same of all stacks that these rows have."""
    return {number: stack_data(rows.release.stacks, number) for number in {*rows.stack_ids.tolist()}}
