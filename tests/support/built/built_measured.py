"""Measured recordings by hand: amounts in blocks, drawn with a seed, with correlations and planted slow-downs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.compare.measured import Amount, Measured
from clrevents.analysis.framework.vocabulary.answer_values import TraceIdentity

Floats = NDArray[np.float64]


def identity(path: str = "app.nettrace") -> TraceIdentity:
    return TraceIdentity(path, "NetTrace", 4, None, 1, 10**10)


def recorded(
    metrics: Mapping[str, Any], rows: Mapping[str, Any] | None = None, *, seconds: float = 10, **more: Any
) -> Measured:
    """A recording with these metrics (`family.name`) and rows (`table.name`), as blocks or as one number each.

    The unit is what a name ends with, ns otherwise.
    """
    blocks = {key: value for key, value in {**metrics, **(rows or {})}.items() if np.ndim(value)}
    count = max((len(value) for value in blocks.values()), default=1)

    def amount(key: str, value: Any) -> Amount:
        family, _, name = key.partition(".")
        unit = next((unit for unit in ("count", "bytes") if name.endswith(unit)), "ns")
        held = np.asarray(value, dtype=np.float64) if key in blocks else None
        number = value if held is None else float(held.sum())
        reason = "not recorded" if number is None else None
        evidence: Any = "event" if unit == "count" else "sample"
        return Amount(
            family, name, unit, number, "less", not name.endswith("max"), evidence, reason=reason, blocks=held
        )

    made = [[amount(*item) for item in side.items()] for side in (metrics, rows or {})]
    more = {"samples": "ThreadSample", **more}
    return Measured(identity(), count, int(seconds * 1e9), more, tuple(made[0]), tuple(made[1]))


def chain(draw: np.random.Generator, count: int, share: float, length: float) -> Floats:
    """A thread in a state or not, for this share of the time, in stretches: correlated over `length` blocks."""
    stay = (length - 1) / (length + 1)
    drawn, kept = draw.random(count) < share, draw.random(count) < stay
    kept[0] = False
    last = np.maximum.accumulate(np.where(kept, 0, np.arange(count)))
    return drawn[last].astype(np.float64)
