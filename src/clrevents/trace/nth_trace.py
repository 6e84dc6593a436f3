"""One of several traces that were written to a file one after the other.

Where the next one begins is known once the one before it was read to its end.
"""

from __future__ import annotations

from collections.abc import Iterator

from clrevents._util.words import counted
from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.stream.stream import Stream
from clrevents.errors import Limits, SourceError
from clrevents.sources import Source
from clrevents.sources.source import WINDOW


class _Rest:
    """A source from one position on."""

    def __init__(self, whole: Source, start: int) -> None:
        self._whole = whole
        self._start = start
        self.path = whole.path
        self.size = whole.size - start
        self.fault = whole.fault

    def windows(self, size: int = WINDOW) -> Iterator[bytes]:
        skip = self._start
        for data in self._whole.windows(size):
            if skip < len(data):
                yield data[skip:]
            skip = max(skip - len(data), 0)

    def close(self) -> None:
        self._whole.close()


def nth_trace(source: Source, number: int, limits: Limits) -> Source:
    """The source from where its trace of this number begins, counted from 1; reads those before it.

    Raises ValueError for a number below 1, SourceError if there are fewer traces, and what reading these raises.
    """
    if number < 1:
        raise ValueError(f"trace must be at least 1, not {number!r}")
    for before in range(1, number):
        stream = Stream(errors="salvage", limits=limits, tally=Tally(limits.threads))
        for data in source.windows():
            stream.feed(data)
        stream.close()
        if stream.next_trace is None:
            raise SourceError(f"has {counted(before, 'trace')}: there is none of number {number}", path=source.path)
        source = _Rest(source, stream.next_trace)
    return source
