"""Looks for streams that cost much for their size: the worst so far are kept and changed further.

One place for each measure, mode and container, so that a costly mode does not crowd out the others. Draws from a seeded
generator; which inputs follow depends on the costs alone. How they are measured is up to the caller.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs

from cost_growth import Bytewise, grown
from cost_runs import Cost
from costly_families import FAMILIES
from lying import lying_trace
from stream_blocks import shape_of

Measure: TypeAlias = Literal["time", "memory"]
Place: TypeAlias = tuple[Measure, str, str]
"""A measure, a mode and a container."""

MEASURES: Final[tuple[Measure, ...]] = ("time", "memory")
_KEPT: Final = 2
_WORST: Final = 12
_AS_THEY_ARE: Final = 60
_MODES: Final = 4
_FAMILIES: Final = [family for family in FAMILIES if family.small > 20]
"""But those of which even the smallest is long."""
_SIZES: Final = (4 << 10, 8 << 10, 16 << 10, 16 << 10, 32 << 10, 128 << 10)
_GUIDING: Final = 0.1
"""The part of the fixed allowance that guides the search: with all of it, the largest inputs would always win, and what
grows faster than its input shows in small ones as well."""


@attrs.frozen
class Found:
    """An input, and what one mode took for it: as a `share` of what an input of this size may take."""

    share: float
    data: bytes = attrs.field(repr=False)
    mode: str
    cost: Cost


@attrs.define
class Search:
    """A population of costly inputs."""

    seeds: Sequence[bytes]
    modes: Sequence[str]
    bytewise: Bytewise
    rng: random.Random
    largest: int = 1 << 18
    _guides: dict[Place, list[Found]] = attrs.field(factory=dict)
    _worst: dict[Place, Found] = attrs.field(factory=dict)
    _waiting: list[bytes] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._waiting = self.rng.sample(list(self.seeds), min(len(self.seeds), _AS_THEY_ARE))

    def next(self) -> tuple[bytes, list[str]]:
        """The next input to measure, and in which modes: first some seeds as they are, in all."""
        if self._waiting:
            return self._waiting.pop()[: self.largest], list(self.modes)
        rng = self.rng
        limit = min(self.largest, rng.choice((*_SIZES, self.largest)))
        start = rng.random()
        chosen: Found | None = None
        if start < 0.2:
            made = lying_trace(rng)[:limit]
        elif start < 0.3:
            family = rng.choice(_FAMILIES)
            made = family.make(family.small // rng.choice((10, 30, 100)) or 1)[:limit]
        elif start < 0.4 or not self._guides:
            made = rng.choice(self.seeds)[:limit]
        else:
            chosen = self._chosen()
            made = chosen.data
            limit = max(limit, len(made))
        if start >= 0.1:
            lenders = [self._lender() for _ in range(4)]
            made = grown(made, lenders, rng, limit, self.bytewise)
        wanted = {*rng.sample(self.modes, min(_MODES, len(self.modes))), *([chosen.mode] if chosen else [])}
        return made[: self.largest], [mode for mode in self.modes if mode in wanted]

    def _lender(self) -> bytes:
        return self._chosen().data if self._guides and self.rng.random() < 0.5 else self.rng.choice(self.seeds)

    def _chosen(self) -> Found:
        rng = self.rng
        places = sorted(self._guides, key=lambda place: (-self._guides[place][0].share, place))
        return rng.choice(self._guides[rng.choice(places[:_WORST] if rng.random() < 0.4 else places)])

    def add(self, data: bytes, costs: Mapping[str, Cost]) -> list[tuple[Measure, Found]]:
        """Keep the input wherever it is among the worst; where it is now the worst one, that is returned."""
        shape = shape_of(data) or "none"
        leading: list[tuple[Measure, Found]] = []
        for mode, cost in costs.items():
            both = zip(MEASURES, cost.shares(len(data)), cost.shares(len(data), _GUIDING), strict=True)
            for measure, share, guiding in both:
                place: Place = measure, mode, shape
                kept = self._guides.setdefault(place, [])
                kept.append(Found(guiding, data, mode, cost))
                kept.sort(key=lambda found: -found.share)
                del kept[_KEPT:]
                if place not in self._worst or share > self._worst[place].share:
                    self._worst[place] = Found(share, data, mode, cost)
                    leading.append((measure, self._worst[place]))
        return leading

    def worst(self, measure: Measure, count: int | None = 5) -> list[Found]:
        """The worst inputs, at most one of each mode and container; worst first."""
        found = [each for (of, _, _), each in sorted(self._worst.items(), key=lambda item: item[0]) if of == measure]
        return sorted(found, key=lambda each: -each.share)[:count]
