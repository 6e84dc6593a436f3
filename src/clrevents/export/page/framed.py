"""A whole page inside another one: a frame that holds it as text, in a sandbox, so that neither reaches the other.

What is shown in a notebook is cut until the frame is small enough to be kept in a file; a browser gets the whole page.
Knows pages as bytes; what is in them is their renderers' affair.
"""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Final

from clrevents._util.notebook import notebook_shell, show_html
from clrevents._util.words import safe

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
    """A frame with this page, so many pixels high."""
    return _FRAME.format(safe(name).translate({**_TEXT, ord('"'): "&quot;"}), height, page.decode().translate(_TEXT))


def fitting_frame(page_of: Callable[[int], bytes], most: int, name: str, height: int) -> str:
    """A frame of at most `MOST_BYTES` with a page of at most `most` things; of fewer where it would be larger."""
    while True:
        made = framed(page_of(most), name, height)
        size = len(made.encode())
        if size <= MOST_BYTES or most < 2:
            return made
        most = min(most * MOST_BYTES // size * 19 // 20, most - 1)


def show_page(whole: Callable[[], bytes], frame: Callable[[], str], text: Callable[[], str]) -> None:
    """Show a frame below the notebook's cell that runs; elsewhere open the whole page in a browser.

    Raises OSError where no browser can be started, with the name of the page's file.
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
