"""Whole tables of stacks → frames, in arrays: the input of flame graphs and lists of hot methods.

A stack used at several times is resolved once if its methods never changed, otherwise for each time at which any code
changed. The total size of deep stacks is bounded. Knows no weights and no events.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.decode.stacks import StackArrays
from clrevents.symbols.frame import Frame
from clrevents.symbols.lifetimes import Addresses, Ints, bounded
from clrevents.symbols.method import NOT_YET, OVERLAPPING, REASONS, UNLOADED
from clrevents.symbols.methods import Methods, changes_of

_DEEP: Final = 128
"""Frames of a stack as deep as runtimes and profilers write them; only deeper ones count towards `_ROOM`."""
_ROOM: Final = 1_000_000
"""How many frames deep stacks may have in total beyond those in the trace, for use in several processes or at several
times."""
_CHUNK: Final = 1 << 18
_STEP: Final = np.uint64(0x9E37_79B9_7F4A_7C15)
_FACTOR: Final = np.uint64(0xBF58_476D_1CE4_E5B9)


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

    def reason_text(self, index: int) -> str:
        """Why a frame has no name; empty if it has one."""
        return REASONS[int(self.reason[index])]


@frozen(eq=False)
class ResolvedStacks:
    """Stacks of frames: `values[offsets[i]:offsets[i+1]]` are places in `table`, innermost first; `of[k]` is the
    resolved stack of the k-th use, -1 if it had no stack."""

    of: Ints
    offsets: Ints
    values: Ints
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
    one = _Lookup.of(methods, stacks, pairs[0], pairs[1], first)
    two = _Lookup.of(methods, stacks, pairs[0], pairs[1], last)
    differs = (one.method != two.method) | np.isin(one.reason, (UNLOADED, NOT_YET, OVERLAPPING)) & (first != last)[
        one.stack
    ]
    split = np.bincount(one.stack[differs], minlength=len(pairs[0])) > 0
    if np.any(split):
        again = used.copy()
        again[used] = split[inverse]
        moment = np.searchsorted(changes_of(methods), bounded(times[again]), "right")
        which, many = _distinct(of[again], moment)
        when = np.empty(len(which[0]), dtype=np.int64)
        when[many] = times[again]
        more, numbers = _later(methods, stacks, (pairs[0][which[0]], pairs[1][which[0]], when), which[0])
        of[again] = np.where(numbers[many] < 0, of[again], numbers[many] + len(pairs[0]))
        one = one.joined(more)
    return _tabled(methods, of, one)


def _fit(depths: Ints, room: int) -> NDArray[np.bool_]:
    """Which stacks of these depths are resolved: all, unless there are too many deep ones."""
    deep = depths > _DEEP
    taken: NDArray[np.bool_] = ~deep | (np.cumsum(np.where(deep, depths, 0)) <= room + _ROOM)
    return taken


def _later(methods: Methods, stacks: StackArrays, uses: tuple[Ints, Ints, Ints], whose: Ints) -> tuple[_Lookup, Ints]:
    """The frames of stacks (place, process, time) at other times, without those that a stack had before.

    `whose` is equal for uses of one stack in one process, which follow each other in order of time. Also the number
    that each use has in the result, -1 for one that takes too much.
    """
    numbers = np.full(len(whose), -1, dtype=np.int64)
    depth = stacks.offsets[uses[0] + 1] - stacks.offsets[uses[0]]
    fits = np.flatnonzero(_fit(depth, 0))
    found: _Lookup | None = None
    count = 0
    for part in _chunks(depth[fits]):
        rows = fits[part]
        made = _Lookup.of(methods, stacks, *(column[rows] for column in uses))
        new = made.changed(whose[rows])
        numbers[rows] = count + np.cumsum(new) - 1
        count += int(new.sum())
        made = made.only(new)
        found = made if found is None else found.joined(made)
    return found or _Lookup.of(methods, stacks, *(column[:0] for column in uses)), numbers


def _chunks(depths: Ints) -> Iterator[slice]:
    """Successive stacks with about as many frames together as are resolved at once."""
    chunk = np.cumsum(depths) // _CHUNK
    edges = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(chunk)]
    return itertools.starmap(slice, itertools.pairwise(edges))


@frozen(eq=False)
class _Lookup:
    """The flat frames of some stacks: `stack` is the stack that each belongs to."""

    stack: Ints
    counts: Ints
    address: Addresses
    method: Ints
    reason: NDArray[np.uint8]
    process: Ints

    @classmethod
    def of(cls, methods: Methods, stacks: StackArrays, place: Ints, process: Ints, times: Ints) -> _Lookup:
        counts = stacks.offsets[place + 1] - stacks.offsets[place]
        stack = np.repeat(np.arange(len(place)), counts)
        begins = np.cumsum(counts) - counts
        address = stacks.addresses[stacks.offsets[place][stack] + np.arange(len(stack)) - begins[stack]]
        method = np.full(len(stack), -1, dtype=np.int64)
        reason = np.zeros(len(stack), dtype=np.uint8)
        whose = process[stack]
        order = np.argsort(whose, kind="stable")
        edges = np.flatnonzero(np.diff(whose[order])) + 1
        for mine in np.split(order, edges) if len(order) else ():
            number = int(whose[mine[0]])
            known = None if number < 0 else number
            method[mine], reason[mine] = methods.find(address[mine], times[stack[mine]], known)
        return cls(stack, counts, address, method, reason, whose)

    def changed(self, whose: Ints) -> NDArray[np.bool_]:
        """Whether each stack is another one, by `whose`, or has other frames than the one before it."""
        new = np.ones(len(self.counts), dtype=np.bool_)
        new[1:] = whose[1:] != whose[:-1]
        # The same stack has as many frames as before, so each one's predecessor is that far in front of it.
        old = np.flatnonzero(~new[self.stack])
        before = old - self.counts[self.stack[old]]
        differs = (self.method[old] != self.method[before]) | (self.reason[old] != self.reason[before])
        new[self.stack[old[differs]]] = True
        return new

    def only(self, kept: NDArray[np.bool_]) -> _Lookup:
        """Some of the stacks."""
        rows = kept[self.stack]
        return _Lookup(
            (np.cumsum(kept) - 1)[self.stack[rows]],
            self.counts[kept],
            self.address[rows],
            self.method[rows],
            self.reason[rows],
            self.process[rows],
        )

    def joined(self, more: _Lookup) -> _Lookup:
        return _Lookup(
            np.concatenate((self.stack, more.stack + len(self.counts))),
            np.concatenate((self.counts, more.counts)),
            np.concatenate((self.address, more.address)),
            np.concatenate((self.method, more.method)),
            np.concatenate((self.reason, more.reason)),
            np.concatenate((self.process, more.process)),
        )


def _places(stacks: StackArrays, stack_ids: Ints) -> Ints:
    """Positions of the stacks with these ids; -1 for missing ones (0 is no stack)."""
    if not len(stacks.ids):
        return np.full(len(stack_ids), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(stacks.ids, stack_ids), len(stacks.ids) - 1)
    return np.where(stacks.ids[at] == stack_ids, at, -1)


def _first_alike(stacks: StackArrays, place: Ints) -> Ints:
    """For positions of stacks, the first of those that have the same addresses: writers number stacks anew after every
    sequence point.

    Found by a sum of scrambled addresses, and compared in full with the first that has this sum.
    """
    (known, _), of = _distinct(place, np.zeros_like(place))
    size = np.diff(stacks.offsets)[known]
    if len(known) < 2 or not size.sum():
        return place
    first = stacks.offsets[:-1][known]
    begins = np.cumsum(size) - size
    depth = np.arange(int(size.sum())) - np.repeat(begins, size)
    address = stacks.addresses[np.repeat(first, size) + depth]
    scrambled = (address + depth.astype(np.uint64) * _STEP) * _FACTOR
    scrambled ^= scrambled >> np.uint64(29)
    scrambled *= _FACTOR
    sums = np.zeros(len(known), dtype=np.uint64)
    full = size > 0
    sums[full] = np.add.reduceat(scrambled, begins[full])
    order = np.lexsort((np.arange(len(known)), sums, size))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (sums[order][1:] != sums[order][:-1]) | (size[order][1:] != size[order][:-1])
    alike = np.empty(len(order), dtype=np.int64)
    alike[order] = order[np.flatnonzero(new)[np.cumsum(new) - 1]]
    # Whatever only has the same sum stands alone.
    other = address != address[np.repeat(begins[alike], size) + depth]
    wrong = np.zeros(len(known), dtype=np.bool_)
    wrong[np.repeat(np.arange(len(known)), size)[other]] = True
    return known[np.where(wrong, np.arange(len(known)), alike)][of]


def _tabled(methods: Methods, of: Ints, found: _Lookup) -> ResolvedStacks:
    order = np.lexsort((found.process, found.reason, found.method, found.address))
    address, method, reason, process = (
        found.address[order],
        found.method[order],
        found.reason[order],
        found.process[order],
    )
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (address[1:] != address[:-1]) | (method[1:] != method[:-1])
    new[1:] |= (reason[1:] != reason[:-1]) | (process[1:] != process[:-1])
    values = np.empty(len(order), dtype=np.int64)
    values[order] = np.cumsum(new) - 1
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(found.counts)))
    table = FrameTable(methods, address[new], method[new], reason[new], process[new])
    return ResolvedStacks(of, offsets, values, table)


def _distinct(a: Ints, b: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """Distinct pairs, and the index of each row's pair."""
    order = np.lexsort((b, a))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (a[order][1:] != a[order][:-1]) | (b[order][1:] != b[order][:-1])
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return (a[order][new], b[order][new]), inverse
