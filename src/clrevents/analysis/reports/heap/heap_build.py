"""What came of a snapshot → `HeapSnapshot`: blocks in order, addresses as numbers of objects, types with names.

Decides how much of it can be trusted, and says so in numbers; never guesses which reference belongs to which object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents.analysis.gathering.groups import Array, Ints
from clrevents.analysis.reports.heap.heap_blocks import SnapshotDraft, TypeEntries
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
from clrevents.symbols.display_names import KEYWORDS, type_name

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
