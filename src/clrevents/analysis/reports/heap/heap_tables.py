"""One snapshot → the rows of the report: types, dominators, roots, growth, and paths that keep objects alive.

Objects of one type under the same types are one line of a tree; shortest paths through the same types are one, and
each is one of several unless the dominator tree says so too. Takes snapshots whose references are certain, unless it
says otherwise. Knows no trace and no window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clrevents._util.value_classes import frozen
from clrevents.analysis.framework.vocabulary import cells
from clrevents.analysis.framework.vocabulary.report_table import ReportTable, Row, SpanRow, column, row
from clrevents.analysis.gathering.groups import Ints, sum_by
from clrevents.analysis.reports.heap.heap_graph import KERNEL, HeapGraph, Kernel
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot, HeapType, solution_of


@row(span=("start_ns", "end_ns"))
class Snapshot(SpanRow):
    """One snapshot: everything on the heap at one moment, with all threads stopped."""

    snapshot: cells.Ordinal = column("The number of the snapshot in the trace, from 1.")
    collection: cells.Ordinal | None = column("The number of the collection that wrote it.", hidden=True)
    start_ns: cells.Ns | None = column("When that collection began.")
    end_ns: cells.Ns | None = column("When it ended; null if unknown.", hidden=True)
    nodes: cells.Count = column("The objects in the trace.")
    bytes: cells.Bytes = column("Their size.")
    edges: cells.Count = column("The references in the trace.")
    roots: cells.Count = column("Strong roots of objects in the trace, not counting static fields.")
    statics: cells.Count = column("Static fields that refer to an object in the trace.", hidden=True)
    reached: cells.Count | None = column("The objects that a root reaches.", hidden=True)
    reached_bytes: cells.Bytes | None = column("The size of the objects that a root reaches.")
    unreached: cells.Count | None = column(
        "The objects that no root reaches: frozen literals, or not yet collected.", hidden=True
    )
    complete: cells.Flag = column("Nothing is missing, so all numbers are exact.")
    linked: cells.Flag = column("It is certain which references belong to which object.", hidden=True)
    edges_announced: cells.Count = column("The references that the objects announce.", hidden=True)
    unknown_roots: cells.Count = column("Strong roots of objects that are missing.", hidden=True)
    weak_roots: cells.Count = column("Roots that keep nothing alive.", hidden=True)
    dependents: cells.Count = column("Objects kept alive as values of a ConditionalWeakTable.", hidden=True)
    repeated_addresses: cells.Count = column("Objects at the address of another one.", hidden=True)
    untyped: cells.Count = column("Objects whose type has no name in the trace.", hidden=True)
    clr_instance: cells.Ordinal = column("The runtime's number in the process.", hidden=True)


@row
class TypeOnHeap(Row):
    """All objects of one type in one snapshot."""

    snapshot: cells.Ordinal = column("The number of the snapshot.", hidden=True)
    type: cells.CodeName = column("The type; for a nested one, the runtime gives only its own name.", importance=0)
    module: cells.CodeName | None = column("The module that declares it.", hidden=True)
    count: cells.Count = column("How many objects there are.")
    bytes: cells.Bytes = column("Their own size.", importance=1)
    retained_bytes: cells.Bytes | None = column(
        "What they keep alive, including themselves; nothing counts twice.", importance=1
    )
    unreached: cells.Count | None = column("How many of them no root reaches.", hidden=True)
    type_id: cells.Handle = column("The runtime's id of the type.", hidden=True)


@row
class DominatorLine(Row):
    """Objects of one type that are kept alive by the line above, and by nothing else.

    Lines that keep less than half a percent alive are left out; those at the top are summed up as `others`.
    """

    row: cells.RowNumber = column("The number of the line.", hidden=True)
    parent_row: cells.RowNumber | None = column(
        "The line above; null for objects that nothing else keeps alive.", hidden=True
    )
    depth: cells.Ordinal = column("How many lines are above it in the tree.", hidden=True)
    name: cells.CodeName = column("The type, or the static field.", hidden=True)
    count: cells.Count = column("How many objects there are; those in a chain of one type are one line.")
    bytes: cells.Bytes = column("Their own size.")
    retained_bytes: cells.Bytes = column("What they keep alive, including themselves.")
    share: cells.Ratio = column("What they keep alive, as a share of everything that roots keep alive.")
    outline: cells.CodeName = column("The name without namespaces, indented by the depth.")


@row
class RootGroup(Row):
    """A static field, or all other roots of one kind that refer to objects of one type."""

    label: cells.CodeName = column("The kind of root, with the static field's name.")
    kind: cells.Word = column(
        "`static`, `thread static`, `stack`, `handle`, `pinned handle`, `finalizer queue` and so on.", hidden=True
    )
    name: cells.CodeName | None = column("The static field. The type that declares it is not recorded.", hidden=True)
    count: cells.Count = column("How many objects they refer to.")
    type: cells.CodeName = column("The type of the objects.")
    retained_bytes: cells.Bytes | None = column("What only they keep alive.")


@row
class RootPath(Row):
    """Objects of one type that are reached in the same way: by a shortest path through the same types."""

    type: cells.CodeName = column("The type of the objects.", hidden=True)
    count: cells.Count = column("How many objects are reached in this way.")
    bytes: cells.Bytes = column("Their own size.")
    root: cells.Word = column("The kind of root.", hidden=True)
    static_field: cells.CodeName | None = column("The static field, if the root is one.", hidden=True)
    distance: cells.Count = column("Objects on the path to the nearest of them, including itself.")
    example: cells.Address = column("The address of the nearest of them.", hidden=True)
    path: cells.CodeText = column(
        "The root and the types on the way, without namespaces; a chain of one type is one step."
    )
    steps: tuple[cells.CodeName, ...] = column("The path, step by step, with namespaces.", hidden=True)


@row
class TypeGrowth(Row):
    """One type in two snapshots."""

    type: cells.CodeName = column("The type.")
    count_before: cells.Count = column("Its objects in the earlier snapshot.")
    count_after: cells.Count = column("Its objects in the later snapshot.")
    count_change: cells.CountChange = column("How many more there are; negative if there are fewer.")
    bytes_after: cells.Bytes = column("Their size in the later snapshot.")
    bytes_change: cells.BytesChange = column("How many bytes more they have; negative if fewer.")


@row
class HeapFacts:
    """Which snapshot the tables are about, and what holds the most."""

    snapshot: cells.Ordinal | None = column("The number of the snapshot that the tables are about.")
    baseline: cells.Ordinal | None = column("The number of the snapshot that growth is counted from.")
    taken_ns: cells.Ns | None = column("When its collection began.")
    complete: cells.Flag | None = column("Nothing is missing from it, so its numbers are exact.")
    held_by: tuple[cells.CodeText, ...] = column("The roots that alone keep the most bytes alive, with their shares.")
    kept_by: tuple[cells.CodeText, ...] = column("What keeps the objects of the chosen type alive.")


Places: TypeAlias = NDArray[np.int32]

NO_LINE: Final = -1


@frozen
class TreeLine:
    """One line of a tree: `above` is the place of the line above it, `group` what its members have in common."""

    above: int
    group: int
    depth: int
    first: int
    """The smallest number among its uppermost members."""


@frozen(eq=False)
class TypeTree:
    """Lines, those above before those below, and the line of each number; `NO_LINE` for numbers left out."""

    lines: tuple[TreeLine, ...]
    line: Places

    def sums(self, values: Ints, of: Any = slice(None)) -> Ints:
        """What the values of the members of each line add up to; `of` chooses numbers."""
        line, values = self.line[of], values[of]
        listed = line >= 0
        return sum_by(line[listed], values[listed], len(self.lines))


def type_tree(
    above: Places,
    group: Places,
    wanted: NDArray[np.bool_],
    weight: Ints,
    least: int,
    deepest: int,
    engine: Kernel = KERNEL,
) -> TypeTree:
    """The tree of those numbers that are `wanted`, with all that are above them.

    `above[k] < k`; a negative one, or k itself, is the top. `weight` is what a number weighs with everything below
    it: lines that weigh less than `least` are left out with all below them, and so are those deeper than `deepest`.
    """
    count = len(above)
    top, depth = engine.room(count), engine.room(count)
    engine.kernel.fold(count, engine.given(above), engine.given(group), top, depth)
    tops, depths = engine.taken(top), engine.taken(depth)
    line = np.full(count, NO_LINE, dtype=np.int32)
    uppermost = np.flatnonzero(wanted & (tops == np.arange(count)) & (depths <= deepest))
    uppermost = uppermost[np.argsort(depths[uppermost], kind="stable")]
    bounds = np.searchsorted(depths[uppermost], np.arange(deepest + 2))
    lines: list[TreeLine] = []
    groups = int(group.max(initial=0)) + 1
    for level in range(deepest + 1):
        numbers = uppermost[bounds[level] : bounds[level + 1]]
        parents = np.full(len(numbers), NO_LINE, dtype=np.int64)
        if level:
            parents = line[tops[above[numbers]]].astype(np.int64)
            numbers, parents = numbers[parents >= 0], parents[parents >= 0]
        if not len(numbers):
            break
        keys = parents * groups + group[numbers]
        known, first, which = np.unique(keys, return_index=True, return_inverse=True)
        kept = sum_by(which, weight[numbers], len(known)) >= least
        places = np.where(kept, len(lines) + np.cumsum(kept) - 1, NO_LINE)
        line[numbers] = places[which]
        lines += [
            TreeLine(key // groups, key % groups, level, int(numbers[at]))
            for key, at, total in zip(known.tolist(), first.tolist(), kept.tolist(), strict=True)
            if total
        ]
    return TypeTree(tuple(lines), line[tops])


Namer: TypeAlias = Callable[[HeapType], str]

SMALLEST_SHARE: Final = 200
"""A line of the dominator tree keeps at least one part in this many of everything alive."""
DEEPEST: Final = 16
OTHERS: Final = "others"
"""The name of the line for everything at the top that keeps less alive."""
_INDENT: Final = "  "


def snapshot_rows(snapshots: Sequence[HeapSnapshot], shown: HeapSnapshot | None) -> list[Snapshot]:
    """A row for each snapshot, also for incomplete ones. The graph of the one that is shown is kept."""
    rows = []
    for one in snapshots:
        coverage = one.coverage
        reached = None
        if coverage.linked:
            reach = solution_of(one).reach if one is shown else HeapGraph.of(one).reach()
            reached = reach.parent != -2
        rows.append(
            Snapshot(
                snapshot=one.number,
                collection=one.gc_number,
                start_ns=one.start_ns,
                end_ns=one.end_ns,
                nodes=len(one),
                bytes=int(one.size.sum()),
                edges=coverage.edges_seen,
                roots=len(one.roots),
                statics=len(one.statics),
                reached=None if reached is None else int(reached.sum()),
                reached_bytes=None if reached is None else int(one.size[reached].sum()),
                unreached=None if reached is None else int((~reached).sum()),
                complete=coverage.complete,
                linked=coverage.linked,
                edges_announced=coverage.edges_announced,
                unknown_roots=coverage.unknown_roots,
                weak_roots=coverage.weak_roots,
                dependents=len(one.dependents[0]),
                repeated_addresses=coverage.repeated_addresses,
                untyped=coverage.untyped,
                clr_instance=one.clr_instance_id,
            )
        )
    return rows


def type_rows(snapshot: HeapSnapshot, name: Namer, chosen: Sequence[int] | None = None) -> list[TypeOnHeap]:
    """A row for each type, or for those that are chosen; those that retain most come first.

    What they retain is null if unknown.
    """
    count = len(snapshot.types)
    objects = np.bincount(snapshot.type, minlength=count)
    size = sum_by(snapshot.type, snapshot.size.astype(np.int64), count)
    retained: list[int | None] = [None] * count
    unreached: list[int | None] = [None] * count
    if snapshot.coverage.linked:
        retained = list(retained_by_type(snapshot).tolist())
        unreached = list(np.bincount(snapshot.type[~snapshot.reached], minlength=count).tolist())
    numbers = range(count) if chosen is None else chosen
    order = sorted(numbers, key=lambda k: (-(retained[k] or 0), -int(size[k]), snapshot.types[k].name))
    return [
        TypeOnHeap(
            snapshot=snapshot.number,
            type=name(snapshot.types[k]),
            module=snapshot.types[k].module,
            count=int(objects[k]),
            bytes=int(size[k]),
            retained_bytes=retained[k],
            unreached=unreached[k],
            type_id=snapshot.types[k].type_id,
        )
        for k in order
    ]


def retained_by_type(snapshot: HeapSnapshot, kernel: Kernel = KERNEL) -> Ints:
    """What the objects of each type keep alive; an object that another one of its type keeps alive counts once."""
    domination = solution_of(snapshot).domination
    count, types = len(domination.order), len(snapshot.types)
    group = _groups(snapshot, np.full(len(snapshot.holders), types, dtype=np.int32), types + 1)
    totals = kernel.room(types + 2, 0, np.int64)
    kernel.kernel.outermost(
        count,
        kernel.given(domination.above),
        kernel.given(group),
        kernel.given(domination.retained, np.int64),
        kernel.room(count),
        kernel.room(count),
        kernel.room(types + 2, 0),
        totals,
    )
    return kernel.taken(totals, types, np.int64)


def _groups(snapshot: HeapSnapshot, holders: NDArray[np.int32], root: int) -> NDArray[np.int32]:
    """What each number of the dominator tree is: its type, or what is given for holders and for the root of all."""
    of = np.concatenate([snapshot.type, holders, np.array([root], dtype=np.int32)])
    groups: NDArray[np.int32] = of[solution_of(snapshot).domination.order]
    return groups


def dominator_rows(snapshot: HeapSnapshot, name: Namer, smallest: int = SMALLEST_SHARE) -> list[DominatorLine]:
    """The dominator tree by types, each line before those below it, those that retain most first.

    Lines that retain less than one part in `smallest` of everything are left out.
    """
    domination, types, holders = solution_of(snapshot).domination, len(snapshot.types), len(snapshot.holders)
    group = _groups(snapshot, np.arange(types, types + holders, dtype=np.int32), types + holders)
    everything = int(domination.retained[0])
    least = max(1, -(-everything // smallest))
    wanted = np.ones(len(group), dtype=np.bool_)
    tree = type_tree(domination.above, group, wanted, domination.retained, least, DEEPEST)
    own = np.zeros(len(group), dtype=np.int64)
    objects = domination.order < len(snapshot)
    own[objects] = snapshot.size[domination.order[objects]]
    size, count = tree.sums(own), tree.sums(objects.astype(np.int64))
    # What a line retains is what its uppermost members do.
    uppermost = np.flatnonzero(group != group[domination.above])
    retained = tree.sums(domination.retained, uppermost)
    names = [*(name(type) for type in snapshot.types), *snapshot.holders, ""]
    short = [*(short_type_name(type, name) for type in snapshot.types), *snapshot.holders, ""]
    below: dict[int, list[int]] = {}
    for place, line in enumerate(tree.lines):
        below.setdefault(line.above, []).append(place)
    rows: list[DominatorLine] = []
    # The line of the root itself is left out.
    waiting: list[tuple[int, int | None]] = [(place, None) for place in _heaviest(below.get(0, []), retained)]
    while waiting:
        place, parent = waiting.pop()
        line = tree.lines[place]
        row = len(rows)
        rows.append(
            DominatorLine(
                row=row,
                parent_row=parent,
                depth=line.depth - 1,
                name=names[line.group],
                count=int(count[place]),
                bytes=int(size[place]),
                retained_bytes=int(retained[place]),
                share=int(retained[place]) / everything,
                outline=_INDENT * (line.depth - 1) + short[line.group],
            )
        )
        waiting += [(k, row) for k in _heaviest(below.get(place, []), retained)]
    small = everything - sum(row.retained_bytes for row in rows if row.parent_row is None)
    if small:
        inside = KERNEL.given(objects.astype(np.int64), np.int64)
        KERNEL.kernel.gather_up(len(group), KERNEL.given(domination.above), inside)
        below_lines = tree.sums(KERNEL.taken(inside, dtype=np.int64), uppermost)
        others = int(inside[0]) - sum(int(below_lines[place]) for place in below.get(0, []))
        rows.append(
            DominatorLine(
                row=len(rows),
                parent_row=None,
                depth=0,
                name=OTHERS,
                count=others,
                bytes=small,
                retained_bytes=small,
                share=small / everything,
                outline=OTHERS,
            )
        )
    return rows


def _heaviest(places: list[int], weight: Ints) -> list[int]:
    """The lightest first, because they are taken from the end."""
    return sorted(places, key=lambda place: (int(weight[place]), -place))


def root_rows(snapshot: HeapSnapshot, name: Namer) -> list[RootGroup]:
    """A row for each static field and each other kind of root, those that alone keep the most alive first."""
    linked = snapshot.coverage.linked
    retained: list[int | None] = [None] * len(snapshot.holders)
    if linked:
        retained = list(snapshot.holder_retained.tolist())
    rows = [
        RootGroup(
            label=static.label,
            kind=static.kind,
            name=static.name,
            count=1,
            type=name(snapshot.types[snapshot.type[static.node]]),
            retained_bytes=retained[place],
        )
        for place, static in enumerate(snapshot.statics)
    ]
    for place in range(len(snapshot.statics), len(snapshot.holders)):
        nodes = np.unique(snapshot.roots.node[snapshot.root_holders == place])
        kinds = Counter(snapshot.type[nodes].tolist())
        most = min(kinds, key=lambda type: (-kinds[type], name(snapshot.types[type])))
        others = f" and {len(kinds) - 1} other types" if len(kinds) > 2 else " and another type"
        rows.append(
            RootGroup(
                label=snapshot.holders[place],
                kind=snapshot.holders[place],
                name=None,
                count=len(nodes),
                type=name(snapshot.types[most]) + (others if len(kinds) > 1 else ""),
                retained_bytes=retained[place],
            )
        )
    rows.sort(key=lambda row: (-(row.retained_bytes or 0), row.kind, row.name or "", row.type))
    return rows


def growth_rows(before: HeapSnapshot, after: HeapSnapshot, name: Namer) -> list[TypeGrowth]:
    """A row for each type of either snapshot, largest growth first. Types are the same by their names."""
    sums: list[dict[str, tuple[int, int]]] = []
    for one in (before, after):
        objects = np.bincount(one.type, minlength=len(one.types)).tolist()
        size = sum_by(one.type, one.size.astype(np.int64), len(one.types))
        by_name: dict[str, tuple[int, int]] = {}
        for type, count, bytes in zip(one.types, objects, size.tolist(), strict=True):
            old = by_name.get(name(type), (0, 0))
            by_name[name(type)] = old[0] + count, old[1] + bytes
        sums.append(by_name)
    rows = []
    for text in {**sums[1], **sums[0]}:
        (count, bytes), (counts, sizes) = sums[0].get(text, (0, 0)), sums[1].get(text, (0, 0))
        rows.append(
            TypeGrowth(
                process_id=after.process_id,
                type=text,
                count_before=count,
                count_after=counts,
                count_change=counts - count,
                bytes_after=sizes,
                bytes_change=sizes - bytes,
            )
        )
    rows.sort(key=lambda row: (-row.bytes_change, -row.count_change, row.type))
    return rows


def display_name(type: HeapType) -> str:
    """A type's name as in C#."""
    return type.name


def raw_type_name(type: HeapType) -> str:
    """A type's name as the runtime writes it."""
    return type.raw_name or type.name


def short_type_name(type: HeapType, name: Namer) -> str:
    """A type's name without namespaces, where names are those of C#."""
    return type.short_name if name is display_name else name(type)


def heap_growth(before: HeapSnapshot, after: HeapSnapshot) -> ReportTable[TypeGrowth]:
    """By how many objects and bytes each type grew between two snapshots, of one trace or of two.

    The types that grew the most come first. They are compared by name, because addresses of objects and types may
    differ.
    """
    return ReportTable.of(TypeGrowth, growth_rows(before, after, display_name))


RAREST: Final = 1000
"""A path is given if at least one object of a type in this many is reached by it."""
DEEPEST_PATH: Final = 64
"""Paths of more steps are left out."""
ARROW: Final = " → "
_WHOLE: Final = 1 << 30
_TYPES_AT_ONCE: Final = 10
"""Of more types, rarer paths are left out."""


@frozen(eq=False)
class FoundPaths:
    """The most frequent ones first, and how many reached objects have none of them."""

    rows: Sequence[RootPath]
    left_out: int

    def texts(self, most: int) -> tuple[str, ...]:
        """The first of them in words."""
        return tuple(f"{row.path} ({row.count:,})" for row in self.rows[:most])


def matching(types: Sequence[HeapType], pattern: str) -> list[int]:
    """The types that are meant: by their whole name, by its last part, or by a pattern with `*` and `?`."""
    exact = [k for k, type in enumerate(types) if pattern in (type.name, type.raw_name)]
    if exact:
        return exact
    if any(char in pattern for char in "*?"):
        return [k for k, t in enumerate(types) if fnmatchcase(t.name, pattern) or fnmatchcase(t.raw_name, pattern)]
    return [k for k, type in enumerate(types) if type.name.partition("<")[0].rpartition(".")[2] == pattern]


def root_paths(snapshot: HeapSnapshot, chosen: Sequence[int], name: Namer, most: int | None = None) -> FoundPaths:
    """The paths to all objects of the chosen types; of each type, `most` of them."""
    reach, types, holders = solution_of(snapshot).reach, len(snapshot.types), len(snapshot.holders)
    count = len(reach.queue)
    place = np.full(len(snapshot) + holders, -1, dtype=np.int32)
    place[reach.queue] = np.arange(holders, holders + count, dtype=np.int32)
    place[len(snapshot) :] = np.arange(holders, dtype=np.int32)
    above = np.concatenate([np.arange(holders, dtype=np.int32), place[reach.parent[reach.queue]]])
    kinds = np.arange(types, types + holders, dtype=np.int32)
    group = np.concatenate([kinds, snapshot.type[reach.queue]])
    target = np.isin(group, np.array(chosen, dtype=np.int32))
    # All objects of a type weigh the same together, so that frequent types do not hide rare ones.
    share = _WHOLE // np.maximum(np.bincount(group[target], minlength=types + holders), 1) + 1
    below = KERNEL.given(np.where(target, share[group], 0), np.int64)
    above[:holders] = -1
    KERNEL.kernel.gather_up(len(above), KERNEL.given(above), below)
    weight = KERNEL.taken(below, dtype=np.int64)
    least = _WHOLE // RAREST * max(1, len(chosen) // _TYPES_AT_ONCE)
    tree = type_tree(above, group, weight > 0, weight, least, DEEPEST_PATH)
    size = np.concatenate([np.zeros(holders, dtype=np.int64), snapshot.size[reach.queue]])
    counts = tree.sums(target.astype(np.int64))
    sizes = tree.sums(np.where(target, size, 0))
    names = [*(name(type) for type in snapshot.types), *snapshot.holders]
    short = [*(short_type_name(type, name) for type in snapshot.types), *snapshot.holders]
    rows = []
    depths = _depths(above)
    for line, of in enumerate(tree.lines):
        if of.group >= types or not counts[line]:
            continue
        groups, at = [], line
        while at >= 0:
            groups.append(tree.lines[at].group)
            at = tree.lines[at].above
        groups.reverse()
        root, steps = groups[0] - types, [names[group] for group in groups]
        static = snapshot.statics[root] if root < len(snapshot.statics) else None
        nearest = int(reach.queue[of.first - holders])
        rows.append(
            RootPath(
                type=steps[-1],
                count=int(counts[line]),
                bytes=int(sizes[line]),
                root=steps[0] if static is None else static.kind,
                static_field=None if static is None else static.name,
                distance=depths[of.first],
                example=int(snapshot.address[nearest]),
                path=ARROW.join(short[group] for group in groups),
                steps=tuple(steps),
            )
        )
    rows.sort(key=lambda row: (-row.count, -row.bytes, row.path, row.example))
    if most is not None:
        seen: dict[str, int] = {}
        kept = []
        for row in rows:
            seen[row.type] = seen.get(row.type, 0) + 1
            if seen[row.type] <= most:
                kept.append(row)
        rows = kept
    return FoundPaths(rows, int(target.sum()) - int(counts.sum()))


def _depths(above: Ints) -> list[int]:
    """How many objects are on the way to each."""
    count = len(above)
    top, depth = KERNEL.room(count), KERNEL.room(count)
    # Everything is a group of its own, so that nothing is folded.
    KERNEL.kernel.fold(count, KERNEL.given(above), KERNEL.given(np.arange(count, dtype=np.int32)), top, depth)
    depths: list[int] = KERNEL.taken(depth).tolist()
    return depths
