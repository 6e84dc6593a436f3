"""The runtime's allocation events → sums by stack, type, thread and kind of heap, and by stretches of time.

Adds up as chunks come, source by source, so that memory grows with the sums and not with the events. Whole numbers
only: no sum depends on the order. A type is named by its event, or by an id that other events name. Counts oddities;
names no stack and chooses no source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.model.collector import ReportChunk
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, TimeWindow
from clrevents.analysis.gathering.groups import Array, Gathered, Ints, numbered
from clrevents.analysis.shared.weights.allocations import (
    EVENTS,
    HIGH,
    LOW,
    PARTS,
    SAMPLED,
    TICK,
    Source,
    sample_weights,
    stated_bytes,
)
from clrevents.schema.runtime_flags import GCAllocationKind
from clrevents.table.table import Column

STRETCHES: Final = 128
"""The most stretches of time; they get longer as time goes on."""
_FIRST_STRETCH: Final = 1_000_000
_ROWS: Final = 1 << 16
_ROOM: Final = 1 << 62

KEYS: Final = ("stack", "running", "type", "thread", "kind")
VALUES: Final = ("bytes", "large", "object_parts", "variance", "seen", "samples")


@frozen(eq=False)
class GroupedAllocations:
    """Sums of `values` (named by `VALUES`) for each combination of `keys` (`KEYS`), or single allocations; `first` is
    when it began.

    `type` and `thread` are numbers given elsewhere, `running` is which async methods ran, -1 for none; `large` are the
    bytes of those on the large object heap; the others are as in `allocations`.
    """

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

    def take(self, one: GroupedAllocations, window: TimeWindow) -> None:
        """See some more."""
        if not len(one):
            return
        self.events += len(one)
        self._widen(int(one.first.min()), int(one.first.max()))
        inside = window.holds(one.first)
        if not inside.all():
            one = one.take(np.flatnonzero(inside))
        if not len(one):
            return
        at = one.by(stretch=one.first // self._stretch)
        sums = zip(*(at.values[name].tolist() for name in VALUES), strict=True)
        for place, row in zip(at.keys["stretch"].tolist(), sums, strict=True):
            self._add(place, row)
        self._parts.append(one)
        self._waiting += len(one)
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
        sums = self._stretches.setdefault(place, [0] * len(VALUES))
        for number, value in enumerate(row):
            sums[number] += value


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


NAMELESS: Final = 0
"""The number of all types that have neither name nor id."""
_NO_NAME: Final = (None, "", "NULL")
"""What runtimes write where they do not know a type's name."""

_NO_IDS: Final = np.zeros(0, dtype=np.uint64)
_NO_PLACES: Final = np.zeros(0, dtype=np.int64)


class AllocatedTypes:
    """Numbers for types, in order of their appearance, whatever the chunks that they come in."""

    def __init__(self) -> None:
        self._names: list[str | None] = [None]
        self._by_name: dict[str, int] = {}
        self._by_id: dict[int, int] = {}

    def numbered(self, type_names: Callable[[list[int]], list[str | None]]) -> tuple[tuple[str | None, ...], Ints]:
        """The distinct names, the first of which is None, and for each number given so far its place among them.

        `type_names` are asked for the names of ids that no event names.
        """
        names = list(self._names)
        nameless = {id: number for id, number in self._by_id.items() if names[number] is None}
        for number, name in zip(nameless.values(), type_names(list(nameless)), strict=True):
            names[number] = name
        of, distinct = numbered(names)
        return tuple(distinct), of

    def by_name(self, names: Column, ids: Array | None) -> Ints:
        """The numbers of events that name their types; `ids` are the runtime's, which need not be right."""
        if ids is None:
            return np.array([self._named(text) for text in names.tolist()], dtype=np.int64)
        # Texts cost the most by far, and few differ: one for each id, if all events of an id have the same.
        distinct, first, of = np.unique(ids, return_index=True, return_inverse=True)
        if not len(distinct) * 2 < len(ids) or not _alike(names, first[of]):
            distinct, first, of = ids, np.arange(len(ids)), np.arange(len(ids))
        pairs = zip(names.take(first).tolist(), distinct.tolist(), strict=True)
        return np.array([self._named(text, id) for text, id in pairs], dtype=np.int64)[of]

    def by_id(self, events: Sequence[Gathered], described: Gathered | None) -> Ints:
        """The numbers of all these events, which have only ids, with the types that were described between them."""
        ids = np.concatenate([_NO_IDS, *(rows.numbers("TypeID") for rows in events)])
        places = np.concatenate([_NO_PLACES, *(rows.places for rows in events)])
        distinct, of = np.unique(ids, return_inverse=True)
        known = distinct.tolist()
        numbers = np.array([self._of(id) for id in known], dtype=np.int64)[of] if known else _NO_PLACES
        index = {id: number for number, id in enumerate(known)}
        # An id that means another type from some place on: (its index, the place, the new number), in order.
        again = [
            (index[id], place, self._by_id[id])
            for id, name, place in _descriptions(described)
            if self._describe(id, name) and id in index
        ]
        if again:
            which, since, new = (np.array(column, dtype=np.int64) for column in zip(*again, strict=True))
            room = int(max(places.max(), since.max())) + 2
            keys = which * room + since
            order = np.argsort(keys, kind="stable")
            last = np.searchsorted(keys[order], of * room + places, side="left") - 1
            changed = np.flatnonzero((last >= 0) & (which[order[last]] == of))
            numbers[changed] = new[order[last[changed]]]
        return numbers

    def _named(self, name: str | None, id: int = 0) -> int:
        if name is None or name in _NO_NAME:
            return self._of(id) if id else NAMELESS
        number = self._by_name.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def _of(self, id: int) -> int:
        number = self._by_id.setdefault(id, len(self._names))
        if number == len(self._names):
            self._names.append(None)
        return number

    def _describe(self, id: int, name: str) -> bool:
        """Give an id a name; whether it means another type from here on."""
        number = self._of(id)
        if self._names[number] is None:
            self._names[number] = name or None
        elif name and self._names[number] != name:
            self._by_id[id] = self._named(name)
            return True
        return False


def _descriptions(described: Gathered | None) -> list[tuple[int, str, int]]:
    """Id, name and place of each described type, in order."""
    if described is None:
        return []
    values = described.column("Values")
    (struct,) = values.children
    fields = dict(zip(struct.type.names, struct.children, strict=True))
    low, high = int(values.offsets[0]), int(values.offsets[-1])
    places = np.repeat(described.places, np.diff(values.offsets))
    ids, names = (fields[name].slice(low, high).tolist() for name in ("TypeID", "Name"))
    return list(zip(ids, names, places.tolist(), strict=True))


def _alike(names: Column, other: Ints) -> bool:
    """Whether each row has the same text as the row `other` says."""
    if names.texts is not None:
        return bool((names.values == names.values[other]).all())
    lengths = np.diff(names.offsets)
    if names.valid is not None and not (names.valid == names.valid[other]).all():
        return False
    if not (lengths == lengths[other]).all():
        return False
    size = int(lengths.sum())
    starts, theirs = names.offsets[:-1], names.offsets[:-1][other]
    within = np.arange(size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    other_values = names.values[np.repeat(starts, lengths) + within]
    return bool((other_values == names.values[np.repeat(theirs, lengths) + within]).all())


TYPES: Final = "runtime/BulkType"
SELECTORS: Final = (*(name for events in EVENTS.values() for name in events), TYPES)

LARGE_BYTES: Final = 85_000
"""From this size on, objects are on the large object heap, unless the program was configured otherwise."""
UNKNOWN_KIND: Final = -1
_SMALL, _LARGE = int(GCAllocationKind.Small), int(GCAllocationKind.Large)


class AllocationReading:
    """What the events of one process say so far."""

    def __init__(self) -> None:
        self.sums: dict[Source, AllocationSums] = {source: AllocationSums() for source in EVENTS}
        self.types = AllocatedTypes()
        self.threads: list[int | None] = [None]
        """Thread ids by their numbers."""
        self.in_groups = 0
        """Events of `objects` that stand for several objects."""
        self.sizeless = 0
        """Samples of objects whose size is 0."""
        self.impossible = 0
        """Events left out because their sizes are impossible."""
        self._threads: dict[int, int] = {}

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        self._take_objects(chunk)
        if SAMPLED in chunk.events:
            self._take_samples(chunk.events[SAMPLED], chunk)
        if TICK in chunk.events:
            self._take_ticks(chunk.events[TICK], chunk)

    def _take_objects(self, chunk: ReportChunk) -> None:
        events = {name: chunk.events[name] for name in (HIGH, LOW) if name in chunk.events}
        types = self.types.by_id(list(events.values()), chunk.events.get(TYPES))
        for name, rows in events.items():
            addresses, types = types[: len(rows)], types[len(rows) :]
            sizes, good = self._stated(name, rows)
            count = np.maximum(_signed(rows.numbers("ObjectCountForTypeSample")), 1)
            self.in_groups += int((count > 1).sum())
            kind = np.where(sizes // count >= LARGE_BYTES, _LARGE, _SMALL)
            none = np.zeros(len(rows), dtype=np.int64)
            self._add("objects", rows, chunk, good, addresses, kind, sizes, count * PARTS, none, sizes)

    def _take_samples(self, rows: Gathered, chunk: ReportChunk) -> None:
        sizes, good = self._stated(SAMPLED, rows)
        weighed = sample_weights(sizes)
        self.sizeless += int(((sizes == 0) & good).sum())
        types = self.types.by_name(rows.column("TypeName"), rows.numbers("TypeID"))
        kind = _kinds(rows)
        self._add(
            "samples", rows, chunk, good, types, kind, weighed.bytes, weighed.object_parts, weighed.variance, sizes
        )

    def _take_ticks(self, rows: Gathered, chunk: ReportChunk) -> None:
        sizes, good = self._stated(TICK, rows)
        types = self.types.by_name(rows.column("TypeName"), rows.numbers("TypeID"))
        none = np.zeros(len(rows), dtype=np.int64)
        self._add("ticks", rows, chunk, good, types, _kinds(rows), sizes, none, none, none)

    def _add(
        self,
        source: Source,
        rows: Gathered,
        chunk: ReportChunk,
        good: NDArray[np.bool_],
        types: Ints,
        kind: Ints,
        bytes: Ints,
        parts: Ints,
        variance: Ints,
        seen: Ints,
    ) -> None:
        time, awaits = _signed(rows.numbers("time_ns")), chunk.awaits()
        none = np.full(len(rows), -1, dtype=np.int64)
        keys = {
            "stack": _signed(rows.numbers("stack_id")),
            "running": none if awaits is None else awaits.running(time, rows.numbers("thread_id")),
            "type": types,
            "thread": self._numbered_threads(rows),
            "kind": kind,
        }
        values = {
            "bytes": bytes,
            "large": np.where(kind == _LARGE, bytes, 0),
            "object_parts": parts,
            "variance": variance,
            "seen": seen,
            "samples": np.ones(len(rows), dtype=np.int64),
        }
        one = GroupedAllocations(keys, values, time)
        self.sums[source].take(one if good.all() else one.take(np.flatnonzero(good)), chunk.window)

    def _stated(self, name: str, rows: Gathered) -> tuple[Ints, NDArray[np.bool_]]:
        sizes, good = stated_bytes(name, rows.table)
        self.impossible += int((~good).sum())
        return sizes, good

    def _numbered_threads(self, rows: Gathered) -> Ints:
        column = rows.column("thread_id")
        distinct, of = np.unique(column.values, return_inverse=True)
        for thread in distinct.tolist():
            if thread not in self._threads:
                self._threads[thread] = len(self.threads)
                self.threads.append(thread)
        numbers = np.array([self._threads[thread] for thread in distinct.tolist()], dtype=np.int64)[of]
        return np.where(column.known, numbers, 0)


def kind_word(kind: int) -> str | None:
    """`small`, `large`, `pinned`; an unknown number as a number."""
    if kind == UNKNOWN_KIND:
        return None
    known = {int(member): str(member.name).lower() for member in GCAllocationKind}
    return known.get(kind, f"kind {kind}")


def _kinds(rows: Gathered) -> Ints:
    column = rows.column("AllocationKind")
    return np.where(column.known, _signed(column.values), UNKNOWN_KIND)


def _signed(numbers: Array) -> Ints:
    return numbers.astype(np.int64)
