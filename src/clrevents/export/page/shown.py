"""What `show()` of samples and of answers shows: which page, how high, in a frame or in a browser; and what `write()`
of samples writes.

A frame contains a whole page as text, in a sandbox, so neither it nor the notebook can reach the other; it is cut until
it is small enough to be kept in a file. Offered to the room below, where these methods are.
"""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

from clrevents._util.meter import notebook_shell
from clrevents._util.notebook_views import show_html
from clrevents._util.outputs import whole_file
from clrevents._util.version import __version__
from clrevents._util.words import safe
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.render.show import question_text
from clrevents.analysis.shared.samples.calltree import CallTree, call_tree
from clrevents.analysis.shared.samples.samples import FlameFormat, Samples
from clrevents.export.file_formats import file_format
from clrevents.export.flame.flame_formats import FLAME_FORMATS, flame_bytes
from clrevents.export.flame.flame_html import FlameCut, flame_page, render
from clrevents.export.look import Look
from clrevents.export.page.page_assembly import PageTexts, assembled_page, shown_text
from clrevents.export.page.page_sections import page_charts, page_sections

MOST_BYTES: Final = 1_000_000
"""No frame has more bytes than this, with the page inside."""

# Scripts run, and that is all: no storage, no forms, no windows, and no way to the notebook.
_FRAME: Final = (
    '<iframe sandbox="allow-scripts" title="{}" '
    "style=\"width:100%;height:{}px;border:1px solid #8888;resize:vertical\" srcdoc='{}'></iframe>"
)
_TEXT: Final = {ord("&"): "&amp;", ord("'"): "&#39;"}
"""All that an attribute between single quotes cannot hold."""


def framed(page: bytes, name: str, height: int) -> str:
    """A frame with this page, of this height in pixels."""
    return _FRAME.format(safe(name).translate({**_TEXT, ord('"'): "&quot;"}), height, page.decode().translate(_TEXT))


def fitting_frame(page_of: Callable[[int], bytes], most: int, name: str, height: int) -> str:
    """A frame of at most `MOST_BYTES` with a page of at most `most` things; of fewer where it would be larger."""
    while True:
        frame = framed(page_of(most), name, height)
        size = len(frame.encode())
        if size <= MOST_BYTES or most < 2:
            return frame
        most = min(most * MOST_BYTES // size * 19 // 20, most - 1)


def show_page(whole: Callable[[], bytes], frame: Callable[[], str], text: Callable[[], str]) -> None:
    """Show a frame below the notebook's cell that runs; elsewhere open the whole page in a browser.

    Raises OSError, with the name of the page's file, if no browser can be started.
    """
    if notebook_shell() is not None:
        show_html(frame(), text())
        return
    # Nobody else may read it; it stays, because a browser reads it when this program may have ended.
    number, path = tempfile.mkstemp(prefix="clrevents-", suffix=".html")
    with os.fdopen(number, "wb") as file:
        file.write(whole())
    if not webbrowser.open(Path(path).as_uri()):
        raise OSError(f"no browser can be started here; the page is {path}")


_SCRIPTS: Final = ("page_parts.js", "page_tables.js", "page_section.js", "answer.js")


def answer_page(answer: Answer[object], most: int) -> bytes:
    """The page; no table has more than `most` rows. Bulk tables are only counted."""
    texts = PageTexts()
    charts = [chart() for chart in page_charts(answer)]
    (section,) = page_sections({answer.name: answer}, {answer.name: charts}, most, texts)
    data = {"about": shown_text(question_text(answer.question)), "section": section, "texts": texts.all}
    return assembled_page("answer.html", ("page.css",), _SCRIPTS, data)


_BYTES_OF_A_BOX: Final = 6
"""No box of a flame graph takes fewer bytes."""
_WHOLE_ROWS: Final = 10_000
_FRAMED_ROWS: Final = 500
"""Of each table."""
_ROW: Final = 20
_THINNEST: Final = 2000
"""How many of the thinnest boxes that the script still draws fit side by side."""
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
    chosen = format or file_format(name, "flame")
    if chosen not in FLAME_FORMATS:
        meant = (
            f"the suffix of {name!r} is not that of a known format" if format is None else f"unknown format {format!r}"
        )
        raise ValueError(f"{meant}; formats are {', '.join(FLAME_FORMATS)}")
    info, pack = samples.info, name.lower().endswith(".gz")
    look = Look(title, f"clrevents {__version__}", merge_threads, raw, None if info is None else info.start)
    before = None
    if against is not None:
        if chosen != "html":
            raise ValueError(f"samples can be compared only on a page (html), not in the format {chosen}")
        name_of_other = "" if against.info is None else os.path.basename(against.info.path or "")
        before = name_of_other or "the other trace", against
    data = flame_bytes(samples, chosen, look, pack, before)
    with whole_file(path, *(one.info.path for one in (samples, against) if one and one.info)) as file:
        file.write(data)


def show_answer(answer: Answer[object], height: int | None) -> None:
    """The answer's page."""
    show_page(lambda: answer_page(answer, _WHOLE_ROWS), lambda: answer_frame(answer, height), lambda: repr(answer))


def answer_frame(answer: Answer[object], height: int | None = None) -> str:
    """The same page in a frame, with fewer rows of its longest tables if it would be too large."""
    return fitting_frame(
        lambda most: answer_page(answer, most), _FRAMED_ROWS, f"Report {answer.name}", height or _HIGHEST
    )


def flame_frame(samples: Samples, look: Look, height: int | None = None) -> str:
    """The same page in a frame; a tree with too many boxes loses the lightest ones, and says so."""
    tree = call_tree(samples, look.merge_threads)

    def page(most: int) -> bytes:
        cut = FlameCut.of(tree, len(samples.frames), most)
        return flame_page(cut.data(samples, look), look)

    height = height or min(max(_BESIDE + _ROW * (_depth(tree) + 1), _LOWEST), _HIGHEST)
    return fitting_frame(page, min(max(len(tree), 1), MOST_BYTES // _BYTES_OF_A_BOX), "Flame graph", height)


def _depth(tree: CallTree) -> int:
    """The height of the tallest stack of boxes wide enough to be seen."""
    # The last one is where the parent -1 of the lowest boxes is.
    depths = [0] * (len(tree) + 1)
    for node, parent in enumerate(tree.parent.tolist()):
        depths[node] = depths[parent] + 1
    seen = tree.totals() * _THINNEST >= tree.own.sum()
    return max([depth for depth, wide in zip(depths, seen.tolist(), strict=False) if wide], default=0)
