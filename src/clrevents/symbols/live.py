"""Names while a trace arrives: what is known so far, without code that is long gone.

Sees rows of code events as a decoder releases them; knows no decoder.
"""

from __future__ import annotations

from typing import Final

from clrevents.decode.decoded import DecodedRows
from clrevents.errors import LimitError, Limits
from clrevents.symbols.feed import Feed
from clrevents.symbols.frame import Frame
from clrevents.symbols.lifetimes import bounded_ns
from clrevents.symbols.methods import Methods

_ROOM: Final = 1 << 16
_KEPT_NS: Final = 60_000_000_000
"""Unloaded code is remembered for a minute, because events of other threads may arrive late."""


class LiveMethods:
    """A resolver over the rows taken so far. Memory is proportional to the loaded code; beyond `limits` it learns
    nothing more."""

    def __init__(self, limits: Limits) -> None:
        self._feed = Feed(limits)
        self._methods: Methods | None = None
        self._taken = -1
        self._now = 0
        self._full = False
        self._least = self._room = min(_ROOM, limits.code_events // 2)

    def take(self, rows: DecodedRows) -> None:
        """Learn from rows; their payloads need not be decoded."""
        if not len(rows) or self._full:
            return
        self._now = max(self._now, bounded_ns(rows.times_ns[-1]))
        try:
            self._feed.take(rows)
        except LimitError:
            # For a live session, events matter more than complete names.
            self._full = True
        if self._feed.held > self._room:
            self._feed.keep(self.methods.rows_since(self._now - _KEPT_NS))
            self._room = max(self._least, 2 * self._feed.held)
            self._taken = -1

    @property
    def methods(self) -> Methods:
        """What is known now; recreated if more was learned since."""
        if self._methods is None or self._taken != self._feed.taken:
            self._methods = Methods(self._feed)
            self._taken = self._feed.taken
        return self._methods

    @property
    def ready(self) -> bool:
        """No trace has to be read first."""
        return True

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        """Names as known now: the same event may get more later."""
        return self.methods.frames(addresses, time_ns, process_id)
