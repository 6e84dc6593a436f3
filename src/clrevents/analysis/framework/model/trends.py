"""Sparklines: what a table's rows did over time, as small bars of text beside them, all on the same axis of time.

Draws values of another table of the same answer; works nothing out. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.framework.vocabulary.row_class import columns_of

if TYPE_CHECKING:
    from clrevents.analysis.framework.model.answer import Answer
    from clrevents.analysis.framework.vocabulary.report_table import ReportTable

Ints: TypeAlias = NDArray[np.int64]

BARS: Final = "▁▂▃▄▅▆▇█"
ASCII_BARS: Final = "_.-~=+*#"
"""For terminals that have no others."""


@attrs.frozen
class Trend:
    """What is drawn beside the headline's rows: numbers `y` of a table at the times `x`, of the rows whose column `of`
    has what the headline's row has in `to`. A value is about the time `since` before it, where it is known.
    """

    table: str
    x: str
    y: str
    of: str
    to: str
    since: str

    def wrong(self, tables: dict[str, type[Any]], headline: str) -> str | None:
        """What does not fit the tables, by their row classes; None if everything does."""
        if self.table not in tables:
            return f"no table {self.table!r}"
        columns = {column.name: column.cell.name for column in columns_of(tables[self.table])}
        for name, cell in ((self.x, "time"), (self.since, "duration"), (self.of, "row")):
            if columns.get(name) != cell:
                return f"{name!r} is not a {cell}"
        if columns.get(self.y) != "number":
            return f"{self.y!r} is not a number"
        headed = {column.name: column.cell.name for column in columns_of(tables[headline])}
        return None if headed.get(self.to) == "row" else f"{self.to!r} is not a row"


def sparkline(values: Sequence[float | None], bars: str = BARS) -> str:
    """A bar for each value, a space for None. Bars begin at 0, or at the least value below it."""
    known = [value for value in values if value is not None]
    low, high = min((0.0, *known)), max((0.0, *known))
    top = len(bars) - 1
    # Halved, so that a span of all numbers stays one.
    half = high / 2 - low / 2
    return "".join(
        " " if value is None else bars[round((value / 2 - low / 2) / half * top) if half else 0] for value in values
    )


def trend_texts(answer: Answer[Any], trend: Trend, rows: ReportTable[Any], width: int, bars: str = BARS) -> list[str]:
    """A sparkline for each of these rows; its axis reaches over the window that was asked for, or over the trace."""
    held = answer.table(trend.table)
    if held.left_out is not None or not len(held):
        return [""] * len(rows)
    times, of = held.numbers(trend.x), held.numbers(trend.of)
    column = held.column(trend.y)
    window, duration = answer.question.window, answer.question.trace.duration_ns
    low = min(int(times.min()), 0) if window.start_ns is None else window.start_ns
    last = int(times.max()) if duration is None else max(duration, int(times.max()))
    high = last + 1 if window.end_ns is None else min(window.end_ns, last + 1)
    span = max(high - low, 1)
    since, until = _bins(times - held.numbers(trend.since) - low, times - low, span, width)
    order = np.argsort(of, kind="stable")
    in_order = of[order]
    found = []
    for number in rows.numbers(trend.to).tolist():
        first, after = np.searchsorted(in_order, [number, number + 1])
        mine = order[first:after]
        mine = mine[column.known[mine]]
        found.append(sparkline(_largest(column.values[mine], since[mine], until[mine], width), bars))
    return found


def _bins(starts: Ints, ends: Ints, span: int, width: int) -> tuple[Ints, Ints]:
    """The first and the last part of the axis that each stretch fills by half; that of its middle, if there is none."""
    low, high = (np.clip(moments / span, -1, 2) * width for moments in (starts, ends))
    first, last = np.floor(low + 0.5), np.floor(high + 0.5) - 1
    middle = np.floor((low + high) / 2)
    short = last < first
    parts = (np.where(short, middle, side) for side in (first, last))
    since, until = (np.clip(part, 0, width - 1).astype(np.int64) for part in parts)
    return since, until


def _largest(values: NDArray[Any], since: Ints, until: Ints, width: int) -> list[float | None]:
    """The largest value of each part of the axis."""
    found: list[float | None] = []
    for place in range(width):
        here = values[(since <= place) & (until >= place)]
        found.append(float(here.max()) if len(here) else None)
    return found
