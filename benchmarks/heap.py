"""What heap snapshots cost, by phases: reading their columns, making the arrays, dominators, shortest ways, the report.

    python benchmarks/heap.py [--objects 1M] [--edges 4] [--keep FILE]

Writes a trace with one snapshot of that many objects (long lists, trees, and references to anywhere) into a temporary
folder, then measures three processes: one reads the columns only, one goes through all phases, one makes the report.
Seconds are the processor's, memory is the process's own count of its largest resident set (VmHWM). A million objects
with four references each are a trace of 80 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from memory import SOURCE, peak

UNITS: Final = {"k": 1000, "M": 1_000_000}
RUNTIME: Final = "Microsoft-Windows-DotNETRuntime"
CHUNK: Final = 1 << 20
NODES_PER_EVENT, EDGES_PER_EVENT, EVENTS_PER_BLOCK = 2008, 5354, 4
EVENTS_PER_POINT: Final = 160
"""A runtime writes a sequence point after ten megabytes."""
TYPES: Final = 500


def graph(objects: int, edges: int, seed: int = 1) -> tuple[Any, Any, Any, Any]:
    """Addresses, sizes, how many references each object has, and their targets: every object is reached from the first.

    A quarter of the objects are links of lists, the others hang in trees; of the remaining references half stay near.
    """
    rng = np.random.default_rng(seed)
    size = (rng.integers(3, 12, objects) * 8).astype(np.uint64)
    address = np.uint64(0x7F0000000000) + np.cumsum(size) - size
    number = np.arange(objects)
    near = np.maximum(number - 1 - rng.integers(0, 10_000, objects), 0)
    parent = np.where(number % 4_000 < 1_000, np.maximum(number - 1, 0), near)
    others = objects * (edges - 1)
    source = rng.integers(0, objects, others)
    away = np.clip(source + rng.integers(-1_000, 1_000, others), 0, objects - 1)
    target = np.where(rng.random(others) < 0.5, away, rng.integers(0, objects, others))
    source, target = np.concatenate([parent[1:], source]), np.concatenate([number[1:], target])
    order = np.argsort(source, kind="stable")
    return address, size, np.bincount(source, minlength=objects).astype(np.uint64), address[target[order]]


def write(path: Path, objects: int, edges: int) -> None:
    """A trace with one snapshot, as a runtime writes it."""
    from clrevents.encode.nettrace4 import NetTrace4Writer
    from clrevents.encode.values import EventRecord, MetadataRecord, TraceHeader
    from clrevents.events import (
        BulkType_V0,
        BulkTypeValue,
        GCBulkRootEdge_V0,
        GCBulkRootEdgeValue,
        GCEnd_V1,
        GCStart_V2,
    )
    from clrevents.reference import codec

    address, size, counts, targets = graph(objects, edges)
    node = np.dtype([("address", "<u8"), ("size", "<u8"), ("type", "<u8"), ("edges", "<u8")])
    edge = np.dtype([("value", "<u8"), ("field", "<u4")])
    nodes = np.zeros(objects, node)
    nodes["address"], nodes["size"], nodes["edges"] = address, size, counts
    nodes["type"] = 0x1000 + np.random.default_rng(2).integers(0, TYPES, objects) ** 2 // TYPES
    links = np.zeros(len(targets), edge)
    links["value"] = targets
    with path.open("wb") as file:
        writer = NetTrace4Writer(file, TraceHeader())
        ids = {(1, 2): 1, (2, 1): 2, (15, 0): 3, (16, 0): 4, (18, 0): 5, (19, 0): 6}
        writer.metadata([MetadataRecord(number, RUNTIME, *kind, "", 0, 4, None, ()) for kind, number in ids.items()])
        clock = 0
        waiting: list[EventRecord] = []

        def event(kind: tuple[int, int], payload: bytes) -> None:
            nonlocal clock
            clock += 1
            if not clock % EVENTS_PER_POINT:
                flush()
                writer.sequence_point(1000 * clock)
            waiting.append(EventRecord(ids[kind], 1000 * clock, 7, payload, sequence=clock))
            if len(waiting) >= EVENTS_PER_BLOCK:
                flush()

        def flush() -> None:
            if waiting:
                writer.events(waiting)
            waiting.clear()

        def build(record: Any) -> bytes:
            return bytes(codec(type(record), 8).build(record))

        def bulk(kind: tuple[int, int], rows: Any, index: int, at_once: int) -> None:
            piece = rows[index * at_once : (index + 1) * at_once]
            head = np.array([index, len(piece)], "<u4").tobytes() + b"\0\0"
            event(kind, head + piece.tobytes())

        event((1, 2), build(GCStart_V2(1, 2, 1, 0, 0, 0)))
        types = [BulkTypeValue(0x1000 + k, 1, 0, 0, 18, f"Space.Type{k}", 0, ()) for k in range(TYPES)]
        event((15, 0), build(BulkType_V0(TYPES, 0, types)))
        for index in range(-(-objects // NODES_PER_EVENT)):
            bulk((18, 0), nodes, index, NODES_PER_EVENT)
        for index in range(-(-len(links) // EDGES_PER_EVENT)):
            bulk((19, 0), links, index, EDGES_PER_EVENT)
        root = GCBulkRootEdgeValue(int(address[0]), 2, 0, 0)
        event((16, 0), build(GCBulkRootEdge_V0(0, 1, 0, [root])))
        event((2, 1), build(GCEnd_V1(1, 2, 0)))
        flush()
        writer.sequence_point(1000 * clock)
        writer.end()


class Phases:
    """Seconds and the peak so far, phase by phase."""

    def __init__(self) -> None:
        self.found: list[tuple[str, float, int]] = []
        self._began = time.process_time()

    def done(self, name: str) -> None:
        """The end of a phase."""
        now = time.process_time()
        self.found.append((name, now - self._began, peak()))
        self._began = time.process_time()


def read_columns(path: Path, phases: Phases) -> None:
    """All columns of the bulk events, kept by nobody."""
    import clrevents

    with clrevents.open(path) as trace:
        for name in ("GCBulkNode", "GCBulkEdge"):
            for table in trace.table_parts(name):
                table.column("Values")
    phases.done("columns")


def all_phases(path: Path, phases: Phases) -> None:
    """From the file to the tables of the report."""
    import clrevents
    from clrevents.analysis import heap_snapshots
    from clrevents.analysis.reports.heap import heap_paths, heap_tables
    from clrevents.analysis.reports.heap.heap_snapshot import solution_of

    with clrevents.open(path) as trace:
        (snapshot,) = heap_snapshots(trace)
    phases.done("snapshot")
    assert snapshot.coverage.complete
    solution = solution_of(snapshot)
    phases.done("graph")
    assert solution.domination
    phases.done("dominators")
    assert solution.reach
    phases.done("shortest ways")
    heap_tables.type_rows(snapshot, heap_tables.display_name)
    heap_tables.dominator_rows(snapshot, heap_tables.display_name)
    heap_tables.root_rows(snapshot, heap_tables.display_name)
    phases.done("types, tree, roots")
    heap_paths.root_paths(snapshot, range(10), heap_tables.display_name)
    phases.done("paths")


def command(path: Path, phases: Phases) -> None:
    """The report as users ask for it."""
    import clrevents

    with clrevents.open(path) as trace:
        trace.report("heap")
    phases.done("whole report")


STEPS: Final = {"columns": read_columns, "phases": all_phases, "report": command}


def number(text: str) -> int:
    """`10M` → 10,000,000."""
    return int(float(text.rstrip("kM")) * UNITS.get(text[-1], 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=number, default=number("1M"))
    parser.add_argument("--edges", type=int, default=4, help="references of an object, on average")
    parser.add_argument("--keep", type=Path, help="where to keep the trace, which is used again")
    parser.add_argument("--steps", default="columns,phases,report")
    parser.add_argument("--measure", choices=list(STEPS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        phases = Phases()
        STEPS[options.measure](options.keep, phases)
        print(json.dumps(phases.found))
        return
    with tempfile.TemporaryDirectory() as name:
        path = options.keep or Path(name) / "heap.nettrace"
        if not path.exists():
            write(path, options.objects, options.edges)
        print(f"{options.objects:,} objects, {path.stat().st_size / 1e6:,.0f} MB", flush=True)
        environment = {**os.environ, "PYTHONPATH": os.fspath(SOURCE)}
        for step in options.steps.split(","):
            again = [sys.executable, __file__, "--keep", os.fspath(path), "--measure", step]
            done = subprocess.run(again, env=environment, stdout=subprocess.PIPE, check=True)
            for phase, seconds, most in json.loads(done.stdout):
                print(f"{phase:<20}{seconds:8.2f} s   peak {most / 1e6:8,.0f} MB", flush=True)


if __name__ == "__main__":
    main()
