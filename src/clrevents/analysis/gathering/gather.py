"""All rows of some events in one pass, with their order among each other: what reports are made from.

Keeps whole columns, so it is for events in their thousands, not for samples. Times further from the start than any
session lasts, which only a damaged clock produces, are brought near, because answers subtract and add times: those of a
year leave room in 64 bits for a hundred, centuries do not for two. Who says so to a reader is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Array, Ints, group_numbers, pair
from clrevents.table.table import Column, Table, TableField, header_fields
from clrevents.trace import FilterOptions, Selector, Trace, passes_of

FAR_NS: Final = 365 * 86_400 * 1_000_000_000
"""A year before or after the start of the session."""


def near_ns(time_ns: int) -> int:
    """A time of any size, not further away than a year."""
    return max(-FAR_NS, min(time_ns, FAR_NS))


def near_times(times: Ints) -> tuple[Ints, int]:
    """Times not further away than a year, and how many were."""
    if not len(times) or (int(times.min()) >= -FAR_NS and int(times.max()) <= FAR_NS):
        return times, 0
    return np.clip(times, -FAR_NS, FAR_NS), int(((times < -FAR_NS) | (times > FAR_NS)).sum())


def near_table(table: Table) -> tuple[Table, int]:
    """A table whose `time_ns`, if it has them, are such times, and how many of them are not what they were."""
    if "time_ns" not in table:
        return table, 0
    place = table.columns.index("time_ns")
    parts, distant = [], 0
    for part in table.parts:
        times, moved = near_times(part[place].values)
        distant += moved
        parts.append((*part[:place], attrs.evolve(part[place], values=times), *part[place + 1 :]) if moved else part)
    return (attrs.evolve(table, parts=tuple(parts)), distant) if distant else (table, 0)


HEADERS: Final = ("time_ns", "thread_id", "stack_id")


@frozen(eq=False)
class Gathered:
    """One event's rows: header columns and payload, and the rows' places in the order of everything gathered."""

    event: tuple[str, str] | None
    table: Table
    places: Ints

    @classmethod
    def empty(cls, event: tuple[str, str] | None, table: Table) -> Gathered:
        """No rows, with the columns of this table."""
        return cls(event, table, np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.places)

    @property
    def name(self) -> str:
        """`Provider/Event`."""
        return "nothing" if self.event is None else "/".join(self.event)

    @property
    def payload(self) -> tuple[TableField, ...]:
        """The payload's fields."""
        return tuple(field for field in self.table.fields if field.wire is not None)

    def numbers(self, name: str) -> Array:
        """A column of numbers, 0 where it is null."""
        return self.table.column(name).filled()

    def column(self, name: str) -> Column:
        """A column as it is. KeyError when there is none."""
        return self.table.column(name)

    def cells(self, name: str) -> list[Any]:
        """A column as Python values; nulls where the event's version lacks it."""
        return self.column(name).tolist() if name in self.table else [None] * len(self)

    def only(self, rows: Ints, columns: Iterable[str] | None = None) -> Gathered:
        """Some rows, with some columns or all."""
        table = self.table if columns is None else self.table.select(*dict.fromkeys(columns))
        part = tuple(table.column(name).take(rows) for name in table.columns)
        return Gathered(self.event, Table(table.fields, (part,)), self.places[rows])


def gather(
    trace: Trace,
    selectors: Sequence[Selector],
    headers: Iterable[str] = HEADERS,
    filters: FilterOptions | None = None,
) -> list[Gathered]:
    """The rows of each selected event, which must be one (provider, name) each; what the trace lacks has no rows."""
    names = tuple(headers)
    passes = passes_of(trace)
    events = [passes.one_event(selector) for selector in selectors]
    parts: dict[tuple[str, str] | None, list[tuple[Column, ...]]] = {event: [] for event in events}
    places: dict[tuple[str, str] | None, list[Ints]] = {event: [np.zeros(0, dtype=np.int64)] for event in events}
    seen = 0
    for chunk in passes.table_chunks(*selectors, columns=names, stacks=False, filters=filters):
        for what, rows in chunk.tables.items():
            parts[what] += near_table(rows)[0].parts
            places[what].append(chunk.places[what] + seen)
        seen += len(chunk.headers)
    gathered = []
    for event in events:
        payload = passes.fields(event) if event is not None else ()
        table = Table((*header_fields(names), *payload), tuple(parts[event]))
        gathered.append(Gathered(event, table, np.concatenate(places[event])))
    return gathered


def matched(
    begins: Sequence[Gathered],
    ends: Sequence[Gathered],
    keys: Sequence[str],
    how: Callable[[Ints, NDArray[np.bool_]], tuple[Ints, Ints]] = pair,
) -> tuple[Ints, Ints]:
    """Which begin each end belongs to, as rows of all begins and of all ends, each concatenated: `how` is one of
    the ways to pair in `groups`."""
    sides = [*begins, *ends]
    if not any(map(len, begins)) or not any(map(len, ends)):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    groups, _ = group_numbers([[side.column(key) for side in sides] for key in keys], [len(side) for side in sides])
    order = np.argsort(np.concatenate([side.places for side in sides]), kind="stable")
    order = order[groups[order] >= 0]
    count = sum(len(side) for side in begins)
    first, second = how(groups[order], order < count)
    return order[first], order[second] - count
