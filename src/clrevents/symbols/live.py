"""Names while a trace arrives: what is known so far, without what is long gone.

Sees rows of code events as a decoder releases them; knows no decoder.
"""

from __future__ import annotations

from typing import Final

from clrevents.decode.decoded import DecodedRows
from clrevents.errors import LimitError, Limits
from clrevents.symbols.feed import Feed
from clrevents.symbols.frame import Frame
from clrevents.symbols.methods import Methods

_ROOM: Final = 1 << 16
_KEPT_NS: Final = 60_000_000_000
"""Code that went away is remembered for a minute, because events of other threads may come late."""


class LiveMethods:
    """A resolver over what was taken so far. Memory is that of the code that is there; beyond `limits` it learns
    no more."""

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
        self._now = max(self._now, rows.times_ns[-1])
        try:
            self._feed.take(rows)
        except LimitError:
            # Who follows a session wants its events more than all names.
            self._full = True
        if self._feed.held > self._room:
            self._feed.keep(self.methods.rows_since(self._now - _KEPT_NS))
            self._room = max(self._least, 2 * self._feed.held)
            self._taken = -1

    @property
    def methods(self) -> Methods:
        """What is known now; made anew when more was learned since."""
        if self._methods is None or self._taken != self._feed.taken:
            self._methods = Methods(self._feed)
            self._taken = self._feed.taken
        return self._methods

    @property
    def ready(self) -> bool:
        """There is no trace to be read first."""
        return True

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        """Names as known now: the same event may say more later."""
        return self.methods.frames(addresses, time_ns, process_id)
