"""The rows and the facts of the heap report: one class per table, every column with its unit and its meaning.

Only declarations; whatever was not recorded is null.
"""

from __future__ import annotations

from clrevents.analysis.framework.vocabulary.row_class import (
    Address,
    Bytes,
    BytesChange,
    CodeName,
    CodeText,
    Count,
    CountChange,
    Flag,
    Handle,
    Ns,
    Ordinal,
    Ratio,
    Row,
    RowNumber,
    SpanRow,
    Word,
    column,
    row,
)


@row(span=("start_ns", "end_ns"))
class Snapshot(SpanRow):
    """One snapshot: everything on the heap at one moment, with all threads stopped."""

    snapshot: Ordinal = column("The number of the snapshot in the trace, from 1.")
    collection: Ordinal | None = column("The number of the collection that wrote it.", hidden=True)
    start_ns: Ns | None = column("When that collection began.")
    end_ns: Ns | None = column("When it ended; null if unknown.", hidden=True)
    nodes: Count = column("The objects in the trace.")
    bytes: Bytes = column("Their size.")
    edges: Count = column("The references in the trace.")
    roots: Count = column("Strong roots of objects in the trace, not counting static fields.")
    statics: Count = column("Static fields that refer to an object in the trace.", hidden=True)
    reached: Count | None = column("The objects that a root reaches.", hidden=True)
    reached_bytes: Bytes | None = column("The size of the objects that a root reaches.")
    unreached: Count | None = column(
        "The objects that no root reaches: frozen literals, or not yet collected.", hidden=True
    )
    complete: Flag = column("Nothing is missing, so all numbers are exact.")
    linked: Flag = column("It is certain which references belong to which object.", hidden=True)
    edges_announced: Count = column("The references that the objects announce.", hidden=True)
    unknown_roots: Count = column("Strong roots of objects that are missing.", hidden=True)
    weak_roots: Count = column("Roots that keep nothing alive.", hidden=True)
    dependents: Count = column("Objects kept alive as values of a ConditionalWeakTable.", hidden=True)
    repeated_addresses: Count = column("Objects at the address of another one.", hidden=True)
    untyped: Count = column("Objects whose type has no name in the trace.", hidden=True)
    clr_instance: Ordinal = column("The runtime's number in the process.", hidden=True)


@row
class TypeOnHeap(Row):
    """All objects of one type in one snapshot."""

    snapshot: Ordinal = column("The number of the snapshot.", hidden=True)
    type: CodeName = column("The type; for a nested one, the runtime gives only its own name.", importance=0)
    module: CodeName | None = column("The module that declares it.", hidden=True)
    count: Count = column("How many objects there are.")
    bytes: Bytes = column("Their own size.", importance=1)
    retained_bytes: Bytes | None = column(
        "What they keep alive, including themselves; nothing counts twice.", importance=1
    )
    unreached: Count | None = column("How many of them no root reaches.", hidden=True)
    type_id: Handle = column("The runtime's id of the type.", hidden=True)


@row
class DominatorLine(Row):
    """Objects of one type that are kept alive by the line above, and by nothing else.

    Lines that keep less than half a percent alive are left out; those at the top are summed up as `others`.
    """

    row: RowNumber = column("The number of the line.", hidden=True)
    parent_row: RowNumber | None = column(
        "The line above; null for objects that nothing else keeps alive.", hidden=True
    )
    depth: Ordinal = column("How many lines are above it in the tree.", hidden=True)
    name: CodeName = column("The type, or the static field.", hidden=True)
    count: Count = column("How many objects there are; those in a chain of one type are one line.")
    bytes: Bytes = column("Their own size.")
    retained_bytes: Bytes = column("What they keep alive, including themselves.")
    share: Ratio = column("What they keep alive, as a share of everything that roots keep alive.")
    outline: CodeName = column("The name without namespaces, indented by the depth.")


@row
class RootGroup(Row):
    """A static field, or all other roots of one kind that refer to objects of one type."""

    label: CodeName = column("The kind of root, with the static field's name.")
    kind: Word = column(
        "`static`, `thread static`, `stack`, `handle`, `pinned handle`, `finalizer queue` and so on.", hidden=True
    )
    name: CodeName | None = column("The static field. The type that declares it is not recorded.", hidden=True)
    count: Count = column("How many objects they refer to.")
    type: CodeName = column("The type of the objects.")
    retained_bytes: Bytes | None = column("What only they keep alive.")


@row
class RootPath(Row):
    """Objects of one type that are reached in the same way: by a shortest path through the same types."""

    type: CodeName = column("The type of the objects.", hidden=True)
    count: Count = column("How many objects are reached in this way.")
    bytes: Bytes = column("Their own size.")
    root: Word = column("The kind of root.", hidden=True)
    static_field: CodeName | None = column("The static field, if the root is one.", hidden=True)
    distance: Count = column("Objects on the path to the nearest of them, including itself.")
    example: Address = column("The address of the nearest of them.", hidden=True)
    path: CodeText = column("The root and the types on the way, without namespaces; a chain of one type is one step.")
    steps: tuple[CodeName, ...] = column("The path, step by step, with namespaces.", hidden=True)


@row
class TypeGrowth(Row):
    """One type in two snapshots."""

    type: CodeName = column("The type.")
    count_before: Count = column("Its objects in the earlier snapshot.")
    count_after: Count = column("Its objects in the later snapshot.")
    count_change: CountChange = column("How many more there are; negative if there are fewer.")
    bytes_after: Bytes = column("Their size in the later snapshot.")
    bytes_change: BytesChange = column("How many bytes more they have; negative if fewer.")


@row
class HeapFacts:
    """Which snapshot the tables are about, and what holds the most."""

    snapshot: Ordinal | None = column("The number of the snapshot that the tables are about.")
    baseline: Ordinal | None = column("The number of the snapshot that growth is counted from.")
    taken_ns: Ns | None = column("When its collection began.")
    complete: Flag | None = column("Nothing is missing from it, so its numbers are exact.")
    held_by: tuple[CodeText, ...] = column("The roots that alone keep the most bytes alive, with their shares.")
    kept_by: tuple[CodeText, ...] = column("What keeps the objects of the chosen type alive.")
