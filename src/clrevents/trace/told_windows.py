"""The bytes of a trace, with progress reported to a user's function or a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from clrevents._util.meter import Meter
from clrevents.sources import Source

Progress: TypeAlias = Callable[[int, int], Any]

_SECONDS: Final = 0.1


class ToldWindows:
    """The windows of a source. `progress` is called with bytes (done, total); if it is true, a bar is drawn."""

    def __init__(self, source: Source, progress: Progress | bool | None) -> None:
        self._source = source
        self._meter = Meter.anywhere()
        self._tell = self._meter.hook if progress is True else progress or None

    def windows(self) -> Iterator[bytes]:
        """The source's bytes; tells at most ten times a second."""
        if self._tell is None:
            yield from self._source.windows()
            return
        done, total = 0, self._source.size
        told = time.monotonic()
        try:
            for data in self._source.windows():
                yield data
                done += len(data)
                now = time.monotonic()
                if now - told >= _SECONDS:
                    told = now
                    self._tell(done, max(total, done))
            self._tell(done, max(total, done))
        finally:
            # Also where a reader stops early, or the trace breaks.
            self._meter.restart()
