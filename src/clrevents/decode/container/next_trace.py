"""Where another trace begins in the same file: two that were written one after the other.

Looks only where a block could begin and, in salvage mode, at what is skipped: a payload may hold such bytes.
"""

from __future__ import annotations

import re
from typing import Final

from clrevents.decode.container.window import Window
from clrevents.schema.codes import FAST_SERIALIZATION, NETTRACE

NEXT_TRACE: Final = re.compile(
    rb"(?:%b)?%b|%b\x00{4}\x06\x00{3}" % (NETTRACE, re.escape(FAST_SERIALIZATION), NETTRACE), re.DOTALL
)
"""How traces of all generations begin."""
_FIRST: Final = (NETTRACE[0], FAST_SERIALIZATION[0])
_LONGEST: Final = len(NETTRACE + FAST_SERIALIZATION)
_FOOTER: Final = 64
"""At most so many bytes follow the end of a trace."""


def next_trace(window: Window, pos: int, within: int = 0) -> int | None:
    """The position at which another trace begins, at `pos` or at most `within` bytes later.

    Raises NeedMore until it is known.
    """
    if not within and window.data[pos] not in _FIRST:
        return None
    if not window.final:
        window.require(pos - window.pos + within + _LONGEST)
    match = NEXT_TRACE.search(window.data, pos, min(window.end, pos + within + _LONGEST))
    return None if match is None or match.start() > pos + within else match.start()


def behind_end(window: Window, pos: int) -> int | None:
    """The same behind the end of a trace, of which some have a few more bytes there."""
    return next_trace(window, pos, _FOOTER)
