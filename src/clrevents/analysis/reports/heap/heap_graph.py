"""References and roots as one graph, and what the kernel finds in it: dominators, retained sizes, shortest ways.

Picks the engine that runs the kernel, as the decoder does for its own, and is its only importer. Works with numbers of
objects only. Objects come first, then static fields, then the root of all.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.gathering.groups import Array, Ints

_NAME: Final = "clrevents.analysis.reports.heap.dominate"


def _load(interpreted: bool) -> Any:
    """The kernel as it was built, or the same source run by Python."""
    if not interpreted:
        return importlib.import_module(_NAME)
    spec = importlib.util.spec_from_file_location(f"{_NAME}_interpreted", Path(__file__).with_name("dominate.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built() -> bool:
    """Whether the kernel was compiled when the package was installed."""
    spec = importlib.util.find_spec(_NAME)
    return spec is not None and spec.origin is not None and not spec.origin.endswith(".py")


class Kernel:
    """One engine: `kernel` has the functions, the methods make and take the arrays that they want."""

    def __init__(self, compiled: bool) -> None:
        self.compiled = compiled
        self.kernel = _load(not compiled)

    def given(self, values: Array, dtype: type[np.generic] = np.int32) -> Any:
        """Numbers for the kernel, which it only reads unless they are the caller's only copy."""
        if not self.compiled:
            return values.tolist()
        return np.ascontiguousarray(values, dtype=dtype)

    def room(self, count: int, fill: int | None = None, dtype: type[np.generic] = np.int32) -> Any:
        """Room for `count` numbers, all `fill`, or uninitialized."""
        if not self.compiled:
            return [fill or 0] * count
        return np.empty(count, dtype=dtype) if fill is None else np.full(count, fill, dtype=dtype)

    def taken(self, values: Any, count: int | None = None, dtype: type[np.generic] = np.int32) -> Array:
        """The first `count` numbers that the kernel wrote, all by default, as an array that holds no others."""
        if not self.compiled:
            return np.array(values[:count], dtype=dtype)
        numbers: Array = values if count is None or count == len(values) else values[:count].copy()
        return numbers


KERNEL: Final = Kernel(not os.environ.get("CLREVENTS_PURE") and _built())
if os.environ.get("CLREVENTS_REQUIRE_COMPILED") and not KERNEL.compiled:
    raise ImportError("CLREVENTS_REQUIRE_COMPILED is set, but the heap's kernel is not compiled (see docs/hacking.md)")


Places: TypeAlias = NDArray[np.int32]


class _Snapshot(Protocol):
    """What a graph is made of."""

    def __len__(self) -> int: ...
    @property
    def address(self) -> NDArray[np.uint64]: ...
    @property
    def size(self) -> Ints: ...
    @property
    def offsets(self) -> Ints: ...
    @property
    def targets(self) -> Places: ...
    @property
    def roots(self) -> Any: ...
    @property
    def root_holders(self) -> Places: ...
    @property
    def holders(self) -> tuple[str, ...]: ...
    @property
    def statics(self) -> Any: ...
    @property
    def dependents(self) -> tuple[Places, Places]: ...


@frozen(eq=False)
class Domination:
    """The dominator tree, by numbers in depth-first order: 0 is the root of all, and dominators have smaller ones.

    `order[k]` is what has number k: an object, a holder or the root. `above[k]` is the number of its immediate
    dominator, `retained[k]` the bytes of everything below it, itself included.
    """

    order: Places
    above: Places
    retained: Ints

    def of_objects(self, values: Ints, count: int, none: int) -> Ints:
        """Values by number → by object."""
        by_object = np.full(count, none, dtype=np.int64)
        is_object = self.order < count
        by_object[self.order[is_object]] = values[is_object]
        return by_object

    def of_holders(self, values: Ints, objects: int, count: int) -> Ints:
        """Values by number → by holder."""
        by_holder = np.zeros(count, dtype=np.int64)
        is_holder = (self.order >= objects) & (self.order < objects + count)
        by_holder[self.order[is_holder] - objects] = values[is_holder]
        return by_holder

    def objects_above(self, objects: int, holders: int) -> Ints:
        """The immediate dominator of each object: an object, a holder after them, -1, or -2 if not reached."""
        dominator = self.order[self.above].astype(np.int64)
        dominator[dominator == objects + holders] = -1
        return self.of_objects(dominator, objects, -2)


@frozen(eq=False)
class Reach:
    """Objects in the order of their distance from the roots: `queue`; and the one before each, by object: `parent`."""

    queue: Places
    parent: Places


@frozen(eq=False)
class HeapGraph:
    """Edges of everything: those of node v lead to `targets[offsets[v]:offsets[v + 1]]`, negative ones nowhere.

    Nodes are the objects, then what holds them (static fields and kinds of roots), then the root of all.
    """

    objects: int
    offsets: Ints
    targets: Places
    engine: Kernel = KERNEL

    @classmethod
    def of(cls, snapshot: _Snapshot, engine: Kernel = KERNEL) -> HeapGraph:
        """The graph of a snapshot.

        Static fields live in arrays that the runtime holds by handles. What such an array refers to by way of a field
        is the field's, and not the array's.
        """
        objects, holders = len(snapshot), len(snapshot.holders)
        nodes_of_statics = np.array([static.node for static in snapshot.statics], dtype=np.int32)
        # Each object once for each kind of root.
        rooted = np.unique(snapshot.root_holders.astype(np.int64) << 32 | snapshot.roots.node)
        by = np.concatenate([np.arange(len(nodes_of_statics)), rooted >> 32])
        nodes = (rooted & 0xFFFFFFFF).astype(np.int32)
        everything = np.arange(objects, objects + holders, dtype=np.int32)
        targets = np.concatenate([snapshot.targets, nodes_of_statics, nodes, everything])
        _drop_slots(snapshot, targets)
        ends = len(snapshot.targets) + np.cumsum(np.bincount(by, minlength=holders), dtype=np.int64)
        offsets = np.concatenate([snapshot.offsets, ends, [len(targets)]])
        return cls(objects, *_with_dependents(offsets, targets, *snapshot.dependents), engine)

    def domination(self, sizes: Ints) -> Domination:
        """Who dominates whom, and what everything retains."""
        kernel, engine = self.engine.kernel, self.engine
        nodes = len(self.offsets) - 1
        offsets, targets = engine.given(self.offsets, np.int64), engine.given(self.targets)
        number, order, parent, label = (engine.room(nodes, fill) for fill in (-1, None, None, None))
        count = int(kernel.descend(nodes - 1, offsets, targets, number, order, parent, label))
        starts, sources = engine.room(count + 1, 0, np.int64), engine.room(len(self.targets))
        kernel.reverse(count, offsets, targets, number, order, starts, sources)
        del number, offsets, targets
        semi, stack, above = engine.room(count), engine.room(count), engine.room(count)
        kernel.dominate(count, starts, sources, parent, semi, label, stack, above)
        del parent, label, semi, stack, starts, sources
        reached = engine.taken(order, count)
        own = np.zeros(count, dtype=np.int64)
        of_objects = reached < self.objects
        own[of_objects] = sizes[reached[of_objects]]
        retained = engine.given(own, np.int64)
        kernel.gather_up(count, above, retained)
        return Domination(reached, engine.taken(above, count), engine.taken(retained, count, np.int64))

    def reach(self) -> Reach:
        """Shortest ways from the roots; among equals those from the first holder, which static fields are."""
        engine = self.engine
        first, last = int(self.offsets[self.objects]), int(self.offsets[-2])
        neighbours = self.targets[first:last]
        counts = np.diff(self.offsets[self.objects : -1])
        by = np.repeat(np.arange(self.objects, self.objects + len(counts), dtype=np.int32), counts)
        known, place = np.unique(neighbours, return_index=True)
        place = np.sort(place)
        parent = np.full(self.objects, -2, dtype=np.int32)
        parent[neighbours[place]] = by[place]
        queue = engine.room(self.objects)
        queue[: len(known)] = engine.given(neighbours[place])
        parents = engine.given(parent)
        offsets, targets = engine.given(self.offsets, np.int64), engine.given(self.targets)
        count = int(engine.kernel.spread(offsets, targets, parents, queue, len(known)))
        return Reach(engine.taken(queue, count), engine.taken(parents))


@frozen(eq=False, slots=False)
class HeapSolution:
    """A graph, and what the kernel finds in it once it is wanted."""

    graph: HeapGraph
    sizes: Ints

    @cached_property
    def domination(self) -> Domination:
        """The dominator tree, by its own numbers."""
        return self.graph.domination(self.sizes)

    @cached_property
    def reach(self) -> Reach:
        """Objects in the order of their distance from the roots."""
        return self.graph.reach()


def _with_dependents(offsets: Ints, targets: Places, keys: Places, values: Places) -> tuple[Ints, Places]:
    """An edge more from each key to its value."""
    if not len(keys):
        return offsets, targets
    more = np.bincount(keys, minlength=len(offsets) - 1)
    order = np.argsort(keys, kind="stable")
    inserted = np.insert(targets, offsets[keys[order] + 1], values[order])
    return offsets + np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(more)]), inserted


def _drop_slots(snapshot: _Snapshot, targets: Places) -> None:
    """Cut the edges that are static fields: one for each field that lies inside an object and has an edge there."""
    if not len(snapshot) or not len(snapshot.statics):
        return
    slots = np.array([static.slot for static in snapshot.statics], dtype=np.uint64)
    nodes = np.array([static.node for static in snapshot.statics], dtype=np.int32)
    order = np.argsort(snapshot.address, kind="stable")
    before = np.searchsorted(snapshot.address[order], slots, side="right") - 1
    holder = order[np.maximum(before, 0)]
    inside = (before >= 0) & (slots - snapshot.address[holder] < snapshot.size[holder].astype(np.uint64))
    slot_edges = np.flatnonzero(inside)
    slot_edges = slot_edges[np.lexsort((nodes[slot_edges], holder[slot_edges]))]
    owners, first = np.unique(holder[slot_edges], return_index=True)
    bounds = [*first.tolist(), len(slot_edges)]
    for place, owner in enumerate(owners.tolist()):
        begin, end = int(snapshot.offsets[owner]), int(snapshot.offsets[owner + 1])
        wanted = nodes[slot_edges[bounds[place] : bounds[place + 1]]]
        edges = np.argsort(targets[begin:end], kind="stable")
        ordered = targets[begin:end][edges]
        # Several fields of one object are several of its edges.
        rank = np.arange(len(wanted)) - np.searchsorted(wanted, wanted)
        at = np.searchsorted(ordered, wanted) + rank
        present = at < np.searchsorted(ordered, wanted, side="right")
        targets[begin + edges[at[present]]] = -1
