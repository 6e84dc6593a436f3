"""When which code was at an address: from loads, unloads and listings to ranges with lifetimes, and an index over them.

A lifetime is `[begin, end)` in ns since the session started. A load of jitted code begins one, an unload ends it. Any
other sighting (a listing, an unload without a load, a load of precompiled code, always in its image) shows that the
code existed before: it begins when the previous code at the address ended, else with the trace. Without an unload, code
stays until something else is seen there, or its module is unloaded. A listing overrides an earlier unload: on shutdown
a runtime writes an unload for all code, and lists the same code in the rundown. Knows no names.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen

Ints = NDArray[np.int64]
Addresses = NDArray[np.uint64]
Mask = NDArray[np.bool_]

LOAD, UNLOAD, LISTED = 0, 1, 2
ALWAYS: Final = np.iinfo(np.int64).min
"""The `begin` of code that existed when the trace began."""
FOREVER: Final = np.iinfo(np.int64).max
"""The `end` of code that existed when the trace ended."""

_MOST: Final = 1 << 62


def bounded(times: Ints) -> Ints:
    """Times that are neither ALWAYS nor FOREVER, and not so near that a sum with one overflows.

    146 years from the start of a session mean the same as any more.
    """
    return np.clip(times, -_MOST, _MOST)


def bounded_ns(time_ns: int) -> int:
    """The same for one time, of any size."""
    return max(-_MOST, min(time_ns, _MOST))


GRACE_NS: Final = 10_000_000
"""Code may run before its load is written (0.1 ms in one of our traces). Used if nothing else is known."""

_PAIRS: Final = 200_000


@frozen(eq=False)
class Sightings:
    """Times at which code was seen at an address, one row each, in any order.

    `role` is LOAD, UNLOAD or LISTED; `space` numbers the process; `identity` is equal for the same piece of code;
    `soft` loads are of code that existed before; `named` rows have texts; `doubted` is the subset of rows whose
    identity may be reused by other code (dynamic methods).
    """

    role: NDArray[np.int8]
    time: Ints
    space: Ints
    start: Addresses
    size: Addresses
    identity: Addresses
    module: Addresses
    soft: Mask
    named: Mask
    doubted: Mask


@define(eq=False)
class Lifetimes:
    """Ranges in order of (space, start, begin); `row` is the most informative sighting, `seen` the time of the last.

    `loaded` is the time of the load that began it, ALWAYS without one; `begin` may be a little earlier. `of` is the
    range of each sighting.
    """

    space: Ints
    start: Addresses
    size: Addresses
    begin: Ints
    end: Ints
    row: Ints
    seen: Ints
    loaded: Ints
    of: Ints

    def __len__(self) -> int:
        return len(self.start)


def lifetimes(seen: Sightings, same_text: Any, gone: Iterable[tuple[int, int, int]] = ()) -> Lifetimes:
    """Ranges from sightings. `same_text(a, b)` compares two doubted rows; `gone` are modules' (space, id, time)."""
    order = np.lexsort((np.arange(len(seen.time)), seen.time, seen.start, seen.space))
    role, time, space, start = seen.role[order], seen.time[order], seen.space[order], seen.start[order]
    size, identity, soft = seen.size[order], seen.identity[order], seen.soft[order]
    doubted = seen.doubted[order]
    count = len(order)
    if not count:
        none = np.zeros(0, dtype=np.int64)
        return Lifetimes(none, none.astype(np.uint64), none.astype(np.uint64), none, none, none, none, none, none)
    opens = np.ones(count, dtype=np.bool_)
    place = (start[1:] == start[:-1]) & (space[1:] == space[:-1])
    same = (identity[1:] == identity[:-1]) & (size[1:] == size[:-1])
    ended = role[:-1] == UNLOAD
    load, listed = role[1:] == LOAD, role[1:] == LISTED
    goes_on = place & same & np.where(load, ~ended & ~doubted[1:], listed | ~ended)
    for at in np.flatnonzero(goes_on & listed & ended & doubted[1:]).tolist():
        goes_on[at] = same_text(int(order[at]), int(order[at + 1]))
    opens[1:] = ~goes_on
    first = np.flatnonzero(opens)
    last = np.append(first[1:], count) - 1
    hard = (role[first] == LOAD) & ~soft[first]
    begin = np.where(hard, time[first], ALWAYS)
    loaded = begin.copy()
    end = np.where(role[last] == UNLOAD, time[last], FOREVER)
    # Neighbours at the same address: an open end is set where the next begins or is first seen, and vice versa.
    follows = (start[first][1:] == start[first][:-1]) & (space[first][1:] == space[first][:-1])
    until = np.where(hard[1:], begin[1:], time[first][1:])
    end[:-1] = np.where(follows & (end[:-1] == FOREVER), until, end[:-1])
    begin[1:] = np.where(follows & ~hard[1:], end[:-1], begin[1:])
    alone = hard & ~np.append(False, follows)
    begin = np.where(alone, np.maximum(begin, ALWAYS + GRACE_NS) - GRACE_NS, begin)
    named = np.maximum.reduceat(np.where(seen.named[order], np.arange(count), -1), first)
    row = order[np.where(named >= 0, named, first)]
    # At one moment one address has one size; the first is as good as any.
    of = np.empty(count, dtype=np.int64)
    of[order] = np.cumsum(opens) - 1
    lives = Lifetimes(space[first], start[first], size[first], begin, end, row, time[last], loaded, of)
    _separate(lives, time[first], role[last] == UNLOAD)
    _end_with_modules(lives, seen.module[row], gone)
    return lives


def _separate(lives: Lifetimes, first_seen: Ints, unloaded: Mask) -> None:
    """The same for ranges that overlap without starting at the same address.

    None of our intact traces has any. The number of pairs is bounded, because hostile ranges all overlap.
    """
    starts, ends = lives.start, ends_of(lives)
    reach = np.maximum.accumulate(ends)
    overlapping = np.flatnonzero((starts[1:] < reach[:-1]) & (lives.space[1:] == lives.space[:-1]))
    left = _PAIRS
    for b in (overlapping + 1).tolist():
        a = b - 1
        while a >= 0 and left and lives.space[a] == lives.space[b] and reach[a] > starts[b]:
            left -= 1
            if ends[a] > starts[b] and starts[a] < starts[b]:
                earlier, later = (a, b) if first_seen[a] <= first_seen[b] else (b, a)
                seen = int(first_seen[later])
                if not unloaded[earlier]:
                    lives.end[earlier] = min(int(lives.end[earlier]), seen)
                lives.begin[later] = max(int(lives.begin[later]), min(int(lives.end[earlier]), seen))
            a -= 1


def _end_with_modules(lives: Lifetimes, module: Addresses, gone: Iterable[tuple[int, int, int]]) -> None:
    """Code not seen again after its module was unloaded went with it."""
    times: dict[tuple[int, int], list[int]] = {}
    for space, identity, time in sorted(gone, key=lambda g: g[2]):
        times.setdefault((space, identity), []).append(time)
    if not times:
        return
    concerned = np.isin(module, np.array([identity for _, identity in times], dtype=np.uint64))
    for at in np.flatnonzero(concerned & (lives.end == FOREVER)).tolist():
        known = times.get((int(lives.space[at]), int(module[at])), [])
        place = bisect_left(known, int(lives.seen[at]))
        if place < len(known):
            lives.end[at] = known[place]


def ends_of(lives: Lifetimes) -> Addresses:
    """The first address after each range; sizes that exceed the address space are cut."""
    return lives.start + np.minimum(lives.size, np.iinfo(np.uint64).max - lives.start)


FOUND, NOTHING, GONE, EARLY, UNDECIDED = range(5)
"""The result of a query: found, never anything there, no longer there, not there yet; or more ranges overlap at the
address than are examined."""

_STEPS: Final = 4
"""How many start addresses of ranges around an address are examined in any case: one in an intact trace, or a few where
code of other times was at other addresses nearby."""
_MORE: Final = 10_000
_MORE_EACH: Final = 8
"""How many more are examined in all queries together, and how many for each range that there is; only hostile ranges
overlap so often."""


class LastBeyond:
    """Finds the last of some ends that lies beyond an address, in as many steps as their number has bits."""

    def __init__(self, ends: Addresses) -> None:
        # A binary tree of maxima: node n has the children 2n and 2n + 1, the leaves begin at `leaves`.
        self._leaves = 1 << len(ends).bit_length()
        self._largest = np.zeros(2 * self._leaves, dtype=np.uint64)
        self._largest[self._leaves : self._leaves + len(ends)] = ends
        low = self._leaves
        while low > 1:
            self._largest[low // 2 : low] = self._largest[low : 2 * low].reshape(-1, 2).max(axis=1)
            low //= 2

    def before(self, place: int, address: int) -> int:
        """The last place before this one whose end is beyond the address; -1 if there is none."""
        largest, leaves = self._largest.data, self._leaves
        node = place + leaves
        while not (node & 1 and largest[node - 1] > address):
            node >>= 1
            if node <= 1:
                return -1
        node -= 1
        while node < leaves:
            node = 2 * node + 1
            node -= int(largest[node] <= address)
        return node - leaves


@frozen(eq=False)
class _Numbers:
    """Columns of `Ranges` without a copy, whose items are Python's integers: to look at one after the other."""

    first: memoryview
    limit: memoryview
    starts: memoryview
    reach: memoryview
    ends: memoryview
    begin: memoryview
    end: memoryview


class Ranges:
    """An index of `Lifetimes`; `spaces` are the process numbers counted by its `space`."""

    def __init__(self, lives: Lifetimes, spaces: tuple[int, ...]) -> None:
        self.lives = lives
        self.spaces = spaces
        self._places = {number: space for space, number in enumerate(spaces)}
        count = len(lives)
        self._ends = ends_of(lives)
        new = np.ones(count, dtype=np.bool_)
        new[1:] = (lives.start[1:] != lives.start[:-1]) | (lives.space[1:] != lives.space[:-1])
        self._first = np.flatnonzero(new)
        self._limit = np.append(self._first[1:], count) if count else self._first
        self._starts = lives.start[self._first]
        self._bounds = [np.searchsorted(lives.space[self._first], [s, s + 1]).tolist() for s in range(len(spaces))]
        self._more = _MORE + _MORE_EACH * count
        self._reach = np.zeros(len(self._first), dtype=np.uint64)
        largest = np.maximum.reduceat(self._ends, self._first) if count else self._ends
        for low, high in self._bounds:
            self._reach[low:high] = np.maximum.accumulate(largest[low:high])

    def __getstate__(self) -> dict[str, Any]:
        # Views of memory are made again where they are needed.
        return {name: value for name, value in vars(self).items() if name != "_numbers"}

    def __len__(self) -> int:
        return len(self.lives)

    def find(
        self, addresses: Addresses, times: Ints | None = None, process: int | None = None
    ) -> tuple[Ints, NDArray[np.uint8]]:
        """For each (address, time in ns) the index of its range or -1, and the result code.

        Without times, the last range at the address. Without a process, the first with a range there.
        """
        index = np.full(len(addresses), -1, dtype=np.int64)
        outcome = np.full(len(addresses), NOTHING, dtype=np.uint8)
        every = range(len(self.spaces))
        for space in every if process is None else self._of_process(process):
            open_ = np.flatnonzero(outcome != FOUND)
            if not len(open_):
                break
            low, high = self._bounds[space]
            if high > low:
                self._in_space(low, high, addresses, times, open_, index, outcome)
        return index, outcome

    def find_one(self, address: int, time_ns: int | None = None, process: int | None = None) -> tuple[int, int]:
        """The same for one address, in a tenth of the time that arrays of one take."""
        outcome = NOTHING
        for space in range(len(self.spaces)) if process is None else self._of_process(process):
            low, high = self._bounds[space]
            index, outcome = self._one_in_space(low, high, address, time_ns, outcome)
            if outcome == FOUND:
                return index, FOUND
        return -1, outcome

    def _of_process(self, process: int) -> list[int]:
        """The spaces of one process, and of what has none, which is before all others."""
        return [self._places[number] for number in sorted({-1, process}) if number in self._places]

    def _in_space(
        self,
        low: int,
        high: int,
        addresses: Addresses,
        times: Ints | None,
        open_: Ints,
        index: Ints,
        outcome: NDArray[np.uint8],
    ) -> None:
        """Together in the ranges with the nearest start; what is not there, which is little, is looked for alone."""
        group = np.searchsorted(self._starts[low:high], addresses[open_], "right") - 1 + low
        keep = group >= low
        keep[keep] = self._reach[group[keep]] > addresses[open_[keep]]
        open_, group = open_[keep], group[keep]
        at = self._limit[group] - 1 if times is None else self._alive(group, times[open_])
        inside = addresses[open_] < self._ends[at]
        if times is not None:
            inside &= (self.lives.begin[at] <= times[open_]) & (times[open_] < self.lives.end[at])
        outcome[open_[inside]] = FOUND
        index[open_[inside]] = at[inside]
        for row in open_[~inside].tolist():
            time_ns = None if times is None else int(times[row])
            index[row], outcome[row] = self._one_in_space(low, high, int(addresses[row]), time_ns, int(outcome[row]))

    def _one_in_space(self, low: int, high: int, address: int, time_ns: int | None, outcome: int) -> tuple[int, int]:
        columns = self._numbers
        group = bisect_right(columns.starts, address, low, high) - 1
        steps = 0
        while group >= low and columns.reach[group] > address:
            if steps >= _STEPS:
                if not self._more:
                    return -1, UNDECIDED
                self._more -= 1
            steps += 1
            at, how = self._one_latest(group, address) if time_ns is None else self._one_alive(group, address, time_ns)
            if how == FOUND:
                return at, FOUND
            outcome = how if outcome == NOTHING else outcome
            group = bisect_right(columns.first, self._beyond.before(columns.first[group], address)) - 1
        return -1, outcome

    @cached_property
    def _numbers(self) -> _Numbers:
        every = self._first, self._limit, self._starts, self._reach, self._ends, self.lives.begin, self.lives.end
        return _Numbers(*(column.data for column in every))

    @cached_property
    def _beyond(self) -> LastBeyond:
        """Made when it is needed first: never, where ranges do not overlap."""
        return LastBeyond(self._ends)

    def _alive(self, group: Ints, times: Ints) -> Ints:
        """Of the ranges that start at the same address, the first that ends after its time; the last if there is none.

        By bisection: their ends are in order.
        """
        low, high = self._first[group], self._limit[group] - 1
        while np.any(low < high):
            middle = (low + high) // 2
            over = (low < high) & (self.lives.end[middle] <= times)
            high = np.where(over, high, middle)
            low = np.where(over, middle + 1, low)
        return low

    def _one_alive(self, group: int, address: int, time_ns: int) -> tuple[int, int]:
        columns = self._numbers
        first, limit = columns.first[group], columns.limit[group]
        at = bisect_right(columns.end, time_ns, first, limit)
        there = at < limit
        inside = address < columns.ends[at if there else limit - 1]
        if there and inside and columns.begin[at] <= time_ns:
            return at, FOUND
        if inside if not there else at > first and address < columns.ends[at - 1]:
            return at, GONE
        return at, EARLY if inside else NOTHING

    def _one_latest(self, group: int, address: int) -> tuple[int, int]:
        columns = self._numbers
        at = columns.limit[group] - 1
        if address >= columns.ends[at]:
            at = max(self._beyond.before(at, address), columns.first[group])
        return at, FOUND if address < columns.ends[at] else NOTHING
