"""When which code was at an address: from loads, unloads and listings to ranges with lifetimes.

Holds the rules. A lifetime is `[begin, end)` in ns since the session started. A load of jitted code begins one, an
unload ends it. Any other sighting of code (a listing at the start or end of the session, an unload without a load, a
load of precompiled code, which is always in its image) shows that it existed before: it begins when the previous code
at the address ended, else with the trace. Without an unload, code stays until something else is seen at its address,
or its module is unloaded. A listing overrides an earlier unload: on shutdown a runtime writes an unload for all code,
and lists the same code in the rundown. Knows no names.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
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
    made = Lifetimes(space[first], start[first], size[first], begin, end, row, time[last], loaded, of)
    _separate(made, time[first], role[last] == UNLOAD)
    _end_with_modules(made, seen.module[row], gone)
    return made


def _separate(made: Lifetimes, first_seen: Ints, unloaded: Mask) -> None:
    """The same for ranges that overlap without starting at the same address.

    None of our intact traces has any. The number of pairs is bounded, because hostile ranges all overlap.
    """
    starts, ends = made.start, ends_of(made)
    reach = np.maximum.accumulate(ends)
    overlapping = np.flatnonzero((starts[1:] < reach[:-1]) & (made.space[1:] == made.space[:-1]))
    left = _PAIRS
    for b in (overlapping + 1).tolist():
        a = b - 1
        while a >= 0 and left and made.space[a] == made.space[b] and reach[a] > starts[b]:
            left -= 1
            if ends[a] > starts[b] and starts[a] < starts[b]:
                earlier, later = (a, b) if first_seen[a] <= first_seen[b] else (b, a)
                seen = int(first_seen[later])
                if not unloaded[earlier]:
                    made.end[earlier] = min(int(made.end[earlier]), seen)
                made.begin[later] = max(int(made.begin[later]), min(int(made.end[earlier]), seen))
            a -= 1


def _end_with_modules(made: Lifetimes, module: Addresses, gone: Iterable[tuple[int, int, int]]) -> None:
    """Code not seen again after its module was unloaded went with it."""
    times: dict[tuple[int, int], list[int]] = {}
    for space, identity, time in sorted(gone, key=lambda g: g[2]):
        times.setdefault((space, identity), []).append(time)
    if not times:
        return
    concerned = np.isin(module, np.array([identity for _, identity in times], dtype=np.uint64))
    for at in np.flatnonzero(concerned & (made.end == FOREVER)).tolist():
        known = times.get((int(made.space[at]), int(module[at])), [])
        place = bisect_left(known, int(made.seen[at]))
        if place < len(known):
            made.end[at] = known[place]


def ends_of(made: Lifetimes) -> Addresses:
    """The first address after each range; sizes that exceed the address space are cut."""
    return made.start + np.minimum(made.size, np.iinfo(np.uint64).max - made.start)
