"""A progress bar for people: in a notebook, or on a terminal, if the work takes longer than a second.

The bars are those of IPython and click, which are loaded when one is drawn. Knows no trace.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Final, TextIO

from clrevents._util.words import size_text

_PATIENCE: Final = 1.0


class Meter:
    """Shows bytes done out of a total. `disturbs`: other lines are printed where the bar would be drawn."""

    def __init__(self, stream: TextIO | None, disturbs: bool = False, what: str = "reading") -> None:
        self._stream = stream
        self._notebook = False
        self._wanted = stream is not None and stream.isatty() and not disturbs
        self._what = what
        self._started: float | None = time.monotonic()
        self._bar: _TerminalBar | _NotebookBar | None = None

    @classmethod
    def anywhere(cls) -> Meter:
        """One for programs: below a notebook's cell, or on stderr if that is a terminal; nothing is shown elsewhere."""
        meter = cls(sys.stderr)
        meter._notebook = notebook_shell() is not None
        meter._wanted |= meter._notebook
        meter._started = None
        return meter

    @property
    def hook(self) -> Callable[[int, int], None] | None:
        """A callback taking (done, total), or None if nothing is shown."""
        return self.tell if self._wanted else None

    def part(self, before: int, size: int, total: int) -> Callable[[float], None] | None:
        """The same for a part of `size` after `before`; the callback takes the fraction done, from 0 to 1."""
        if not self._wanted:
            return None
        return lambda share: self.tell(before + int(share * size), total)

    def close(self) -> None:
        """Remove the bar; it returns on further progress."""
        if self._bar is not None:
            self._bar.remove()
            self._bar = None

    def restart(self) -> None:
        """Remove the bar; it returns when further work takes longer than a second."""
        self.close()
        self._started = None

    def tell(self, done: int, total: int) -> None:
        """Report how much is done."""
        if not self._wanted:
            return
        if self._bar is None:
            now = time.monotonic()
            if self._started is None:
                self._started = now
            if now - self._started < _PATIENCE:
                return
            self._bar = _NotebookBar() if self._notebook else _TerminalBar(self._what, self._stream)
        self._bar.move(done, total)


class _TerminalBar:
    def __init__(self, what: str, stream: TextIO | None) -> None:
        import click

        self._done = 0
        self._bar: Any = click.progressbar(
            length=1, label=what, file=stream, show_eta=True, item_show_func=lambda _: self._amount()
        )
        self._stream = stream

    def move(self, done: int, total: int) -> None:
        self._bar.length = max(total, 1)
        self._bar.update(done - self._done)
        self._done = done

    def remove(self) -> None:
        """The cursor again, and nothing where the bar was."""
        if self._stream is not None:
            self._stream.write("\r\x1b[2K\x1b[?25h")
            self._stream.flush()

    def _amount(self) -> str:
        return f"{size_text(self._bar.pos)} of {size_text(self._bar.length or 0)}"


class _NotebookBar:
    """Of IPython."""

    def __init__(self) -> None:
        self._bar: Any = None

    def move(self, done: int, total: int) -> None:
        from IPython.display import ProgressBar

        if self._bar is None:
            self._bar = ProgressBar(total)
            self._bar.display()
        self._bar.total = total
        self._bar.progress = done

    def remove(self) -> None:
        from IPython.display import display

        if self._bar is not None:
            nothing = {"text/html": "", "text/plain": ""}
            display(nothing, raw=True, display_id=self._bar._display_id, update=True)


def notebook_shell() -> Any:
    """The shell of the notebook that this process runs for; None in a terminal, in a script, without IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # In every frontend but the terminal cells are shown by a page: Jupyter, VS Code, Colab.
    return None if type(shell).__name__ == "TerminalInteractiveShell" else shell
