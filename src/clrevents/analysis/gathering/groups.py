"""Rows of many events: all of some in one pass, with their order; equal things as numbers and groups, starts with ends,
rows that may be missing, percentiles.

`NONE` stands for a row that is not there. What a group is, and what is paired, is up to the caller; knows no event by
name. Keeps whole columns, so it is for events in their thousands, not for samples. Times further from the start than
any session lasts, which only a damaged clock produces, are brought near, because answers subtract and add times: those
of a year leave room in 64 bits for a hundred, centuries do not for two. Who says so to a reader is the caller's
business.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.table.table import Column, Table, TableField, header_fields
from clrevents.trace import FilterOptions, Selector, Trace, passes_of

K = TypeVar("K")
T = TypeVar("T")
N = TypeVar("N", bound=np.generic)

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


class Interned(dict[K, int]):
    """A number for each thing, from 0 on in the order in which they were first asked for: `numbers[thing]`.

    Iteration gives the things by their numbers.
    """

    def __missing__(self, thing: K) -> int:
        self[thing] = number = len(self)
        return number

    def of(self, things: Iterable[K]) -> Ints:
        """The number of each."""
        # Without a call of Python for a new one: most may be.
        return np.array([self.setdefault(thing, len(self)) for thing in things], dtype=np.int64)


def numbered(things: Iterable[K]) -> tuple[Ints, list[K]]:
    """The number of each thing, and the different things by their numbers."""
    numbers: Interned[K] = Interned()
    return numbers.of(things), list(numbers)


def grouped(things: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The things of each key, in their order; keys are in the order of the first thing of each."""
    groups: dict[K, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def heaviest(weights: Iterable[tuple[K, int]]) -> K | None:
    """The thing whose weights add up to most, of equal ones the first; None without any."""
    sums: dict[K, int] = {}
    for thing, weight in weights:
        sums[thing] = sums.get(thing, 0) + weight
    return max(sums, key=sums.__getitem__) if sums else None


def most_at_once(spans: Iterable[tuple[int, int]]) -> int:
    """How many overlap at most. One that ends when another begins does not meet it."""
    steps = sorted(step for low, high in spans for step in ((low, 1), (high, -1)))
    return max(accumulate((step for _, step in steps), initial=0))


class Stretches:
    """Spans of time in order, without overlap: those that overlap are one."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in sorted(spans):
            if self.ends and start < self.ends[-1]:
                self.ends[-1] = max(end, self.ends[-1])
            else:
                self.starts.append(start)
                self.ends.append(end)

    def around(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Those of which a part lies between two moments."""
        for place in range(max(bisect_right(self.starts, low) - 1, 0), bisect_left(self.starts, high)):
            if self.ends[place] > low:
                yield self.starts[place], self.ends[place]

    def within(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """The same, cut there."""
        return ((max(start, low), min(end, high)) for start, end in self.around(low, high))

    def total(self, low: int, high: int) -> int:
        """How much of them lies between two moments."""
        return sum(end - start for start, end in self.within(low, high))

    def gaps(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """What lies between two moments and in none of them."""
        for start, end in self.around(low, high):
            if start > low:
                yield low, start
            low = max(low, end)
        if low < high:
            yield low, high


def length_before(starts: Ints, ends: Ints, times: Ints) -> Ints:
    """How much of spans, in order and without overlap, lies before each moment."""
    if not len(starts):
        return np.zeros(len(times), dtype=np.int64)
    before = offsets(ends - starts)
    place = np.searchsorted(starts, times, side="right")
    last = np.maximum(place - 1, 0)
    lengths: Ints = np.where(place > 0, before[last] + np.minimum(times, ends[last]) - starts[last], 0)
    return lengths


def changes(*columns: NDArray[Any]) -> Mask:
    """Where any of these columns differs from the row before it; the first row does."""
    changed = np.zeros(len(columns[0]), dtype=np.bool_)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def groups(numbers: NDArray[Any], rows: Ints | None = None) -> Iterator[tuple[int, Ints]]:
    """Each number in rising order, with the rows that have it in their order; of these rows only, if they are given."""
    chosen = np.arange(len(numbers)) if rows is None else rows
    order = chosen[np.argsort(numbers[chosen], kind="stable")]
    if len(order):
        starts = np.flatnonzero(changes(numbers[order]))
        yield from zip(numbers[order[starts]].tolist(), np.split(order, starts[1:]), strict=True)


def sum_by(of: NDArray[np.integer[Any]], values: NDArray[N], count: int) -> NDArray[N]:
    """The sum of the values of each number below `count`, in the type of the values."""
    sums = np.zeros_like(values, shape=count)
    np.add.at(sums, of, values)
    return sums


def sum_known(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def offsets(sizes: Sequence[int] | Ints | Mask) -> Ints:
    """Where parts of these sizes begin that lie one after another, and where the last of them ends."""
    return np.append(0, np.cumsum(sizes, dtype=np.int64))


_TEXT: Final = ("string", "binary")


def group_numbers(columns: Sequence[Sequence[Column]], lengths: Sequence[int]) -> tuple[Ints, int]:
    """Interned from 0 for the rows of several concatenated tables, -1 where a column is null; and how many.

    `columns` has for each key the columns of all tables, `lengths` the tables' rows. TypeError for a list, a struct,
    or a text beside a number.
    """
    total = sum(lengths)
    numbers = np.zeros(total, dtype=np.int64)
    count = min(total, 1)
    null = np.zeros(total, dtype=np.bool_)
    for parts in columns:
        codes, distinct = _codes(parts)
        numbers, count = _packed(numbers * distinct + codes, count * distinct)
        null |= ~np.concatenate([column.known for column in parts])
    numbers[null] = -1
    return numbers, count


def _packed(numbers: Ints, count: int) -> tuple[Ints, int]:
    """Interned without gaps, as soon as there are more of them than rows."""
    if count <= len(numbers):
        return numbers, count
    distinct, places = np.unique(numbers, return_inverse=True)
    return places.astype(np.int64).reshape(-1), len(distinct)


def _codes(parts: Sequence[Column]) -> tuple[Ints, int]:
    kinds = {column.type.kind for column in parts}
    if kinds & {"list", "struct"}:
        raise TypeError("rows cannot be paired on a list or a struct")
    if kinds & set(_TEXT):
        if len(kinds) > 1:
            raise TypeError(f"rows cannot be paired on {' and '.join(sorted(kinds))}")
        return _text_codes(parts)
    values = [column.values for column in parts]
    if any(v.dtype.kind == "f" for v in values):
        whole: NDArray[Any] = np.concatenate([v.astype(np.float64) for v in values])
        negative = np.zeros(len(whole), dtype=np.bool_)
    else:
        # As unsigned numbers with their sign beside, because no type of numpy's holds both kinds of 64 bits.
        negative = np.concatenate([v < 0 if v.dtype.kind == "i" else np.zeros(len(v), np.bool_) for v in values])
        whole = np.concatenate([_unsigned(v) for v in values])
    codes, distinct = _dense(whole)
    return (codes * 2 + negative, distinct * 2) if negative.any() else (codes, distinct)


def _dense(values: NDArray[Any]) -> tuple[Ints, int]:
    """Interned for values; without a sort where they lie close together, as threads do."""
    if len(values) and values.dtype.kind == "u":
        low, high = values.min(), values.max()
        if int(high) - int(low) < len(values):
            return (values - low).astype(np.int64), int(high) - int(low) + 1
    distinct, places = np.unique(values, return_inverse=True)
    return places.astype(np.int64).reshape(-1), len(distinct)


def _unsigned(values: NDArray[Any]) -> NDArray[np.uint64]:
    return values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)


def _text_codes(parts: Sequence[Column]) -> tuple[Ints, int]:
    known: Interned[object] = Interned()
    column_codes = []
    for column in parts:
        column_texts = column.texts if column.texts is not None else column
        codes = known.of(column_texts.tolist())
        column_codes.append(codes if column_texts is column or not len(codes) else codes[column.values])
    return np.concatenate(column_codes), max(len(known), 1)


Array: TypeAlias = NDArray[Any]

NONE: Final = -1
"""Stands for an unknown time, size or row."""


def picked(values: Array, rows: Ints) -> Array:
    """The values of these rows; 0 where the row is -1."""
    there = rows >= 0
    values_of_rows = np.zeros(len(rows), dtype=values.dtype)
    values_of_rows[there] = values[rows[there]]
    return values_of_rows


def held_at(values: Sequence[T], rows: Ints) -> list[T | None]:
    """The values of these rows; None where the row is -1."""
    return [None if row == NONE else values[row] for row in rows.tolist()]


def either(values: Array, rows: Ints, others: Array, other_rows: Ints) -> Array:
    """The values of these rows, and where the row is -1, what the other row tells."""
    return np.where(rows != NONE, picked(values, rows), picked(others, other_rows))


def nulled(values: Array, known: NDArray[np.bool_]) -> list[Any]:
    """Python values, None where they are not known."""
    return [value if is_known else None for value, is_known in zip(values.tolist(), known.tolist(), strict=True)]


Numbers: TypeAlias = Sequence[int] | NDArray[Any]


def nearest_rank(in_order: Numbers, percent: int) -> int | None:
    """The percentile of numbers in rising order; None if there are none."""
    return int(in_order[-(-percent * len(in_order) // 100) - 1]) if len(in_order) else None


def pair(groups: NDArray[Any], opens: Mask) -> tuple[Ints, Ints]:
    """The rows of begins and of the ends that belong to them, in the order of the begins.

    Rows are in order of time; `opens` is true for a begin. Within a group an end belongs to the last begin that
    has none yet, as a closing bracket does; an end without one, and a begin that is never closed, are left out.
    """
    order = _sorting(groups)
    if not len(order):
        return order, order
    group, steps = groups[order], np.where(opens[order], 1, -1)
    first = np.flatnonzero(changes(group))
    sizes = np.diff(np.append(first, len(order)))
    number = np.repeat(np.arange(len(first), dtype=np.int64), sizes)
    depth = np.cumsum(steps)
    depth -= np.repeat(depth[first] - steps[first], sizes)
    # The lowest depth so far. Each group lies so far below the one before it that one pass does for all.
    fall = number * (2 * len(order) + 2)
    floor = np.minimum(np.minimum.accumulate(depth - fall) + fall, 0)
    # Within a level begins and their ends take turns. An end that has none follows another end, or nothing.
    level = depth - floor + (steps < 0)
    deepest = int(level.max())
    place = number
    if deepest > 1:
        place = number * (deepest + 1) + level
        again = _sorting(place)
        order, steps, place = order[again], steps[again], place[again]
    opening = steps > 0
    at = np.flatnonzero(opening[:-1] & ~opening[1:] & (place[1:] == place[:-1]))
    ends = np.full(len(order), -1, dtype=np.int64)
    ends[order[at]] = order[at + 1]
    begins = np.flatnonzero(ends >= 0)
    return begins, ends[begins]


def first_in_first_out(groups: NDArray[Any], opens: Mask) -> tuple[Ints, Ints]:
    """The same for queues: within a group an end belongs to the first begin that has none yet."""
    # Which ends have a begin does not depend on which of the open begins they are given.
    _, ends = pair(groups, opens)
    ends = np.sort(ends)
    ends = ends[_sorting(groups[ends])]
    begins = np.flatnonzero(opens)
    begins = begins[_sorting(groups[begins])]
    of, ended = groups[begins], groups[ends]
    place = np.arange(len(begins)) - np.searchsorted(of, of)
    begins = begins[place < np.searchsorted(ended, of, "right") - np.searchsorted(ended, of)]
    order = np.argsort(begins)
    return begins[order], ends[order]


def _sorting(keys: NDArray[Any]) -> Ints:
    """A stable sort of integers that are not negative; numpy has a fast one for narrow ones."""
    narrow = int(keys.max(initial=0)) < 1 << 16
    return np.argsort(keys.astype(np.uint16) if narrow else keys, kind="stable")


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
