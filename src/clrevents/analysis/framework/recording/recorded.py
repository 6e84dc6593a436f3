"""Which providers a trace was recorded with, by keyword and level, as far as its events prove it; and what to record.

No header records what a session requested, not even the pairs of NetTrace 6: only what was written is known. The
runtime writes an event if its level is within the session's and it has no keywords, or at least one of the session's.
So an event with one keyword proves that keyword, and an event with several only that one of them was on. Absence proves
nothing. The line to record is as `dotnet-trace collect --providers` takes it, needs no quotes in a shell, and merges
what several questions need. Touches no payload.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, Protocol, TypeAlias

import attrs

from clrevents._util.value_classes import frozen
from clrevents.schema.keywords import SESSION_BITS, keyword_names
from clrevents.schema.registry import RUNDOWN, RUNTIME, provider_name
from clrevents.trace import Trace, passes_of

_NAME: Final = re.compile(r"[A-Za-z0-9_.+-]+")
_ARGUMENT: Final = re.compile(r"|[A-Za-z0-9_.+-]+=[A-Za-z0-9_.+-]+")
_MOST_KEYWORDS: Final = (1 << 64) - 1
_MOST_LEVEL: Final = 5


def _full_name(provider: str) -> str:
    name = provider_name(provider)
    if not _NAME.fullmatch(name):
        raise ValueError(f"{provider!r} cannot be a provider name in a list of providers")
    return name


def _keywords(keywords: int) -> int:
    if not 0 <= keywords <= _MOST_KEYWORDS:
        raise ValueError(f"keywords must be 64 bits, not {keywords!r}")
    return int(keywords)


def _level(level: int) -> int:
    if not 0 <= level <= _MOST_LEVEL:
        raise ValueError(f"a level must be 0 to {_MOST_LEVEL}, not {level!r}")
    return int(level)


def _argument(argument: str) -> str:
    if not _ARGUMENT.fullmatch(argument):
        raise ValueError(f"{argument!r} cannot be a provider argument in a list of providers")
    return argument


@frozen
class ProviderNeed:
    """One provider with all `keywords` at once, up to `level` (4 informational, 5 verbose).

    `provider` may be a short name (`runtime`) and becomes the full one. Without keywords, it requests the events that
    have none. `argument` is one that the provider takes, `NAME=VALUE`. `str` gives `NAME:0xKEYWORDS:LEVEL`, followed by
    `:ARGUMENT` if there is one. ValueError for a name with characters other than letters, digits and `_.+-` (in an
    argument, on both sides of `=`), for more than 64 bits, and for a level outside 0 to 5.
    """

    provider: str = attrs.field(converter=_full_name)
    keywords: int = attrs.field(default=0, converter=_keywords)
    level: int = attrs.field(default=4, converter=_level)
    argument: str = attrs.field(default="", converter=_argument)

    def __str__(self) -> str:
        return f"{self.provider}:{self.keywords:#x}:{self.level}{self.argument and f':{self.argument}'}"


@frozen
class RecordLine:
    """Providers, each once, in the order in which they were first needed.

    `str` gives the argument of `--providers`: empty when nothing is needed.
    """

    providers: tuple[ProviderNeed, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.providers))

    def __bool__(self) -> bool:
        return bool(self.providers)


def record_line(needs: Iterable[ProviderNeed]) -> RecordLine:
    """One session for all needs: for each provider, the keywords of all of them and the highest level.

    Raises ValueError if two needs give one provider different arguments.
    """
    merged: dict[str, ProviderNeed] = {}
    for need in needs:
        old = merged.get(need.provider, need)
        if old.argument and need.argument and old.argument != need.argument:
            raise ValueError(f"{need.provider} cannot have both {old.argument} and {need.argument}")
        keywords, level = old.keywords | need.keywords, max(old.level, need.level)
        both = ProviderNeed(need.provider, keywords, level, old.argument or need.argument)
        merged[need.provider] = both
    return RecordLine(tuple(merged.values()))


def merged_lines(lines: Iterable[str]) -> RecordLine:
    """One session for all that these lines record, which are as `RecordLine` writes them."""
    providers = (provider.split(":") for line in lines for provider in line.split(","))
    return record_line(ProviderNeed(name, int(bits, 16), int(level), *more) for name, bits, level, *more in providers)


_ALL: Final = (1 << 64) - 1 & ~SESSION_BITS
"""The keywords of event sources' self-descriptions: these events come with any keyword."""


class Description(Protocol):
    """What an event description says about its events."""

    @property
    def provider(self) -> str: ...
    @property
    def keywords(self) -> int: ...
    @property
    def level(self) -> int: ...


class DescribedKind(Protocol):
    """A kind of event, as `DecodedRows` has them (and `HeaderScan`)."""

    @property
    def row(self) -> Description: ...
    @property
    def undefined(self) -> bool: ...


@frozen
class SeenEvents:
    """The `events` of one provider with the same `keywords` (without the session's bits) and the same `level`."""

    keywords: int
    level: int
    events: int


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
    """What a trace has of one provider.

    `seen` lists its keywords and levels, lowest first; `level` is the highest of an event that occurred, None if the
    trace only describes events.
    """

    provider: str
    events: int
    level: int | None
    seen: tuple[SeenEvents, ...]

    @property
    def proved(self) -> int:
        """Keywords that were on."""
        return _union(s.keywords for s in self._telling() if _single(s.keywords))

    @property
    def possible(self) -> int:
        """Keywords that may have been on: events have them, but always together with others."""
        return _union(s.keywords for s in self._telling()) & ~self.proved

    @property
    def keywords(self) -> tuple[SeenKeyword, ...]:
        """All keywords, proved or possible, lowest first."""
        proved, mask = self.proved, self.proved | self.possible
        bits = [1 << place for place in range(mask.bit_length()) if mask >> place & 1]
        return tuple(
            SeenKeyword(
                bit,
                name,
                bool(proved & bit),
                max((s.level for s in self._telling() if s.keywords == bit), default=None),
                sum(s.events for s in self._telling() if s.keywords & bit),
            )
            for bit, name in zip(bits, keyword_names(self.provider, mask), strict=True)
        )

    def proves(self, keywords: int, level: int) -> bool:
        """As `Recorded.proves`, of this provider."""
        return any(proves(s.keywords, s.level, keywords, level) for s in self._telling())

    def _telling(self) -> Iterator[SeenEvents]:
        """Events that occurred and say something about keywords."""
        return (seen for seen in self.seen if seen.events and seen.keywords != _ALL)


@frozen
class Recorded:
    """What a trace shows about the session that recorded it: its providers, most events first."""

    providers: tuple[RecordedProvider, ...] = ()

    @classmethod
    def of(cls, kinds: Iterable[tuple[DescribedKind, int]]) -> Recorded:
        """From kinds of events and how many of each occurred; a kind may come several times, as from batches.

        0 means that a kind is only described. Kinds without a description are left out.
        """
        counts: defaultdict[str, defaultdict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
        for kind, count in kinds:
            if not kind.undefined:
                counts[kind.row.provider][kind.row.keywords & _ALL, kind.row.level] += count
        return cls(tuple(sorted((_provider(*item) for item in counts.items()), key=lambda p: (-p.events, p.provider))))

    @property
    def events(self) -> int:
        """The events of all providers."""
        return sum(provider.events for provider in self.providers)

    def provider(self, name: str) -> RecordedProvider | None:
        """One provider, by its full or short name; None if the trace has nothing from it."""
        full = provider_name(name)
        return next((provider for provider in self.providers if provider.provider == full), None)

    def proves(self, provider: str, keywords: int, level: int) -> bool:
        """Whether an event proves that the session had one of `keywords` of this provider, at `level` or above.

        The event has keywords, all of them are among `keywords`, and its own level is at least `level`: one of level 4
        does not prove level 5. Ask for one keyword to be sure of that one. With `keywords` 0, the event must have none
        either: .NET Core 3.1 can leave those out while others come. False means "unknown", never "was not recorded".
        """
        provider_counts = self.provider(provider)
        return provider_counts is not None and provider_counts.proves(keywords, level)


def proves(seen: int, seen_level: int, keywords: int, level: int) -> bool:
    """Whether an event with the keywords `seen` proves that the session had one of `keywords` at `level` or above."""
    bits, wanted = seen & _ALL, keywords & _ALL
    return seen_level >= level and not bits & ~wanted and bool(bits) == bool(wanted)


def recorded(trace: Trace) -> Recorded:
    """What the trace's cached scan of all headers shows; for a damaged trace, up to the damage."""
    scan = passes_of(trace).scan(raising=False)
    return Recorded.of(zip(scan.kinds, scan.kind_counts, strict=True))


def _provider(name: str, counts: dict[tuple[int, int], int]) -> RecordedProvider:
    seen = tuple(SeenEvents(keywords, level, n) for (keywords, level), n in sorted(counts.items()))
    level = max((s.level for s in seen if s.events), default=None)
    return RecordedProvider(name, sum(counts.values()), level, seen)


def _single(mask: int) -> bool:
    return mask != 0 and mask & (mask - 1) == 0


def _union(masks: Iterable[int]) -> int:
    mask_union = 0
    for mask in masks:
        mask_union |= mask
    return mask_union


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
