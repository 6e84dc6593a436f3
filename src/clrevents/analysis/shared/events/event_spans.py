"""`EventSpans`: from one event to another, as rows of both, with the columns that either has. Compilations are such.

Begins are paired with ends as brackets are, by columns in which both agree; what has lost its other side stays alone.
Knows the events of methods being compiled and loaded, and which tell the version of .NET; names and sums are up to the
caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from clrevents._util import value_classes as attrs
from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import NONE, Array, Gathered, Ints, Mask, either, matched, picked
from clrevents.schema.runtime_flags import MethodFlags
from clrevents.table.table import Table


def field_numbers(events: Gathered, name: str) -> Array:
    """A column of numbers; 0 where it is null, or where no version of the event in the trace has it."""
    if name not in events.table:
        return np.zeros(len(events), dtype=np.int64)
    return events.numbers(name)


def field_known(events: Gathered, name: str) -> Mask:
    """Where a column is not null."""
    if name not in events.table:
        return np.zeros(len(events), dtype=np.bool_)
    return np.asarray(events.column(name).known, dtype=np.bool_)


VERSION_EVENTS: Final = ("runtime/RuntimeInformationStart", "rundown/RuntimeInformationDCStart")
"""The events with the version of .NET, from the process's start or the rundown."""
VERSION: Final = "BclMajorVersion"


def versions_of(events: Mapping[str, Gathered]) -> set[int]:
    """The major versions of .NET that events tell; none where neither of `VERSION_EVENTS` is among them."""
    gathered = (events[name] for name in VERSION_EVENTS if name in events and VERSION in events[name].table)
    return {int(version) for rows in gathered for version in rows.numbers(VERSION).tolist()}


@frozen(eq=False, slots=False)
class EventSpans:
    """`begin` and `end` are rows of the events, -1 where the trace does not have one; in order of time."""

    begins: Gathered
    ends: Gathered
    begin: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def begun(self) -> Mask:
        """Which have a begin."""
        return np.asarray(self.begin != NONE)

    @property
    def ended(self) -> Mask:
        """Which have an end."""
        return np.asarray(self.end != NONE)

    @property
    def closed(self) -> Mask:
        """Which have both."""
        return self.begun & self.ended

    @cached_property
    def thread(self) -> NDArray[np.uint64]:
        """The thread of either event."""
        return self.either("thread_id").astype(np.uint64)

    @property
    def start_ns(self) -> Ints:
        """When each began; 0 where that is unknown."""
        return self.at_begin("time_ns").astype(np.int64)

    @property
    def end_ns(self) -> Ints:
        """When each ended; 0 where that is unknown."""
        return self.at_end("time_ns").astype(np.int64)

    @cached_property
    def low_ns(self) -> Ints:
        """When each began; of one without a begin, when it ended."""
        return self.either("time_ns").astype(np.int64)

    @cached_property
    def high_ns(self) -> Ints:
        """When each ended; of one without an end, when it began."""
        return np.where(self.ended, self.at_end("time_ns"), self.low_ns).astype(np.int64)

    @cached_property
    def low_place(self) -> Ints:
        """Where the begin is among all events, or else the end."""
        return either(self.begins.places, self.begin, self.ends.places, self.end)

    @cached_property
    def high_place(self) -> Ints:
        """Where the end is, or else the begin."""
        return either(self.ends.places, self.end, self.begins.places, self.begin)

    def at_begin(self, name: str) -> Array:
        """A column of the begins; 0 where there is none."""
        return picked(field_numbers(self.begins, name), self.begin)

    def at_end(self, name: str) -> Array:
        """A column of the ends; 0 where there is none."""
        return picked(field_numbers(self.ends, name), self.end)

    def known_at_end(self, name: str) -> Mask:
        """Where a column of the ends is not null."""
        return picked(field_known(self.ends, name), self.end)

    def either(self, name: str) -> Array:
        """A column that both events have: of the begin, or else of the end."""
        return either(field_numbers(self.begins, name), self.begin, field_numbers(self.ends, name), self.end)

    def known(self, name: str) -> Mask:
        """Where that is not null."""
        return either(field_known(self.begins, name), self.begin, field_known(self.ends, name), self.end)

    def cells(self, name: str) -> list[Any]:
        """The same as Python values; None where that is null."""
        begins, ends = self.begins.cells(name), self.ends.cells(name)
        rows = zip(self.begin.tolist(), self.end.tolist(), strict=True)
        return [begins[begin] if begin != NONE else ends[end] for begin, end in rows]

    def only(self, which: Mask | Ints) -> Self:
        """Some of them, or these in this order."""
        return attrs.evolve(self, begin=self.begin[which], end=self.end[which])

    def ordered(self) -> Self:
        """The same in order of time."""
        return self.only(np.argsort(self.low_place, kind="stable"))


def paired(begins: Gathered, ends: Gathered, keys: Sequence[str], needless: Mask | None = None) -> EventSpans:
    """Begins with the ends that have the same keys, as brackets; and those of both that stay alone, but for those ends
    that are `needless` then."""
    first, second = matched([begins], [ends], keys)
    end_of = np.full(len(begins), NONE, dtype=np.int64)
    end_of[first] = second
    alone = np.ones(len(ends), dtype=np.bool_) if needless is None else ~needless
    alone[second] = False
    begin = np.concatenate((np.arange(len(begins)), np.full(int(alone.sum()), NONE)))
    return EventSpans(begins, ends, begin, np.concatenate((end_of, np.flatnonzero(alone)))).ordered()


def compilations(begins: Gathered, loads: Sequence[Gathered]) -> EventSpans:
    """Of MethodJittingStarted, and the loads of both kinds that belong to one or stand alone.

    Rows of loads count through the kinds. Loads of code that was there before belong to none.
    """
    both = _behind(loads)
    precompiled = (both.numbers("MethodFlags").astype(np.int64) & int(MethodFlags.Jitted)) == 0
    return paired(begins, both, ("thread_id", "MethodID"), precompiled)


def _behind(parts: Sequence[Gathered]) -> Gathered:
    """Several events as one, the rows of one after those of the other, with the columns that all have."""
    names = [name for name in parts[0].table.columns if all(name in part.table for part in parts)]
    rows = tuple(tuple(part.column(name) for name in names) for part in parts if len(part))
    return Gathered(None, Table(parts[0].table.select(*names).fields, rows), np.concatenate([p.places for p in parts]))


def inside(spans: EventSpans, threads: NDArray[np.uint64], places: Ints) -> Ints:
    """The innermost span that each event, by thread and place, lies in; -1 for none."""
    if not len(spans):
        return np.full(len(places), NONE, dtype=np.int64)
    order = np.lexsort((spans.low_place, spans.thread))
    thread, start, end = spans.thread[order], spans.low_place[order], spans.high_place[order]
    parent = _parents(thread.tolist(), start.tolist(), end.tolist())
    low, high = np.searchsorted(thread, threads, side="left"), np.searchsorted(thread, threads, side="right")
    # One search for all threads: each has its own stretch of numbers.
    reach = int(max(end.max(), places.max(initial=0))) + 1
    number = np.cumsum(np.append(False, thread[1:] != thread[:-1]))
    numbers = np.where(low < high, number[np.minimum(low, len(number) - 1)], 0)
    at = np.searchsorted(number * reach + start, numbers * reach + places, side="right") - 1
    at = np.where((low < high) & (at >= low), at, NONE)
    while len(over := np.flatnonzero((at != NONE) & (end[at] < places))):
        at[over] = parent[at[over]]
    return np.where(at == NONE, NONE, order[at])


def _parents(thread: list[int], start: list[int], end: list[int]) -> Ints:
    """The span around each one; a type's initializer may be compiled while a method is."""
    open_: list[int] = []
    parents = []
    for row, begins in enumerate(start):
        while open_ and (thread[open_[-1]] != thread[row] or end[open_[-1]] < begins):
            open_.pop()
        parents.append(open_[-1] if open_ else NONE)
        open_.append(row)
    return np.array(parents, dtype=np.int64)
