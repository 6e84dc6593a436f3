"""Weighted stacks → a flame graph in one self-contained HTML file.

The page is `flame.html` beside this module: its script draws the embedded JSON. Text enters the page only as data,
never as markup. Knows no pixels and no events.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from clrevents.analysis.calltree import call_tree
from clrevents.analysis.samples import Samples
from clrevents.analysis.weighing import CAVEAT
from clrevents.export.flame import Look, frame_names, summary, thread_label

_PLACE: Final = "__DATA__"
_MARKUP: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}
"""JSON has these only in strings, where they may be escaped: no text can end the script."""


def render(samples: Samples, look: Look) -> bytes:
    """The page, with the call tree and the text of every box."""
    page = Path(__file__).with_name("flame.html").read_text(encoding="utf-8")
    data = json.dumps(_data(samples, look), separators=(",", ":"), allow_nan=False).translate(_MARKUP)
    before, _, behind = page.partition(_PLACE)
    return f"{before}{data}{behind}".encode()


def _data(samples: Samples, look: Look) -> dict[str, Any]:
    tree = call_tree(samples, look.merge_threads)
    modules = list(dict.fromkeys(frame.module for frame in samples.frames))
    place = {module: number for number, module in enumerate(modules)}
    notes = [CAVEAT] if samples.timed else []
    if samples.advice is not None:
        notes.append(f"many names are missing: {samples.advice}")
    return {
        "title": look.title,
        "about": summary(samples),
        "note": ". ".join(note[0].upper() + note[1:] for note in notes),
        "unit": samples.unit,
        "threads": [] if look.merge_threads else [thread_label(samples, track) for track in samples.threads],
        "frames": frame_names(samples, look),
        "modules": modules,
        "module": [place[frame.module] for frame in samples.frames],
        "reasons": [frame.reason or "" for frame in samples.frames],
        "parent": tree.parent.tolist(),
        "frame": tree.frame.tolist(),
        "own": tree.own.tolist(),
    }
