"""Where the weight is: methods or modules by what they weigh alone (exclusive) and with all they call (inclusive).

A method that calls itself counts once a stack. Adds up what `samples` has read; knows no percentages and no page.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import attrs
import numpy as np

from clrevents.analysis.calltree import stack_sums
from clrevents.analysis.samples import Samples

By: TypeAlias = Literal["method", "module"]
BY: Final[tuple[By, ...]] = ("method", "module")

CAVEAT: Final = (
    "the sampler notes where each managed thread is, whether it runs or waits: this is time on the clock, not of a "
    "processor"
)
"""What to keep in mind when reading weights of the sample profiler."""


@attrs.frozen
class HotMethod:
    """One method or module. Weights are in the samples' unit; `samples` were taken in it, `external` is the share of
    `exclusive` that was in native code or waiting (None where the events do not tell)."""

    name: str
    raw: str
    module: str
    exclusive: int | float
    inclusive: int | float
    samples: int
    external: int | float | None


def hottest(samples: Samples, by: By = "method") -> tuple[HotMethod, ...]:
    """All of them, most exclusive weight first, then most inclusive; equal ones by name."""
    labels = [(f.name, f.raw, f.module) if by == "method" else _module(f.module, f.reason) for f in samples.frames]
    groups: dict[tuple[str, str, str], int] = {}
    of = np.array([groups.setdefault(label, len(groups)) for label in labels], dtype=np.int64)
    sums = stack_sums(samples, merge_threads=True)
    leaf = of[samples.values[samples.offsets[sums.stack]]] if len(sums) else sums.stack
    exclusive, inclusive, external = (np.zeros(len(groups), dtype=sums.weight.dtype) for _ in range(3))
    count = np.zeros(len(groups), dtype=np.int64)
    np.add.at(exclusive, leaf, sums.weight)
    np.add.at(external, leaf, sums.external)
    np.add.at(count, leaf, sums.count)
    size = np.diff(samples.offsets)[sums.stack]
    user = np.repeat(np.arange(len(sums)), size)
    places = np.repeat(samples.offsets[sums.stack] - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
    # Counts are not needed, but without them np.unique loads numpy.ma: 10 ms.
    pairs, _ = np.unique(user * max(len(groups), 1) + of[samples.values[places]], return_counts=True)
    np.add.at(inclusive, pairs % max(len(groups), 1), sums.weight[pairs // max(len(groups), 1)])
    known = samples.external is not None
    found = [
        HotMethod(*label, own, whole, number, outside if known else None)
        for label, own, whole, number, outside in zip(
            groups, exclusive.tolist(), inclusive.tolist(), count.tolist(), external.tolist(), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda hot: (-hot.exclusive, -hot.inclusive, hot.raw)))


def _module(module: str, reason: str | None) -> tuple[str, str, str]:
    name = module or f"[{reason or 'no module'}]"
    return name, name, module
