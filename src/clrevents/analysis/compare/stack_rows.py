"""Weighted stacks → rows in blocks of time: methods and modules alone and with what they called, paths of calls.

Methods of two traces are compared by how the runtime writes them, and frames without a name by why they have none.
Judges nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import numpy as np

from clrevents.analysis.compare.block_statistics import Floats, TimeBlocks
from clrevents.analysis.compare.change import (
    BY_STATE,
    CALLEES,
    CALLERS,
    EXCLUSIVE,
    INCLUSIVE,
    MODULES,
    MODULES_INCLUSIVE,
    PROCESSOR,
    PROCESSOR_INCLUSIVE,
)
from clrevents.analysis.compare.measured import Amount
from clrevents.analysis.framework.vocabulary.answer_values import Evidence
from clrevents.analysis.gathering.groups import Ints, numbered
from clrevents.analysis.gathering.merged_stacks import StackFrame
from clrevents.analysis.reports.callers import CallPaths
from clrevents.analysis.shared.samples.calltree import By, summed_up, without_address
from clrevents.analysis.shared.samples.leaf_states import STATES
from clrevents.analysis.shared.samples.samples import Samples

_MOST_IN_BLOCKS: Final = 20_000
"""Of more paths than this, the lightest have their sums only: each block of each would take memory."""


def method_rows(
    samples: Samples, blocks: TimeBlocks, by: By = "method", unit: str = "ns", evidence: Evidence = "sample"
) -> Iterator[Amount]:
    """What methods, or modules, weigh alone and with what they called, of whatever thread in whatever state."""
    samples = samples.seen()
    if not len(samples):
        return
    frames = [without_address(frame) for frame in samples.frames]
    if by == "method":
        of, keys = numbered([frame.raw for frame in frames])
        labels = _labels(frames)
        families = (EXCLUSIVE, INCLUSIVE)
    else:
        of, keys = numbered([frame.module or f"[{frame.reason or 'no module'}]" for frame in frames])
        labels = {key: key for key in keys}
        families = (MODULES, MODULES_INCLUSIVE)

    def rows(family: str, totals: Floats) -> Iterator[Amount]:
        for key, row in zip(keys, totals, strict=True):
            value = float(row.sum())
            yield Amount(family, key, unit, value, "less", evidence=evidence, blocks=row, label=labels[key])

    weights = samples.weight.astype(np.float64)
    leaf = of[samples.values[samples.offsets[samples.stack]]]
    yield from rows(families[0], blocks.grouped(leaf, len(keys), samples.time_ns, weights))
    totals = np.zeros((len(keys), blocks.count))
    for stack, at, sums in _by_stack(samples, blocks, weights):
        # Each method once, however often it is on the stack.
        methods = np.unique(of[samples.values[samples.offsets[stack] : samples.offsets[stack + 1]]])
        totals[np.ix_(methods, at)] += sums
    yield from rows(families[1], totals)


def processor_rows(samples: Samples, blocks: TimeBlocks) -> Iterator[Amount]:
    """The same of methods in processor time; none where it was not counted."""
    if samples.counted is None:
        return
    renamed = {EXCLUSIVE: PROCESSOR, INCLUSIVE: PROCESSOR_INCLUSIVE}
    for row in method_rows(samples.by_processor(), blocks, evidence="counted"):
        yield attrs.evolve(row, family=renamed[row.family])


def state_rows(samples: Samples, blocks: TimeBlocks) -> Iterator[Amount]:
    """What methods weigh alone, by what their threads did. None if the samples do not show who runs."""
    samples = samples.seen()
    if samples.state is None or not samples.running_told or not len(samples):
        return
    frames = [without_address(frame) for frame in samples.frames]
    of, keys = numbered([frame.raw for frame in frames])
    labels = _labels(frames)
    leaf = of[samples.values[samples.offsets[samples.stack]]] * len(STATES) + samples.state
    pairs, place = np.unique(leaf, return_inverse=True)
    in_blocks = blocks.grouped(place, len(pairs), samples.time_ns, samples.weight.astype(np.float64))
    for pair, row in zip(pairs.tolist(), in_blocks, strict=True):
        key, state = keys[pair // len(STATES)], STATES[pair % len(STATES)]
        name, label = f"{_line(key)}\n{state}", f"{labels[key]} [{state}]"
        yield Amount(BY_STATE, name, "ns", float(row.sum()), "less", evidence="sample", blocks=row, label=label)


def path_rows(
    samples: Samples,
    blocks: TimeBlocks,
    paths: tuple[Ints, CallPaths, CallPaths],
    method: str,
    unit: str,
    evidence: Evidence,
) -> Iterator[Amount]:
    """What paths of callers and of callees weigh, as lines from `method` on; the method itself is the first caller."""
    through, *sides = paths
    frames = [without_address(frame) for frame in samples.frames]
    labels = _labels(frames)
    lines = [(_line(frame.raw), _line(labels[frame.raw])) for frame in frames]
    weights, at = samples.weight.astype(np.float64), blocks.at(samples.time_ns)
    for family, side in zip((CALLERS, CALLEES), sides, strict=True):
        node = np.full(len(samples.offsets) - 1, -1, dtype=np.int64)
        node[through] = side.node
        ends = node[samples.stack]
        ending = ends >= 0
        own: Floats = np.bincount(ends[ending], weights[ending], len(side.parent)).astype(np.float64)
        sums: Floats = summed_up(side.parent, own).astype(np.float64)
        table, place = _in_blocks(side, sums, ends[ending], at[ending], weights[ending], blocks.count)
        paths_of: list[tuple[str, str]] = []
        for number, (parent, frame) in enumerate(zip(side.parent.tolist(), side.frame.tolist(), strict=True)):
            line = lines[frame] if number else (_line(method), _line(method))
            above = paths_of[parent] if number else None
            key, label = line if above is None else (f"{above[0]}\n{line[0]}", f"{above[1]}\n{line[1]}")
            paths_of.append((key, label))
            # Of the callees the method is the same row once more.
            if number or family == CALLERS:
                row = table[place[number]] if place[number] >= 0 else None
                value = float(sums[number])
                yield Amount(family, key, unit, value, "less", evidence=evidence, blocks=row, label=label)


def _in_blocks(side: CallPaths, sums: Floats, ends: Ints, at: Ints, weights: Floats, count: int) -> tuple[Floats, Ints]:
    """The heaviest nodes with everything below them, a row for each, and in which row each node is (-1: in none)."""
    # Of equal ones the first: a caller of all that follow.
    kept = np.sort(np.argsort(-sums, kind="stable")[:_MOST_IN_BLOCKS])
    place = np.full(len(sums), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    nearest = place.copy()
    for number in np.flatnonzero(place < 0).tolist():
        nearest[number] = nearest[side.parent[number]]
    size = len(kept) * count
    table = np.bincount(nearest[ends] * count + at, weights, size).astype(np.float64).reshape(len(kept), count)
    for row in range(len(kept) - 1, 0, -1):
        table[place[side.parent[kept[row]]]] += table[row]
    return table, place


def _by_stack(samples: Samples, blocks: TimeBlocks, weights: Floats) -> Iterator[tuple[int, Ints, Floats]]:
    """Each stack, the blocks that it occurs in, and what it weighs in each."""
    pairs, place = np.unique(samples.stack * blocks.count + blocks.at(samples.time_ns), return_inverse=True)
    sums: Floats = np.bincount(place, weights).astype(np.float64)
    stacks, at = pairs // blocks.count, pairs % blocks.count
    edges = np.flatnonzero(np.diff(stacks, prepend=-1))
    for first, last in zip(edges.tolist(), [*edges[1:].tolist(), len(stacks)], strict=True):
        yield int(stacks[first]), at[first:last], sums[first:last]


def _labels(frames: Sequence[StackFrame]) -> dict[str, str]:
    """Frames' names for people, by how the runtime writes them; which is told where two methods have the same name."""
    names = {frame.raw: frame.name for frame in frames}
    alike = Counter(names.values())
    return {raw: name if alike[name] == 1 else raw for raw, name in names.items()}


def _line(text: str) -> str:
    """A text without line ends, which separate those of a path."""
    return " ".join(text.splitlines())
