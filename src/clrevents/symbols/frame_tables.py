"""Whole tables of stacks → frames, in arrays: the input of flame graphs and lists of hot methods.

A stack used at several times is resolved once if its methods never changed, otherwise for each time at which any code
changed. The total size of deep stacks is bounded. Knows no weights and no events.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.stacks import StackArrays
from clrevents.symbols.frame import NOT_YET, OVERLAPPING, UNLOADED, Frame
from clrevents.symbols.lifetimes import Addresses, Ints, bounded
from clrevents.symbols.methods import Methods, changes_of

_DEEP: Final = 128
"""Frames of a stack as deep as runtimes and profilers write them; only deeper ones count towards `_ROOM`."""
_ROOM: Final = 1_000_000
"""How many frames deep stacks may have in total beyond those in the trace, for use in several processes or at several
times."""
_CHUNK: Final = 1 << 18

FrameNumbers: TypeAlias = NDArray[np.signedinteger[Any]]


@frozen(eq=False)
class FrameTable:
    """Distinct frames: `address`, `method` (an index into the trace's methods, -1 without one) and `reason` codes."""

    methods: Methods
    address: Addresses
    method: Ints
    reason: NDArray[np.uint8]
    process: Ints

    def __len__(self) -> int:
        return len(self.address)

    def frame(self, index: int) -> Frame:
        """The frame's record; its IL offset is that of a call's return address."""
        process = int(self.process[index])
        known = None if process < 0 else process
        return self.methods.frame(
            int(self.address[index]), int(self.method[index]), int(self.reason[index]), True, known
        )


@frozen(eq=False)
class ResolvedStacks:
    """Stacks of frames: `values[offsets[i]:offsets[i+1]]` are places in `table`, innermost first; `of[k]` is the
    resolved stack of the k-th use, -1 if it had no stack."""

    of: Ints
    offsets: Ints
    values: FrameNumbers
    table: FrameTable

    def __len__(self) -> int:
        return len(self.offsets) - 1


def resolve_stacks(
    methods: Methods, stacks: StackArrays, stack_ids: Ints, times: Ints, processes: Ints | None = None
) -> ResolvedStacks:
    """Frames of every use (an event with a stack) of a trace's stacks (`trace.stacks.arrays`).

    `stack_ids`, `times` (ns) and `processes` (-1 unknown; None: one process) have one value for each use. For stacks
    deeper than any runtime writes, uses in many processes count as without a stack, and uses at many times as at the
    first of these.
    """
    place = _places(stacks, stack_ids)
    used = place >= 0
    place[used] = _first_alike(stacks, place[used])
    number = np.full(len(place), -1, dtype=np.int64) if processes is None else processes
    of = np.full(len(place), -1, dtype=np.int64)
    depth = np.diff(stacks.offsets)
    pairs, inverse = _distinct(place[used], number[used])
    fits = _fit(depth[pairs[0]], len(stacks.addresses))
    if not fits.all():
        used[used] = fits[inverse]
        pairs, inverse = _distinct(place[used], number[used])
    of[used] = inverse
    first = np.full(len(pairs[0]), np.iinfo(np.int64).max, dtype=np.int64)
    last = np.full(len(pairs[0]), np.iinfo(np.int64).min, dtype=np.int64)
    np.minimum.at(first, inverse, times[used])
    np.maximum.at(last, inverse, times[used])
    parts = [
        _Lookup.of(methods, stacks, pairs[0][part], pairs[1][part], first[part], last[part])
        for part in _chunks(depth[pairs[0]])
    ]
    split = np.concatenate([np.zeros(0, dtype=np.bool_), *(part.split for part in parts)])
    if np.any(split):
        again = used.copy()
        again[used] = split[inverse]
        moment = np.searchsorted(changes_of(methods), bounded(times[again]), "right")
        which, many = _distinct(of[again], moment)
        when = np.empty(len(which[0]), dtype=np.int64)
        when[many] = times[again]
        more, numbers = _later(methods, stacks, (pairs[0][which[0]], pairs[1][which[0]], when), which[0])
        of[again] = np.where(numbers[many] < 0, of[again], numbers[many] + len(pairs[0]))
        parts += more
    return _tabled(methods, of, parts)


def _fit(depths: Ints, room: int) -> NDArray[np.bool_]:
    """Which stacks of these depths are resolved: all, unless there are too many deep ones."""
    deep = depths > _DEEP
    taken: NDArray[np.bool_] = ~deep | (np.cumsum(np.where(deep, depths, 0)) <= room + _ROOM)
    return taken


def _later(
    methods: Methods, stacks: StackArrays, uses: tuple[Ints, Ints, Ints], whose: Ints
) -> tuple[list[_Lookup], Ints]:
    """The frames of stacks (place, process, time) at other times, without those that a stack had before.

    `whose` is equal for uses of one stack in one process, which follow each other in order of time. Also the number
    that each use has in the result, -1 for one that takes too much.
    """
    numbers = np.full(len(whose), -1, dtype=np.int64)
    depth = stacks.offsets[uses[0] + 1] - stacks.offsets[uses[0]]
    fits = np.flatnonzero(_fit(depth, 0))
    lookups: list[_Lookup] = []
    count = 0
    for part in _chunks(depth[fits]):
        rows = fits[part]
        place, process, when = (column[rows] for column in uses)
        lookup = _Lookup.of(methods, stacks, place, process, when, when)
        new = lookup.changed(whose[rows])
        numbers[rows] = count + np.cumsum(new) - 1
        count += int(new.sum())
        lookups.append(lookup.only(new))
    return lookups, numbers


def _chunks(depths: Ints) -> Iterator[slice]:
    """Successive stacks with about as many frames together as are resolved at once."""
    chunk = np.cumsum(depths) // _CHUNK
    edges = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(chunk)]
    return itertools.starmap(slice, itertools.pairwise(edges))


@frozen(eq=False)
class _Lookup:
    """Some stacks: of each its number of frames, and for each of these a row of the last four columns.

    `split` are those that have other frames at their last use than at their first, whose frames these are.
    """

    counts: Ints
    split: NDArray[np.bool_]
    values: FrameNumbers
    address: Addresses
    method: Ints
    reason: NDArray[np.uint8]
    process: Ints

    @classmethod
    def of(cls, methods: Methods, stacks: StackArrays, place: Ints, process: Ints, first: Ints, last: Ints) -> _Lookup:
        """Each address is looked up once, and again only where a stack was used before or after its code was there."""
        counts = stacks.offsets[place + 1] - stacks.offsets[place]
        stack = np.repeat(np.arange(len(place)), counts)
        address = stacks.addresses[np.arange(len(stack)) + (stacks.offsets[place] + counts - np.cumsum(counts))[stack]]
        values = np.empty(len(stack), dtype=np.int32)
        split = np.zeros(len(place), dtype=np.bool_)
        none = np.zeros(0, dtype=np.int64)
        rows = [(address[:0], none, none.astype(np.uint8), none)]
        size = 0
        # Nearly always of one process.
        parts: list[Any] = [slice(None)] if len(stack) else []
        if parts and (process != process[0]).any():
            order = np.argsort(process[stack], kind="stable")
            parts = np.split(order, np.flatnonzero(np.diff(process[stack[order]])) + 1)
        for uses in parts:
            owner, addresses = stack[uses], address[uses]
            number = int(process[owner[0]])
            known = None if number < 0 else number
            # Counts are not needed, but without them np.unique loads numpy.ma: 10 ms.
            distinct, _ = np.unique(addresses, return_counts=True)
            method, reason, begin, end = methods.lasting(distinct, known)
            row = np.searchsorted(distinct, addresses)
            brief = (begin > first.min()) | (end <= last.max())
            other = np.flatnonzero(brief[row])
            owner = owner[other]
            passing = (begin[row[other]] > first[owner]) | (end[row[other]] <= last[owner])
            other, owner = other[passing], owner[passing]
            places = row + size
            if len(other):
                asked = addresses[other]
                places[other] = np.arange(len(other)) + size + len(distinct)
                early, why = methods.find(asked, first[owner], known)
                late, _ = methods.find(asked, last[owner], known)
                passing = np.isin(why, (UNLOADED, NOT_YET, OVERLAPPING)) & (first != last)[owner]
                split[owner[(early != late) | passing]] = True
                distinct, method = np.append(distinct, asked), np.append(method, early)
                reason = np.append(reason, why)
            values[uses] = places
            rows.append((distinct, method, reason, np.full(len(distinct), number, dtype=np.int64)))
            size += len(distinct)
        columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
        return cls(counts, split, values, *columns)

    def changed(self, whose: Ints) -> NDArray[np.bool_]:
        """Whether each stack is another one, by `whose`, or has other frames than the one before it."""
        new = np.ones(len(self.counts), dtype=np.bool_)
        new[1:] = whose[1:] != whose[:-1]
        stack = np.repeat(np.arange(len(self.counts)), self.counts)
        # The same stack has as many frames as before, so each one's predecessor is that far in front of it.
        frame = np.flatnonzero(~new[stack])
        old, before = self.values[frame], self.values[frame - self.counts[stack[frame]]]
        differs = (self.method[old] != self.method[before]) | (self.reason[old] != self.reason[before])
        new[stack[frame[differs]]] = True
        return new

    def only(self, kept: NDArray[np.bool_]) -> _Lookup:
        """Some of the stacks."""
        return attrs.evolve(
            self, counts=self.counts[kept], split=self.split[kept], values=self.values[np.repeat(kept, self.counts)]
        )


def _places(stacks: StackArrays, stack_ids: Ints) -> Ints:
    """Positions of the stacks with these ids; -1 for missing ones (0 is no stack)."""
    if not len(stacks.ids):
        return np.full(len(stack_ids), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(stacks.ids, stack_ids), len(stacks.ids) - 1)
    return np.where(stacks.ids[at] == stack_ids, at, -1)


_ALIKE: Final[WeakKeyDictionary[StackArrays, tuple[dict[int, int], Ints]]] = WeakKeyDictionary()
"""Of stacks that were asked for, the first by the hash of its addresses; and which one each is like, or -1."""


def _first_alike(stacks: StackArrays, place: Ints) -> Ints:
    """For positions of stacks, one that has the same addresses: writers number stacks anew after every sequence point,
    and several reports ask for the same ones.
    """
    first, alike = _ALIKE.setdefault(stacks, ({}, np.full(len(stacks), -1, dtype=np.int64)))
    asked = np.zeros(len(stacks), dtype=np.bool_)
    asked[place] = True
    new = np.flatnonzero(asked & (alike < 0))
    parts = _bytes_of(stacks, new)
    alike[new] = [first.setdefault(hash(part), each) for part, each in zip(parts, new.tolist(), strict=True)]
    again = np.flatnonzero(alike[new] != new)
    for row, known in zip(again.tolist(), _bytes_of(stacks, alike[new[again]]), strict=True):
        if parts[row] != known:
            alike[new[row]] = new[row]
    return alike[place]


def _bytes_of(stacks: StackArrays, places: Ints) -> list[bytes]:
    data, size = stacks.addresses.data.cast("B"), stacks.addresses.itemsize
    edges = ((stacks.offsets[places + end] * size).tolist() for end in (0, 1))
    return [bytes(data[low:high]) for low, high in zip(*edges, strict=True)]


def _tabled(methods: Methods, of: Ints, parts: Sequence[_Lookup]) -> ResolvedStacks:
    columns = ((part.address, part.method, part.reason, part.process) for part in parts)
    address, method, reason, process = (np.concatenate(column) for column in zip(*columns, strict=True))
    starts = np.cumsum([0, *(len(part.address) for part in parts)]).tolist()
    used = np.zeros(len(address), dtype=np.bool_)
    for start, part in zip(starts, parts, strict=False):
        used[part.values + start] = True
    order = np.lexsort((process, reason, method, address))
    order = order[used[order]]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in (address, method, reason, process)], axis=0)
    number = np.zeros(len(address), dtype=np.int32)
    number[order] = np.cumsum(new) - 1
    values = np.concatenate([number[part.values + start] for start, part in zip(starts, parts, strict=False)])
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([part.counts for part in parts]))))
    kept = order[new]
    table = FrameTable(methods, address[kept], method[kept], reason[kept], process[kept])
    return ResolvedStacks(of, offsets, values, table)


def _distinct(a: Ints, b: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """Distinct pairs, and the index of each row's pair."""
    order = np.lexsort((b, a))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (a[order][1:] != a[order][:-1]) | (b[order][1:] != b[order][:-1])
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return (a[order][new], b[order][new]), inverse
