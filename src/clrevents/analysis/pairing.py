"""`spans`: a begin and the end that belongs to it, as one row with a duration.

The primitive that reports are built on. Knows no event: what is paired, and on which columns, is the caller's word.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gather import Gathered, gather, matched
from clrevents.analysis.lossy import LossWindows
from clrevents.table.build import TABLE_HEADERS, ColumnType, TableField, number_column, renamed
from clrevents.table.table import Table
from clrevents.trace import Selector, Trace, passes_of

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
    one_event = passes_of(trace).one_event
    events = one_event(begin), one_event(end)
    if events[0] is not None and events[0] == events[1]:
        raise ValueError(f"begin and end are both {'/'.join(events[0])}: one cannot be told from the other")
    headers = dict.fromkeys((*_HEADERS, *(key for key in keys if key in TABLE_HEADERS)))
    sides = gather(trace, (begin, end), headers)
    for side in sides:
        _check_keys(side, keys)
    begins, ends = sides
    return _table(trace, begins, ends, matched([begins], [ends], keys), keys)


def _check_keys(side: Gathered, keys: tuple[str, ...]) -> None:
    for key in keys:
        if side.event is not None and key not in side.table:
            names = [*TABLE_HEADERS, *(field.name for field in side.payload)]
            raise KeyError(f"{side.name} has no column {key!r}; it has {', '.join(names)}")


def _table(trace: Trace, begins: Gathered, ends: Gathered, pairs: tuple[Ints, Ints], keys: tuple[str, ...]) -> Table:
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


@attrs.frozen
class SpanSummary:
    """What all rows of `spans` together are like; times in ns, None where there is no row."""

    spans: int
    total_ns: int
    shortest_ns: int | None
    median_ns: int | None
    p95_ns: int | None
    longest_ns: int | None
    unmatched_begins: int
    unmatched_ends: int
    lossy: int

    def to_dict(self) -> dict[str, int | None]:
        """As JSON has it."""
        return attrs.asdict(self)


def summary(table: Table) -> SpanSummary:
    """Sums and quantiles (of those that there are, the nearest from above) of a table that `spans` made."""
    took = np.sort(table["duration_ns"])
    count = len(took)

    def quantile(share: float) -> int | None:
        return int(took[min(int(np.ceil(share * count)), count) - 1]) if count else None

    return SpanSummary(
        count,
        int(took.sum()),
        int(took[0]) if count else None,
        quantile(0.5),
        quantile(0.95),
        quantile(1.0),
        int(table.metadata["unmatched_begins"]),
        int(table.metadata["unmatched_ends"]),
        int(table.metadata["lossy"]),
    )


def longest(table: Table, count: int) -> Table:
    """The rows of a table that `spans` made that took longest, the longest first."""
    rows = np.argsort(-table["duration_ns"], kind="stable")[:count]
    columns = tuple(table.column(field.name).take(rows) for field in table.fields)
    return Table(table.fields, (columns,) if len(rows) else (), table.metadata)


def telling(table: Table) -> list[str]:
    """Columns of a table that `spans` made that say what a row is: texts and names; where there are none, numbers."""
    own = {field.name for field in (*_FRONT, _LOSSY)}
    payload = [field for field in table.fields if field.name not in own and field.name != "ClrInstanceID"]
    texts = [field.name for field in payload if field.enum is not None or field.type.kind == "string"]
    return texts or [field.name for field in payload]
