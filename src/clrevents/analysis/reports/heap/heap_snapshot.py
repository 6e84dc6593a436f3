"""`HeapSnapshot`: the objects of one snapshot with their references and roots, as numpy arrays for notebooks.

Made by `heap_blocks`; asks `heap_graph` for what follows from the references, when it is first wanted.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from clrevents._util.notebook_views import Summary, Value
from clrevents._util.value_classes import frozen
from clrevents._util.words import counted
from clrevents.analysis.gathering.groups import Ints
from clrevents.analysis.reports.heap.heap_graph import HeapGraph, HeapSolution
from clrevents.symbols.display_names import display_type

Places: TypeAlias = NDArray[np.int32]

STACK, FINALIZER, HANDLE, OTHER, COM = range(5)
ROOT_KINDS: Final = ("stack", "finalizer queue", "handle", "other", "COM")
"""The kinds of roots as words, by the number that the runtime writes; the last one is ours."""
PINNED, WEAK, INTERIOR, COUNTED = 0x1, 0x2, 0x4, 0x8
"""How a root refers to its object."""


@frozen
class HeapType(Value):
    """A type of objects."""

    type_id: int
    """The runtime's id of the type."""
    name: str
    """Its name as in C#. For a nested type, without the enclosing types: the runtime does not record them."""
    raw_name: str
    """Its name as the runtime writes it; empty if not recorded."""
    module: str | None = None
    """The module that declares it; None if not recorded."""

    @property
    def short_name(self) -> str:
        """Its name without namespaces."""
        return display_type(self.raw_name) if self.raw_name else self.name


@frozen
class StaticField(Value):
    """A static field that refers to an object. The type that declares it is not recorded."""

    name: str
    node: int
    """The object it refers to."""
    slot: int
    """The address of the field."""
    thread_local: bool = False

    @property
    def kind(self) -> str:
        """`static` or `thread static`."""
        return "thread static" if self.thread_local else "static"

    @property
    def label(self) -> str:
        """Its name as a root: `static Name`."""
        return f"{self.kind} {self.name}"


@frozen(eq=False)
class HeapRoots(Value):
    """The strong roots except static fields, as parallel arrays: the object, the kind of root, its flags and where it
    is."""

    node: Places
    kind: NDArray[np.uint8]
    flags: NDArray[np.uint32]
    slot: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.node)


@frozen
class SnapshotCoverage(Value):
    """How much of a snapshot is there, by its own numbers."""

    ended: bool
    """Whether the trace has the end of its collection."""
    node_blocks: int
    missing_node_blocks: int
    edge_blocks: int
    missing_edge_blocks: int
    repeated_blocks: int
    """Blocks whose number another one has too."""
    edges_announced: int
    """References that the objects announce."""
    edges_seen: int
    """References in the trace."""
    edges_known: int
    """Those among them whose target is in the trace, too."""
    unknown_roots: int
    """Roots of an object that is missing."""
    weak_roots: int
    """Roots that keep nothing alive."""
    repeated_addresses: int
    """Objects at the address of another one."""
    untyped: int
    """Objects whose type has no name."""
    sound: bool
    """Whether all sizes are possible."""

    @property
    def linked(self) -> bool:
        """Whether it is certain which references belong to which object."""
        return (
            self.ended
            and self.sound
            and not self.missing_node_blocks
            and not self.missing_edge_blocks
            and not self.repeated_blocks
            and self.edges_announced == self.edges_seen
        )

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return (
            self.linked
            and self.edges_known == self.edges_seen
            and not (self.unknown_roots or self.repeated_addresses or self.untyped)
        )


@frozen(eq=False, slots=False, kw_only=True)
class HeapSnapshot(Summary):
    """The heap of one process at one moment. Objects are numbers from 0 on, in the order of the trace.

    The references of object `i` are `targets[offsets[i]:offsets[i + 1]]`, as numbers of objects, -1 for one that is
    missing. Where it is not certain which references belong to which object (`coverage.linked` is False), there are
    none, and everything derived from them raises ValueError.
    """

    number: int
    """The number of the snapshot in the trace, from 1."""
    process_id: int | None
    """The process; None if the trace does not say."""
    clr_instance_id: int
    """The runtime's number in the process."""
    gc_number: int | None
    """The collection that wrote it; None if its beginning is not in the trace."""
    start_ns: int | None
    """When that collection began, in nanoseconds since the session started; None if that is not in the trace."""
    end_ns: int | None
    """When it ended; None if that is not in the trace."""
    address: NDArray[np.uint64]
    """The address of each object."""
    size: Ints
    """The size of each object in bytes."""
    type: Places
    """The type of each object, as a place in `types`."""
    types: tuple[HeapType, ...]
    """All types of objects."""
    offsets: Ints
    """Where the references of each object begin, and one number more."""
    targets: Places
    """The objects that are referred to."""
    roots: HeapRoots
    """Strong roots except static fields."""
    statics: tuple[StaticField, ...]
    """Static fields that refer to an object."""
    dependents: tuple[Places, Places]
    """Objects that keep another one alive without a reference, and those: keys and values of a ConditionalWeakTable."""
    coverage: SnapshotCoverage
    """How much of the snapshot is there."""

    def __len__(self) -> int:
        return len(self.address)

    def __repr__(self) -> str:
        return (
            f"<heap snapshot {self.number}: {counted(len(self), 'object')} of {counted(int(self.size.sum()), 'byte')}>"
        )

    def __getstate__(self) -> dict[str, object]:
        """The data that it was made from; the rest follows from it."""
        return {field.name: getattr(self, field.name) for field in attrs.fields(HeapSnapshot)}

    @cached_property
    def _solution(self) -> HeapSolution:
        """What follows from the references. Raises ValueError if it is unknown whose they are."""
        if not self.coverage.linked:
            raise ValueError(f"snapshot {self.number} is incomplete: its references are unknown")
        return HeapSolution(HeapGraph.of(self), self.size)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Which objects a strong root reaches."""
        reached: NDArray[np.bool_] = self._solution.reach.parent != -2
        return reached

    @cached_property
    def retained(self) -> Ints:
        """The bytes that would be free if an object were gone: its own, and those of all that only it keeps alive.

        0 for objects that no root reaches.
        """
        return self._solution.domination.of_objects(self._solution.domination.retained, len(self), 0)

    @cached_property
    def holders(self) -> tuple[str, ...]:
        """What holds objects from outside, in words: each static field, then each kind of other roots."""
        return (*(static.label for static in self.statics), *self._root_kinds[0])

    @cached_property
    def _root_kinds(self) -> tuple[tuple[str, ...], Places]:
        """The kinds of roots in words, and the place of each root's."""
        pairs, which = np.unique(self.roots.kind.astype(np.int64) << 32 | self.roots.flags, return_inverse=True)
        texts = [root_words(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
        known = tuple(dict.fromkeys(texts))
        return known, np.array([known.index(text) for text in texts], dtype=np.int32)[which.reshape(-1)]

    @property
    def root_holders(self) -> Places:
        """Which of `holders` each of `roots` is of."""
        holders: Places = self._root_kinds[1] + np.int32(len(self.statics))
        return holders

    @property
    def holder_retained(self) -> Ints:
        """The bytes that would be free without one of `holders`: what it alone keeps alive."""
        return self._solution.domination.of_holders(self._solution.domination.retained, len(self), len(self.holders))

    @property
    def dominators(self) -> Ints:
        """The nearest object through which every way from the roots to an object leads.

        `len(snapshot) + k` if it is not an object but `holders[k]`; -1 where there is neither; -2 for objects that no
        root reaches.
        """
        return self._solution.domination.objects_above(len(self), len(self.holders))

    @property
    def parents(self) -> Places:
        """The object before each one on a shortest way from the roots; coded as in `dominators`."""
        return self._solution.reach.parent

    def path(self, node: int) -> tuple[int, ...]:
        """A shortest way from a root to an object, both included; empty if no root reaches it."""
        parent = self.parents
        if not 0 <= node < len(self):
            raise IndexError(f"object {node} of {len(self)}")
        if parent[node] == -2:
            return ()
        steps = [node]
        while 0 <= (above := int(parent[steps[-1]])) < len(self):
            steps.append(above)
        return tuple(reversed(steps))

    def root_name(self, node: int) -> str:
        """What the path to an object begins with, in words; empty if no root reaches it."""
        path = self.path(node)
        return self.holders[int(self.parents[path[0]]) - len(self)] if path else ""

    def of_type(self, name: str) -> Places:
        """The objects of all types of this name, as in C# or as the runtime writes it."""
        places = [place for place, type in enumerate(self.types) if name in (type.name, type.raw_name)]
        return np.flatnonzero(np.isin(self.type, places)).astype(np.int32)

    def references(self, node: int) -> Places:
        """The objects that an object refers to, -1 for one that is missing."""
        return self.targets[self.offsets[node] : self.offsets[node + 1]]


def solution_of(snapshot: HeapSnapshot) -> HeapSolution:
    """The graph of a snapshot and what the kernel found in it, for our own modules. Raises ValueError as above."""
    return snapshot._solution


def root_words(kind: int, flags: int) -> str:
    """A root in words: `pinned handle`, `stack`."""
    name = ROOT_KINDS[kind] if kind < len(ROOT_KINDS) else f"root of kind {kind}"
    if kind == HANDLE:
        return f"pinned {name}" if flags & PINNED else f"counted {name}" if flags & COUNTED else name
    return name
