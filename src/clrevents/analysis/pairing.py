"""`spans`: a begin and the end that belongs to it, as one row with a duration.

The primitive that reports are built on. Knows no event: what is paired, and on which columns, is the caller's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.keys import group_numbers
from clrevents.analysis.lossy import LossWindows
from clrevents.analysis.pairs import pair
from clrevents.table.build import (
    TABLE_HEADERS,
    Column,
    ColumnType,
    TableField,
    header_fields,
    number_column,
    renamed,
)
from clrevents.table.read import Run
from clrevents.table.table import Table
from clrevents.trace import Selector, Trace

Ints: TypeAlias = NDArray[np.int64]

_INT64: Final = ColumnType("int64")
_FRONT: Final = (
    TableField("start_ns", _INT64),
    TableField("end_ns", _INT64),
    TableField("duration_ns", _INT64),
    TableField("thread_id", ColumnType("uint64"), True),
)
_LOSSY: Final = TableField("lossy", ColumnType("bool"))
_HEADERS: Final = ("time_ns", "thread_id")


def spans(trace: Trace, begin: Selector, end: Selector, on: Iterable[str] = ("thread_id",)) -> Table:
    """One row for each begin with its end, in the order of the begins.

    An end belongs to the last begin, not yet ended, that has the same values in the columns `on`: header or payload
    columns of both events, none for the whole trace. So what is nested pairs innermost first; where a value is null
    (a field that an old version lacks), nothing pairs. Columns: `start_ns`, `end_ns`, `duration_ns` (ns, since the
    session started), `thread_id` of the begin, the begin's payload, what the end's payload has beyond that, and
    `lossy`: whether the row touches a window in which events of its thread were lost; of any thread, where `on` has
    no `thread_id`. The metadata counts `unmatched_begins` and `unmatched_ends`; an event whose payload cannot be read
    is in none of these. AmbiguousEventError and UnknownEventError as for `Trace.table`; KeyError for a column that a
    side lacks, ValueError when begin and end are the same event, TypeError for a column that has no order.
    """
    keys = tuple(on) if not isinstance(on, str) else (on,)
    sides = _Side(trace, begin), _Side(trace, end)
    if sides[0].event is not None and sides[0].event == sides[1].event:
        raise ValueError(f"begin and end are both {sides[0].name}: one cannot be told from the other")
    headers = tuple(dict.fromkeys((*_HEADERS, *(key for key in keys if sides[0].is_header(key, sides[1])))))
    seen = 0
    for run in trace.runs(begin, end, columns=headers, stacks=False):
        for side in sides:
            side.take(run, seen)
        seen += len(run.headers)
    tables = tuple(side.whole(headers) for side in sides)
    pairs = _matched(sides, tables, keys)
    return _table(trace, sides, tables, pairs, keys)


class _Side:
    """The begins or the ends: which event, its rows, and where these stand among all rows of both."""

    def __init__(self, trace: Trace, selector: Selector) -> None:
        self.event = trace.one_event(selector)
        self.name = "nothing" if self.event is None else "/".join(self.event)
        schema = trace.schemas(selector) if self.event is not None else {}
        self.payload = tuple(f for table in schema.values() for f in table.fields if f.wire is not None)
        self._parts: list[tuple[Column, ...]] = []
        self._places: list[Ints] = [np.zeros(0, dtype=np.int64)]

    def is_header(self, key: str, other: _Side) -> bool:
        """Whether a key is a header column; KeyError when it is no column of both sides."""
        if key in TABLE_HEADERS:
            return True
        for side in (self, other):
            names = [field.name for field in side.payload]
            if side.event is not None and key not in names:
                raise KeyError(f"{side.name} has no column {key!r}; it has {', '.join([*TABLE_HEADERS, *names])}")
        return False

    def take(self, run: Run, seen: int) -> None:
        """This side's rows of a run; `seen` rows of both sides came before."""
        if self.event in run.tables:
            self._parts += run.tables[self.event].parts
            self._places.append(run.places[self.event] + seen)

    @property
    def places(self) -> Ints:
        return np.concatenate(self._places)

    def whole(self, headers: tuple[str, ...]) -> Table:
        """All rows: these headers and the payload."""
        return Table((*header_fields(headers), *self.payload), tuple(self._parts))


def _matched(sides: Sequence[_Side], tables: Sequence[Table], keys: tuple[str, ...]) -> tuple[Ints, Ints]:
    """The rows of both tables that belong together."""
    groups, _ = group_numbers([[table.column(key) for table in tables] for key in keys], [len(t) for t in tables])
    places = np.concatenate([side.places for side in sides])
    order = np.argsort(places, kind="stable")
    order = order[groups[order] >= 0]
    count = len(tables[0])
    begins, ends = pair(groups[order], order < count)
    return order[begins], order[ends] - count


def _table(
    trace: Trace, sides: Sequence[_Side], tables: Sequence[Table], pairs: tuple[Ints, Ints], keys: tuple[str, ...]
) -> Table:
    """The rows as the result has them."""
    begins, ends = tables
    start, end = begins["time_ns"][pairs[0]], ends["time_ns"][pairs[1]]
    thread = begins.column("thread_id").take(pairs[0])
    lossy = LossWindows(trace).touched(start, end, thread.values if "thread_id" in keys else None)
    lacking = {field.name.lower() for field in sides[0].payload}
    further = tuple(f for f in sides[1].payload if f.name.lower() not in lacking)
    columns = (
        number_column("int64", start),
        number_column("int64", end),
        number_column("int64", end - start),
        thread,
        *(begins.column(field.name).take(pairs[0]) for field in sides[0].payload),
        *(ends.column(field.name).take(pairs[1]) for field in further),
        number_column("bool", lossy),
    )
    payload = renamed((*sides[0].payload, *further), [field.name for field in (*_FRONT, _LOSSY)])
    metadata = {
        "name": f"{sides[0].name} to {sides[1].name}",
        "on": ",".join(keys),
        "unmatched_begins": str(len(begins) - len(pairs[0])),
        "unmatched_ends": str(len(ends) - len(pairs[0])),
        "losses": str(trace.lost),
        "lossy": str(int(lossy.sum())),
    }
    return Table((*_FRONT, *payload, _LOSSY), (columns,) if len(start) else (), metadata)
