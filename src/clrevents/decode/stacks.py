"""Stacks of a region: from the ids used by events to numbers unique in the trace, and to addresses.

The only bytes it sees are those of stacks; it knows neither their events nor the code at an address.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Summary
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.decode.container.blocks import InlineStacks, Stacks
from clrevents.decode.kernels.engine import Ints, Program, end_to_end, gather, offsets_of, ragged
from clrevents.errors import Problem, damage

Addresses: TypeAlias = NDArray[np.uint64]
_Places: TypeAlias = tuple[Ints, Ints]  # Starts and sizes.

# A stack for the walk kernel: a run of four bytes, then as many single bytes as these say.
_STACK: Final = Program([0, 0, 4, 0, 0, 0, 3, 0, 1, 0, 0, 4])
# Blocks of stacks that are worth another table.
_MOST_MOVED: Final = 1 << 8
_NO_STRETCHES: Final[Ints] = np.zeros((3, 0), dtype=np.int64)


@frozen(eq=False)
class StackLookup:
    """From a region's stack ids to trace-wide numbers, with the ids' meaning at one moment.

    Ids from `firsts[i]` up to `ends[i]` map to consecutive numbers starting at `bases[i]`.
    """

    firsts: NDArray[np.int64]
    ends: NDArray[np.int64]
    bases: NDArray[np.int64]

    def unique(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Trace-wide stack numbers; 0 for none, -1 if the stack is missing."""
        if not ids.any():
            # Often: few kinds of events have stacks.
            return ids
        if not len(self.firsts):
            return np.where(ids == 0, 0, -1)
        if len(self.firsts) == 1:
            first = self.firsts[0]
            numbers: NDArray[np.int64] = ids + (self.bases[0] - first)
            numbers[(ids < first) | (ids >= self.ends[0])] = -1
            numbers[ids == 0] = 0
            return numbers
        at = np.maximum(np.searchsorted(self.firsts, ids, "right") - 1, 0)
        inside = (ids >= self.firsts[at]) & (ids < self.ends[at])
        return np.where(ids == 0, 0, np.where(inside, ids - self.firsts[at] + self.bases[at], -1))


class StackTable:
    """The stacks of one region: from the region's ids to numbers that are unique in the trace, and to bytes.

    Ids are valid only up to the next sequence point. Blocks are walked only when a stack is requested.
    """

    def __init__(self, base: int = 1) -> None:
        self.next = base
        self._blocks: list[tuple[Stacks | InlineStacks, int, int]] = []
        # First id, end and base of each stretch of ids: what a lookup has, which keeps its part when more are added.
        self._stretches: Ints = _NO_STRETCHES
        self._count = 0
        # Ids without a gap up to the last one.
        self._first = self._end = 1
        self._numbers: list[int] = []
        self._walked: list[_Places | None] = []
        self._base = base
        self._given: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        self._lookup: StackLookup | None = None

    def restarts(self, block: Stacks | InlineStacks) -> bool:
        """Whether ids restart with this block, without a sequence point (which was damaged)."""
        return self._count > 0 and block.first_id < self._end

    def add(self, block: Stacks | InlineStacks) -> None:
        count = len(block.starts) if isinstance(block, InlineStacks) else block.count
        if not count:
            return
        if self.restarts(block):
            self._stretches, self._count = _NO_STRETCHES, 0
        self._blocks.append((block, self.next, count))
        self._numbers.append(self.next)
        self._walked.append(None)
        if not self._count or block.first_id != self._end:
            self._first = block.first_id
        first, self._end = block.first_id, block.first_id + count
        if self._lookup is None and self._count and self._first < first:
            self._stretches[1, self._count - 1] = self._end
        else:
            if self._count == self._stretches.shape[1]:
                room = np.zeros((3, 2 * self._count + 8), dtype=np.int64)
                room[:, : self._count] = self._stretches
                self._stretches = room
            self._stretches[:, self._count] = first, self._end, self.next
            self._count += 1
        self._lookup = None
        self.next += count

    def successor(self) -> StackTable:
        """The empty table of the next region."""
        return StackTable(self.next)

    def lookup(self) -> StackLookup:
        """The current meaning of ids."""
        if self._lookup is None:
            self._lookup = StackLookup(*self._stretches[:, : self._count])
        return self._lookup

    def missing(self, ids: Ints) -> NDArray[np.bool_] | None:
        """Which of these ids have no stack until now; None if each has one."""
        if self._first <= 1:
            # Nearly always: one comparison for each, in which what is below zero is large.
            unsigned = ids.view(np.uint64)
            return unsigned >= self._end if unsigned.max() >= self._end else None
        missing: NDArray[np.bool_] = self.lookup().unique(ids) < 0
        return missing if missing.any() else None

    def new(self, numbers: Ints) -> Ints:
        """Those of these trace-wide numbers that have not been requested before, in ascending order."""
        asked = np.zeros(self.next - self._base, dtype=np.bool_)
        asked[numbers[numbers > 0] - self._base] = True
        old = len(self._given)
        asked[:old] &= ~self._given
        self._given = np.concatenate((self._given | asked[:old], asked[old:]))
        return np.flatnonzero(asked) + self._base

    def pieces(self, numbers: Ints) -> Iterator[tuple[Ints, bytes, Ints, Ints]]:
        """Where stacks are (numbers in ascending order): per window, their numbers, starts and sizes in bytes.

        Stacks that the table does not hold completely are left out.
        """
        cuts = np.searchsorted(numbers, [*self._numbers, self.next]).tolist()
        asked = (place for place, (low, high) in enumerate(pairwise(cuts)) if low < high)
        for window, places in self._by_window(asked):
            numbers_here = numbers[cuts[places[0]] : cuts[places[-1] + 1]]
            walked = self._walk(places)
            bases = np.array([self._numbers[place] for place in places], dtype=np.int64)
            counts = np.array([len(starts) for starts, _ in walked], dtype=np.int64)
            of = np.repeat(np.arange(len(places)), [cuts[place + 1] - cuts[place] for place in places])
            index = numbers_here - bases[of]
            there = index < counts[of]
            at = (index + offsets_of(counts)[of])[there]
            starts, sizes = (end_to_end(list(column)) for column in zip(*walked, strict=True))
            yield numbers_here[there], window, starts[at], sizes[at]

    def moved(self, low: int, high: int, windows: list[bytes], data: bytes, base: int) -> StackTable | None:
        """The stacks of these numbers in `data`, which begins at `base` and has all these windows.

        So asking for their bytes later keeps no window until then. None if they are elsewhere, or in too many
        blocks.
        """
        places = range(max(bisect_right(self._numbers, low) - 1, 0), bisect_right(self._numbers, high))
        if len(places) > _MOST_MOVED:
            return None
        known = {id(window) for window in windows}
        table = StackTable(self._base)
        table.next = self.next
        for place in places:
            block, number, count = self._blocks[place]
            if isinstance(block, InlineStacks) or id(block.window) not in known:
                return None
            shift = block.base - base
            there = Stacks(block.first_id, block.count, data, block.start + shift, block.end + shift, base)
            table._blocks.append((there, number, count))
            table._numbers.append(number)
            table._walked.append(None)
        return table

    def problems(self) -> Iterator[Problem]:
        """Walk every block and report those that hold fewer stacks than declared."""
        for _, places in self._by_window(range(len(self._blocks))):
            for place, (starts, _) in zip(places, self._walk(places), strict=True):
                block, _, count = self._blocks[place]
                if isinstance(block, Stacks) and len(starts) < count:
                    text = f"a stack block declares {counted(count, 'stack')} but holds {len(starts)}"
                    at = block.base + block.start
                    yield damage("bad-stacks", text, at, block.end - block.start, "its last stacks")

    def _by_window(self, places: Iterable[int]) -> Iterator[tuple[bytes, list[int]]]:
        """Blocks that follow each other in one window, by their places in the table."""
        for _, run in groupby(places, lambda place: id(self._blocks[place][0].window)):
            together = list(run)
            yield self._blocks[together[0]][0].window, together

    def _walk(self, places: list[int]) -> list[_Places]:
        """Where the stacks of some blocks in one window are."""
        new = [place for place in places if self._walked[place] is None]
        for place, stack_places in zip(new, _places_of([self._blocks[place][0] for place in new]), strict=True):
            self._walked[place] = stack_places
        return [walked for place in places if (walked := self._walked[place]) is not None]


def _places_of(blocks: list[Stacks | InlineStacks]) -> Iterable[_Places]:
    """`_places` of blocks in one window; a walk for each would take longer than a small block is worth."""
    sound = [block for block in blocks if isinstance(block, Stacks) and block.count <= _most(block)]
    if len(blocks) < 2 or len(sound) < len(blocks):
        return map(_places, blocks)
    starts, ends, counts = (
        np.array(column, dtype=np.int64)
        for column in zip(*((block.start, block.end, block.count) for block in sound), strict=True)
    )
    walked = _STACK.walk(sound[0].window, starts, ends, counts)
    if not walked.fits:
        return map(_places, blocks)
    starts, sizes = walked.places[1].copy(), walked.counts[1].copy()
    return [(starts[low:high], sizes[low:high]) for low, high in pairwise(offsets_of(counts).tolist())]


def _most(block: Stacks) -> int:
    """How many stacks a block has room for."""
    return max(block.end - block.start, 0) // 4


def _places(block: Stacks | InlineStacks) -> _Places:
    """Starts and sizes of a block's stacks, as many as there are."""
    if isinstance(block, InlineStacks):
        return np.array(block.starts, dtype=np.int64), np.array(block.sizes, dtype=np.int64)
    data, pos, end = block.window, block.start, block.end
    room = _most(block)
    if block.count <= room:
        every = (np.array([value], dtype=np.int64) for value in (pos, end, block.count))
        walked = _STACK.walk(data, *every)
        if walked.fits:
            return walked.places[1].copy(), walked.counts[1].copy()
    # A block that declares more than it holds: those that are there.
    starts, sizes = [], []
    for _ in range(min(block.count, room)):
        if end - pos < 4:
            break
        size = int.from_bytes(data[pos : pos + 4], "little")
        if size > end - pos - 4:
            break
        starts.append(pos + 4)
        sizes.append(size)
        pos += 4 + size
    return np.array(starts, dtype=np.int64), np.array(sizes, dtype=np.int64)


@frozen(eq=False)
class StackArrays(Summary):
    """Stacks as numpy arrays: `addresses[offsets[i]:offsets[i + 1]]` is the stack with id `ids[i]`."""

    ids: Ints
    """The ids of the stacks, ascending; int64 of shape (n,)."""
    offsets: Ints
    """Where each stack starts in `addresses`, and the end of the last one; int64 of shape (n + 1,)."""
    addresses: Addresses
    """The code addresses of all stacks, each innermost first; uint64."""

    def __len__(self) -> int:
        """The number of stacks."""
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<StackArrays of {counted(len(self), 'stack')}>"

    def stack(self, index: int) -> tuple[int, ...]:
        """The addresses of the stack at position `index` of `ids`, innermost first."""
        return tuple(self.addresses[self.offsets[index] : self.offsets[index + 1]].tolist())


def stack_arrays(table: StackTable, numbers: Ints, pointer_size: int) -> StackArrays:
    """Stacks of one region; `numbers` are trace-wide and ascending. Stacks missing from the trace are left out."""
    ids, lengths, data = [], [], []
    for numbers_of_window, window, starts, sizes in table.pieces(numbers):
        # A truncated stack's last bytes are not an address.
        sizes = sizes - sizes % pointer_size
        ids.append(numbers_of_window)
        lengths.append(sizes // pointer_size)
        data.append(gather(window, starts, sizes).view(f"<u{pointer_size}").astype(np.uint64))
    return _stack_arrays(ids, lengths, data)


def join(parts: Sequence[StackArrays]) -> StackArrays:
    """The concatenation, in the order of their numbers."""
    ids = [part.ids for part in parts]
    joined = _stack_arrays(ids, [np.diff(part.offsets) for part in parts], [part.addresses for part in parts])
    if not (np.diff(joined.ids) < 0).any():
        return joined
    order = np.argsort(joined.ids, kind="stable")
    lengths = np.diff(joined.offsets)[order]
    places = ragged(joined.offsets[:-1][order], lengths)
    return StackArrays(joined.ids[order], offsets_of(lengths), joined.addresses[places])


def _stack_arrays(ids: list[Ints], lengths: list[Ints], data: list[Addresses]) -> StackArrays:
    none: Ints = np.zeros(0, dtype=np.int64)
    addresses = np.concatenate([np.zeros(0, dtype=np.uint64), *data])
    return StackArrays(np.concatenate([none, *ids]), offsets_of(np.concatenate([none, *lengths])), addresses)
