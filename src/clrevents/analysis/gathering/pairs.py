"""Which start belongs to which end: brackets in many groups at once, in numpy.

Knows only groups and order; what a group is and what is paired is up to the caller.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.groups import changes

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


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
