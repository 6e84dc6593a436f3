"""How events get their frames: the trace's names for addresses, even after the trace is gone."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from clrevents.errors import SourceError
from clrevents.symbols.frame import Frame, nameless
from clrevents.symbols.methods import Methods


@attrs.define(eq=False)
class LateNames:
    """Names that are read when an event first asks for them.

    `of_trace` returns the trace's methods without keeping the trace alive, or None when it is gone; `again` reopens
    the trace, if possible.
    """

    of_trace: Callable[[], Methods | None]
    again: Callable[[], Methods] | None
    known: Methods | None = None

    @property
    def ready(self) -> bool:
        """Whether it can answer without reading the trace."""
        return self.known is not None

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        """The frames of one stack, innermost first."""
        methods = self.methods()
        return nameless(addresses) if methods is None else methods.frames(addresses, time_ns, process_id)

    def methods(self) -> Methods | None:
        """All names; None if the trace is gone and cannot be reopened."""
        # Not `or`: a trace without methods is empty, but known.
        return self._read() if self.known is None else self.known

    def _read(self) -> Methods | None:
        try:
            self.known = self.of_trace()
        except SourceError:
            if self.again is None:
                raise
        if self.known is None and self.again is not None:
            self.known = self.again()
        return self.known
