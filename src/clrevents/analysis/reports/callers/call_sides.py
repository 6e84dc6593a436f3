"""Samples with a method on their stacks → what called it and what it called, as two weighted trees.

Each stack counts once in each tree, however often the method is on it: its caller is the last one from outside, its
callees are everything below its outermost call. Knows no units and no rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Ints, Mask, changes, sum_by
from clrevents.analysis.shared.samples.calltree import grown, stack_sums, summed_up
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.weights.weighing import Weights


@frozen(eq=False)
class CallNodes:
    """The nodes of one tree in order, parents before children, heaviest first; the first is the method.

    `frame` is a place in the samples' frames, -1 for the method. `deepest` is how far the longest stack reaches, also
    where nodes were left out.
    """

    parent: Ints
    depth: Ints
    frame: Ints
    inclusive: Weights
    exclusive: Weights
    samples: Ints
    deepest: int
    counted: tuple[Ints, ...] | None = None
    """Inclusive and exclusive processor time, and ready time; None where they were not counted."""

    def __len__(self) -> int:
        return len(self.parent)


@frozen(eq=False)
class CallSides:
    """Both trees. `inclusive` and `exclusive` are the method's weights, as `top` has them."""

    callers: CallNodes
    callees: CallNodes
    inclusive: int | float
    exclusive: int | float
    samples: int


@frozen(eq=False)
class CallPaths:
    """One tree by the stacks that it is made of: `node` is where each of them ends, `size` how far each reaches.

    `parent` and `frame` are as in `CallNodes`, in no other order than parents before their children.
    """

    parent: Ints
    frame: Ints
    node: Ints
    size: Ints


def call_paths(
    samples: Samples, stacks: Ints, focus: Mask | None, depth: int | None = None
) -> tuple[Ints, CallPaths, CallPaths]:
    """Which places of `stacks` have the focus on them, and of these the trees of callers and of callees."""
    outermost, entered = (places[stacks] for places in _split(samples, focus))
    held = np.flatnonzero(outermost >= 0)
    stack, place, entry = stacks[held], outermost[held], entered[held]
    above = samples.offsets[stack + 1] - 1 - entry
    below = place - samples.offsets[stack]
    callers = _paths(samples, lambda deep, level: entry[deep] + 1 + level, above, depth)
    return held, callers, _paths(samples, lambda deep, level: place[deep] - 1 - level, below, depth)


def _paths(samples: Samples, place: Callable[[Ints, int], Ints], size: Ints, depth: int | None) -> CallPaths:
    cut = size if depth is None else np.minimum(size, depth)
    # Without a stack there is no root either.
    root = np.full(min(len(size), 1), -1, dtype=np.int64)
    return CallPaths(*grown(samples, place, cut, (root, root, np.zeros(len(size), dtype=np.int64))), size)


def call_sides(samples: Samples, focus: Mask | None, depth: int | None = None) -> CallSides:
    """Both trees around the frames of `focus`, taken as one method; of nodes at most `depth` calls away from it.

    None is the caller of all outermost methods, so its callees are the whole call tree.

    In the callers' tree a node's exclusive weight is that in which the method itself was the innermost frame; in that
    of callees, in which the node was.
    """
    sums = stack_sums(samples, merge_threads=True)
    held, above, below = call_paths(samples, sums.stack, focus, depth)
    pairs: list[tuple[Weights, Ints]] = [(sums.weight[held], sums.count[held])]
    if sums.counted is not None:
        used, ready = sums.counted
        pairs.append((used[held], ready[held]))
    leaf = samples.values[samples.offsets[sums.stack[held]]]
    mine = np.ones(len(held), dtype=np.bool_) if focus is None else focus[leaf]
    # Where the rest of a stack is left out, no node is its innermost one.
    ends = np.ones(len(held), dtype=np.bool_) if depth is None else below.size <= depth
    callers = _tree(samples, above, [(whole, np.where(mine, whole, 0), more) for whole, more in pairs])
    callees = _tree(samples, below, [(whole, np.where(ends, whole, 0), more) for whole, more in pairs], alone=True)
    weight, count = pairs[0]
    return CallSides(callers, callees, weight.sum().item(), weight[mine].sum().item(), int(count.sum()))


def _split(samples: Samples, focus: Mask | None) -> tuple[Ints, Ints]:
    """Where in `values` each stack's outermost frame of the focus is, and where its innermost run of them ends.

    -1, and a place that means nothing, where it has none.
    """
    if focus is None:
        return samples.offsets[1:], samples.offsets[1:] - 1
    mine = focus[samples.values]
    places = np.flatnonzero(mine)
    last = np.zeros(len(mine), dtype=np.bool_)
    last[samples.offsets[1:] - 1] = True
    ends = np.flatnonzero(mine & (last | ~np.append(mine[1:], False)))
    outermost = np.full(len(samples.offsets) - 1, -1, dtype=np.int64)
    entered = np.full(len(samples.offsets) - 1, len(mine), dtype=np.int64)
    np.maximum.at(outermost, _stack_of(samples, places), places)
    np.minimum.at(entered, _stack_of(samples, ends), ends)
    return outermost, entered


def _stack_of(samples: Samples, places: Ints) -> Ints:
    return np.searchsorted(samples.offsets, places, side="right") - 1


def _tree(
    samples: Samples, paths: CallPaths, weights: list[tuple[Weights, Weights, Ints]], alone: bool = False
) -> CallNodes:
    """A tree from its stacks. With `alone`, exclusive weights are those of a node and not of what is below it too.

    `weights` are the inclusive and exclusive weight of each stack and the number of its samples; then, if it was
    counted, its processor time in their places, and ready time.
    """
    parent, frame = paths.parent, paths.frame

    def totals(*columns: Weights) -> tuple[Weights, Weights, Ints]:
        below, own, more = (sum_by(paths.node, column, len(parent)) for column in columns)
        return (
            summed_up(parent, below),
            own if alone else summed_up(parent, own),
            summed_up(parent, more).astype(np.int64),
        )

    inclusive, exclusive, number = totals(*weights[0])
    counted = [column.astype(np.int64) for three in weights[1:] for column in totals(*three)]
    order, above, levels = _ordered(samples, parent, frame, counted[0] if counted else inclusive)
    return CallNodes(
        parent=above,
        depth=levels,
        frame=frame[order],
        inclusive=inclusive[order],
        exclusive=exclusive[order],
        samples=number[order],
        deepest=int(paths.size.max(initial=0)),
        counted=tuple(column[order] for column in counted) or None,
    )


def _ordered(samples: Samples, parent: Ints, frame: Ints, weights: Weights) -> tuple[Ints, Ints, Ints]:
    """The nodes in order, and the parent and the depth of each. Parents stand before their children."""
    names = [known.name for known in samples.frames]
    ranks = {name: rank for rank, name in enumerate(sorted({"", *names}))}
    # The last is that of frame -1.
    name = np.array([ranks[name] for name in (*names, "")], dtype=np.int64)[frame]
    weight = np.unique(weights, return_inverse=True)[1]
    siblings = np.lexsort((-np.arange(len(parent)), name, -weight, parent))
    size = summed_up(parent, np.ones(len(parent), dtype=np.int64))[siblings]
    before = np.cumsum(size) - size
    first = np.flatnonzero(changes(parent[siblings]))
    skipped = np.empty_like(parent)
    skipped[siblings] = before - np.repeat(before[first], np.diff(first, append=len(parent)))
    # What is below the siblings before a node stands between it and its parent.
    places: list[int] = []
    levels: list[int] = []
    for above, between in zip(parent.tolist(), skipped.tolist(), strict=True):
        places.append(between if above < 0 else places[above] + 1 + between)
        levels.append(0 if above < 0 else levels[above] + 1)
    place = np.array(places, dtype=np.int64)
    order = np.empty_like(place)
    order[place] = np.arange(len(place))
    parents = parent[order]
    return order, np.where(parents < 0, -1, place[parents]), np.array(levels, dtype=np.int64)[order]
