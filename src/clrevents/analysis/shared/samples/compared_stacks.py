"""Weighted stacks of several traces as one; of two traces → one tree of calls, with each node's weight in either.

Stacks are joined from the outermost frame on, by the names and modules of methods. Addresses mean nothing in another
process: frames without a name are alike if their module and the reason are. Thread numbers mean nothing there either,
so threads are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Interned
from clrevents.analysis.gathering.merged_stacks import NATIVE_CALL, NO_STACK, MergedStacks, StackFrame
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
    joined = joined_samples([after, before])
    weight = joined.weight
    mine = np.arange(len(weight)) < len(after)
    # The tree of the same stacks is the same, whatever they weigh.
    tree = call_tree(attrs.evolve(joined, weight=np.where(mine, weight, 0)), merge_threads=True)
    other = call_tree(attrs.evolve(joined, weight=np.where(mine, 0, weight)), merge_threads=True).own
    # Two sums that fit into 64 bits may not do so together.
    both = tree.own.astype(np.float64) + other
    return ComparedStacks(joined, attrs.evolve(tree, own=both), tree.own, other)


def joined_samples(each: Sequence[Samples]) -> Samples:
    """The samples of several traces as those of one thread. Raises ValueError if their weights have different units."""
    first = each[0]
    for other in each[1:]:
        if (first.unit, first.timed) != (other.unit, other.timed):
            raise ValueError(f"weights in {first.unit} cannot be compared with weights in {other.unit}")
    frames: Interned[StackFrame] = Interned()
    values = [frames.of(map(without_address, samples.frames))[samples.values] for samples in each]
    stacks = np.cumsum([0, *(len(samples.offsets) - 1 for samples in each)])
    ends = np.cumsum([0, *map(len, values)])
    merged = used(
        MergedStacks(
            np.concatenate([samples.stack + start for samples, start in zip(each, stacks, strict=False)]),
            np.concatenate(([0], *(samples.offsets[1:] + end for samples, end in zip(each, ends, strict=False)))),
            np.concatenate(values),
            tuple(frames),
        )
    )
    weight = np.concatenate([samples.weight for samples in each])
    return attrs.evolve(
        first,
        time_ns=np.concatenate([samples.time_ns for samples in each]),
        thread=np.zeros(len(weight), dtype=np.int64),
        weight=weight,
        stack=merged.of,
        offsets=merged.offsets,
        values=merged.values,
        threads=(SampledThread(None),),
        frames=merged.frames,
        external=None,
        advice=next((samples.advice for samples in each if samples.advice), None),
        state=None,
        cut=np.concatenate([np.zeros(len(one), np.bool_) if one.cut is None else one.cut for one in each]),
        unawaited=None,
    )


def without_address(frame: StackFrame) -> StackFrame:
    """A frame as it is called in every process."""
    if frame.reason in _SPELLED or frame.name.startswith(NATIVE_CALL):
        return frame
    name = f"[unresolved in {frame.module}]" if frame.module else "[unresolved]"
    return StackFrame(name, name, frame.module, frame.reason, frame.kind)
