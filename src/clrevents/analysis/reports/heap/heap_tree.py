"""Trees of objects → trees of types: objects of one type under the same types are one line, as are chains of one type.

Works on any tree whose numbers grow from the root on, so that a list of a million elements is one line, and on arrays
only. Knows no names.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import sum_by
from clrevents.analysis.reports.heap.heap_engine import KERNEL, Kernel

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32]

NO_LINE: Final = -1


@frozen
class TreeLine:
    """One line of a tree: `above` is the place of the line above it, `group` what its members have in common."""

    above: int
    group: int
    depth: int
    first: int
    """The smallest number among its uppermost members."""


@frozen(eq=False)
class TypeTree:
    """Lines, those above before those below, and the line of each number; `NO_LINE` for numbers left out."""

    lines: tuple[TreeLine, ...]
    line: Places

    def sums(self, values: Ints, of: Any = slice(None)) -> Ints:
        """What the values of the members of each line add up to; `of` chooses numbers."""
        line, values = self.line[of], values[of]
        held = line >= 0
        return sum_by(line[held], values[held], len(self.lines))


def type_tree(
    above: Places,
    group: Places,
    wanted: NDArray[np.bool_],
    weight: Ints,
    least: int,
    deepest: int,
    engine: Kernel = KERNEL,
) -> TypeTree:
    """The tree of those numbers that are `wanted`, with all that are above them.

    `above[k] < k`; a negative one, or k itself, is the top. `weight` is what a number weighs with everything below
    it: lines that weigh less than `least` are left out with all below them, and so are those deeper than `deepest`.
    """
    count = len(above)
    top, depth = engine.room(count), engine.room(count)
    engine.kernel.fold(count, engine.given(above), engine.given(group), top, depth)
    tops, depths = engine.taken(top), engine.taken(depth)
    line = np.full(count, NO_LINE, dtype=np.int32)
    uppermost = np.flatnonzero(wanted & (tops == np.arange(count)) & (depths <= deepest))
    uppermost = uppermost[np.argsort(depths[uppermost], kind="stable")]
    bounds = np.searchsorted(depths[uppermost], np.arange(deepest + 2))
    lines: list[TreeLine] = []
    groups = int(group.max(initial=0)) + 1
    for level in range(deepest + 1):
        mine = uppermost[bounds[level] : bounds[level + 1]]
        parents = np.full(len(mine), NO_LINE, dtype=np.int64)
        if level:
            parents = line[tops[above[mine]]].astype(np.int64)
            mine, parents = mine[parents >= 0], parents[parents >= 0]
        if not len(mine):
            break
        keys = parents * groups + group[mine]
        known, first, which = np.unique(keys, return_index=True, return_inverse=True)
        kept = sum_by(which, weight[mine], len(known)) >= least
        places = np.where(kept, len(lines) + np.cumsum(kept) - 1, NO_LINE)
        line[mine] = places[which]
        lines += [
            TreeLine(key // groups, key % groups, level, int(mine[at]))
            for key, at, held in zip(known.tolist(), first.tolist(), kept.tolist(), strict=True)
            if held
        ]
    return TypeTree(tuple(lines), line[tops])
