"""How many events a stream has, and lost, as it arrives: headers only, no payload is touched and nothing is kept.

For code that passes bytes on and wants to know what they contain. Says nothing about damage except whether the end was
there.
"""

from __future__ import annotations

from collections.abc import Callable

from clrevents.decode.kernels.header_scan import Tally
from clrevents.decode.stream.stream import Buffer, Stream
from clrevents.errors import Limits, TraceError


class StreamTally:
    """Counts as bytes are fed. Anything that is not a trace, or exceeds a limit, ends the counting and raises
    nothing."""

    def __init__(self, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self._totals = Tally(limits.threads)
        self._stream = Stream(errors="salvage", limits=limits, tally=self._totals)
        self._stopped = False

    def feed(self, data: Buffer) -> None:
        """Count what is in the next bytes."""
        self._do(lambda: self._stream.feed(data))

    def close(self) -> None:
        """There are no more."""
        self._do(self._stream.close)

    @property
    def events(self) -> int:
        """All events so far."""
        return int(self._totals.kinds.sum())

    @property
    def lost(self) -> int:
        """Those that were never written."""
        return self._stream.lost

    @property
    def complete(self) -> bool:
        """Whether the end of the trace was among the bytes."""
        return self._stream.complete

    def _do(self, step: Callable[[], object]) -> None:
        if not self._stopped:
            try:
                step()
            except TraceError:
                self._stopped = True
