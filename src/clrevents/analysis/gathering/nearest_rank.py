"""Percentiles by nearest rank: a value that occurred, which the given percentage of all values do not exceed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

Numbers: TypeAlias = Sequence[int] | NDArray[Any]


def nearest_rank(in_order: Numbers, percent: int) -> int | None:
    """The percentile of numbers in rising order; None if there are none."""
    return int(in_order[-(-percent * len(in_order) // 100) - 1]) if len(in_order) else None
