"""Weighted stacks → a flame graph in one self-contained HTML file.

The page is `flame.html` beside this module: its script draws the embedded JSON. Text enters the page only as data,
never as markup. Knows no pixels and no events.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from clrevents.analysis.shared.samples.calltree import CallTree, call_tree
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.weights.weighing import CAVEAT
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
        "__DATA__": escaped_json({"title": look.title, **data}),
        "__SCRIPT__": FLAME_SCRIPT,
    }
    return filled_page(_HERE / "flame.html", parts)


def filled_page(template: Path, parts: Mapping[str, str]) -> bytes:
    """A page's template with a text at each place. The places come in this order, and each once: what was put in is
    not searched for another."""
    rest, made = template.read_text(encoding="utf-8"), []
    for place, text in parts.items():
        before, _, rest = rest.partition(place)
        made += [before, text]
    return "".join([*made, rest]).encode()


def escaped_json(data: Any) -> str:
    """JSON that can stand in a script element, whatever its texts hold."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_MARKUP)


def flame_data(samples: Samples, look: Look, tree: CallTree) -> dict[str, Any]:
    """What the script draws: a tree of these samples, with the names of its frames."""
    modules = list(dict.fromkeys(frame.module for frame in samples.frames))
    place = {module: number for number, module in enumerate(modules)}
    notes = [CAVEAT] if samples.timed else []
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
        "parent": tree.parent.tolist(),
        "frame": tree.frame.tolist(),
        "own": tree.own.tolist(),
    }
