"""The runtime's codes about collections → words. Codes without a word stay numbers, as text.

Pure functions. The bits are those of the runtime's `gc/gcrecord.h` and `gc/gcinterface.h`; no manifest has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from clrevents.analysis.gathering.gather import Gathered

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
    found: dict[str, None] = {}
    for first, conditions in pairs:
        if first >> 2 & 3 != final:
            continue
        for shift, word in ((4, "budget exceeded"), (6, "time since the last one")):
            generation = first >> shift & 3
            if generation:
                found[f"gen{generation} {word}"] = None
        found.update(dict.fromkeys(_bits(conditions, _CONDITIONS)))
    return tuple(found)


def _decided(codes: Iterable[int], words: Sequence[str]) -> tuple[str, ...]:
    """The bits of codes whose highest bit says that something was decided."""
    found: dict[str, None] = {}
    for code in codes:
        if code & _DECIDED:
            found.update(dict.fromkeys(_bits(code & ~_DECIDED, words)))
    return tuple(found)


def _bits(bits: int, words: Sequence[str]) -> list[str]:
    known = [word for place, word in enumerate(words) if bits >> place & 1]
    rest = bits >> len(words) << len(words)
    return [*known, f"{rest:#x}"] if rest else known
