"""Weighted stacks, alone or compared with another trace's → a flame graph in one self-contained HTML file.

The page is `flame.html` beside this module: its script draws the embedded JSON. Text enters only as data, never as
markup. In a tree with too many boxes, the lightest are merged into one box of their caller, which says so; no weight is
lost. Knows no pixels and no events.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import frozen
from clrevents._util.words import counted, duration_text, safe
from clrevents.analysis.compare.measured import matched_frames
from clrevents.analysis.gathering.groups import Ints, sum_by
from clrevents.analysis.shared.samples.calltree import CallTree, call_tree, compare_stacks
from clrevents.analysis.shared.samples.off_processor import OFF_CPU_CAVEAT
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.weights.weighing import CAVEAT, COUNTED_CAVEAT, CPU_CAVEAT, SAFE_POINT_CAVEAT, Weights
from clrevents.export.look import Look, frame_names, summary, thread_labels

_HERE: Final = Path(__file__).parent
FLAME_STYLE: Final = (_HERE / "flame.css").read_text(encoding="utf-8")
FLAME_SCRIPT: Final = (_HERE / "flame.js").read_text(encoding="utf-8")
"""A function that draws flame graphs, for any page that has the elements it needs."""

_MARKUP: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
"""JSON has these only in strings, where they may be escaped: no text can end the script."""


def render(samples: Samples, look: Look) -> bytes:
    """The page, with the call tree and the text of every box."""
    return flame_page(flame_data(samples, look, call_tree(samples, look.merge_threads)), look)


def flame_page(data: Mapping[str, Any], look: Look) -> bytes:
    """The page that draws this data."""
    parts = {
        "__STYLE__": FLAME_STYLE,
        "__DATA__": escaped_json({"title": _shown(look.title), **{key: _shown(value) for key, value in data.items()}}),
        "__SCRIPT__": FLAME_SCRIPT,
    }
    return filled_page(_HERE / "flame.html", parts)


def filled_page(template: Path, parts: Mapping[str, str]) -> bytes:
    """A page's template with a text at each place. The places come in this order, and each once: inserted text is not
    searched for further places."""
    rest, pieces = template.read_text(encoding="utf-8"), []
    for place, text in parts.items():
        before, _, rest = rest.partition(place)
        pieces += [before, text]
    return "".join([*pieces, rest]).encode()


def _shown(value: Any) -> Any:
    """What the script draws, with all texts as they are shown: the door of a flame graph's texts."""
    if isinstance(value, str):
        return safe(value)
    return list(map(safe, value)) if isinstance(value, list) and value and isinstance(value[0], str) else value


def escaped_json(data: Any) -> str:
    """JSON that can stand in a script element, whatever its texts contain."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_MARKUP)


def flame_data(samples: Samples, look: Look, tree: CallTree) -> dict[str, Any]:
    """What the script draws: a tree of these samples, with the names of its frames."""
    modules = list(dict.fromkeys(frame.module for frame in samples.frames))
    place = {module: number for number, module in enumerate(modules)}
    how = (
        (samples.timed, CAVEAT),
        (samples.at_safe_points, SAFE_POINT_CAVEAT),
        (samples.by_counts, COUNTED_CAVEAT),
        (samples.on_processor and not samples.by_counts, CPU_CAVEAT),
        (samples.off_processor, OFF_CPU_CAVEAT),
    )
    notes = [caveat for applies, caveat in how if applies]
    if samples.cut_text is not None:
        notes.append(samples.cut_text)
    if samples.advice is not None:
        notes.append(f"many names are missing: {samples.advice}")
    return {
        "about": summary(samples),
        "note": ". ".join(note[0].upper() + note[1:] for note in notes),
        "unit": samples.unit,
        "threads": [] if look.merge_threads else thread_labels(samples),
        "frames": frame_names(samples, look),
        "modules": modules,
        "module": [place[frame.module] for frame in samples.frames],
        "reasons": [frame.reason or "" for frame in samples.frames],
        "kinds": [frame.kind or "" for frame in samples.frames],
        "parent": tree.parent.tolist(),
        "frame": tree.frame.tolist(),
        "own": tree.own.tolist(),
    }


SMALL: Final = "(boxes too small for this page)"


@frozen(eq=False)
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
        flame = cls(cut, moved, len(tree) - sum(kept))
        return attrs.evolve(flame, tree=attrs.evolve(cut, own=flame.moved(tree.own)))

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
        data["kinds"].append("")
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
        for key in ("frames", "reasons", "kinds", "module"):
            data[key] = [data[key][frame] for frame in used]
        modules = sorted(set(data["module"]))
        where = {module: number for number, module in enumerate(modules)}
        data["module"] = [where[module] for module in data["module"]]
        data["modules"] = [data["modules"][module] for module in modules]
        return data


_ALIKE: Final = 1.25
"""Periods with a smaller ratio count as equal."""


def compared_data(after: Samples, before: Samples, name: str, look: Look, most: int | None = None) -> dict[str, Any]:
    """What the script draws of two traces, `before` being called `name`; with more than `most` boxes, the heaviest in
    both together. Raises ValueError if their weights have different units."""
    before, after = matched_frames(before, after)
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
    """How the measurements of the two differ, as sentences without a full stop."""
    differences = []
    if after.event != before.event:
        differences.append(f"Stacks are from {after.event} here and from {before.event} in {name}")
    own, other = _period_ns(after), _period_ns(before)
    if own is not None and other is not None and max(own, other) >= _ALIKE * min(own, other):
        every = f"Threads were sampled every {duration_text(own)} here and every {duration_text(other)} in {name}"
        differences.append(f"{every}; weights are times in both")
    return differences


def _period_ns(samples: Samples) -> int | None:
    """The median weight of profiler samples, leaving out those that no other one follows."""
    if not samples.timed:
        return None
    known = np.sort(samples.weight[samples.weight > 0])
    return int(known[(len(known) - 1) // 2]) if len(known) else None
