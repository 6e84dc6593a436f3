"""Weighted stacks of two traces → one flame graph: widths of the one, colours by how shares changed against the other.

What the other has and the first has not is in the data too; the script lists it. Text enters as data only.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from clrevents.analysis.shared.samples.compared_stacks import compare_stacks
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.flame.flame_cut import FlameCut
from clrevents.export.flame.flame_html import flame_page
from clrevents.export.look import Look, summary

_ALIKE: Final = 1.25
"""Periods whose ratio is less are told apart by nobody."""


def render_compared(after: Samples, before: Samples, name: str, look: Look) -> bytes:
    """The page of one flame graph: `after` compared with `before`, which is called `name`.

    Raises ValueError where their weights are of different units.
    """
    return flame_page(compared_data(after, before, name, look), look)


def compared_data(after: Samples, before: Samples, name: str, look: Look, most: int | None = None) -> dict[str, Any]:
    """What the script draws of two traces; of more than `most` boxes, those that are heaviest in both together."""
    compared = compare_stacks(after, before)
    cut = FlameCut.of(compared.tree, len(compared.samples.frames), len(compared.tree) if most is None else most)
    data = cut.data(compared.samples, look._replace(merge_threads=True))
    data["about"] = f"{summary(after)}, compared with {summary(before)} of {name}"
    data["note"] = ". ".join(filter(None, (data["note"], *_differences(after, before, name))))
    data["against"] = name
    data["own"] = cut.moved(compared.after).tolist()
    data["before"] = cut.moved(compared.before).tolist()
    return data


def _differences(after: Samples, before: Samples, name: str) -> list[str]:
    """In what the two were measured differently, as sentences without a full stop."""
    found = []
    if after.event != before.event:
        found.append(f"Stacks are those of {after.event}, and in {name} of {before.event}")
    mine, other = _period_ns(after), _period_ns(before)
    if mine is not None and other is not None and max(mine, other) >= _ALIKE * min(mine, other):
        every = f"A thread has a sample every {mine / 1e6:,.3f} ms, and in {name} every {other / 1e6:,.3f} ms"
        found.append(f"{every}; weights are times in both")
    return found


def _period_ns(samples: Samples) -> int | None:
    """The median of what samples of the profiler weigh, without those that no other one follows."""
    if not samples.timed:
        return None
    known = np.sort(samples.weight[samples.weight > 0])
    return int(known[(len(known) - 1) // 2]) if len(known) else None
