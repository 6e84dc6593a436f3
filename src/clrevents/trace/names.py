"""What events ask for frames: the trace's names for addresses, also when the trace is gone."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from clrevents.decode.frame import Frame, nameless
from clrevents.errors import SourceError

if TYPE_CHECKING:
    from clrevents.symbols.methods import Methods
    from clrevents.trace.trace import Trace


@attrs.define(eq=False)
class Names:
    """What the events of a trace ask for frames. It does not keep the trace alive; `again` opens it once more."""

    trace: weakref.ref[Trace]
    again: Callable[[], Trace] | None
    known: Methods | None = None

    @property
    def ready(self) -> bool:
        return self.known is not None

    def frames(self, addresses: tuple[int, ...], time_ns: int | None, process_id: int | None) -> tuple[Frame, ...]:
        methods = self.known or self._read()
        return nameless(addresses) if methods is None else methods.frames(addresses, time_ns, process_id)

    def _read(self) -> Methods | None:
        trace = self.trace()
        if trace is not None:
            try:
                return trace.methods
            except SourceError:
                if self.again is None:
                    raise
        if self.again is not None:
            with self.again() as trace:
                self.known = trace.methods
        return self.known
