"""What keeps objects of a type alive: shortest paths from roots, those through the same types as one.

Names nothing that the snapshot does not name; a path is one of several, unless the dominator tree says so too.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Ints
from clrevents.analysis.reports.heap.heap_graph import KERNEL
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot, HeapType, solution_of
from clrevents.analysis.reports.heap.heap_tables import Namer, RootPath, short_type_name, type_tree

RAREST: Final = 1000
"""A path is given if at least one object of a type in this many is reached by it."""
DEEPEST_PATH: Final = 64
"""Paths of more steps are left out."""
ARROW: Final = " → "
_WHOLE: Final = 1 << 30
_TYPES_AT_ONCE: Final = 10
"""Of more types, rarer paths are left out."""


@frozen(eq=False)
class FoundPaths:
    """The most frequent ones first, and how many reached objects have none of them."""

    rows: Sequence[RootPath]
    left_out: int

    def texts(self, most: int) -> tuple[str, ...]:
        """The first of them in words."""
        return tuple(f"{row.path} ({row.count:,})" for row in self.rows[:most])


def matching(types: Sequence[HeapType], pattern: str) -> list[int]:
    """The types that are meant: by their whole name, by its last part, or by a pattern with `*` and `?`."""
    exact = [k for k, type in enumerate(types) if pattern in (type.name, type.raw_name)]
    if exact:
        return exact
    if any(char in pattern for char in "*?"):
        return [k for k, t in enumerate(types) if fnmatchcase(t.name, pattern) or fnmatchcase(t.raw_name, pattern)]
    return [k for k, type in enumerate(types) if type.name.partition("<")[0].rpartition(".")[2] == pattern]


def root_paths(snapshot: HeapSnapshot, chosen: Sequence[int], name: Namer, most: int | None = None) -> FoundPaths:
    """The paths to all objects of the chosen types; of each type, `most` of them."""
    reach, types, holders = solution_of(snapshot).reach, len(snapshot.types), len(snapshot.holders)
    count = len(reach.queue)
    place = np.full(len(snapshot) + holders, -1, dtype=np.int32)
    place[reach.queue] = np.arange(holders, holders + count, dtype=np.int32)
    place[len(snapshot) :] = np.arange(holders, dtype=np.int32)
    above = np.concatenate([np.arange(holders, dtype=np.int32), place[reach.parent[reach.queue]]])
    kinds = np.arange(types, types + holders, dtype=np.int32)
    group = np.concatenate([kinds, snapshot.type[reach.queue]])
    target = np.isin(group, np.array(chosen, dtype=np.int32))
    # All objects of a type weigh the same together, so that frequent types do not hide rare ones.
    share = _WHOLE // np.maximum(np.bincount(group[target], minlength=types + holders), 1) + 1
    below = KERNEL.given(np.where(target, share[group], 0), np.int64)
    above[:holders] = -1
    KERNEL.kernel.gather_up(len(above), KERNEL.given(above), below)
    weight = KERNEL.taken(below, dtype=np.int64)
    least = _WHOLE // RAREST * max(1, len(chosen) // _TYPES_AT_ONCE)
    tree = type_tree(above, group, weight > 0, weight, least, DEEPEST_PATH)
    size = np.concatenate([np.zeros(holders, dtype=np.int64), snapshot.size[reach.queue]])
    counts = tree.sums(target.astype(np.int64))
    sizes = tree.sums(np.where(target, size, 0))
    names = [*(name(type) for type in snapshot.types), *snapshot.holders]
    short = [*(short_type_name(type, name) for type in snapshot.types), *snapshot.holders]
    rows = []
    depths = _depths(above)
    for line, of in enumerate(tree.lines):
        if of.group >= types or not counts[line]:
            continue
        groups, at = [], line
        while at >= 0:
            groups.append(tree.lines[at].group)
            at = tree.lines[at].above
        groups.reverse()
        root, steps = groups[0] - types, [names[group] for group in groups]
        static = snapshot.statics[root] if root < len(snapshot.statics) else None
        nearest = int(reach.queue[of.first - holders])
        rows.append(
            RootPath(
                type=steps[-1],
                count=int(counts[line]),
                bytes=int(sizes[line]),
                root=steps[0] if static is None else static.kind,
                static_field=None if static is None else static.name,
                distance=depths[of.first],
                example=int(snapshot.address[nearest]),
                path=ARROW.join(short[group] for group in groups),
                steps=tuple(steps),
            )
        )
    rows.sort(key=lambda row: (-row.count, -row.bytes, row.path, row.example))
    if most is not None:
        seen: dict[str, int] = {}
        kept = []
        for row in rows:
            seen[row.type] = seen.get(row.type, 0) + 1
            if seen[row.type] <= most:
                kept.append(row)
        rows = kept
    return FoundPaths(rows, int(target.sum()) - int(counts.sum()))


def _depths(above: Ints) -> list[int]:
    """How many objects are on the way to each."""
    count = len(above)
    top, depth = KERNEL.room(count), KERNEL.room(count)
    # Everything is a group of its own, so that nothing is folded.
    KERNEL.kernel.fold(count, KERNEL.given(above), KERNEL.given(np.arange(count, dtype=np.int32)), top, depth)
    depths: list[int] = KERNEL.taken(depth).tolist()
    return depths
