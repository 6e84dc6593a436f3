"""Rows of reports' tables, thread by thread or process by process, in order of time.

Makes row objects for a portion at a time, because tables can be long. Knows no report.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from clrevents.analysis import ReportTable
from clrevents.analysis.gathering.groups import changes
from clrevents.analysis.shared.weights.weighing import Ints

R = TypeVar("R")
Keys: TypeAlias = tuple[Any, ...]

_PORTION: Final = 1 << 14


def grouped(
    table: ReportTable[R], keys: Sequence[str], start: str, end: str | None = None
) -> Iterator[tuple[Keys, Iterator[tuple[int, R]]]]:
    """The rows of each combination of values of the columns `keys`, null being one of them.

    Each comes with its place in the table. They are in order of `start`, those that begin together in order of `end`,
    the last and null first: what lies in another one comes after it. Rows whose `start` is null are left out. Like
    those of `itertools.groupby`, the rows of a combination are gone once the next one is asked for.
    """
    columns = [table.column(name) for name in keys]
    order = np.flatnonzero(table.column(start).known)
    by: list[np.ndarray[Any, Any]] = [_first_null(table, end)[order]] if end is not None else []
    by.append(table.numbers(start)[order])
    for column in reversed(columns):
        by += [column.filled(0)[order], column.known[order]]
    order = order[np.lexsort(by)]
    differing = (values[order] for column in columns for values in (column.filled(0), column.known))
    begins = np.flatnonzero(changes(*differing))
    # There may be as many combinations as rows, and few values are not faster to take than many.
    found = zip(*(column.take(order[begins]).tolist() for column in columns), strict=True)
    rows = _rows(table, order)
    for key, size in zip(found, np.diff(begins, append=len(order)).tolist(), strict=True):
        mine = islice(rows, size)
        yield key, mine
        deque(mine, maxlen=0)


def without(table: ReportTable[Any], start: str) -> int:
    """How many rows have no `start`, and so no place in time."""
    return int((~table.column(start).known).sum())


def _rows(table: ReportTable[R], order: Ints) -> Iterator[tuple[int, R]]:
    for at in range(0, len(order), _PORTION):
        portion = order[at : at + _PORTION]
        yield from zip(portion.tolist(), table.take(portion), strict=True)


def _first_null(table: ReportTable[Any], name: str) -> Ints:
    """Sorts the later ones before the earlier ones, and null before all."""
    return np.where(table.column(name).known, -table.numbers(name).astype(np.int64), np.iinfo(np.int64).min)
