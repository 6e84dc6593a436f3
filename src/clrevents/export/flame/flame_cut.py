"""A call tree with too many boxes for its page: the lightest go to one box of their caller, which says so.

The weights stay whole, and no box that stays is a caller of less than it was. Draws nothing.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.gathering.groups import sum_by
from clrevents.analysis.shared.samples.calltree import CallTree, Ints
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.weights.weighing import Weights
from clrevents.export.flame.flame_html import flame_data
from clrevents.export.look import Look

SMALL: Final = "(boxes too light for this page)"


@attrs.frozen(eq=False)
class FlameCut:
    """A tree of the heaviest nodes. `place` is where the weight of each node of the whole tree went."""

    tree: CallTree
    place: Ints
    gone: int

    @classmethod
    def of(cls, tree: CallTree, small: int, most: int) -> FlameCut:
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
        return sum_by(self.place, own, len(self.tree.parent))

    def data(self, samples: Samples, look: Look) -> dict[str, Any]:
        """What the script draws of the tree of these samples, without names and threads that no box has any more."""
        data = flame_data(samples, look, self.tree)
        if not self.gone:
            return data
        whole = len(self.place)
        data["frames"].append(SMALL)
        data["reasons"].append(f"{counted(self.gone, 'box', 'boxes')} of {whole:,} are left out of this page")
        data["module"].append(len(data["modules"]))
        data["modules"].append("")
        note = f"{counted(self.gone, 'light box', 'light boxes')} of {whole:,} are drawn as one for each caller"
        data["note"] = ". ".join(filter(None, (data["note"], note)))
        used = sorted({frame for frame in data["frame"] if frame >= 0})
        place = {frame: number for number, frame in enumerate(used)}
        threads = sorted({frame for frame in data["frame"] if frame < 0}, reverse=True)
        place.update({frame: -1 - number for number, frame in enumerate(threads)})
        data["frame"] = [place[frame] for frame in data["frame"]]
        data["threads"] = [data["threads"][-1 - frame] for frame in threads]
        for key in ("frames", "reasons", "module"):
            data[key] = [data[key][frame] for frame in used]
        modules = sorted(set(data["module"]))
        where = {module: number for number, module in enumerate(modules)}
        data["module"] = [where[module] for module in data["module"]]
        data["modules"] = [data["modules"][module] for module in modules]
        return data
