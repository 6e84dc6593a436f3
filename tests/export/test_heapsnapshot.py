"""Heap snapshots for Chrome: every object, reference and root is in the file, and Chrome's own reader agrees.

The test with a browser needs Chromium on the path and is skipped without one.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pytest

from built_heaps import HANDLE, Heap, Root, Static, Thing, Writing, add_heap, heap_trace
from clrevents.analysis import HeapSnapshot
from clrevents.export.files.heapsnapshot import write_heapsnapshot
from clrevents.testing.builder import TraceBuilder
from command_runs import run_command
from heapsnapshot_rules import CHROMIUM, ReadHeap, check_heapsnapshot, needs_chromium, read_by_chromium
from random_heaps import LongWay, random_heap

HEAP: Final = Heap(
    {
        "fields": Thing("System.Object[]", 80, ("cache",)),
        "cache": Thing('Ca"che\u2028', 16, ("cache", "data")),
        "data": Thing("Data", 1000),
        "lost": Thing("Lost", 8, ("data",)),
    },
    [Root("fields", HANDLE)],
    [Static("s_cache", "cache", "fields", 8)],
)


def written(snapshot: HeapSnapshot) -> str:
    file = io.BytesIO()
    write_heapsnapshot(snapshot, file)
    return file.getvalue().decode("ascii")


def read(snapshot: HeapSnapshot) -> ReadHeap:
    return check_heapsnapshot(json.loads(written(snapshot)))


def test_random_heaps() -> None:
    """Nodes, their sizes and their edges, one by one; objects come after what holds them."""
    rng = Random(3)
    for _ in range(100):
        snapshot = random_heap(rng)
        found, slow = read(snapshot), LongWay.of(snapshot)
        first = len(found.names) - len(snapshot)
        lost = set(range(len(snapshot))) - slow.reached()
        assert found.names[:first] == ("", *snapshot.holders, *["frozen or unreferenced"] * bool(lost))
        assert found.names[first:] == tuple(snapshot.types[type].name for type in snapshot.type.tolist())
        assert found.sizes[first:].tolist() == snapshot.size.tolist()
        assert not found.sizes[:first].any()
        for node in range(len(snapshot)):
            assert sorted(to - first for to in found.edges[first + node]) == sorted(slow.edges[node])
        for holder in range(len(snapshot.holders)):
            held = {to - first for to in found.edges[1 + holder]}
            assert held == set(slow.held[len(snapshot) + holder])
        if lost:
            assert {to - first for to in found.edges[first - 1]} == lost


def test_ids_are_addresses_if_they_can_be() -> None:
    """So that the panel compares two snapshots by object; else they are running numbers."""
    snapshot = random_heap(Random(1))
    ids = json.loads(written(snapshot))["nodes"][2::7]
    assert ids[-len(snapshot) :] == [address + 1 for address in snapshot.address.tolist()]
    snapshot.address[:] = snapshot.address[0]
    read(snapshot)
    snapshot.address[:] = np.arange(1, 1 + len(snapshot), dtype=np.uint64) << np.uint64(56)
    read(snapshot)


def referred_from_outside(snapshot: HeapSnapshot) -> bool:
    """Whether something that roots reach is referred to by something that they do not."""
    slow = LongWay.of(snapshot)
    return any(snapshot.reached[to] for node in np.flatnonzero(~snapshot.reached).tolist() for to in slow.edges[node])


@needs_chromium
@pytest.mark.full
def test_chrome_reads_the_same(tmp_path: Path) -> None:
    """Names and sizes, and what each object retains by Chrome's own dominators."""
    rng = Random(4)
    drawn = [random_heap(rng) for _ in range(200)]
    # There what nobody reaches hangs on a node of its own, so that it would hold what it refers to.
    fit = [one for one in drawn if not one.reached.all() and not referred_from_outside(one)]
    snapshot = max(fit, key=lambda one: len(one.holders) * int(one.reached.sum()))
    assert snapshot.reached.sum() > 10
    found = read_by_chromium(CHROMIUM, written(snapshot), tmp_path)
    assert found["total"] == snapshot.size.sum()
    first = len(found["nodes"]) - len(snapshot)
    assert [node[0] for node in found["nodes"]] == list(read(snapshot).names)
    reached = snapshot.reached.tolist()
    theirs = [node[2] for node, held in zip(found["nodes"][first:], reached, strict=True) if held]
    assert theirs == snapshot.retained[snapshot.reached].tolist()
    holders = [node[2] for node in found["nodes"][1 : 1 + len(snapshot.holders)]]
    assert holders == snapshot.holder_retained.tolist()


def test_the_command(tmp_path: Path) -> None:
    builder = add_heap(TraceBuilder().thread(7), HEAP)
    trace = tmp_path / "app.nettrace"
    trace.write_bytes(add_heap(builder, Heap({"a": Thing("A", 8)}), Writing(collection=2)).build())
    out = tmp_path / "app.heapsnapshot"
    done = run_command("export", trace, "-o", out, "--snapshot", "1")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "snapshot 1 of 2, 4 objects" in done.stderr
    found = check_heapsnapshot(json.loads(out.read_text()))
    assert found.names.count('Ca"che\u2028') == 1
    # `lost` is in the file too, and refers to `data`.
    assert found.retained(found.names.index("static s_cache")) == 16
    assert run_command("export", trace, "-o", out).exit_code == 0
    assert check_heapsnapshot(json.loads(out.read_text())).names[-1] == "A"


@pytest.mark.parametrize(
    ("end", "arguments", "code", "words"),
    [
        (True, ["--snapshot", "2"], 1, "no heap snapshot 2; it has 1 snapshot"),
        (True, ["GCStart"], 1, "takes one FILE"),
        (True, ["--format", "csv"], 1, "takes one FILE"),
        (False, [], 3, "snapshot 1 is incomplete"),
    ],
)
def test_what_the_command_refuses(tmp_path: Path, end: bool, arguments: list[str], code: int, words: str) -> None:
    trace = tmp_path / "app.nettrace"
    trace.write_bytes(heap_trace(HEAP, Writing(end=end)))
    out = tmp_path / "app.heapsnapshot"
    done = run_command("export", trace, "-o", out, *arguments)
    assert done.exit_code == code
    assert words in done.stderr
    assert not out.exists()
