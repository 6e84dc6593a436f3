"""When tracing stopped, as far as events tell: at the last one that was not written to name code.

What names code may come later: the rundown follows when recording is over, and a cut keeps such events from all of the
trace. So tracing went on at least until then. Knows kinds and ticks, and no meaning of any other event.
"""

from __future__ import annotations

import numpy as np

from clrevents.decode.kinds import EventKind
from clrevents.decode.rows import Rows
from clrevents.decode.selection import Filters, Selection
from clrevents.schema.naming_events import NAMING_EVENTS
from clrevents.schema.registry import Registry


class TracingEnd:
    """Sees all rows of a trace, in any order and portions."""

    def __init__(self, registry: Registry) -> None:
        self._naming = Selection(NAMING_EVENTS, Filters(), registry)
        self.tick: int | None = None
        """The last tick of an event that names no code; None before the first."""

    def see(self, rows: Rows, kinds: list[EventKind]) -> None:
        """Take the next rows."""
        ticks, naming = rows.ticks, self._naming.wanted(kinds)[rows.kind_indexes]
        if naming.any():
            ticks = ticks[~naming]
        if len(ticks):
            last = int(np.max(ticks))
            self.tick = last if self.tick is None else max(self.tick, last)
