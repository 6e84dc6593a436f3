"""The heap report against what the scripted programs say of their heaps, and against the laws of reports."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_files import Shared, params, traces

import clrevents
from clrevents.analysis import HeapSnapshot, heap_snapshots
from clrevents.export.files.heapsnapshot import write_heapsnapshot
from heapsnapshot_rules import CHROMIUM, check_heapsnapshot, needs_chromium, read_by_chromium

HEAPS = [trace for trace in traces("scenarios") if "-heap-" in trace.name]
NAMES = ("net10-heap-11", "net31-heap-44", "net8-heap-44")


def truth(trace: Shared) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(trace.beside(".truth.json").read_text())
    return found


def only_snapshot(trace: Shared) -> HeapSnapshot:
    with clrevents.open(trace.path) as opened:
        (found,) = heap_snapshots(opened)
    return found


def test_all_of_them_are_here() -> None:
    assert not HEAPS or tuple(sorted(trace.short for trace in HEAPS)) == NAMES


@pytest.mark.parametrize("trace", params(HEAPS))
def test_the_scripted_list(trace: Shared) -> None:
    """Its links, and the arrays and strings that they refer to, one by one; the process has others of these types."""
    said, snapshot = truth(trace), only_snapshot(trace)
    assert snapshot.coverage.complete
    links = snapshot.of_type("Node")
    assert len(links) == said["nodes"]
    referred = np.unique(np.concatenate([snapshot.references(link) for link in links.tolist()]))
    names = [snapshot.types[type].name for type in snapshot.type[referred].tolist()]
    # One array is shared by all links that have none of their own.
    assert names.count("byte[]") == said["own_arrays"] + 1
    assert names.count("string") == said["strings"]
    # The last link has no next one; all have an array.
    assert names.count("Node") == said["nodes"] - 1
    edges = sum(len(snapshot.references(link)) for link in links.tolist())
    assert edges == 2 * said["nodes"] - 1 + said["strings"]


@pytest.mark.parametrize("trace", params(HEAPS))
def test_what_the_list_retains(trace: Shared) -> None:
    """Everything that is only in the list hangs on one static field: links, arrays and strings, by their sizes."""
    snapshot = only_snapshot(trace)
    links = snapshot.of_type("Node")
    below = np.unique(np.concatenate([links, *(snapshot.references(link) for link in links.tolist())]))
    with clrevents.open(trace.path) as opened:
        report = opened.report("heap", type="Node")
    (field,) = [root for root in report.roots if root.name == "Root"]
    assert field.retained_bytes == snapshot.size[below].sum()
    (row,) = report.types
    assert (row.count, row.retained_bytes) == (len(links), field.retained_bytes)
    (path,) = report.paths
    assert (path.path, path.count, path.distance) == ("static Root → Node", len(links), 1)
    # Each link retains itself, what only it has, and all links after it.
    assert sorted(snapshot.retained[links].tolist(), reverse=True)[0] == field.retained_bytes
    assert len({len(snapshot.path(link)) for link in links[:: len(links) // 20].tolist()}) >= 20


def test_figures() -> None:
    """As worked out by hand from the events of one of them."""
    found = {trace.short: trace for trace in HEAPS}
    if not found:
        pytest.skip("there is no folder `shared`")
    with clrevents.open(found["net10-heap-11"].path) as opened:
        report = opened.report("heap")
    (snapshot,) = report.snapshots
    assert (snapshot.nodes, snapshot.edges, snapshot.bytes, snapshot.statics) == (14_502, 25_681, 734_332, 310)
    # 45 roots, 13 of them weak, 6 of nothing.
    assert (snapshot.roots, snapshot.weak_roots, snapshot.unknown_roots) == (26, 13, 0)
    assert (snapshot.reached, snapshot.unreached) == (14_385, 117)
    assert report.metrics["unreached_bytes"].value == 7_442
    assert report.roots[0].retained_bytes == 653_460
    unreached = {row.type: row.unreached for row in report.types if row.unreached}
    assert unreached == {"string": 104, "System.RuntimeType": 13}


@pytest.mark.parametrize("trace", params(HEAPS))
def test_written_for_chrome(trace: Shared) -> None:
    """Every object with its size, every reference, under the roots."""
    snapshot = only_snapshot(trace)
    file = io.BytesIO()
    write_heapsnapshot(snapshot, file)
    found = check_heapsnapshot(json.loads(file.getvalue()))
    assert found.sizes.sum() == snapshot.size.sum()
    names = [found.names[k] for k in np.flatnonzero(found.sizes)]
    assert names.count("Node") == truth(trace)["nodes"]
    # What hangs on the field retains as much there.
    (root,) = [k for k, name in enumerate(found.names) if name == "static Root"]
    assert found.retained(root) == snapshot.holder_retained[snapshot.holders.index("static Root")]


@needs_chromium
@pytest.mark.parametrize("trace", params(HEAPS))
def test_chrome_finds_the_same_retained_sizes(trace: Shared, tmp_path: Path) -> None:
    """Of every object that a root reaches, and of every root, by Chrome's own dominators."""
    snapshot = only_snapshot(trace)
    file = io.BytesIO()
    write_heapsnapshot(snapshot, file)
    found = read_by_chromium(CHROMIUM, file.getvalue().decode(), tmp_path)
    assert found["total"] == snapshot.size.sum()
    retained = np.array([node[2] for node in found["nodes"]])
    objects = retained[-len(snapshot) :]
    assert np.array_equal(objects[snapshot.reached], snapshot.retained[snapshot.reached])
    assert retained[1 : 1 + len(snapshot.holders)].tolist() == snapshot.holder_retained.tolist()
