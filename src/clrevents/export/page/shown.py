"""What `show()` of samples and of answers shows: which page, how high, and what a notebook's file keeps of it; and what
`write()` of samples writes.

Called by name from the room below, where these methods are (`analysis/framework/render/showing.py`).
"""

from __future__ import annotations

import os
from typing import Any, Final

from clrevents._util.outputs import whole_file
from clrevents._util.version import __version__
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.shared.samples.calltree import CallTree, call_tree
from clrevents.analysis.shared.samples.samples import FlameFormat, Samples
from clrevents.export.flame.flame_cut import FlameCut
from clrevents.export.flame.flame_formats import FLAME_FORMATS, compared_bytes, flame_bytes, flame_format
from clrevents.export.flame.flame_html import flame_page, render
from clrevents.export.look import Look
from clrevents.export.page.answer_page import answer_page
from clrevents.export.page.framed import MOST_BYTES, fitting_frame, show_page

_BYTES_OF_A_BOX: Final = 6
"""No box of a flame graph takes less."""
_WHOLE_ROWS: Final = 10_000
_FRAMED_ROWS: Final = 500
"""Of each table."""
_ROW: Final = 20
_THINNEST: Final = 2000
"""A box of which so many fit side by side is about as thin as what the script still draws."""
_BESIDE: Final = 220
"""What the page has above and below the picture, in pixels."""
_LOWEST: Final = 320
_HIGHEST: Final = 720


def show_samples(samples: Samples, title: str, merge_threads: bool, height: int | None) -> None:
    """The flame graph's page."""
    look = Look(title=title, merge_threads=merge_threads)
    show_page(lambda: render(samples, look), lambda: flame_frame(samples, look, height), lambda: repr(samples))


def write_samples(
    samples: Samples,
    path: str | os.PathLike[str],
    format: FlameFormat | None,
    title: str,
    merge_threads: bool,
    raw: bool,
    against: Samples | None,
) -> None:
    """The file of a flame graph."""
    name = os.fspath(path)
    chosen = format or flame_format(name)
    if chosen not in FLAME_FORMATS:
        meant = f"the suffix of {name!r} means no format" if format is None else f"unknown format {format!r}"
        raise ValueError(f"{meant}; formats are {', '.join(FLAME_FORMATS)}")
    info, pack = samples.info, name.lower().endswith(".gz")
    look = Look(title, f"clrevents {__version__}", merge_threads, raw, None if info is None else info.start)
    if against is None:
        data = flame_bytes(samples, chosen, look, pack)
    elif chosen != "html":
        raise ValueError(f"samples are compared on a page only, not in the format {chosen}")
    else:
        before = "" if against.info is None else os.path.basename(against.info.path or "")
        other = before or "the other trace"
        data = compared_bytes(samples, against, other, look._replace(title=f"{title} compared with {other}"), pack)
    with whole_file(path) as file:
        file.write(data)


def show_answer(found: Answer[Any], height: int | None) -> None:
    """The answer's page."""
    show_page(lambda: answer_page(found, _WHOLE_ROWS), lambda: answer_frame(found, height), lambda: repr(found))


def answer_frame(found: Answer[Any], height: int | None = None) -> str:
    """The same page in a frame, with fewer rows of its longest tables where it would be too large."""
    return fitting_frame(
        lambda most: answer_page(found, most), _FRAMED_ROWS, f"Report {found.name}", height or _HIGHEST
    )


def flame_frame(samples: Samples, look: Look, height: int | None = None) -> str:
    """The same page in a frame; a tree with too many boxes for it loses the lightest ones, and says so."""
    tree = call_tree(samples, look.merge_threads)

    def page(most: int) -> bytes:
        cut = FlameCut.of(tree, len(samples.frames), most)
        return flame_page(cut.data(samples, look), look)

    height = height or min(max(_BESIDE + _ROW * (_depth(tree) + 1), _LOWEST), _HIGHEST)
    return fitting_frame(page, min(max(len(tree), 1), MOST_BYTES // _BYTES_OF_A_BOX), "Flame graph", height)


def _depth(tree: CallTree) -> int:
    """How many boxes stand on one another at most, of those that are wide enough to be seen."""
    # The last one is where the parent -1 of the lowest boxes is.
    depths = [0] * (len(tree) + 1)
    for node, parent in enumerate(tree.parent.tolist()):
        depths[node] = depths[parent] + 1
    seen = tree.totals() * _THINNEST >= tree.own.sum()
    return max([depth for depth, wide in zip(depths, seen.tolist(), strict=False) if wide], default=0)
