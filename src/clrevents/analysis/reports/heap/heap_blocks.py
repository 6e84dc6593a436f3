"""Events of heap snapshots → blocks in order → `HeapSnapshot`: addresses as numbers of objects, types with names.

Decides how much of a snapshot can be trusted, and says so in numbers; never guesses which reference belongs to which
object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import define, frozen
from clrevents.analysis.gathering.groups import Array, Gathered, Ints
from clrevents.analysis.reports.heap.heap_snapshot import (
    COM,
    INTERIOR,
    WEAK,
    HeapRoots,
    HeapSnapshot,
    HeapType,
    SnapshotCoverage,
    StaticField,
)
from clrevents.analysis.shared.events.event_spans import field_numbers
from clrevents.symbols.display_names import KEYWORDS, type_name
from clrevents.table.table import Column

START, END = "runtime/GCStart", "runtime/GCEnd"
NODES, EDGES, TYPES = "runtime/GCBulkNode", "runtime/GCBulkEdge", "runtime/BulkType"
ROOTS, STATICS = "runtime/GCBulkRootEdge", "runtime/GCBulkRootStaticVar"
DEPENDENTS, WRAPPERS = "runtime/GCBulkRootConditionalWeakTableElementEdge", "runtime/GCBulkRootCCW"
SELECTORS: Final = (START, END, NODES, EDGES, TYPES, ROOTS, STATICS, DEPENDENTS, WRAPPERS)

FULL: Final = 2
"""The generation that a collection with a snapshot condemns."""
BACKGROUND: Final = 1
"""The type of collection that never writes one."""


class GrowingArray:
    """Numbers that are added piece by piece; grows in place where the system can."""

    def __init__(self, dtype: str) -> None:
        self._numbers: Array = np.empty(0, dtype=dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def add(self, values: Array) -> None:
        """More of them."""
        end = self._used + len(values)
        if end > len(self._numbers):
            self._numbers.resize(max(end, 2 * len(self._numbers)), refcheck=False)
        self._numbers[self._used : end] = values
        self._used = end

    def take(self) -> Array:
        """All of them, once."""
        numbers, self._numbers = self._numbers, self._numbers[:0].copy()
        numbers.resize(self._used, refcheck=False)
        self._used = 0
        return numbers


@define(eq=False)
class BlockStream:
    """One of the streams: columns of all blocks end to end, with the number and the size of each."""

    columns: dict[str, GrowingArray]
    indexes: list[int] = attrs.field(factory=list)
    sizes: list[int] = attrs.field(factory=list)

    @classmethod
    def of(cls, **dtypes: str) -> BlockStream:
        return cls({name: GrowingArray(dtype) for name, dtype in dtypes.items()})

    def add(self, index: int, fields: Mapping[str, Array]) -> None:
        """A block."""
        self.indexes.append(index)
        self.sizes.append(len(next(iter(fields.values()))))
        for name, column in self.columns.items():
            column.add(fields[name])

    @property
    def missing(self) -> int:
        """How many blocks before the last one never came."""
        return max(self.indexes, default=-1) + 1 - len(set(self.indexes))

    @property
    def whole(self) -> bool:
        """Whether every block up to the last one came, once."""
        return not self.missing and len(set(self.indexes)) == len(self.indexes)

    def take(self) -> dict[str, Array]:
        """The columns in order of the blocks' numbers, once."""
        columns = {name: column.take() for name, column in self.columns.items()}
        if self.indexes == sorted(self.indexes):
            return columns
        ends = np.cumsum(self.sizes)
        order = sorted(range(len(self.indexes)), key=self.indexes.__getitem__)
        pieces = [slice(int(ends[k]) - self.sizes[k], int(ends[k])) for k in order]
        return {name: np.concatenate([column[piece] for piece in pieces]) for name, column in columns.items()}


@define(eq=False)
class SnapshotDraft:
    """What has arrived of one snapshot so far. Without the beginning of its collection `gc_number` is None."""

    clr: int
    order: int
    """Its number among those of its runtime, from 1."""
    gc_number: int | None
    start_ns: int | None
    end_ns: int | None = None
    last_ns: int = 0
    used: bool = False
    nodes: BlockStream = attrs.field(
        factory=lambda: BlockStream.of(Address="uint64", Size="uint64", TypeID="uint64", EdgeCount="uint64")
    )
    edges: BlockStream = attrs.field(factory=lambda: BlockStream.of(Value="uint64"))
    roots: BlockStream = attrs.field(
        factory=lambda: BlockStream.of(
            RootedNodeAddress="uint64", GCRootKind="uint8", GCRootFlag="uint32", GCRootID="uint64"
        )
    )
    dependents: BlockStream = attrs.field(factory=lambda: BlockStream.of(GCKeyNodeID="uint64", GCValueNodeID="uint64"))
    wrappers: BlockStream = attrs.field(factory=lambda: BlockStream.of(ObjectID="uint64", Flags="uint32"))
    statics: list[tuple[int, int, int, str]] = attrs.field(factory=list)
    """For each static field: where it is, its object, its flags, its name."""

    @property
    def empty(self) -> bool:
        """Whether there is no sign that it is a snapshot at all."""
        return not (self.nodes.indexes or self.edges.indexes)


@frozen
class TypeEntry:
    """A type as it was described."""

    name: str
    module_id: int
    flags: int


class TypeEntries:
    """All descriptions of types. An id may be used again for another type, so each has the time it was given."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], list[tuple[int, TypeEntry]]] = {}

    def add(self, clr: int, type_id: int, order: int, entry: TypeEntry) -> None:
        """A description given when `order` snapshots had begun."""
        known = self._entries.setdefault((clr, type_id), [])
        if not known or known[-1][1] != entry:
            known.append((order, entry))

    def at(self, clr: int, type_id: int, order: int) -> TypeEntry | None:
        """The last description that came before the next snapshot began; where there is none, the first one."""
        known = self._entries.get((clr, type_id))
        if known is None:
            return None
        return next((entry for given, entry in reversed(known) if given <= order), known[0][1])


class HeapBlocks:
    """Deals the events of one process to drafts, in order of time."""

    def __init__(self) -> None:
        self.types = TypeEntries()
        self._open: dict[int, SnapshotDraft] = {}
        self._begun: dict[int, int] = {}
        self._drafts: list[SnapshotDraft] = []

    @property
    def drafts(self) -> list[SnapshotDraft]:
        """Everything that is a snapshot, in order of time."""
        return [draft for draft in self._drafts if not draft.empty]

    def take(self, events: Mapping[str, Gathered]) -> None:
        """See the next events, all of `SELECTORS`."""
        readers = [
            _READERS.get(selector, HeapBlocks._blocks)(self, selector, rows) for selector, rows in events.items()
        ]
        places = np.concatenate([rows.places for rows in events.values()])
        which = np.repeat(np.arange(len(readers)), [len(rows) for rows in events.values()])
        for place in np.argsort(places, kind="stable").tolist():
            next(readers[int(which[place])])

    def begin(self, clr: int, gc_number: int | None, start_ns: int | None) -> SnapshotDraft:
        """Start another draft; the one before gets nothing more."""
        self._begun[clr] = self._begun.get(clr, 0) + 1
        draft = self._open[clr] = SnapshotDraft(clr, self._begun[clr], gc_number, start_ns)
        return draft

    def end(self, clr: int, gc_number: int, end_ns: int) -> None:
        """The end of a collection, maybe of the one whose snapshot is open."""
        draft = self._open.get(clr)
        if draft is not None and draft.gc_number == gc_number:
            draft.end_ns = end_ns
            del self._open[clr]

    def draft(self, clr: int, time_ns: int) -> SnapshotDraft:
        """The draft that events of this runtime belong to now."""
        draft = self._open.get(clr) or self.begin(clr, None, None)
        draft.last_ns = time_ns
        if not draft.used:
            # Most collections write no snapshot.
            draft.used = True
            self._drafts.append(draft)
        return draft

    def begun(self, clr: int) -> int:
        """How many drafts of this runtime were begun."""
        return self._begun.get(clr, 0)

    # Readers do what the next row of an event says each time that they are asked. ------------------------------------

    def _starts(self, selector: str, rows: Gathered) -> Iterator[None]:
        for clr, time, number, depth, type in _columns(rows, "ClrInstanceID", "time_ns", "Count", "Depth", "Type"):
            if depth == FULL and type != BACKGROUND:
                self.begin(clr, number, time)
            yield

    def _ends(self, selector: str, rows: Gathered) -> Iterator[None]:
        for clr, time, number in _columns(rows, "ClrInstanceID", "time_ns", "Count"):
            self.end(clr, number, time)
            yield

    def _types(self, selector: str, rows: Gathered) -> Iterator[None]:
        for (clr,), entries in zip(
            _columns(rows, "ClrInstanceID"), _entries(rows, "TypeID", "Name", "ModuleID", "Flags"), strict=True
        ):
            for type_id, name, module_id, flags in entries:
                self.types.add(clr, type_id, self.begun(clr), TypeEntry(name, module_id, flags))
            yield

    def _statics(self, selector: str, rows: Gathered) -> Iterator[None]:
        entries = _entries(rows, "GCRootID", "ObjectID", "Flags", "FieldName")
        for (clr, time), fields in zip(_columns(rows, "ClrInstanceID", "time_ns"), entries, strict=True):
            self.draft(clr, time).statics += fields
            yield

    def _blocks(self, selector: str, rows: Gathered) -> Iterator[None]:
        fields, pieces = _lists(rows)
        numbered = "Index" in rows.table
        for (clr, time, number), piece in zip(_columns(rows, "ClrInstanceID", "time_ns", "Index"), pieces, strict=True):
            draft = self.draft(clr, time)
            stream: BlockStream = getattr(draft, _STREAMS[selector])
            index = number if numbered else len(stream.indexes)
            if selector == NODES and draft.gc_number is None and not index and stream.indexes:
                # Where collections were not recorded, a snapshot begins with the first block.
                self.begin(clr, None, None)
                stream = getattr(self.draft(clr, time), _STREAMS[selector])
            stream.add(index, {name: column.values[piece] for name, column in fields.items()})
            yield


_READERS: Final = {
    START: HeapBlocks._starts,
    END: HeapBlocks._ends,
    TYPES: HeapBlocks._types,
    STATICS: HeapBlocks._statics,
}
_STREAMS: Final = {
    NODES: "nodes",
    EDGES: "edges",
    ROOTS: "roots",
    DEPENDENTS: "dependents",
    WRAPPERS: "wrappers",
}


def _columns(rows: Gathered, *names: str) -> Iterator[tuple[int, ...]]:
    """Some columns of each row, 0 where the event has none, as those of the oldest versions."""
    return zip(*(field_numbers(rows, name).tolist() for name in names), strict=True)


def _lists(rows: Gathered) -> tuple[dict[str, Column], list[slice]]:
    """The fields of the elements of lists, and which of them are in the list of each row."""
    lists = rows.column("Values")
    inner = lists.children[0]
    pieces = [slice(*edges) for edges in pairwise(lists.offsets.tolist())]
    return dict(zip(inner.type.names, inner.children, strict=True)), pieces


def _entries(rows: Gathered, *names: str) -> Iterator[list[Any]]:
    """These fields of the elements in the list of each row."""
    fields, pieces = _lists(rows)
    entries = list(zip(*(fields[name].tolist() for name in names), strict=True))
    return (entries[piece] for piece in pieces)


Places: TypeAlias = NDArray[np.int32]
ModuleName: TypeAlias = Callable[[int, int], str | None]
TypeNames: TypeAlias = Callable[[list[int]], list[str | None]]
"""The module of an id at a time."""

_AT_ONCE: Final = 1 << 20
_MOST: Final = (1 << 31) - 1
_MOST_ANNOUNCED: Final = (1 << 63) - 1
_LARGEST: Final = float(1 << 62)
_THREAD_LOCAL: Final = 0x1


def snapshot_of(
    draft: SnapshotDraft,
    types: TypeEntries,
    number: int,
    process_id: int | None,
    module: ModuleName,
    type_names: TypeNames,
) -> HeapSnapshot:
    """A snapshot of all that came of it. Uses the draft up. `type_names` are asked for what no event names."""
    streams = (draft.nodes, draft.edges)
    blocks = [(len(set(stream.indexes)), stream.missing) for stream in streams]
    repeated = sum(len(stream.indexes) - len(set(stream.indexes)) for stream in streams)
    nodes = draft.nodes.take()
    address, counts = nodes["Address"], nodes.pop("EdgeCount")
    seen, announced = len(draft.edges.columns["Value"]), min(_sum(counts), _MOST_ANNOUNCED)
    sound = bool(_sum(nodes["Size"]) < _LARGEST and len(address) + len(draft.statics) < _MOST and seen < _MOST)
    size = nodes.pop("Size").astype(np.int64) if sound else np.zeros(len(address), dtype=np.int64)
    place = AddressPlaces(address, size)
    type, named, untyped = _types(draft, nodes.pop("TypeID"), types, module, type_names)
    roots, weak, unknown = _roots(draft, place)
    statics, unknown_statics = _statics(draft, place)
    coverage = SnapshotCoverage(
        ended=draft.end_ns is not None,
        node_blocks=blocks[0][0],
        missing_node_blocks=blocks[0][1],
        edge_blocks=blocks[1][0],
        missing_edge_blocks=blocks[1][1],
        repeated_blocks=repeated,
        edges_announced=announced,
        edges_seen=seen,
        edges_known=0,
        unknown_roots=unknown + unknown_statics,
        weak_roots=weak,
        repeated_addresses=place.repeated,
        untyped=untyped,
        sound=sound,
    )
    if coverage.linked:
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts.astype(np.int64))])
        del counts
        targets = place.of(draft.edges.take()["Value"])
        coverage = attrs.evolve(coverage, edges_known=int((targets >= 0).sum()))
    else:
        offsets, targets = np.zeros(len(address) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    keys, values = (place.of(column) for column in draft.dependents.take().values())
    complete = (keys >= 0) & (values >= 0)
    return HeapSnapshot(
        number=number,
        process_id=process_id,
        clr_instance_id=draft.clr,
        gc_number=draft.gc_number,
        start_ns=draft.start_ns,
        end_ns=draft.end_ns,
        address=address,
        size=size,
        type=type,
        types=named,
        offsets=offsets,
        targets=targets,
        roots=roots,
        statics=statics,
        dependents=(keys[complete], values[complete]),
        coverage=coverage,
    )


class AddressPlaces:
    """Which object is at an address; of several, the first in the trace."""

    def __init__(self, address: Array, size: Ints) -> None:
        order = np.argsort(address, kind="stable")
        self._order = order.astype(np.int32)
        self._sorted = address[order]
        self._size = size
        self.repeated = int((self._sorted[1:] == self._sorted[:-1]).sum())

    def of(self, addresses: Array) -> Places:
        """The object at each address, -1 where there is none."""
        objects = np.full(len(addresses), -1, dtype=np.int32)
        if not len(self._sorted):
            return objects
        for at in range(0, len(addresses), _AT_ONCE):
            # Sorted ones are found faster than random ones: neighbours are near each other in memory.
            piece = addresses[at : at + _AT_ONCE]
            order = np.argsort(piece)
            ordered = piece[order]
            places = np.minimum(np.searchsorted(self._sorted, ordered), len(self._sorted) - 1)
            objects[at + order] = np.where(self._sorted[places] == ordered, self._order[places], -1)
        return objects

    def around(self, addresses: Array) -> Places:
        """The object that each address lies in, -1 where there is none."""
        if not len(self._sorted):
            return np.full(len(addresses), -1, dtype=np.int32)
        places = np.searchsorted(self._sorted, addresses, side="right") - 1
        nodes = self._order[np.maximum(places, 0)]
        inside = (places >= 0) & (addresses - self._sorted[places] < self._size[nodes].astype(np.uint64))
        return np.where(inside, nodes, -1).astype(np.int32)


def _sum(values: Array) -> int:
    """Exact, also beyond 64 bits."""
    high, low = values >> np.uint64(32), values & np.uint64(0xFFFFFFFF)
    return (int(high.sum()) << 32) + int(low.sum())


def _types(
    draft: SnapshotDraft, ids: Array, entries: TypeEntries, module: ModuleName, type_names: TypeNames
) -> tuple[Places, tuple[HeapType, ...], int]:
    """The type of each object, all types, and how many objects have one without a name."""
    known = np.unique(ids)
    places = np.searchsorted(known, ids).astype(np.int32)
    counts = np.bincount(places, minlength=len(known))
    time = draft.last_ns if draft.end_ns is None else draft.end_ns
    types, untyped = [], 0
    for type_id, count in zip(known.tolist(), counts.tolist(), strict=True):
        entry = entries.at(draft.clr, type_id, draft.order)
        raw = (entry and entry.name) or type_names([type_id])[0]
        if not raw:
            untyped += count
        name = heap_type_name(raw) if raw else f"unknown type {type_id:#x}"
        types.append(HeapType(type_id, name, raw or "", module(entry.module_id, time) if entry else None))
    return places, tuple(types), untyped


def heap_type_name(raw: str) -> str:
    """A type's name as in C#, with its namespace; of type arguments without: `System.Func<List<int>>[]`."""
    base = raw
    while base.endswith("]") and not base[base.rfind("[") + 1 : -1].strip(",*"):
        base = base[: base.rindex("[")]
    return (KEYWORDS.get(base) or type_name(base).text()) + raw[len(base) :]


def _roots(draft: SnapshotDraft, place: AddressPlaces) -> tuple[HeapRoots, int, int]:
    """Strong roots; how many are weak, and how many refer to no object that came."""
    roots = draft.roots.take()
    address, kind, flags, slot = (roots[n] for n in ("RootedNodeAddress", "GCRootKind", "GCRootFlag", "GCRootID"))
    with_object = address != 0
    weak = with_object & (flags & WEAK != 0)
    strong = with_object & ~weak
    node = np.where(flags & INTERIOR != 0, place.around(address), place.of(address)).astype(np.int32)
    kept = strong & (node >= 0)
    wrappers = draft.wrappers.take()
    pegged = wrappers["Flags"] != 0
    com = place.of(wrappers["ObjectID"][pegged])
    known = com[com >= 0]
    snapshot_roots = HeapRoots(
        np.concatenate([node[kept], known]),
        np.concatenate([kind[kept], np.full(len(known), COM, dtype=np.uint8)]),
        np.concatenate([flags[kept], np.zeros(len(known), dtype=np.uint32)]),
        np.concatenate([slot[kept], np.zeros(len(known), dtype=np.uint64)]),
    )
    return snapshot_roots, int(weak.sum()), int((strong & (node < 0)).sum()) + int((com < 0).sum())


def _statics(draft: SnapshotDraft, place: AddressPlaces) -> tuple[tuple[StaticField, ...], int]:
    """Static fields of objects that came, and how many are of others."""
    fields = [field for field in draft.statics if field[1]]
    nodes = place.of(np.array([node for _, node, _, _ in fields], dtype=np.uint64)).tolist()
    fields_of_objects = tuple(
        StaticField(name, node, slot, bool(flags & _THREAD_LOCAL))
        for (slot, _, flags, name), node in zip(fields, nodes, strict=True)
        if node >= 0
    )
    return fields_of_objects, len(fields) - len(fields_of_objects)
