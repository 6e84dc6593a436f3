"""The caveats of a heap report: what is missing from a snapshot, and what was asked for but not found.

Says it in words and numbers; decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from clrevents._util.words import counted
from clrevents.analysis.framework.vocabulary.answer_values import Note
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot

_COMPARED = 5000
"""Names that are compared with one that is not there: more would take long."""
_BUFFER = "record the trace again with a larger buffer (dotnet-trace collect --buffersize)"


def snapshot_notes(snapshot: HeapSnapshot) -> Iterator[Note]:
    """What is wrong with a snapshot, most important first."""
    coverage, what = snapshot.coverage, f"snapshot {snapshot.number}"
    if not coverage.linked:
        lacking = []
        if not coverage.ended:
            lacking.append("the end of its collection is missing")
        for kind, seen, missing in (
            ("objects", coverage.node_blocks, coverage.missing_node_blocks),
            ("references", coverage.edge_blocks, coverage.missing_edge_blocks),
        ):
            if missing:
                lacking.append(f"{missing:,} of {counted(seen + missing, 'block')} of {kind} are missing")
        if coverage.repeated_blocks:
            lacking.append(f"{counted(coverage.repeated_blocks, 'block')} came twice")
        if not coverage.sound:
            lacking.append("its sizes are impossible")
        if coverage.edges_announced != coverage.edges_seen:
            lacking.append(
                f"{counted(coverage.edges_seen, 'reference is', 'references are')} there, and the objects announce "
                f"{coverage.edges_announced:,}"
            )
        yield Note(
            "incomplete-snapshot",
            "warning",
            f"{what} is incomplete: {'; '.join(lacking)}. Counts and sizes are those of the objects that are there; "
            "what keeps what alive is unknown",
            ("types.retained_bytes", "dominators", "roots.retained_bytes", "paths"),
            {
                "missing_blocks": coverage.missing_node_blocks + coverage.missing_edge_blocks,
                "edges_seen": coverage.edges_seen,
                "edges_announced": coverage.edges_announced,
            },
            _BUFFER,
        )
        return
    unknown = coverage.edges_seen - coverage.edges_known
    if unknown or coverage.unknown_roots:
        yield Note(
            "unknown-objects",
            "warning",
            f"{counted(unknown, 'reference')} of {coverage.edges_seen:,} and "
            f"{counted(coverage.unknown_roots, 'root')} of {what} are of objects that are missing: what they keep "
            "alive is not counted as retained",
            ("types.retained_bytes", "dominators", "roots.retained_bytes", "paths"),
            {"references": unknown, "roots": coverage.unknown_roots},
        )
    if coverage.repeated_addresses:
        yield Note(
            "repeated-addresses",
            "warning",
            f"{counted(coverage.repeated_addresses, 'object')} of {what} had the address of another one: references "
            "are assumed to mean the first",
            ("types.retained_bytes",),
            {"objects": coverage.repeated_addresses},
        )


def unnamed_types(snapshot: HeapSnapshot) -> Iterator[Note]:
    """Objects whose type has no name."""
    if snapshot.coverage.untyped:
        yield Note(
            "unnamed-types",
            "warning",
            f"{counted(snapshot.coverage.untyped, 'object')} of snapshot {snapshot.number} have a type whose name "
            "was not recorded",
            ("types.type",),
            {"objects": snapshot.coverage.untyped},
        )


def no_such_snapshot(number: int, known: Iterable[int]) -> Note:
    """A number that no snapshot has."""
    numbers = ", ".join(map(str, known)) or "none"
    return Note(
        "no-such-snapshot", "warning", f"there is no snapshot {number} in this part of the trace; there are: {numbers}"
    )


def no_such_type(pattern: str, names: Sequence[str]) -> Note:
    """A type that no object has."""
    near = get_close_matches(pattern, names[:_COMPARED], 3)
    more = f"; did you mean {' or '.join(near)}?" if near else ""
    return Note("no-such-type", "warning", f"no object on the heap is of a type {pattern!r}{more}", ("types", "paths"))


def rare_paths(count: int) -> Iterator[Note]:
    """Objects whose paths are not given."""
    if count:
        text = f"the paths of {counted(count, 'object')} are left out because they are rare or very long"
        yield Note("rare-paths", "info", text, ("paths",), {"objects": count})
