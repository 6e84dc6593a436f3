"""Collections: their begins and ends by number, which other events belong to each, and the runtime's codes in words.

A walk over the events in order. An event that cannot be assigned to one collection with certainty is assigned to none,
so a lost event causes a gap and not a wrong row. Codes without a word stay numbers, as text; the bits are those of the
runtime's `gc/gcrecord.h` and `gc/gcinterface.h`, for no manifest has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import attrs
import numpy as np

from clrevents._util.value_classes import define
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.analysis.gathering.groups import Gathered, Ints
from clrevents.analysis.shared.events.gc_suspensions import NOTHING, Suspensions

GENERATIONS: Final = ("gen0", "gen1", "gen2", "large", "pinned")
INDUCED: Final = frozenset(
    (
        *("Induced", "InducedNoForce", "InducedLowMemory", "InducedCompacting", "InducedAggressive"),
        *("LowMemoryHost", "LowMemoryHostBlocking"),
    )
)
"""Reasons of collections that were requested: by the program, the system or the runtime's host."""
BLOCKING: Final = 0
BACKGROUND: Final = 1
FOREGROUND: Final = 2
"""Types of a collection, as its begin announces it."""
CONCURRENT: Final = 0x1
COMPACTION: Final = 0x2
UNKNOWN: Final = "unknown"

_MECHANISMS: Final = ("concurrent", "compaction", "promotion", "demotion", "card bundles")
_PAUSE_MODES: Final = ("Batch", "Interactive", "LowLatency", "SustainedLowLatency", "NoGC")
_COMPACT: Final = (
    "low ephemeral space",
    "high fragmentation",
    "no gaps",
    "large object heap forced",
    "last collection",
    "induced compacting",
    "fragmented gen0",
    "high memory load",
    "high memory load and fragmentation",
    "very high memory load and fragmentation",
    "no-GC mode",
)
_EXPAND: Final = (
    "reuse normal",
    "reuse best fit",
    "new segment with promotion",
    "new segment",
    "no memory",
    "next full collection",
)
_CONDITIONS: Final = (
    "induced",
    "expand full collection",
    "high memory load",
    "very high memory load",
    "low ephemeral space",
    "few cards useful",
    "ephemeral fragmentation",
    "gen2 fragmentation",
    "gen1 to gen2 fragmentation",
    "gen2 fragmentation at high memory load",
    "gen2 fragmentation at very high memory load",
    "gen1 as large as can be",
    "before out of memory",
    "gen2 too small for background",
    "induced, not forced",
    "before background",
    "almost as much allocated as can be",
    "avoid unproductive",
    "provisional mode, induced",
    "provisional mode, large allocation",
    "gen1 in provisional mode",
    "hard limit, out of memory",
    "hard limit, large object fragmentation",
    "hard limit, large object reclaim",
    "servo tuning: initial",
    "servo tuning: blocking gen2",
    "servo tuning: background",
    "servo tuning: postponed",
    "stress mix",
    "stress",
    "aggressive",
)
_DECIDED: Final = 1 << 31


def enum_word(events: Gathered, column: str, code: int) -> str:
    """The name of a value of an enum's column; the number where it has none."""
    enum = next((field.enum for field in events.table.fields if field.name == column), None)
    return str(code) if enum is None else str(enum(code))


def kind_word(code: int | None, background: bool, inside: bool) -> str | None:
    """How it ran, by its type and whether a background one was running; None where the type is unknown."""
    if code is None or background:
        return None if code is None else "background"
    if code == BACKGROUND:
        return "blocking"
    if code == FOREGROUND:
        return "foreground"
    if code == BLOCKING:
        return "ephemeral" if inside else "blocking"
    return str(code)


@lru_cache(maxsize=1024)
def mechanism_words(bits: int) -> tuple[str, ...]:
    """What it did."""
    return tuple(_bits(bits, _MECHANISMS))


def pause_mode_word(code: int) -> str:
    """The latency mode."""
    return _PAUSE_MODES[code] if code < len(_PAUSE_MODES) else str(code)


@lru_cache(maxsize=1024)
def compact_words(codes: tuple[int, ...]) -> tuple[str, ...]:
    """Why heaps compacted, each reason once."""
    return _decided(codes, _COMPACT)


@lru_cache(maxsize=1024)
def expand_words(codes: tuple[int, ...]) -> tuple[str, ...]:
    """How heaps made room, each way once."""
    return _decided(codes, _EXPAND)


@lru_cache(maxsize=1024)
def condemned_words(pairs: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    """Why a generation was condemned: of those heaps whose final generation decided, each reason once."""
    final = max((first >> 2 & 3 for first, _ in pairs), default=0)
    words: dict[str, None] = {}
    for first, conditions in pairs:
        if first >> 2 & 3 != final:
            continue
        for shift, word in ((4, "budget exceeded"), (6, "time since the last one")):
            generation = first >> shift & 3
            if generation:
                words[f"gen{generation} {word}"] = None
        words.update(dict.fromkeys(_bits(conditions, _CONDITIONS)))
    return tuple(words)


def _decided(codes: Iterable[int], words: Sequence[str]) -> tuple[str, ...]:
    """The bits of codes whose highest bit says that something was decided."""
    names: dict[str, None] = {}
    for code in codes:
        if code & _DECIDED:
            names.update(dict.fromkeys(_bits(code & ~_DECIDED, words)))
    return tuple(names)


def _bits(bits: int, words: Sequence[str]) -> list[str]:
    known = [word for place, word in enumerate(words) if bits >> place & 1]
    rest = bits >> len(words) << len(words)
    return [*known, f"{rest:#x}"] if rest else known


START: Final = "runtime/GCStart"
END: Final = "runtime/GCEnd"
STATS: Final = "runtime/GCHeapStats"
GLOBAL: Final = "runtime/GCGlobalHeapHistory"
PER_HEAP: Final = "runtime/GCPerHeapHistory"
TRIGGERED: Final = "runtime/GCTriggered"
_WALKED: Final[Mapping[str, tuple[str, ...]]] = {
    START: ("Count", "Depth", "Reason", "Type"),
    END: ("Count", "Depth"),
    STATS: (),
    GLOBAL: ("CondemnedGeneration", "GlobalMechanisms"),
    PER_HEAP: ("HeapIndex",),
    TRIGGERED: ("Reason",),
}
_TELLING: Final = {START: 0, END: 0, GLOBAL: 1, PER_HEAP: 0}
"""Which of these says what an event is about: the collection, the kind of collection, the heap."""


@define(eq=False)
class GcMoment:
    """One event: its place among all, its time and its thread."""

    place: int
    time_ns: int
    thread_id: int | None


@define(eq=False)
class Collected:
    """One collection. `stats`, `history` and `triggered` are rows of those events, `heaps` rows by the heap's number.

    `pieces` are the stretches for which it stopped the program; None where one of them is not known.
    """

    number: int
    generation: int | None = None
    reason: int | None = None
    type: int | None = None
    inside: Collected | None = None
    """The background collection during which it began."""
    concurrent: bool | None = None
    """Whether it ran while the program did, by its history; None without one."""
    start: GcMoment | None = None
    end: GcMoment | None = None
    stats: int | None = None
    history: int | None = None
    heaps: dict[int, int] = attrs.field(factory=dict)
    triggered: int | None = None
    suspensions: list[int] = attrs.field(factory=list)
    pieces: list[tuple[int, int]] | None = None

    @property
    def background(self) -> bool:
        """Whether it ran while the program did: a collection announced as such may still turn out to be blocking."""
        return self.type == BACKGROUND and self.concurrent is not False

    @property
    def first(self) -> GcMoment:
        """Its begin, or its end."""
        moment = self.start or self.end
        assert moment is not None
        return moment


class CollectionWalk:
    """The collections of one runtime, in order of their first events, from the rows of the events by selector."""

    def __init__(self, rows: Mapping[str, Gathered]) -> None:
        self.collections: list[Collected] = []
        self.orphans = 0
        """Events about one collection that could not be given to any."""
        self._open: list[Collected] = []
        self._last: dict[int | None, tuple[str, Collected | None]] = {}
        self._asked: list[tuple[int, int, int | None]] = []
        self._marks: list[tuple[int, int]] = []
        self._numbers: dict[int, int] = {}
        steps = []
        for selector, columns in _WALKED.items():
            events = rows[selector]
            values = [events.places.tolist()]
            values += [events.column(name).tolist() for name in ("time_ns", "thread_id", *columns)]
            steps += [(place, row, selector, *rest) for row, (place, *rest) in enumerate(zip(*values, strict=True))]
        steps.sort()
        for place, row, selector, time, thread, *values in steps:
            self._see(selector, row, GcMoment(place, time, thread), values)

    def at(self, places: Ints) -> Ints:
        """Which collection ran at each place, the innermost; `NOTHING` if none did."""
        if not self._marks:
            return np.full(len(places), NOTHING, dtype=np.int64)
        edges, running = (np.array(values, dtype=np.int64) for values in zip(*self._marks, strict=True))
        last = np.searchsorted(edges, places) - 1
        return np.where(last >= 0, running[np.maximum(last, 0)], NOTHING)

    def _see(self, selector: str, row: int, at: GcMoment, values: list[Any]) -> None:
        if selector == TRIGGERED:
            self._asked.append((row, values[0], at.thread_id))
            return
        if selector in _TELLING and values[_TELLING[selector]] is None:
            # As the trace describes the event, it does not say which collection, or which heap, it is about.
            self.orphans += 1
            about: Collected | None = None
        elif selector == START:
            about = self._start(at, *values)
        elif selector == END:
            about = self._end(at, *values)
        else:
            about = self._tell(selector, row, at, values)
        if selector != PER_HEAP:
            self._last[at.thread_id] = selector, about

    def _start(self, at: GcMoment, number: int, generation: int | None, reason: int, type: int | None) -> Collected:
        # A blocking collection ends before the next begins, so one that is open here has lost its end.
        self._open = [c for c in self._open if c.background and type != BACKGROUND]
        around = self._open[-1] if self._open else None
        collection = Collected(number, generation, reason, type, around, start=at)
        asked = [(row, thread) for row, why, thread in self._asked if why == reason]
        if asked:
            # Several may have asked for it; one that collects by itself is who did.
            collection.triggered = next((row for row, thread in asked if thread == at.thread_id), asked[0][0])
        self._asked = []
        self._open.append(collection)
        self._add(collection, at)
        return collection

    def _end(self, at: GcMoment, number: int, generation: int) -> Collected:
        collection = next((c for c in self._open if c.number == number and c.generation in (None, generation)), None)
        if collection is None:
            collection = Collected(number, generation, end=at)
            self.collections.append(collection)
        else:
            collection.end = at
            self._open.remove(collection)
        self._marks.append((at.place, self._innermost()))
        return collection

    def _add(self, collection: Collected, at: GcMoment) -> None:
        self._numbers[id(collection)] = len(self.collections)
        self.collections.append(collection)
        self._marks.append((at.place, self._innermost()))

    def _innermost(self) -> int:
        return self._numbers[id(self._open[-1])] if self._open else NOTHING

    def _tell(self, selector: str, row: int, at: GcMoment, values: list[Any]) -> Collected | None:
        """What an event says about a collection; which one, or None."""
        last, about = self._last.get(at.thread_id, ("", None))
        if selector == STATS:
            # They follow the end on its thread at once.
            collection = about if last == END else None
            if collection is not None and collection.stats is None:
                collection.stats = row
                return collection
        elif selector == GLOBAL:
            collection = self._of_history(last, about, *values)
            if collection is not None and collection.history is None:
                collection.history, collection.concurrent = row, bool(values[1] & CONCURRENT)
                return collection
        else:
            collection = about if last == GLOBAL else None
            if collection is not None and values[0] not in collection.heaps:
                collection.heaps[values[0]] = row
                return collection
        self.orphans += 1
        return None

    def _of_history(self, last: str, about: Collected | None, generation: int, mechanisms: int) -> Collected | None:
        concurrent = bool(mechanisms & CONCURRENT)
        if not concurrent:
            collection = self._open[-1] if self._open else None
        else:
            # .NET 10 writes a background one's after its end, earlier runtimes before it.
            collection = next((c for c in self._open if c.background), None)
            if collection is None and last in (END, STATS) and about is not None and about.type in (None, BACKGROUND):
                collection = about
        return collection if collection is not None and collection.generation == generation else None


def give_pauses(walk: CollectionWalk, suspensions: Suspensions) -> list[list[Collected]]:
    """Give each collection its part of the pauses; returns the collections that each suspension belongs to, its owner
    first.

    A suspension belongs to the collection that begins in it. Others that begin in it have their own time of it, and the
    first has the rest. A suspension in which none begins while a background collection runs belongs to that one if it
    is made for it (the reason `SuspendForGCPrep`).
    """
    owners: list[list[Collected]] = [[] for _ in range(len(suspensions))]
    started = [c for c in walk.collections if c.start is not None]
    places = np.array([c.first.place for c in started], dtype=np.int64)
    for one, suspension in zip(started, suspensions.holding(places).tolist(), strict=True):
        if suspension != NOTHING:
            owners[suspension].append(one)
    ended = [c for c in walk.collections if c.start is None]
    places = np.array([c.first.place for c in ended], dtype=np.int64)
    for one, suspension in zip(ended, suspensions.holding(places).tolist(), strict=True):
        if suspension != NOTHING and not owners[suspension]:
            owners[suspension].append(one)
    _give_background(walk, suspensions, owners)
    starts, stops = suspensions.times[0].tolist(), suspensions.times[3].tolist()
    known = suspensions.known(0, 3).tolist()
    lost: set[int] = set()
    for suspension, owned in enumerate(owners):
        for one in owned:
            one.suspensions.append(suspension)
            one.pieces = one.pieces or []
        if not owned:
            continue
        if not known[suspension] or any(c.end is None and not c.background for c in owned[1:]):
            lost.update(map(id, owned))
            continue
        at, until = starts[suspension], stops[suspension]
        for one in owned[1:]:
            begin = one.first.time_ns
            end = until if one.end is None else min(one.end.time_ns, until)
            _pieces(owned[0]).append((at, begin))
            _pieces(one).append((begin, end))
            at = end
        _pieces(owned[0]).append((at, until))
    for one in walk.collections:
        # More of a background one may have followed.
        if id(one) in lost or (one.background and one.end is None):
            one.pieces = None
    return owners


def _pieces(one: Collected) -> list[tuple[int, int]]:
    assert one.pieces is not None
    return one.pieces


def _give_background(walk: CollectionWalk, suspensions: Suspensions, owners: list[list[Collected]]) -> None:
    spans = [
        (c.start.place, FOREVER if c.end is None else c.end.place, c)
        for c in walk.collections
        if c.background and c.start is not None
    ]
    if not spans:
        return
    begins = np.array([begin for begin, _, _ in spans], dtype=np.int64)
    # A begin that is missing was before the place from which the threads were held.
    places = np.where(suspensions.places[0] != NOTHING, suspensions.places[0], suspensions.held_from)
    for suspension, (place, reason) in enumerate(zip(places.tolist(), suspensions.reason.tolist(), strict=True)):
        if owners[suspension] or reason != 6:
            continue
        last = int(np.searchsorted(begins, place)) - 1
        if last >= 0 and place < spans[last][1]:
            owners[suspension].append(spans[last][2])
