"""Which providers a trace was recorded with, by keyword and level, as far as its events prove it; and what to record.

No header records what a session requested, not even the pairs of NetTrace 6: only what was written is known. The
runtime writes an event if its level is within the session's and it has no keywords, or at least one of the session's.
So an event with one keyword proves that keyword, and an event with several only that one of them was on. Absence proves
nothing. The line to record is as `dotnet-trace collect --providers` takes it, needs no quotes in a shell, and merges
what several questions need. Touches no payload.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Final, Literal, TypeAlias

from clrevents._util.value_classes import frozen
from clrevents.schema.keywords import SESSION_BITS, keyword_names
from clrevents.schema.registry import RUNDOWN, RUNTIME, provider_name
from clrevents.trace import Trace, passes_of


def record_line(needs: Iterable[tuple[str, int, int, str]]) -> str:
    """What `dotnet-trace collect --providers` takes for one session for all needs: for each provider, the keywords of
    all of them and the highest level, in the order in which they were first needed; empty when nothing is.

    A need is a provider by its full or short name, keywords (0 for events that have none), a level, and an argument
    that the provider takes, `NAME=VALUE`, or nothing. Raises ValueError if two give one provider different arguments.
    """
    merged: dict[str, tuple[int, int, str]] = {}
    for provider, keywords, level, argument in needs:
        name = provider_name(provider)
        before, highest, known = merged.get(name, (0, 0, ""))
        if known and argument and known != argument:
            raise ValueError(f"{name} cannot have both {known} and {argument}")
        merged[name] = before | int(keywords), max(highest, level), known or argument
    return ",".join(
        f"{name}:{keywords:#x}:{level}{argument and f':{argument}'}"
        for name, (keywords, level, argument) in merged.items()
    )


def merged_lines(lines: Iterable[str]) -> str:
    """One session for all that these lines of `record_line` record."""
    providers = (provider.split(":") for line in lines for provider in line.split(","))
    return record_line((name, int(bits, 16), int(level), "".join(more)) for name, bits, level, *more in providers)


_ALL: Final = (1 << 64) - 1 & ~SESSION_BITS
"""The keywords of event sources' self-descriptions: these events come with any keyword."""


@frozen
class SeenKeyword:
    """One keyword bit of a provider's events, and its `name`, in hex if it has none.

    `proved` if some events have only this bit; `level` is then the highest level of those, otherwise None: of several
    bits, any may have been on. `events` counts all events with this bit.
    """

    bit: int
    name: str
    proved: bool
    level: int | None
    events: int


@frozen
class RecordedProvider:
    """What a trace has of one provider: `seen` are its numbers of events by keywords, without the session's bits, and
    level; 0 of what is only described."""

    provider: str
    seen: Mapping[tuple[int, int], int]

    @property
    def events(self) -> int:
        """How many there are in all."""
        return sum(self.seen.values())

    @property
    def level(self) -> int | None:
        """The highest of an event that occurred; None if none did."""
        return max((level for (_, level), events in self.seen.items() if events), default=None)

    @property
    def keywords(self) -> tuple[SeenKeyword, ...]:
        """All keywords, proved or possible, lowest first, by events that say something about keywords."""
        telling = [(*seen, events) for seen, events in self.seen.items() if events and seen[0] != _ALL]
        mask = reduce(or_, (keywords for keywords, _, _ in telling), 0)
        bits = [1 << place for place in range(mask.bit_length()) if mask >> place & 1]
        found = []
        for bit, name in zip(bits, keyword_names(self.provider, mask), strict=True):
            alone = [level for keywords, level, _ in telling if keywords == bit]
            events = sum(events for keywords, _, events in telling if keywords & bit)
            found.append(SeenKeyword(bit, name, bool(alone), max(alone, default=None), events))
        return tuple(found)


def proves(seen: int, seen_level: int, keywords: int, level: int) -> bool:
    """Whether an event with the keywords `seen` proves that the session had one of `keywords` at `level` or above."""
    bits, wanted = seen & _ALL, keywords & _ALL
    return seen_level >= level and not bits & ~wanted and bool(bits) == bool(wanted)


def recorded(trace: Trace) -> tuple[RecordedProvider, ...]:
    """What the cached scan of all headers shows of each provider, most events first; of a damaged trace, up to the
    damage."""
    scan = passes_of(trace).scan(raising=False)
    counts: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    for kind, count in zip(scan.kinds, scan.kind_counts, strict=True):
        if not kind.undefined:
            counts[kind.row.provider][kind.row.keywords & _ALL, kind.row.level] += count
    providers = (RecordedProvider(name, seen) for name, seen in counts.items())
    return tuple(sorted(providers, key=lambda one: (-one.events, one.provider)))


RecordingKind: TypeAlias = Literal["program", "linux", "heap", "counters", "rundown", "empty"]

KIND_WORDS: Final[dict[RecordingKind, str]] = {
    "program": "events of one process",
    "linux": "all processes of a machine, recorded by the Linux kernel",
    "heap": "a heap snapshot (gcdump): objects and references at one moment",
    "counters": "counters and metrics only",
    "rundown": "rundown only: the code that existed at the end, and nothing that happened",
    "empty": "no events",
}
"""Each in words."""

_LINUX: Final = "Universal."
_COUNTERS: Final = ("EventCounters", "Counter")
_METERS: Final = "System.Diagnostics.Metrics"
_ABOUT_ITSELF: Final = "Microsoft-DotNETCore-EventPipe"
_OBJECTS: Final = "GCBulkNode"
_OF_SNAPSHOTS: Final = ("GC", "BulkType", "Finalize", "PinObject", "IncreaseMemory", "DecreaseMemory")


def recording_kind(events: Collection[tuple[str, str]]) -> RecordingKind:
    """What a trace with these events is: pairs of a provider and a name."""
    providers = {provider for provider, _ in events}
    if any(provider.startswith(_LINUX) for provider in providers):
        return "linux"
    others = [(provider, name) for provider, name in events if provider not in (RUNDOWN, _ABOUT_ITSELF)]
    if not others:
        return "rundown" if RUNDOWN in providers else "empty"
    if (RUNTIME, _OBJECTS) in others and all(name.startswith(_OF_SNAPSHOTS) for _, name in others):
        return "heap"
    # Sources of counters say a few more things of themselves.
    counting = {provider for provider, name in others if name in _COUNTERS or provider == _METERS}
    return "counters" if {provider for provider, _ in others} <= counting else "program"
