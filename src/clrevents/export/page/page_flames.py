"""Flame graphs of a page: what takes time, by state and by thread; what allocates; what throws; and, given another
trace, each of these compared with it.

The call tree goes to the renderer that the flame graph's own page has. In a tree with too many boxes, the lightest are
merged into one box of their caller, which says so; no weight is lost.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents.analysis.shared.samples.calltree import call_tree, joined_samples
from clrevents.analysis.shared.samples.leaf_states import STATES
from clrevents.analysis.shared.samples.samples import Samples, read_samples
from clrevents.analysis.shared.weights.allocations import ALLOC, certainty
from clrevents.analysis.shared.weights.weight_fields import OFF_CPU
from clrevents.errors import TraceError
from clrevents.export.flame.flame_html import FlameCut, compared_data
from clrevents.export.look import Look
from clrevents.export.page.page_assembly import shown_text
from clrevents.trace import Trace

_BOXES: Final = 10_000
_COMPARED_BOXES: Final = 5_000
_WEIGHTS: Final = {"time": None, "allocations": ALLOC, "exceptions": "exceptions", "off a processor": OFF_CPU}
"""A picture's name on the page, and its name in `read_samples`."""


@frozen(eq=False)
class PageStacks:
    """The stacks that a trace's pictures are made of, by the pictures' names; `name` is the trace's."""

    name: str
    samples: Mapping[str, Samples]

    @classmethod
    def of(cls, trace: Trace, process_id: int | None = None) -> PageStacks:
        """Those that have a weight, of one process or of all; none if the trace is broken."""
        name = shown_text(os.path.basename(trace.info.path or "") or "trace in memory")
        return cls(name, _page_stacks(trace, process_id))


def _page_stacks(trace: Trace, process_id: int | None) -> dict[str, Samples]:
    stacks = {}
    for name, weight in _WEIGHTS.items():
        try:
            samples = read_samples(trace, weight=weight)
        except TraceError:
            # What is missing is told in the head of the page.
            continue
        samples = samples if process_id is None else samples.of_process(process_id)
        if len(samples) and samples.total:
            stacks[name] = samples
    return stacks


def page_flames(stacks: PageStacks, against: PageStacks | None = None) -> list[dict[str, object]]:
    """The data of the flame graph of all these stacks, and of each that the other trace has too, compared with it."""
    flames = []
    for name, samples in stacks.samples.items():
        tree = call_tree(samples)
        cut = FlameCut.of(tree, len(samples.frames), _BOXES)
        flames.append(
            {"name": name, **_picture(cut.data(samples, Look()), samples, name), "states": _states(samples, cut)}
        )
    if against is not None:
        for name in compared_names(stacks, against):
            samples = stacks.samples[name]
            data = compared_data(samples, against.samples[name], against.name, Look(), _COMPARED_BOXES)
            title = f"{name}, compared with {against.name}"
            flames.append({"name": title, **_picture(data, samples, name), "states": []})
    return flames


def differences(
    base: Sequence[PageStacks], new: Sequence[PageStacks], scales: tuple[float, float], per: str
) -> list[dict[str, object]]:
    """The data of flame graphs of what all recordings have stacks of, as wide as what changed from `base` to `new`.

    `scales` makes amounts of `new` and of `base` what they are `per`.
    """
    flames = []
    name = base[0].name if len(base) == 1 else f"{len(base)} recordings"
    for picture in compared_names(*base, *new):
        before, after = (joined_samples([one.samples[picture] for one in side]) for side in (base, new))
        data = compared_data(after, before, name, Look(), _COMPARED_BOXES)
        flame = _picture(data, after, picture)
        flame |= {"scales": list(scales), "per": per, "widths": "changes"}
        flames.append({"name": picture, **flame, "states": []})
    return flames


def compared_names(*each: PageStacks) -> list[str]:
    """What all traces have stacks of, with weights in one unit."""
    common = [name for name in each[0].samples if all(name in one.samples for one in each)]
    return [name for name in common if len({(one.samples[name].unit, one.samples[name].timed) for one in each}) == 1]


def _picture(data: dict[str, Any], samples: Samples, name: str) -> dict[str, Any]:
    for key in ("frames", "modules", "reasons", "threads"):
        data[key] = [shown_text(text) for text in data[key]]
    notes = [data["note"]] if data["note"] else []
    caveat = certainty(samples.event) if _WEIGHTS[name] == ALLOC else None
    if caveat is not None:
        notes.append(caveat[0].upper() + caveat[1:])
    data["note"] = ". ".join(notes)
    return data


def _states(samples: Samples, cut: FlameCut) -> list[tuple[str, list[int], list[int]]]:
    """The nodes with a weight in each state, and these weights; states that do not occur are left out."""
    if samples.state is None:
        return []
    states: list[tuple[str, list[int], list[int]]] = []
    for place, state in enumerate(STATES):
        weight = np.where(samples.state == place, samples.weight, 0)
        if not weight.any():
            continue
        # The tree of the same stacks is the same, whatever they weigh.
        own = cut.moved(call_tree(attrs.evolve(samples, weight=weight)).own)
        nodes = np.flatnonzero(own)
        states.append((state, nodes.tolist(), own[nodes].tolist()))
    return states
