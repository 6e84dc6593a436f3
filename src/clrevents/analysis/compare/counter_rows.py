"""Published counters → rows: the mean of each one's values, in blocks of time.

Increases count by the second. Quantiles of histograms are never averaged, so they are left out, as are values that were
published for another tool. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from clrevents.analysis.compare.families import COUNTERS
from clrevents.analysis.compare.measured import Amount
from clrevents.analysis.compare.time_blocks import TimeBlocks
from clrevents.analysis.framework.model.answer import Answer

_INCREASES: Final = ("rate", "counter")
_MEASURED: Final = ("mean", "histogram")


def counter_rows(found: Answer[Any], blocks: TimeBlocks) -> Iterator[Amount]:
    """A row for each counter that has a value, by its provider, name and tags."""
    series, values = found.table("series"), found.table("values")
    mine = zip(*(series.column(name).tolist() for name in ("row", "quantile", "other_session")), strict=True)
    wanted = {row for row, quantile, other in mine if quantile is None and not other}
    columns = ("series_row", "time_ns", "provider", "name", "tags", "kind", "unit", "value", "per_second", "count")
    sums: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
    for row, time, provider, name, tags, kind, unit, value, rate, count in zip(
        *(values.column(column).tolist() for column in columns), strict=True
    ):
        amount = rate if kind in _INCREASES else value
        weight = (1 if count is None else count) if kind in _MEASURED else 1
        if row in wanted and amount is not None and weight:
            key = f"{provider}/{name}" + (f" {tags}" if tags and kind not in ("rate", "mean") else "")
            unit = f"{unit or 'count'}/s" if kind in _INCREASES else unit or ""
            sums.setdefault((key, unit), []).append((time, float(amount), float(weight)))
    for (key, unit), held in sums.items():
        moments = np.array([time for time, _, _ in held], dtype=np.int64)
        amounts, weights = (np.array(column) for column in ([a * w for _, a, w in held], [w for _, _, w in held]))
        over = blocks.sums(moments, weights)
        yield Amount(
            *(COUNTERS, key, _UNITS.get(unit, unit), float(amounts.sum() / weights.sum())),
            adds=False,
            evidence="sample",
            blocks=blocks.sums(moments, amounts),
            over=over,
        )


_UNITS: Final = {"B": "bytes", "B/s": "bytes/s", "count/s": "/s"}
