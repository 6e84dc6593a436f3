"""Builds traces with heap snapshots out of a few readable lines: objects by name, with what they refer to.

Lets blocks be left out, repeated or written in another order. Knows how the runtime writes snapshots, and not how they
are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from clrevents.events import (
    BulkType_V0,
    BulkTypeValue,
    GCBulkEdge_V0,
    GCBulkEdgeValue,
    GCBulkNode_V0,
    GCBulkNodeValue,
    GCBulkRootConditionalWeakTableElementEdge_V0,
    GCBulkRootConditionalWeakTableElementEdgeValue,
    GCBulkRootEdge_V0,
    GCBulkRootEdgeValue,
    GCBulkRootStaticVar_V0,
    GCBulkRootStaticVarValue,
    GCEnd_V1,
    GCStart_V2,
)
from clrevents.testing.builder import Format, TraceBuilder

STACK, FINALIZER, HANDLE = range(3)
PINNED, WEAK, INTERIOR = 1, 2, 4
FIRST: Final = 0x10000
STEP: Final = 0x1000
NOWHERE: Final = 0x7777_0000
"""An address at which nothing is."""


@attrs.frozen
class Thing:
    """An object: its type, its size, and what it refers to, by name or by address."""

    type: str
    size: int
    refers: Sequence[str | int] = ()


@attrs.frozen
class Root:
    """A root of an object, by its name or by any address."""

    of: str | int
    kind: int = STACK
    flags: int = 0


@attrs.frozen
class Static:
    """A static field: its name, its object, and where it is: in an object, so many bytes from its begin."""

    name: str
    of: str | int
    inside: str | None = None
    offset: int = 0
    flags: int = 0


@attrs.frozen
class Heap:
    """What is on the heap. Addresses are in the order of names, unless `addresses` says otherwise."""

    things: Mapping[str, Thing]
    roots: Sequence[Root] = ()
    statics: Sequence[Static] = ()
    dependents: Sequence[tuple[str, str]] = ()
    addresses: Mapping[str, int] = attrs.field(factory=dict)

    def address(self, of: str | int) -> int:
        """Where an object is."""
        if isinstance(of, int):
            return of
        return self.addresses.get(of, FIRST + STEP * list(self.things).index(of))


@attrs.frozen
class Writing:
    """How a snapshot is written: the sizes of blocks, and what becomes of the list of all of them.

    `blocks` gets pairs of a name (`node`, `edge`, `root`, `static`, `dependent`, `type`) and a record.
    """

    nodes: int = 2
    edges: int = 3
    collection: int = 1
    clr: int = 0
    start: bool = True
    end: bool = True
    untyped: Sequence[str] = ()
    blocks: Callable[[list[tuple[str, Any]]], list[tuple[str, Any]]] = lambda blocks: blocks


def records(heap: Heap, writing: Writing) -> list[tuple[str, Any]]:
    """The bulk events, nodes and edges interleaved as they are filled."""
    clr = writing.clr
    names = sorted({thing.type for thing in heap.things.values()})
    nodes = [
        GCBulkNodeValue(heap.address(name), thing.size, type_id(names, thing.type), len(thing.refers))
        for name, thing in heap.things.items()
    ]
    edges = [GCBulkEdgeValue(heap.address(to), 0) for thing in heap.things.values() for to in thing.refers]
    types = [
        BulkTypeValue(type_id(names, name), 0x50, 0, 8 if name.endswith("]") else 0, 18, name, 0, ())
        for name in names
        if name not in writing.untyped
    ]
    roots = [GCBulkRootEdgeValue(heap.address(r.of), r.kind, r.flags, 0x9000 + k) for k, r in enumerate(heap.roots)]
    statics = [
        GCBulkRootStaticVarValue(
            0x5000 + 8 * k if s.inside is None else heap.address(s.inside) + s.offset,
            heap.address(s.of),
            0,
            s.flags,
            s.name,
        )
        for k, s in enumerate(heap.statics)
    ]
    dependents = [
        GCBulkRootConditionalWeakTableElementEdgeValue(heap.address(key), heap.address(value), 0)
        for key, value in heap.dependents
    ]
    found: list[tuple[str, Any]] = [("type", BulkType_V0(len(types), clr, types))]
    found.append(("static", GCBulkRootStaticVar_V0(len(statics), 1, clr, statics)))
    for index, at in enumerate(range(0, max(len(nodes), 1), writing.nodes)):
        part = nodes[at : at + writing.nodes]
        found.append(("node", GCBulkNode_V0(index, len(part), clr, part)))
    for index, at in enumerate(range(0, len(edges), writing.edges)):
        piece = edges[at : at + writing.edges]
        # Between the nodes, as they come.
        found.insert(3 + 2 * index, ("edge", GCBulkEdge_V0(index, len(piece), clr, piece)))
    found.append(("root", GCBulkRootEdge_V0(0, len(roots), clr, roots)))
    table = GCBulkRootConditionalWeakTableElementEdge_V0(0, len(dependents), clr, dependents)
    found.append(("dependent", table))
    return found


def type_id(names: Sequence[str], name: str) -> int:
    """The id of a type in a snapshot that has these."""
    return 0xA000 + 0x10 * names.index(name)


def add_heap(builder: TraceBuilder, heap: Heap, writing: Writing | None = None) -> TraceBuilder:
    """Write a snapshot, in a collection of its own."""
    how = writing or Writing()
    if how.start:
        builder.event(GCStart_V2(how.collection, 2, 1, 0, how.clr, 0))
    for _, record in how.blocks(records(heap, how)):
        builder.event(record)
    if how.end:
        builder.event(GCEnd_V1(how.collection, 2, how.clr))
    return builder


def heap_trace(heap: Heap, writing: Writing | None = None, format: Format = "nettrace4") -> bytes:
    """A trace with one snapshot."""
    return add_heap(TraceBuilder(format).thread(7), heap, writing).build()
