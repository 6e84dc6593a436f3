"""Methods or modules by their own weight (exclusive) and by that with everything they call (inclusive).

A recursive method counts once per stack. Adds up what `samples` has read; knows no percentages and no page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Value
from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import numbered, sum_by
from clrevents.analysis.shared.samples.calltree import stack_sums
from clrevents.analysis.shared.samples.leaf_states import WAITING
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.samples.stack_shapes import in_states
from clrevents.symbols.frame import NAMELESS
from clrevents.table.table import Listed

Ints: TypeAlias = NDArray[np.int64]
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
    thread ran managed code or waited. `counted` are the times that the operating system
    counted, by the names of columns: None where its counts are not in the trace.
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

    @property
    def order(self) -> tuple[int | float, int | float, str]:
        """Most own processor time first, or most weight where that is not known; equal ones by name."""
        if self.counted is not None:
            return -self.counted["processor_ns"], -self.counted["inclusive_processor_ns"], self.raw
        return -self.exclusive, -self.inclusive, self.raw


def hottest(samples: Samples, by: By = "method") -> tuple[HotMethod, ...]:
    """All of them, in their order."""
    labels = [
        ((f.name, f.raw, f.module), f.kind, f.reason) if by == "method" else (_module(f.module, f.reason), f.kind, None)
        for f in samples.frames
    ]
    of, groups = numbered(labels)
    sums = stack_sums(samples, merge_threads=True)
    leaf = of[samples.values[samples.offsets[sums.stack]]] if len(sums) else sums.stack
    exclusive, inclusive, external = (np.zeros(len(groups), dtype=sums.weight.dtype) for _ in range(3))
    count, touched = (np.zeros(len(groups), dtype=np.int64) for _ in range(2))
    np.add.at(exclusive, leaf, sums.weight)
    np.add.at(external, leaf, sums.external)
    np.add.at(count, leaf, sums.count)
    stack, used = _used(samples, sums.stack, of, len(groups))
    np.add.at(inclusive, used, sums.weight[stack])
    np.add.at(touched, used, sums.count[stack])
    known = samples.external is not None
    state = samples.state
    by_state = np.zeros((2, len(groups)), dtype=sums.weight.dtype)
    if state is not None and len(samples):
        places = of[samples.values[samples.offsets[samples.stack]]]
        for row, states in enumerate((("running",), WAITING)):
            mine = in_states(state, states)
            np.add.at(by_state[row], places[mine], samples.weight[mine])
    ran, waited = by_state.tolist()
    own, whole, outside = (column.tolist() for column in (exclusive, inclusive, external))
    number, reached = count.tolist(), touched.tolist()
    times = _counted(samples, of, len(groups))
    found = [
        HotMethod(
            *(*label, own[i], whole[i], number[i], outside[i] if known else None, reached[i]),
            running=ran[i] if state is not None and samples.running_told else None,
            # Where names were not recorded, no known method waits.
            waiting=None if state is None or reason in NAMELESS else waited[i],
            kind=kind,
            reason=reason,
            counted=times[i],
        )
        for i, (label, kind, reason) in enumerate(groups)
    ]
    return Listed(sorted(found, key=lambda hot: hot.order))


def _counted(samples: Samples, of: Ints, count: int) -> list[dict[str, int] | None]:
    """What was counted of each of `count` groups of frames; `of` is the group of each frame."""
    counted = samples.counted
    if counted is None:
        return [None] * count
    stack = samples.stack[counted.sample]
    leaf = of[samples.values[samples.offsets[stack]]] if len(stack) else stack
    held = {"ready_ns": sum_by(leaf, counted.ready, count)}
    own = np.arange(len(stack)), leaf
    for name, (pieces, group) in (("processor", own), ("inclusive_processor", _used(samples, stack, of, count))):
        took, spread = sum_by(group, counted.processor[pieces], count), counted.spread(pieces, group, count)
        held |= {f"{name}_ns": took, f"{name}_low_ns": np.maximum(took - spread, 0), f"{name}_high_ns": took + spread}
    return [dict(zip(held, row, strict=True)) for row in zip(*(one.tolist() for one in held.values()), strict=True)]


def _used(samples: Samples, stacks: Ints, of: Ints, count: int) -> tuple[Ints, Ints]:
    """Pairs of a place in `stacks` and a group of frames that this stack has, each once."""
    size = np.diff(samples.offsets)[stacks]
    user = np.repeat(np.arange(len(stacks)), size)
    places = np.repeat(samples.offsets[stacks] - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
    # Counts are not needed, but without them np.unique loads numpy.ma: 10 ms.
    pairs, _ = np.unique(user * max(count, 1) + of[samples.values[places]], return_counts=True)
    return pairs // max(count, 1), pairs % max(count, 1)


def counted_columns(rows: Sequence[HotMethod]) -> dict[str, list[int | None]]:
    """What was counted, as columns of a table: processor time with its bounds, and ready time."""
    return {name: [None if hot.counted is None else hot.counted[name] for hot in rows] for name in _COUNTED}


def telling_names(rows: Sequence[HotMethod]) -> list[str]:
    """Their names; two methods with one name get their modules after it or, within one module, the runtime's names."""
    alike = Counter(hot.name for hot in rows)
    modules = Counter({(hot.name, hot.module) for hot in rows})
    several = Counter(name for name, _ in modules)
    return [
        hot.name
        if alike[hot.name] == 1
        else f"{hot.name} [{hot.module or 'unknown module'}]"
        if several[hot.name] == alike[hot.name]
        else hot.raw
        for hot in rows
    ]


def _module(module: str, reason: str | None) -> tuple[str, str, str]:
    name = module or f"[{reason or 'no module'}]"
    return name, name, module
