"""Weighted stacks of two traces → one tree of calls, with the weight that each node has in either.

Stacks are joined from the outermost frame on, by the names and modules of methods. Addresses mean nothing in another
process: frames without a name are alike if their module and the reason are. Thread numbers mean nothing there either,
so threads are merged.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Interned
from clrevents.analysis.gathering.merged import NO_STACK, MergedStacks, StackFrame
from clrevents.analysis.shared.samples.calltree import CallTree, call_tree
from clrevents.analysis.shared.samples.sample_states import used
from clrevents.analysis.shared.samples.samples import SampledThread, Samples
from clrevents.analysis.shared.samples.stack_shapes import FOLDED
from clrevents.analysis.shared.weights.weighing import Weights

_SPELLED: Final = (None, NO_STACK, FOLDED)
"""Reasons of frames whose text says the same in every process."""


@frozen(eq=False)
class ComparedStacks:
    """A tree of the stacks of two traces. `after` and `before` are what each node weighs alone in either.

    `samples` hold all stacks of both, and the frames that the tree refers to. The tree's own weights are the sums of
    both, as floats.
    """

    samples: Samples
    tree: CallTree
    after: Weights
    before: Weights


def compare_stacks(after: Samples, before: Samples) -> ComparedStacks:
    """The stacks of both. Raises ValueError if their weights have different units."""
    if (after.unit, after.timed) != (before.unit, before.timed):
        raise ValueError(f"weights in {after.unit} cannot be compared with weights in {before.unit}")
    frames: Interned[StackFrame] = Interned()
    sides = [(samples, frames.of(map(without_address, samples.frames))) for samples in (after, before)]
    first = len(after.offsets) - 1
    stacks = used(
        MergedStacks(
            np.concatenate((after.stack, before.stack + first)),
            np.concatenate((after.offsets, before.offsets[1:] + after.offsets[-1])),
            np.concatenate([place[samples.values] for samples, place in sides]),
            tuple(frames),
        )
    )
    weight = np.concatenate((after.weight, before.weight))
    joined = attrs.evolve(
        after,
        time_ns=np.concatenate((after.time_ns, before.time_ns)),
        thread=np.zeros(len(weight), dtype=np.int64),
        weight=weight,
        stack=stacks.of,
        offsets=stacks.offsets,
        values=stacks.values,
        threads=(SampledThread(None),),
        frames=stacks.frames,
        external=None,
        advice=after.advice or before.advice,
        state=None,
    )
    mine = np.arange(len(weight)) < len(after)
    # The tree of the same stacks is the same, whatever they weigh.
    tree = call_tree(attrs.evolve(joined, weight=np.where(mine, weight, 0)), merge_threads=True)
    other = call_tree(attrs.evolve(joined, weight=np.where(mine, 0, weight)), merge_threads=True).own
    # Two sums that fit into 64 bits may not do so together.
    both = tree.own.astype(np.float64) + other
    return ComparedStacks(joined, attrs.evolve(tree, own=both), tree.own, other)


def without_address(frame: StackFrame) -> StackFrame:
    if frame.reason in _SPELLED:
        return frame
    name = f"[unresolved in {frame.module}]" if frame.module else "[unresolved]"
    return attrs.evolve(frame, name=name, raw=name)
