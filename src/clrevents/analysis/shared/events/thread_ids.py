"""Ids of threads in payloads, which may be 32 bits of those that headers have.

A system may number threads with more bits (macOS does), of which the runtime writes the lower ones into some fields.
Refuses to choose between two threads that have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint64]
_LOWER: Final = np.uint64(2**32 - 1)
_ALL: Final = 2**64 - 1


def whole_ids(told: Ids, headers: Ids) -> Ids:
    """The ids of payloads, or instead of each the only id of a header that has it as its lower 32 bits."""
    longer = np.unique(headers[headers > _LOWER])
    if not len(longer):
        return told
    lower, first, count = np.unique(longer & _LOWER, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(lower, told), len(lower) - 1)
    cut = (lower[place] == told) & (count[place] == 1) & ~np.isin(told, headers)
    return np.where(cut, longer[first[place]], told)


def whole_of(told: Iterable[int], headers: Iterable[int]) -> list[int]:
    """The same of numbers, of which damaged ones may be negative."""
    both = (np.array([id & _ALL for id in ids], dtype=np.uint64) for ids in (told, headers))
    found: list[int] = whole_ids(*both).tolist()
    return found
