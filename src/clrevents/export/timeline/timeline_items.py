"""The vocabulary of a timeline: tracks, and what is on them.

On one track, items come in order of time, and stretches are nested or apart; only instants of events may go back in
time, if the trace does. Knows no report and no format.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

Group: TypeAlias = Literal[
    "samples", "states", "locks", "held", "tasks", "created", "jit", "exceptions", "events",
    "pauses", "suspensions", "collections", "requests", "activities", "counters",
]  # fmt: skip
"""What a track shows. Together with its process and thread it says which report has the same numbers."""

GROUPS: Final[dict[Group, str]] = {
    "samples": "calls",
    "states": "state",
    "locks": "waits for locks",
    "held": "held locks",
    "tasks": "tasks",
    "created": "created tasks",
    "jit": "JIT",
    "exceptions": "exceptions",
    "events": "events",
    "pauses": "GC pauses",
    "suspensions": "other suspensions",
    "collections": "garbage collections",
    "requests": "requests",
    "activities": "activities",
    "counters": "counters",
}
"""Their names for people, in the order in which they are shown."""

_ROWS: Final = 40
"""Bits for the places of rows."""

Details: TypeAlias = dict[str, Any]
"""What is known about an item, in JSON types: texts, numbers, booleans, None, lists and dicts of these."""


class Track(NamedTuple):
    """A line of the timeline: of a thread, of a process (`thread_id` None), or of no known process.

    Stretches that overlap are on tracks with different `lane`s, which are otherwise the same.
    """

    group: Group
    name: str
    process_id: int | None
    thread_id: int | None = None
    unit: str = ""
    lane: int = 0


class Stretch(NamedTuple):
    """Something that lasted; without an end, to the end of the trace. Arrows are numbers: one of these `leaves` a
    single item, and one `reaches` another that is not earlier."""

    start_ns: int
    end_ns: int | None
    name: str
    details: Details = {}
    leaves: tuple[int, ...] = ()
    reaches: tuple[int, ...] = ()


class Instant(NamedTuple):
    """Something that happened at one moment."""

    start_ns: int
    name: str
    details: Details = {}
    leaves: tuple[int, ...] = ()
    reaches: tuple[int, ...] = ()


class Level(NamedTuple):
    """A value of a counter."""

    start_ns: int
    value: float


Item: TypeAlias = Stretch | Instant | Level
Placed: TypeAlias = tuple[Track, Item]


class ThreadName(NamedTuple):
    """A thread and its label: its name, or what it is for."""

    process_id: int | None
    thread_id: int
    name: str
    main: bool = False


class Arrows:
    """Numbers for arrows: one for each row, always the same."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}

    def __call__(self, kind: str, place: int) -> tuple[int]:
        """The arrow of the row at this place."""
        return ((self._kinds.setdefault(kind, len(self._kinds) + 1) << _ROWS) + place,)
