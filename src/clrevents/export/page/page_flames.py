"""Flame graphs of a page: what takes time, by state and by thread; what allocates; what throws.

The call tree goes to the renderer that the flame graph's own page has. A tree with too many boxes loses the lightest
ones to one box of their caller, which says so; the weights stay whole.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np

from clrevents.analysis.allocation_rows import certainty
from clrevents.analysis.calltree import CallTree, Ints, call_tree
from clrevents.analysis.leaf_states import STATES
from clrevents.analysis.samples import Samples, read_samples
from clrevents.analysis.weighing import Weights
from clrevents.errors import TraceError
from clrevents.export.flame import Look
from clrevents.export.flame_html import flame_data
from clrevents.export.page.page_texts import shown_text
from clrevents.trace import Trace
from clrevents.words import counted

SMALL: Final = "(boxes too light for this page)"

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
    cut = _Cut.of(tree, len(samples.frames), _BOXES)
    data = flame_data(samples, Look(), cut.tree)
    for key in ("frames", "modules", "reasons", "threads"):
        data[key] = [shown_text(text) for text in data[key]]
    notes = [data["note"]] if data["note"] else []
    caveat = certainty(samples.event) if weight == "alloc" else None
    if caveat is not None:
        notes.append(caveat[0].upper() + caveat[1:])
    if cut.gone:
        data["frames"].append(SMALL)
        data["reasons"].append(f"{counted(cut.gone, 'box', 'boxes')} of {len(tree):,} are left out of this page")
        data["module"].append(len(data["modules"]))
        data["modules"].append("")
        notes.append(
            f"{counted(cut.gone, 'light box', 'light boxes')} of {len(tree):,} are drawn as one for each caller"
        )
    data["note"] = ". ".join(notes)
    data["states"] = _states(samples, cut)
    return data


def _states(samples: Samples, cut: _Cut) -> list[tuple[str, list[int], list[int]]]:
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


@attrs.frozen(eq=False)
class _Cut:
    """A tree of the heaviest nodes. `place` is where the weight of each node of the whole tree went."""

    tree: CallTree
    place: Ints
    gone: int

    @classmethod
    def of(cls, tree: CallTree, small: int, most: int) -> _Cut:
        """The `most` heaviest nodes; `small` is the frame of the nodes that hold the others."""
        if len(tree) <= most:
            return cls(tree, np.arange(len(tree)), 0)
        wanted = np.zeros(len(tree), dtype=bool)
        # Of equal weights the earlier ones stay: callers stand before their callees.
        wanted[np.argsort(-tree.totals(), kind="stable")[:most]] = True
        parents: list[int] = []
        frames: list[int] = []
        place: list[int] = []
        rest: dict[int, int] = {}
        kept: list[bool] = []
        for parent, frame, own in zip(tree.parent.tolist(), tree.frame.tolist(), wanted.tolist(), strict=True):
            above = -1 if parent < 0 else place[parent]
            stays = own and (parent < 0 or kept[parent])
            kept.append(stays)
            if stays or ((parent < 0 or kept[parent]) and above not in rest):
                place.append(len(parents))
                parents.append(above)
                frames.append(frame if stays else small)
                if not stays:
                    rest[above] = place[-1]
            else:
                place.append(rest[above] if parent < 0 or kept[parent] else above)
        moved = np.array(place, dtype=np.int64)
        cut = CallTree(np.array(parents, dtype=np.int64), np.array(frames, dtype=np.int64), np.zeros_like(tree.own[:0]))
        made = cls(cut, moved, len(tree) - sum(kept))
        return attrs.evolve(made, tree=attrs.evolve(cut, own=made.moved(tree.own)))

    def moved(self, own: Weights) -> Weights:
        """The weights of the whole tree's nodes, where they went."""
        found = np.zeros_like(own, shape=len(self.tree.parent))
        np.add.at(found, self.place, own)
        return found
