"""What a notebook is, and how something is put into one: HTML, with text for frontends that show none.

Knows IPython, and loads it only where it runs already. Knows nothing of traces.
"""

from __future__ import annotations

import sys
from typing import Any


def notebook_shell() -> Any:
    """The shell of the notebook that this process runs for; None in a terminal, in a script, without IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # In every frontend but the terminal cells are shown by a page: Jupyter, VS Code, Colab.
    return None if type(shell).__name__ == "TerminalInteractiveShell" else shell


def show_html(html: str, text: str) -> None:
    """Put this below the cell that runs; `text` is for frontends without HTML."""
    from IPython.display import display

    # As data, not as an `HTML` object, which warns of every frame that it is given.
    display({"text/html": html, "text/plain": text}, raw=True)
