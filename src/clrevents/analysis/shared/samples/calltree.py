"""Weighted stacks added up: by stack, by method or module, as a tree of calls, and of two traces as one tree.

A method's own weight is exclusive, that with everything it calls inclusive; recursion counts once a stack. Stacks of
several traces are joined by the names and modules of methods: addresses and thread numbers mean nothing in another
process. Numbers in, numbers out; names stay with the samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Interned, Ints, Mask, grouped, numbered, sum_by
from clrevents.analysis.gathering.merged_stacks import NATIVE_CALL, NO_STACK, MergedStacks, StackFrame, is_own, used
from clrevents.analysis.shared.samples.leaf_states import WAITING
from clrevents.analysis.shared.samples.samples import SampledThread, Samples
from clrevents.analysis.shared.samples.stack_shapes import FOLDED, in_states
from clrevents.analysis.shared.weights.weighing import Weights
from clrevents.symbols.frame import NAMELESS
from clrevents.table.table import Listed

_MOST: Final = int(np.iinfo(np.int64).max)


@frozen(eq=False)
class StackSums:
    """The total weight of each stack, by thread (-1 if threads are merged), in order of first appearance.

    `count` is of samples; `external` the weight of those in native code or waiting (0 where it is not known);
    `counted` are its processor and its ready time, None where they were not counted.
    """

    thread: Ints
    stack: Ints
    weight: Weights
    count: Ints
    external: Weights
    counted: tuple[Ints, Ints] | None

    def __len__(self) -> int:
        return len(self.stack)


@frozen(eq=False)
class CallTree:
    """Nodes of calls, callers before their callees. `parent` is a node (-1 for roots), `frame` a place in the
    samples' frames; at a root of a thread it is -1 - the thread's place. `own` is the weight of the node alone."""

    parent: Ints
    frame: Ints
    own: Weights

    def __len__(self) -> int:
        return len(self.parent)

    def totals(self) -> Weights:
        """The weight of each node with all that it called."""
        return summed_up(self.parent, self.own)


def summed_up(parent: Ints, own: Weights) -> Weights:
    """What each node has with all nodes below it. Parents stand before their children."""
    sums = own.copy()
    parents, weights = parent.tolist(), sums.tolist()
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] >= 0:
            weights[parents[node]] += weights[node]
    try:
        sums[:] = weights
    except OverflowError:
        # A sum of crafted weights: the nearest that 64 bits hold.
        sums[:] = [min(weight, _MOST) for weight in weights]
    return sums


def stack_sums(samples: Samples, merge_threads: bool = False) -> StackSums:
    """Samples of the same stack (and thread) together."""
    stacks = len(samples.offsets) - 1
    thread = np.full(len(samples), -1, dtype=np.int64) if merge_threads else samples.thread
    keys, first, of = np.unique((thread + 1) * stacks + samples.stack, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    weight = sum_by(place[of], samples.weight, len(keys))
    outside = False if samples.external is None else samples.external
    external = sum_by(place[of], np.where(outside, samples.weight, 0), len(keys))
    count = np.bincount(place[of][~samples.unsampled], minlength=len(keys)).astype(np.int64)
    at = first[order]
    counted = None
    if samples.counted is not None:
        used, wanted = samples.counted.of_samples(len(samples))
        counted = sum_by(place[of], used, len(keys)), sum_by(place[of], wanted, len(keys))
    return StackSums(thread[at], samples.stack[at], weight, count, external, counted)


def call_tree(samples: Samples, merge_threads: bool = False) -> CallTree:
    """The tree of all stacks; unless threads are merged, its roots are the threads."""
    sums = stack_sums(samples, merge_threads)
    end = samples.offsets[sums.stack + 1]
    size = end - samples.offsets[sums.stack]
    node = np.full(len(sums), -1, dtype=np.int64)
    parents, frames = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if not merge_threads and len(sums):
        threads, node = np.unique(sums.thread, return_inverse=True)
        parents = np.full(len(threads), -1, dtype=np.int64)
        frames = -1 - threads
    # From the outermost frames inwards.
    tree = grown(samples, lambda deep, depth: end[deep] - 1 - depth, size, (parents, frames, node))
    parents, frames, node = tree
    return CallTree(parents, frames, sum_by(node, sums.weight, len(parents)))


def grown(
    samples: Samples,
    place: Callable[[Ints, int], Ints],
    size: Ints,
    roots: tuple[Ints, Ints, Ints],
) -> tuple[Ints, Ints, Ints]:
    """The parents and frames of nodes, and the node of each of some stacks: `roots`, and those that grow from them.

    `size` is how many frames each stack adds, `place` where in `samples.values` a frame is, by stack and depth.
    """
    parents, frames, node = [roots[0]], [roots[1]], roots[2].copy()
    count, width = len(roots[0]), len(samples.frames)
    # Level by level, so that each step is one call of numpy for all stacks.
    for depth in range(int(size.max(initial=0))):
        deep = np.flatnonzero(size > depth)
        keys, of = np.unique((node[deep] + 1) * width + samples.values[place(deep, depth)], return_inverse=True)
        parents.append(keys // width - 1)
        frames.append(keys % width)
        node[deep] = count + of
        count += len(keys)
    return np.concatenate(parents), np.concatenate(frames), node


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
    is_after = np.arange(len(weight)) < len(after)
    # The tree of the same stacks is the same, whatever they weigh.
    tree = call_tree(attrs.evolve(joined, weight=np.where(is_after, weight, 0)), merge_threads=True)
    other = call_tree(attrs.evolve(joined, weight=np.where(is_after, 0, weight)), merge_threads=True).own
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
        address=None,
    )


def without_address(frame: StackFrame) -> StackFrame:
    """A frame as it is called in every process."""
    if frame.reason in _SPELLED or frame.name.startswith(NATIVE_CALL):
        return frame
    name = f"[unresolved in {frame.module}]" if frame.module else "[unresolved]"
    return StackFrame(name, name, frame.module, frame.reason, frame.kind)


By: TypeAlias = Literal["method", "module"]
BY: Final[tuple[By, ...]] = ("method", "module")
_COUNTED: Final = (
    "ready_ns",
    *(f"{which}processor_{bound}ns" for which in ("", "inclusive_") for bound in ("", "low_", "high_")),
)


@frozen
class HotMethod(Value):
    """One method or module. Weights are in the samples' unit.

    `samples` were taken in it, `inclusive_samples` in it or in what it called. `external` is the part of `exclusive`
    that was in native code or waiting (None if the events do not say), `running` and `waiting` are those in which the
    thread ran managed code or waited. `counted` are the times that the operating system counted, by the names of
    columns: None where its counts are not in the trace. `own` is whether it is the program's, `own_caller` and
    `own_callee` are the nearest methods of the program further out and further in, for most of its weight; None for
    modules.
    """

    name: str
    raw: str
    module: str
    exclusive: int | float
    inclusive: int | float
    samples: int
    external: int | float | None
    inclusive_samples: int
    running: int | float | None = None
    waiting: int | float | None = None
    kind: str | None = None
    reason: str | None = None
    counted: Mapping[str, int] | None = None
    own: bool | None = None
    own_caller: StackFrame | None = None
    own_callee: StackFrame | None = None

    @property
    def order(self) -> tuple[int | float, int | float, str]:
        """What they are sorted by: own processor time, or weight where that is not known, then the name."""
        return _order(self.counted, self.exclusive, self.inclusive, self.raw)


def hottest(samples: Samples, by: By = "method") -> tuple[HotMethod, ...]:
    """All of them, in their order."""
    frames, columns = hot_columns(samples, by)
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return Listed(HotMethod(f.name, f.raw, f.module, **row) for f, row in zip(frames, rows, strict=True))


def hot_columns(samples: Samples, by: By = "method") -> tuple[list[StackFrame], dict[str, list[Any]]]:
    """All of them, in their order, as frames, and what else a `HotMethod` has by its name: of thousands, few names are
    shown."""
    of, frames = numbered(samples.frames if by == "method" else map(_module, samples.frames))
    sums = stack_sums(samples, merge_threads=True)
    leaf = of[samples.values[samples.offsets[sums.stack]]] if len(sums) else sums.stack
    exclusive, inclusive, external = (np.zeros(len(frames), dtype=sums.weight.dtype) for _ in range(3))
    count, touched = (np.zeros(len(frames), dtype=np.int64) for _ in range(2))
    np.add.at(exclusive, leaf, sums.weight)
    np.add.at(external, leaf, sums.external)
    np.add.at(count, leaf, sums.count)
    stack, used, place = _used(samples, sums.stack, of, len(frames))
    np.add.at(inclusive, used, sums.weight[stack])
    np.add.at(touched, used, sums.count[stack])
    none: list[Any] = [None] * len(frames)
    own, kin = none, [none, none]
    if by == "method":
        own = [is_own(frame) for frame in frames]
        theirs = np.array(own, dtype=np.bool_)[of][samples.values]
        nearest = _own_kin(samples, place, theirs, used, sums.weight[stack], len(frames))
        kin = [[None if frame < 0 else samples.frames[frame] for frame in some.tolist()] for some in nearest]
    state = samples.state
    by_state = np.zeros((2, len(frames)), dtype=sums.weight.dtype)
    if state is not None and len(samples):
        places = of[samples.values[samples.offsets[samples.stack]]]
        for row, states in enumerate((("running",), WAITING)):
            in_asked_states = in_states(state, states)
            np.add.at(by_state[row], places[in_asked_states], samples.weight[in_asked_states])
    ran, waited = by_state.tolist()
    # Where names were not recorded, no known method waits.
    untold = [state is None or frame.reason in NAMELESS for frame in frames]
    columns: dict[str, list[Any]] = {
        "exclusive": exclusive.tolist(),
        "inclusive": inclusive.tolist(),
        "samples": count.tolist(),
        "external": none if samples.external is None else external.tolist(),
        "inclusive_samples": touched.tolist(),
        "running": ran if state is not None and samples.running_told else none,
        "waiting": [None if unknown else some for some, unknown in zip(waited, untold, strict=True)],
        "kind": [frame.kind for frame in frames],
        "reason": [frame.reason for frame in frames],
        "counted": _counted(samples, of, len(frames)),
        "own": own,
        "own_caller": kin[0],
        "own_callee": kin[1],
    }
    sizes = zip(columns["counted"], columns["exclusive"], columns["inclusive"], frames, strict=True)
    keys = [_order(counted, own, whole, frame.raw) for counted, own, whole, frame in sizes]
    order = sorted(range(len(frames)), key=keys.__getitem__)
    return [frames[i] for i in order], {name: [values[i] for i in order] for name, values in columns.items()}


def _order(
    counted: Mapping[str, int] | None, exclusive: int | float, inclusive: int | float, raw: str
) -> tuple[int | float, int | float, str]:
    """Most own processor time first, or most weight where that is not known; equal ones by name."""
    if counted is not None:
        return -counted["processor_ns"], -counted["inclusive_processor_ns"], raw
    return -exclusive, -inclusive, raw


def _counted(samples: Samples, of: Ints, count: int) -> list[dict[str, int] | None]:
    """What was counted of each of `count` groups of frames; `of` is the group of each frame."""
    counted = samples.counted
    if counted is None:
        return [None] * count
    stack = samples.stack[counted.sample]
    leaf = of[samples.values[samples.offsets[stack]]] if len(stack) else stack
    sums = {"ready_ns": sum_by(leaf, counted.ready, count)}
    own = np.arange(len(stack)), leaf
    for name, (pieces, group) in (("processor", own), ("inclusive_processor", _used(samples, stack, of, count)[:2])):
        took, spread = sum_by(group, counted.processor[pieces], count), counted.spread(pieces, group, count)
        sums |= {f"{name}_ns": took, f"{name}_low_ns": np.maximum(took - spread, 0), f"{name}_high_ns": took + spread}
    return [dict(zip(sums, row, strict=True)) for row in zip(*(one.tolist() for one in sums.values()), strict=True)]


def _own_kin(samples: Samples, places: Ints, own: Mask, group: Ints, weight: Weights, count: int) -> list[Ints]:
    """For each of `count` groups of frames, the program's frame that is nearest further out, and further in, for most
    of its weight; -1 for none. `places` are those of some frames in `samples.values`, and `own` tells of all of these
    which are the program's."""
    every = np.arange(len(own))
    of = np.repeat(np.arange(len(samples.offsets) - 1), np.diff(samples.offsets))
    outer = np.minimum.accumulate(np.where(own, every, len(own))[::-1])[::-1]
    inner = np.maximum.accumulate(np.where(own, every, -1))
    kin = []
    for near in (np.append(outer, len(own))[places + 1], np.append(inner, -1)[places - 1]):
        there = (near >= 0) & (near < len(own))
        there[there] = of[near[there]] == of[places[there]]
        pairs, which = np.unique(group[there] * len(samples.frames) + samples.values[near[there]], return_inverse=True)
        order = np.argsort(sum_by(which.reshape(-1), weight[there], len(pairs)), kind="stable")
        most = np.full(count, -1, dtype=np.int64)
        # Of those of one group, the last stays.
        most[pairs[order] // max(len(samples.frames), 1)] = pairs[order] % max(len(samples.frames), 1)
        kin.append(most)
    return kin


def _used(samples: Samples, stacks: Ints, of: Ints, count: int) -> tuple[Ints, Ints, Ints]:
    """Pairs of a place in `stacks` and a group of frames that this stack has, each once, and where in `samples.values`
    the innermost of these frames is."""
    size = np.diff(samples.offsets)[stacks]
    user = np.repeat(np.arange(len(stacks)), size)
    places = np.repeat(samples.offsets[stacks] - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
    pairs, first = np.unique(user * max(count, 1) + of[samples.values[places]], return_index=True)
    return pairs // max(count, 1), pairs % max(count, 1), places[first]


def counted_columns(counted: Sequence[Mapping[str, int] | None]) -> dict[str, list[int | None]]:
    """What was counted, as columns of a table: processor time with its bounds, and ready time."""
    return {name: [None if times is None else times[name] for times in counted] for name in _COUNTED}


def telling_names(frames: Sequence[StackFrame]) -> Callable[[int], str]:
    """The name of each by its place; two methods with one name get their modules after it or, within one module, the
    runtime's names."""
    alike = grouped(frames, lambda frame: frame.method.partition("(")[0])
    known: dict[str, tuple[Counter[str], Counter[str]]] = {}

    def name(place: int) -> str:
        frame = frames[place]
        key = frame.method.partition("(")[0]
        if len(alike[key]) == 1:
            return frame.name
        if key not in known:
            modules = {(other.name, other.module) for other in alike[key]}
            known[key] = Counter(other.name for other in alike[key]), Counter(name for name, _ in modules)
        count, several = (counter[frame.name] for counter in known[key])
        if count == 1:
            return frame.name
        return f"{frame.name} [{frame.module or 'unknown module'}]" if several == count else frame.raw

    return name


def _module(frame: StackFrame) -> StackFrame:
    name = frame.module or f"[{frame.reason or 'no module'}]"
    return StackFrame(name, name, frame.module, kind=frame.kind)
