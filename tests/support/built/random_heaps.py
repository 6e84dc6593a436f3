"""Small random heaps as snapshots, and what follows from them the long way round: by leaving objects out.

Knows nothing of dominators: what an object retains is what cannot be reached without it.
"""

from __future__ import annotations

from random import Random
from typing import Final

import attrs
import numpy as np

from clrevents.analysis import HeapSnapshot
from clrevents.analysis.reports.heap.heap_snapshot import HeapRoots, HeapType, SnapshotCoverage, StaticField

WHOLE: Final = SnapshotCoverage(
    ended=True,
    node_blocks=1,
    missing_node_blocks=0,
    edge_blocks=1,
    missing_edge_blocks=0,
    repeated_blocks=0,
    edges_announced=0,
    edges_seen=0,
    edges_known=0,
    unknown_roots=0,
    weak_roots=0,
    repeated_addresses=0,
    untyped=0,
    sound=True,
)


def random_heap(rng: Random) -> HeapSnapshot:
    """Up to thirty objects with cycles, self references, references to nowhere, shared objects, and objects nobody
    reaches; roots of several kinds, or none; static fields, some of them inside an object."""
    count = rng.randint(1, 30)
    edges = [[rng.randrange(-1, count) for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 6)))] for _ in range(count)]
    if rng.random() < 0.3:
        # A list, so that something is deep.
        edges = [[at + 1] if at + 1 < count else [] for at in range(count)]
    kinds = [(rng.randrange(count), rng.randrange(3), rng.choice((0, 0, 1))) for _ in range(rng.randint(0, 4))]
    size = np.array([rng.randint(1, 100) * 8 for _ in range(count)], dtype=np.int64)
    address = np.array(rng.sample(range(1, 100), count), dtype=np.uint64) * np.uint64(0x1000)
    statics = []
    for number in range(rng.randint(0, 3)):
        node, holder = rng.randrange(count), rng.randrange(count)
        slot = int(address[holder]) + rng.randrange(int(size[holder])) if rng.random() < 0.5 else 8
        statics.append(StaticField(f"field{number}", node, slot))
    dependents = [(rng.randrange(count), rng.randrange(count)) for _ in range(rng.choice((0, 0, 2)))]
    return HeapSnapshot(
        number=1,
        process_id=None,
        clr_instance_id=0,
        gc_number=1,
        start_ns=0,
        end_ns=1,
        address=address,
        size=size,
        type=np.array([rng.randrange(4) for _ in range(count)], dtype=np.int32),
        types=tuple(HeapType(k, f"Type{k}", f"Type{k}") for k in range(4)),
        offsets=np.cumsum([0, *map(len, edges)]).astype(np.int64),
        targets=np.array([to for mine in edges for to in mine], dtype=np.int32),
        roots=HeapRoots(
            np.array([node for node, _, _ in kinds], dtype=np.int32),
            np.array([kind for _, kind, _ in kinds], dtype=np.uint8),
            np.array([flags for _, _, flags in kinds], dtype=np.uint32),
            np.zeros(len(kinds), dtype=np.uint64),
        ),
        statics=tuple(statics),
        dependents=(
            np.array([key for key, _ in dependents], dtype=np.int32),
            np.array([value for _, value in dependents], dtype=np.int32),
        ),
        coverage=WHOLE,
    )


@attrs.frozen
class LongWay:
    """The graph as sets: who refers to whom, and which objects each holder refers to."""

    snapshot: HeapSnapshot
    edges: dict[int, list[int]]
    held: dict[int, list[int]]

    @classmethod
    def of(cls, snapshot: HeapSnapshot) -> LongWay:
        edges = {node: snapshot.references(node).tolist() for node in range(len(snapshot))}
        for static in snapshot.statics:
            for node in edges:
                low = int(snapshot.address[node])
                if low <= static.slot < low + int(snapshot.size[node]) and static.node in edges[node]:
                    edges[node].remove(static.node)
        for key, value in zip(*(column.tolist() for column in snapshot.dependents), strict=True):
            edges[key].append(value)
        edges = {node: [to for to in mine if to >= 0] for node, mine in edges.items()}
        count = len(snapshot)
        held: dict[int, list[int]] = {count + k: [static.node] for k, static in enumerate(snapshot.statics)}
        for node, holder in zip(snapshot.roots.node.tolist(), snapshot.root_holders.tolist(), strict=True):
            held.setdefault(count + holder, []).append(node)
        return cls(snapshot, edges, held)

    def reached(self, without: int | None = None) -> set[int]:
        """What is reached from the roots if this object, or this holder, is not there."""
        waiting = [node for holder, nodes in self.held.items() if holder != without for node in nodes]
        found: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node != without and node not in found:
                found.add(node)
                waiting += self.edges[node]
        return found

    def retained(self, of: int) -> set[int]:
        """What nobody reaches without this, which is reached itself."""
        return self.reached() - self.reached(of)

    def dominator(self, node: int) -> int:
        """The nearest object or holder without which nobody reaches a node, or -1."""
        everything = [*self.held, *self.reached()]
        over = [one for one in everything if one != node and node in self.retained(one)]
        # The nearest one is below all others: it keeps the least alive; a holder is above every object.
        return min(over, key=lambda one: (len(self.retained(one)), one >= len(self.snapshot)), default=-1)

    def distances(self) -> dict[int, int]:
        """How many objects are on a shortest way to each one."""
        found: dict[int, int] = {}
        level = {node for nodes in self.held.values() for node in nodes}
        steps = 1
        while level:
            found |= dict.fromkeys(level, steps)
            level = {to for node in level for to in self.edges[node]} - set(found)
            steps += 1
        return found
