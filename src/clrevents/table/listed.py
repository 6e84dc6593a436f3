"""`Listed`: a tuple of many values whose repr stays short. Knows nothing of what it holds."""

from __future__ import annotations

from typing import TypeVar

from clrevents._util.words import counted
from clrevents.table.display import WIDTH, fitted, screen_lines

T = TypeVar("T")

_SHOWN = 20


class Listed(tuple[T, ...]):
    """A tuple; where its usual repr would fill more than a screen, it shows the first items, a line each."""

    __slots__ = ()

    def __repr__(self) -> str:
        head = self[:_SHOWN]
        text = super().__repr__() if len(self) <= _SHOWN * WIDTH else ""
        if text and screen_lines(text) <= _SHOWN:
            return text
        lines = [f"<{counted(len(self), 'item')}>", *(fitted(f"  {item!r}") for item in head)]
        if len(head) < len(self):
            lines.append(f"  {len(head)} of {counted(len(self), 'item')}")
        return "\n".join(lines)
