"""How texts for people count things. Knows no event and no trace."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what it counts: `1 note`, `2,000 notes`; `many` where an s does not make the plural."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def lost_events(number: int) -> str:
    """The sentence for events that were never written."""
    return f"{counted(number, 'event was', 'events were')} lost while recording"
