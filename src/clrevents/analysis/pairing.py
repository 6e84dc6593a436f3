"""`spans`: a begin and the end that belongs to it, as one row with a duration.

The primitive that reports are built on. Knows no event: what is paired, and on which columns, is the caller's word.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gather import Rows, gather, matched
from clrevents.analysis.lossy import LossWindows
from clrevents.table.build import TABLE_HEADERS, ColumnType, TableField, number_column, renamed
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
    events = trace.one_event(begin), trace.one_event(end)
    if events[0] is not None and events[0] == events[1]:
        raise ValueError(f"begin and end are both {'/'.join(events[0])}: one cannot be told from the other")
    headers = dict.fromkeys((*_HEADERS, *(key for key in keys if key in TABLE_HEADERS)))
    sides = gather(trace, (begin, end), headers)
    for side in sides:
        _check_keys(side, keys)
    begins, ends = sides
    return _table(trace, begins, ends, matched([begins], [ends], keys), keys)


def _check_keys(side: Rows, keys: tuple[str, ...]) -> None:
    for key in keys:
        if side.event is not None and key not in side.table:
            names = [*TABLE_HEADERS, *(field.name for field in side.payload)]
            raise KeyError(f"{side.name} has no column {key!r}; it has {', '.join(names)}")


def _table(trace: Trace, begins: Rows, ends: Rows, pairs: tuple[Ints, Ints], keys: tuple[str, ...]) -> Table:
    """The rows as the result has them."""
    start, end = begins.numbers("time_ns")[pairs[0]], ends.numbers("time_ns")[pairs[1]]
    thread = begins.column("thread_id").take(pairs[0])
    lossy = LossWindows(trace).touched(start, end, thread.values if "thread_id" in keys else None)
    lacking = {field.name.lower() for field in begins.payload}
    further = tuple(f for f in ends.payload if f.name.lower() not in lacking)
    columns = (
        number_column("int64", start),
        number_column("int64", end),
        number_column("int64", end - start),
        thread,
        *(begins.column(field.name).take(pairs[0]) for field in begins.payload),
        *(ends.column(field.name).take(pairs[1]) for field in further),
        number_column("bool", lossy),
    )
    payload = renamed((*begins.payload, *further), [field.name for field in (*_FRONT, _LOSSY)])
    metadata = {
        "name": f"{begins.name} to {ends.name}",
        "on": ",".join(keys),
        "unmatched_begins": str(len(begins) - len(pairs[0])),
        "unmatched_ends": str(len(ends) - len(pairs[0])),
        "losses": str(trace.lost),
        "lossy": str(int(lossy.sum())),
    }
    return Table((*_FRONT, *payload, _LOSSY), (columns,) if len(start) else (), metadata)
