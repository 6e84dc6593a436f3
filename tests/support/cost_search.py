"""Looks for streams that cost much for their size: the worst so far are kept and changed further.

One place for each measure, mode and container, so that a costly mode does not crowd out the others. Draws from a seeded
generator; which inputs follow depends on the costs alone. How they are measured is up to the caller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs

import cost_recipes
from cost_growth import Bytewise, grown, shape_of
from cost_runs import Cost

Measure: TypeAlias = Literal["time", "memory"]
Place: TypeAlias = tuple[Measure, str, str]

MEASURES: Final[tuple[Measure, ...]] = ("time", "memory")
_KEPT: Final = 2
_WORST: Final = 12
_AS_THEY_ARE: Final = 60


@attrs.frozen
class Found:
    """An input, and what one mode took for it."""

    share: float
    """Of what an input of this size may take."""
    data: bytes = attrs.field(repr=False)
    mode: str
    cost: Cost


@attrs.define
class Search:
    """A population of costly inputs."""

    seeds: Sequence[bytes]
    bytewise: Bytewise
    rng: random.Random
    largest: int = 1 << 18
    places: dict[Place, list[Found]] = attrs.field(factory=dict)
    _waiting: list[bytes] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._waiting = self.rng.sample(list(self.seeds), min(len(self.seeds), _AS_THEY_ARE))

    def next(self) -> bytes:
        """The next input to measure: first some seeds as they are."""
        if self._waiting:
            return self._waiting.pop()[: self.largest]
        rng = self.rng
        limit = min(self.largest, rng.choice((8 << 10, 32 << 10, 32 << 10, 128 << 10, self.largest)))
        start = rng.random()
        if start < 0.2:
            made = cost_recipes.recipe(rng, min(limit, 60_000))
            if rng.random() < 0.5:
                return made[: self.largest]
        elif start < 0.3:
            made = cost_recipes.families(rng)
        elif start < 0.4 or not self.places:
            made = rng.choice(self.seeds)
        else:
            made = self._chosen().data
            limit = max(limit, min(2 * len(made), self.largest))
        lenders = [self._chosen().data if self.places and rng.random() < 0.5 else rng.choice(self.seeds) for _ in "1234"]
        return grown(made, lenders, rng, limit, self.bytewise)

    def _chosen(self) -> Found:
        rng = self.rng
        if rng.random() < 0.4:
            return rng.choice(self.worst(rng.choice(MEASURES), _WORST))
        return rng.choice(self.places[rng.choice(sorted(self.places))])

    def add(self, data: bytes, costs: Mapping[str, Cost]) -> list[tuple[Measure, Found]]:
        """Keep the input wherever it is among the worst; where it is now the worst one, that is returned."""
        shape = shape_of(data) or "none"
        leading: list[tuple[Measure, Found]] = []
        for mode, cost in costs.items():
            for measure, share in (("time", cost.time_share(len(data))), ("memory", cost.memory_share(len(data)))):
                place: Place = (measure, mode, shape)  # type: ignore[assignment]
                kept = self.places.setdefault(place, [])
                kept.append(Found(share, data, mode, cost))
                kept.sort(key=lambda found: -found.share)
                del kept[_KEPT:]
                if kept[0].data is data:
                    leading.append((place[0], kept[0]))
        return leading

    def worst(self, measure: Measure, count: int = 5) -> list[Found]:
        """The worst inputs, at most one of each mode and container; worst first."""
        found = [kept[0] for (of, _, _), kept in sorted(self.places.items()) if of == measure]
        return sorted(found, key=lambda each: -each.share)[:count]


Measured: TypeAlias = Callable[[bytes], Mapping[str, Cost]]
