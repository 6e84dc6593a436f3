"""A progress bar on stderr, if that is a terminal and the work takes longer than a second. Knows no trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, TextIO

_PATIENCE: Final = 1.0


class Meter:
    """Shows bytes done out of a total. `disturbs`: other lines are printed where the bar would be drawn."""

    def __init__(self, stream: TextIO | None, disturbs: bool = False, what: str = "reading") -> None:
        self._stream = stream
        self._wanted = stream is not None and stream.isatty() and not disturbs
        self._what = what
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

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
            self._bar.stop()
            self._bar = None

    def tell(self, done: int, total: int) -> None:
        if not self._wanted:
            return
        if self._bar is None:
            if time.monotonic() - self._started < _PATIENCE:
                return
            self._start(total)
        self._bar.update(self._task, completed=done, total=total)
        self._bar.refresh()

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn(self._what),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(file=self._stream),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(self._what, total=total)
        self._bar.start()
