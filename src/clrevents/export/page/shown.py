"""What `show()` of samples and of answers shows: which page, how high, and what a notebook's file keeps of it.

Called by name from the room below, where these methods are (`analysis/showing.py`).
"""

from __future__ import annotations

from typing import Any, Final

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.shared.samples.calltree import CallTree, call_tree
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.flame.flame_cut import FlameCut
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
