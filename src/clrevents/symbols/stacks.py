"""Whole tables of stacks → frames, in arrays: the input of flame graphs and lists of hot methods.

A stack used at several times is resolved once if its methods never changed, otherwise for each time. Knows nothing of
weights and of the events.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.decode.stacks import StackArrays
from clrevents.symbols.frame import Frame
from clrevents.symbols.lifetimes import Addresses, Ints
from clrevents.symbols.method import NOT_YET, OVERLAPPING, REASONS, UNLOADED
from clrevents.symbols.methods import Methods


@attrs.frozen(eq=False)
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


@attrs.frozen(eq=False)
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

    `stack_ids`, `times` (ns) and `processes` (-1 unknown; None: one process) have one value for each use.
    """
    place = _places(stacks, stack_ids)
    used = place >= 0
    number = np.full(len(place), -1, dtype=np.int64) if processes is None else processes
    of = np.full(len(place), -1, dtype=np.int64)
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
        which, many = _distinct(of[again], times[again])
        more = _Lookup.of(methods, stacks, pairs[0][which[0]], pairs[1][which[0]], which[1])
        of[again] = many + len(pairs[0])
        one = one.joined(more)
    return _tabled(methods, of, one)


@attrs.frozen(eq=False)
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
        # Not np.unique, which would import numpy.ma here: 10 ms.
        for number in set(process.tolist()):
            mine = np.flatnonzero(whose == number)
            known = None if number < 0 else number
            method[mine], reason[mine] = methods.find(address[mine], times[stack[mine]], known)
        return cls(stack, counts, address, method, reason, whose)

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
