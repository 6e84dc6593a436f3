"""Flame graphs of a page: what takes time, by state and by thread; what allocates; what throws.

The call tree goes to the renderer that the flame graph's own page has. A tree with too many boxes loses the lightest
ones to one box of their caller, which says so; the weights stay whole.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np

from clrevents.analysis.sampled.calltree import call_tree
from clrevents.analysis.sampled.leaf_states import STATES
from clrevents.analysis.sampled.samples import Samples, read_samples
from clrevents.analysis.weights.allocation_rows import certainty
from clrevents.errors import TraceError
from clrevents.export.flame import Look
from clrevents.export.flame_cut import FlameCut
from clrevents.export.page.page_texts import shown_text
from clrevents.trace import Trace

_BOXES: Final = 10_000
_WEIGHTS: Final = (("time", None), ("allocations", "alloc"), ("exceptions", "exceptions"))
"""What a picture is called, and what `read_samples` calls it."""


def page_flames(trace: Trace) -> list[dict[str, Any]]:
    """The data of every flame graph that the trace has stacks for; none where the trace breaks."""
    found = []
    for name, weight in _WEIGHTS:
        try:
            samples = read_samples(trace, weight=weight)
        except TraceError:
            # What is missing is told in the head of the page.
            continue
        if len(samples) and samples.total:
            found.append({"name": name, **_picture(samples, weight)})
    return found


def _picture(samples: Samples, weight: str | None) -> dict[str, Any]:
    tree = call_tree(samples)
    cut = FlameCut.of(tree, len(samples.frames), _BOXES)
    data = cut.data(samples, Look())
    for key in ("frames", "modules", "reasons", "threads"):
        data[key] = [shown_text(text) for text in data[key]]
    notes = [data["note"]] if data["note"] else []
    caveat = certainty(samples.event) if weight == "alloc" else None
    if caveat is not None:
        notes.append(caveat[0].upper() + caveat[1:])
    data["note"] = ". ".join(notes)
    data["states"] = _states(samples, cut)
    return data


def _states(samples: Samples, cut: FlameCut) -> list[tuple[str, list[int], list[int]]]:
    """The nodes with a weight in each state, and these weights; states that do not occur are left out."""
    if samples.state is None:
        return []
    found: list[tuple[str, list[int], list[int]]] = []
    for place, state in enumerate(STATES):
        weight = np.where(samples.state == place, samples.weight, 0)
        if not weight.any():
            continue
        # The tree of the same stacks is the same, whatever they weigh.
        own = cut.moved(call_tree(attrs.evolve(samples, weight=weight)).own)
        nodes = np.flatnonzero(own)
        found.append((state, nodes.tolist(), own[nodes].tolist()))
    return found
