"""Allocations as columns → sums by stack, type, thread and kind of heap, and by stretches of time.

Adds up as chunks come, so that memory grows with the sums and not with the events. Whole numbers only: no sum depends
on the order. Knows no events and no names.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, TimeWindow

Ints: TypeAlias = NDArray[np.int64]

STRETCHES: Final = 128
"""The most stretches of time; they get longer as time goes on."""
_FIRST_STRETCH: Final = 1_000_000
_ROWS: Final = 1 << 16
_ROOM: Final = 1 << 62

KEYS: Final = ("stack", "running", "type", "thread", "kind")
VALUES: Final = ("bytes", "large", "object_parts", "variance", "seen", "samples")


@frozen(eq=False)
class AllocationColumns:
    """Allocations of one source, a number in each array for each of them.

    `type` and `thread` are numbers given elsewhere, `running` is which async methods ran, -1 for none; `large` are the
    bytes of those on the large object heap; the others are as in `allocation_estimate`.
    """

    time: Ints
    stack: Ints
    running: Ints
    type: Ints
    thread: Ints
    kind: Ints
    bytes: Ints
    large: Ints
    object_parts: Ints
    variance: Ints
    seen: Ints

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: Ints) -> AllocationColumns:
        """Some of them."""
        return AllocationColumns(*(getattr(self, field.name)[rows] for field in attrs.fields(AllocationColumns)))


@frozen(eq=False)
class GroupedAllocations:
    """Sums of `values` (named by `VALUES`) for each combination of `keys` (`KEYS`); `first` is when it began."""

    keys: dict[str, Ints]
    values: dict[str, Ints]
    first: Ints

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def nothing(cls) -> GroupedAllocations:
        """No sums."""
        none = np.zeros(0, dtype=np.int64)
        return cls(dict.fromkeys(KEYS, none), dict.fromkeys(VALUES, none), none)

    def by(self, **keys: Ints) -> GroupedAllocations:
        """The sums by other keys, each with a number for each row here; in order of these."""
        order, starts = _groups(list(keys.values()), len(self))
        if not len(order):
            none = self.first[:0]
            return GroupedAllocations(dict.fromkeys(keys, none), dict.fromkeys(self.values, none), none)
        return GroupedAllocations(
            {name: column[order[starts]] for name, column in keys.items()},
            {name: np.add.reduceat(column[order], starts) for name, column in self.values.items()},
            np.minimum.reduceat(self.first[order], starts),
        )

    def take(self, rows: Ints) -> GroupedAllocations:
        """Some of the sums, in this order."""
        return GroupedAllocations(
            {name: column[rows] for name, column in self.keys.items()},
            {name: column[rows] for name, column in self.values.items()},
            self.first[rows],
        )

    def total(self, name: str) -> int:
        """One of the values of all together."""
        return int(self.values[name].sum())


class AllocationSums:
    """Adds up the allocations of one source, in the window that chunks bring."""

    def __init__(self) -> None:
        self.events = 0
        """All of them, outside the window too."""
        self._parts: list[GroupedAllocations] = []
        self._waiting = 0
        self._stretch = _FIRST_STRETCH
        self._range: tuple[int, int] | None = None
        self._stretches: dict[int, list[int]] = {}

    def take(self, found: AllocationColumns, window: TimeWindow) -> None:
        """See some more."""
        if not len(found):
            return
        self.events += len(found)
        self._widen(int(found.time.min()), int(found.time.max()))
        inside = window.holds(found.time)
        held = found if inside.all() else found.take(np.flatnonzero(inside))
        if not len(held):
            return
        values = {
            "bytes": held.bytes,
            "large": held.large,
            "object_parts": held.object_parts,
            "variance": held.variance,
            "seen": held.seen,
            "samples": np.ones(len(held), dtype=np.int64),
        }
        keys = {
            "stack": held.stack,
            "running": held.running,
            "type": held.type,
            "thread": held.thread,
            "kind": held.kind,
        }
        one = GroupedAllocations(keys, values, held.time)
        at = one.by(stretch=held.time // self._stretch)
        for place, row in zip(at.keys["stretch"].tolist(), zip(*_lists(at), strict=True), strict=True):
            self._add(place, row)
        self._parts.append(one.by(**keys))
        self._waiting += len(self._parts[-1])
        if self._waiting > _ROWS:
            self._parts = [self.grouped()]
            self._waiting = 0

    def grouped(self) -> GroupedAllocations:
        """The sums so far."""
        if not self._parts:
            return GroupedAllocations.nothing()
        if len(self._parts) == 1:
            return self._parts[0]
        joined = GroupedAllocations(
            {name: np.concatenate([part.keys[name] for part in self._parts]) for name in KEYS},
            {name: np.concatenate([part.values[name] for part in self._parts]) for name in VALUES},
            np.concatenate([part.first for part in self._parts]),
        )
        return joined.by(**joined.keys)

    def timeline(self) -> tuple[Ints, Ints, dict[str, Ints]]:
        """Begin and end of each stretch from the first event to the last, and its sums; zeros where there were none."""
        if self._range is None:
            none = np.zeros(0, dtype=np.int64)
            return none, none, dict.fromkeys(VALUES, none)
        low, high = (time // self._stretch for time in self._range)
        edges = [max(ALWAYS, min(place * self._stretch, FOREVER)) for place in range(low, high + 2)]
        rows = [self._stretches.get(place, [0] * len(VALUES)) for place in range(low, high + 1)]
        sums = np.array(rows, dtype=np.int64)
        ends = np.array(edges, dtype=np.int64)
        return ends[:-1], ends[1:], {name: sums[:, place] for place, name in enumerate(VALUES)}

    def _widen(self, low: int, high: int) -> None:
        """Make the stretches so long that there are few of them."""
        if self._range is not None:
            low, high = min(low, self._range[0]), max(high, self._range[1])
        self._range = low, high
        while high // self._stretch - low // self._stretch >= STRETCHES:
            self._stretch *= 2
            before, self._stretches = self._stretches, {}
            for place, row in before.items():
                self._add(place // 2, tuple(row))

    def _add(self, place: int, row: tuple[int, ...]) -> None:
        held = self._stretches.setdefault(place, [0] * len(VALUES))
        for number, value in enumerate(row):
            held[number] += value


def _lists(found: GroupedAllocations) -> list[list[int]]:
    return [found.values[name].tolist() for name in VALUES]


def _groups(keys: list[Ints], count: int) -> tuple[Ints, Ints]:
    """An order in which equal rows follow one another, by the keys in turn, and where each run of them starts."""
    packed = np.zeros(count, dtype=np.int64)
    size = 1
    for key in keys:
        if not count:
            break
        low, high = int(key.min()), int(key.max())
        width = high - low + 1
        if size * width >= _ROOM:
            distinct, packed = np.unique(packed, return_inverse=True)
            size = len(distinct)
            if size * width >= _ROOM:
                values, key = np.unique(key, return_inverse=True)
                low, width = 0, len(values)
        packed = packed * width + (key - low)
        size *= width
    order = np.argsort(packed, kind="stable")
    changed = np.flatnonzero(np.diff(packed[order])) + 1
    starts = np.concatenate((np.zeros(min(count, 1), dtype=np.int64), changed))
    return order, starts
