"""What is on the heap, and what keeps it alive, from heap snapshots.

Joins the tables of a snapshot with the window, the notes and the metrics. `heap_snapshots` gives the snapshots
themselves, for notebooks and exports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeVar, Unpack

import attrs
import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer, answer, table
from clrevents.analysis.framework.model.collector import Collector, Context, ReportChunk
from clrevents.analysis.framework.model.declaration import RAW, ReportDeclaration, WindowOptions, parameter, parameters
from clrevents.analysis.framework.model.needs import Need
from clrevents.analysis.framework.run.asking import ask_one
from clrevents.analysis.framework.vocabulary.answer_values import ALWAYS, FOREVER, Note, count_of, size_of
from clrevents.analysis.framework.vocabulary.report_table import ReportTable
from clrevents.analysis.reports.heap import heap_tables
from clrevents.analysis.reports.heap.heap_blocks import SELECTORS, HeapBlocks, snapshot_of
from clrevents.analysis.reports.heap.heap_snapshot import HeapSnapshot
from clrevents.trace import Trace

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


def _unnamed(snapshot: HeapSnapshot) -> Iterator[Note]:
    if untyped := snapshot.coverage.untyped:
        text = f"{counted(untyped, 'object')} of snapshot {snapshot.number} have a type whose name was not recorded"
        yield Note("unnamed-types", "warning", text, ("types.type",), {"objects": untyped})


R = TypeVar("R")

_KEYWORDS: Final = 0x1980001
"""Collections, types and their names, and the heap itself; the last makes the runtime collect immediately."""
_DUMP: Final = 0x100000
_OBJECTS: Final = "objects"
_NEEDS: Final = (
    Need(_OBJECTS, ("GCBulkNode",), _KEYWORDS, 5, essential=True, proof=_DUMP),
    Need("references", ("GCBulkEdge",), _KEYWORDS, 5, proof=_DUMP),
    Need("roots", ("GCBulkRootEdge",), _KEYWORDS, 5, proof=_DUMP),
    Need("static fields", ("GCBulkRootStaticVar",), _KEYWORDS, 5, proof=_DUMP),
    Need("names of types", ("BulkType",), _KEYWORDS, 5, proof=0x80000),
    Need("collections", ("GCStart",), _KEYWORDS, 5, proof=0x1),
)
_METRICS: Final = (
    count_of("snapshots", "Snapshots that begin in the window.", needs=("collections",)),
    count_of("nodes", "Objects on the heap.", better="less", windows=False),
    size_of("bytes", "The size of all objects.", better="less", windows=False),
    count_of("edges", "References between objects.", windows=False),
    size_of("reached_bytes", "What roots keep alive.", better="less", windows=False),
    size_of("unreached_bytes", "What no root reaches.", windows=False, lossy="unknown"),
)
_TYPES_WITH_A_PATH: Final = 10
_TOLD: Final = 3


@parameters
class HeapParameters:
    """Which snapshot, and which type."""

    type: str | None = parameter(
        None, "Only objects of this type, and what keeps them alive: a name, its last part, or a pattern with *."
    )
    snapshot: int = parameter(0, "The snapshot that the tables are about, by number; 0 for the last one.")
    baseline: int = parameter(0, "The snapshot that growth is counted from, by number; 0 for the first one.")
    raw: bool = RAW


ANYTHING: Final = HeapParameters(type=None, snapshot=0, baseline=0, raw=False)
"""The defaults."""


@answer(
    name="heap",
    summary="nodes bytes unreached_bytes complete held_by kept_by",
)
class HeapReport(Answer[heap_tables.HeapFacts]):
    """What is on the heap by type, what keeps it alive, and what grew between two snapshots.

    A snapshot lists every object with its size, its type and its references, and every root. What an object retains is
    what would be freed without it: itself and everything reached only through it. Objects that no root reaches
    (literals of the frozen heap, and objects not yet collected) count as objects and are retained by nothing.

    The tables are about the last snapshot, or the chosen one. If blocks of it are missing, counts and sizes cover the
    objects that are there; references are not guessed, so what retains what is unknown.

    The runtime records neither the fields of references nor the types that declare static fields. In a part of a trace,
    snapshots are those that reach into it.
    """

    types: ReportTable[heap_tables.TypeOnHeap] = table("The types of one snapshot, those that retain most first.")
    snapshots: ReportTable[heap_tables.Snapshot] = table("Each snapshot, in order of time.")
    dominators: ReportTable[heap_tables.DominatorLine] = table(
        "What keeps what alive, as a tree of types under the roots."
    )
    roots: ReportTable[heap_tables.RootGroup] = table(
        "What holds objects from outside, and how much each root alone keeps alive."
    )
    paths: ReportTable[heap_tables.RootPath] = table(
        "Shortest paths from roots to objects of a type, most frequent first."
    )
    growth: ReportTable[heap_tables.TypeGrowth] = table("Types in two snapshots, largest growth first.")


class HeapCollector(Collector[HeapReport]):
    """Keeps all objects, references and roots, as columns of numbers."""

    selectors = SELECTORS
    headers = ("time_ns",)

    def __init__(self, asked: HeapParameters) -> None:
        self._asked = asked
        self._blocks = HeapBlocks()

    def take(self, chunk: ReportChunk) -> None:
        """Take the next events."""
        if chunk.events:
            self._blocks.take(chunk.events)

    def finish(self, context: Context) -> HeapReport:
        """Give the answer."""
        return heap_answer(context, self._asked, self.snapshots(context))

    def snapshots(self, context: Context) -> list[HeapSnapshot]:
        """Those that reach into the window."""

        def module(module_id: int, time_ns: int) -> str | None:
            module = context.methods.modules.at(module_id, time_ns, context.process_id)
            return (module.assembly.partition(",")[0] or module.name) if module else None

        def type_names(ids: list[int]) -> list[str | None]:
            return context.methods.type_names(ids, context.process_id)

        drafts = self._blocks.drafts
        starts = np.array([ALWAYS if d.start_ns is None else d.start_ns for d in drafts], dtype=np.int64)
        ends = np.array([FOREVER if d.end_ns is None else d.end_ns for d in drafts], dtype=np.int64)
        inside = context.window.meets(starts, ends).tolist()
        return [
            snapshot_of(draft, self._blocks.types, number, context.process_id, module, type_names)
            for number, (draft, in_window) in enumerate(zip(drafts, inside, strict=True), 1)
            if in_window
        ]


def heap_answer(context: Context, asked: HeapParameters, inside: Sequence[HeapSnapshot]) -> HeapReport:
    """What is said of these snapshots."""
    name = heap_tables.raw_type_name if asked.raw else heap_tables.display_name
    notes: list[Note] = []
    numbers = [one.number for one in inside]
    for number in (asked.snapshot, asked.baseline):
        if number and number not in numbers:
            known = ", ".join(map(str, numbers)) or "none"
            text = f"there is no snapshot {number} in this part of the trace; there are: {known}"
            notes.append(Note("no-such-snapshot", "warning", text))
    shown = next((one for one in reversed(inside) if asked.snapshot in (0, one.number)), None)
    before = next((one for one in inside if asked.baseline in (0, one.number)), None)
    before = None if before is shown else before
    snapshots = context.table(heap_tables.Snapshot, heap_tables.snapshot_rows(inside, shown))
    lossy = dict(zip(snapshots["snapshot"].tolist(), snapshots["lossy"].tolist(), strict=True))

    def table_of(row_class: type[R], rows: Sequence[R], *of: HeapSnapshot) -> ReportTable[R]:
        """A table that is as trustworthy as the snapshots that it is made of."""
        return context.table(row_class, rows, [any(lossy[one.number] for one in of)] * len(rows))

    tables: dict[str, Any] = {
        declared.name: ReportTable.empty(declared.row_class)
        for declared in HeapReport.tables()
        if declared.row_class is not heap_tables.Snapshot
    }
    facts = heap_tables.HeapFacts(snapshot=None, baseline=None, taken_ns=None, complete=None, held_by=(), kept_by=())
    numbers_of: dict[str, int | None] = dict.fromkeys(metric.name for metric in _METRICS)
    if _OBJECTS not in context.unknown:
        numbers_of["snapshots"] = int(context.begun(snapshots).sum())
    if shown is not None:
        notes += [*snapshot_notes(shown), *_unnamed(shown)]
        chosen = heap_tables.matching(shown.types, asked.type) if asked.type else None
        if asked.type and not chosen:
            near = get_close_matches(asked.type, [type.name for type in shown.types[:_COMPARED]], 3)
            text = f"no object on the heap is of a type {asked.type!r}"
            text += f"; did you mean {' or '.join(near)}?" if near else ""
            notes.append(Note("no-such-type", "warning", text, ("types", "paths")))
        tables["types"] = table_of(heap_tables.TypeOnHeap, heap_tables.type_rows(shown, name, chosen), shown)
        tables["roots"] = table_of(heap_tables.RootGroup, heap_tables.root_rows(shown, name), shown)
        kept_by: tuple[str, ...] = ()
        if shown.coverage.linked:
            tables["dominators"] = table_of(heap_tables.DominatorLine, heap_tables.dominator_rows(shown, name), shown)
            paths = _paths(shown, chosen, tables["types"], name)
            tables["paths"] = table_of(heap_tables.RootPath, paths.rows, shown)
            if paths.left_out:
                left_out = counted(paths.left_out, "object")
                text = f"the paths of {left_out} are left out because they are rare or very long"
                notes.append(Note("rare-paths", "info", text, ("paths",), {"objects": paths.left_out}))
            if chosen:
                kept_by = paths.texts(_TOLD)
        if before is not None:
            tables["growth"] = table_of(
                heap_tables.TypeGrowth, heap_tables.growth_rows(before, shown, name), before, shown
            )
        numbers_of |= _metrics(shown)
        facts = heap_tables.HeapFacts(
            snapshot=shown.number,
            baseline=None if before is None else before.number,
            taken_ns=shown.start_ns,
            complete=shown.coverage.complete,
            held_by=_held_by(tables["roots"], numbers_of["reached_bytes"]),
            kept_by=kept_by,
        )
    return context.answer(HeapReport, facts=facts, metrics=numbers_of, notes=notes, snapshots=snapshots, **tables)


def _paths(
    shown: HeapSnapshot,
    chosen: Sequence[int] | None,
    types: ReportTable[heap_tables.TypeOnHeap],
    name: heap_tables.Namer,
) -> heap_tables.FoundPaths:
    """All paths to the chosen type; without one, a path to each of the types that retain most."""
    if chosen is not None:
        return heap_tables.root_paths(shown, chosen, name)
    places = {type.type_id: place for place, type in enumerate(shown.types)}
    first = [places[type_id] for type_id in types["type_id"][:_TYPES_WITH_A_PATH].tolist()]
    return attrs.evolve(heap_tables.root_paths(shown, first, name, most=1), left_out=0)


def _held_by(roots: ReportTable[heap_tables.RootGroup], everything: int | None) -> tuple[str, ...]:
    """The roots that hold the most, in words, with their share of everything alive."""
    holders = [(root.label, root.retained_bytes) for root in roots[:_TOLD] if root.retained_bytes]
    return tuple(f"{label} {100 * size / everything:.0f} %" for label, size in holders if everything)


def _metrics(shown: HeapSnapshot) -> dict[str, int | None]:
    total = int(shown.size.sum())
    alive = int(shown.size[shown.reached].sum()) if shown.coverage.linked else None
    return {
        "nodes": len(shown),
        "bytes": total,
        "edges": shown.coverage.edges_seen,
        "reached_bytes": alive,
        "unreached_bytes": None if alive is None else total - alive,
    }


REPORT: Final = ReportDeclaration(
    answer=HeapReport,
    question="What is on the heap, and what keeps it alive?",
    topic="memory",
    needs=_NEEDS,
    metrics=_METRICS,
    collector=HeapCollector,
    in_part={"snapshots": "at most", "*": "unknown"},
    parameters=HeapParameters,
    shown=("count", "bytes", "retained_bytes", "type"),
    examples=(
        ("Which types take the most memory?", "clrevents heap app.nettrace"),
        ("What keeps my objects alive?", "clrevents heap app.nettrace --type Customer --table paths"),
        ("Who owns what, from the roots down?", "clrevents heap app.nettrace --table dominators -n 50"),
        ("What grew between two snapshots?", "clrevents heap app.nettrace --table growth"),
        ("What grew since a snapshot in another file?", "clrevents heap after.nettrace --against before.nettrace"),
    ),
    against=True,
)


def heap_snapshots(trace: Trace, **window: Unpack[WindowOptions]) -> tuple[HeapSnapshot, ...]:
    """The heap snapshots of a trace, in order of time, as arrays of objects, references and roots.

    `start`, `end` and `process_id` choose a part of the trace. Raises TypeError or ValueError for a bad moment, and
    TraceError for damage.
    """
    kept_snapshots: list[HeapSnapshot] = []
    ask_one(trace, attrs.evolve(REPORT, collector=lambda _: _SnapshotKeeper(kept_snapshots)), ANYTHING, window)
    return tuple(kept_snapshots)


class _SnapshotKeeper(HeapCollector):
    """Keeps the snapshots; its answer has no rows."""

    def __init__(self, kept: list[HeapSnapshot]) -> None:
        super().__init__(ANYTHING)
        self._snapshots = kept

    def finish(self, context: Context) -> HeapReport:
        self._snapshots += self.snapshots(context)
        return heap_answer(context, ANYTHING, [])
