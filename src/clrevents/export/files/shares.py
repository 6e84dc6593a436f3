"""Which process writes which tables of a trace, and how many processes are worth starting.

Judges by numbers of rows alone. The same trace is dealt in the same way every time, though what is written does not
depend on it. Starts nothing and reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Event: TypeAlias = tuple[str, str]
"""(provider, name)."""

_HEADER: Final = 1.5
_READ: Final = 0.7
"""What a row costs in the table of headers, and in a process that does not write it: what it costs in its event's table
is 1, a seventh of a microsecond."""
_TABLE: Final = 24_000
"""What a table costs besides its rows, for classes, schemas and files."""
_OTHERS: Final = 400_000
"""What it costs to have others: to start them, and to end them."""
_GAIN: Final = 0.8
"""The share of the time that is left at most if one more process is to be worth it."""


@dataclass(frozen=True)
class Share:
    """The tables that a process writes: those of `events` (None: of all), and that of `headers`, that of `stacks`."""

    events: frozenset[Event] | None = None
    headers: bool = True
    stacks: bool = True

    def __contains__(self, event: Event) -> bool:
        return self.events is None or event in self.events


EVERYTHING: Final = Share()


def dealt(rows: Mapping[Event, int], processes: int, late: int) -> list[Share]:
    """A share for each process that is worth having, at most `processes`; `rows` are the numbers of events.

    Processes other than the first begin `late`: in that time it could write so many rows.
    """
    best, cost = _dealt(rows, 1, late)
    for number in range(2, processes + 1):
        found, takes = _dealt(rows, number, late)
        if takes > _GAIN * cost:
            break
        best, cost = found, takes
    return best


def _dealt(rows: Mapping[Event, int], processes: int, late: int) -> tuple[list[Share], float]:
    """The largest tables first, each to the process that will be done soonest; and how long the last one takes."""
    reading = _READ * sum(rows.values()) + (_OTHERS if processes > 1 else 0)
    until = [reading, *(reading + late for _ in range(processes - 1))]
    events: list[set[Event]] = [set() for _ in until]
    headers = until.index(min(until))
    until[headers] += _HEADER * sum(rows.values())
    for event, number in sorted(rows.items(), key=lambda item: (-item[1], item[0])):
        soonest = until.index(min(until))
        events[soonest].add(event)
        until[soonest] += number + _TABLE
    return [Share(frozenset(own), place == headers, place == headers) for place, own in enumerate(events)], max(until)
