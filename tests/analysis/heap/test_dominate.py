"""Dominators, retained sizes and shortest ways of random heaps, in both engines, against leaving out one by one."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from clrevents.analysis import HeapSnapshot
from clrevents.analysis.reports.heap.heap_graph import KERNEL, HeapGraph, HeapSolution, Kernel
from clrevents.analysis.reports.heap.heap_tables import retained_by_type, type_tree
from command_runs import environment, python
from random_heaps import LongWay, random_heap

HEAPS = 200


@pytest.fixture(params=["interpreted", "compiled"])
def engine(request: pytest.FixtureRequest) -> Kernel:
    if request.param == "interpreted":
        return Kernel(False)
    if not KERNEL.compiled:
        pytest.skip("the heap's kernel is not compiled here, so there is nothing to compare with")
    return Kernel(True)


def solved(snapshot: HeapSnapshot, engine: Kernel) -> HeapSnapshot:
    """The snapshot, with a graph of this engine."""
    vars(snapshot)["_solution"] = HeapSolution(HeapGraph.of(snapshot, engine), snapshot.size)
    return snapshot


def test_random_heaps(engine: Kernel) -> None:
    rng = Random(7)
    seen = {"unreached": 0, "shared": 0, "static": 0, "deep": 0, "empty": 0}
    for _ in range(HEAPS):
        snapshot = solved(random_heap(rng), engine)
        slow = LongWay.of(snapshot)
        reached = slow.reached()
        assert set(np.flatnonzero(snapshot.reached).tolist()) == reached
        sizes = [sum(int(snapshot.size[n]) for n in slow.retained(node)) for node in range(len(snapshot))]
        assert snapshot.retained.tolist() == sizes
        dominators = [slow.dominator(node) if node in reached else -2 for node in range(len(snapshot))]
        assert snapshot.dominators.tolist() == dominators
        held = [slow.retained(len(snapshot) + holder) for holder in range(len(snapshot.holders))]
        assert snapshot.holder_retained.tolist() == [sum(int(snapshot.size[n]) for n in nodes) for nodes in held]
        distances = slow.distances()
        for node in range(len(snapshot)):
            path = snapshot.path(node)
            assert len(path) == distances.get(node, 0)
            assert all(b in slow.edges[a] for a, b in pairwise(path))
            if path:
                # Of several holders the first, so that static fields come before other roots.
                holder = min(holder for holder, nodes in slow.held.items() if path[0] in nodes)
                assert snapshot.parents[path[0]] == holder
                assert snapshot.root_name(node) == snapshot.holders[int(snapshot.parents[path[0]]) - len(snapshot)]
        seen["unreached"] += len(reached) < len(snapshot)
        seen["shared"] += -1 in dominators
        seen["static"] += bool(snapshot.statics)
        seen["deep"] += max(distances.values(), default=0) > 10
        seen["empty"] += not reached
    # Drawn so that all of it is tried.
    assert min(seen.values()) > 5, seen


def test_types_retain_what_is_below_them_once(engine: Kernel) -> None:
    """What the objects of a type retain that no other one of the type retains."""
    rng = Random(8)
    for _ in range(HEAPS):
        snapshot = random_heap(rng)
        slow, found = LongWay.of(snapshot), retained_by_type(snapshot, engine).tolist()
        for type in range(len(snapshot.types)):
            mine = [node for node in slow.reached() if snapshot.type[node] == type]
            kept = set().union(*(slow.retained(node) for node in mine)) if mine else set()
            assert found[type] == sum(int(snapshot.size[node]) for node in kept)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"CLREVENTS_PURE": "1"}, "False"), ({"CLREVENTS_PURE": "1", "CLREVENTS_REQUIRE_COMPILED": "1"}, "not compiled")],
)
def test_the_engine_that_is_asked_for(given: dict[str, str], said: str) -> None:
    script = "from clrevents.analysis.reports.heap.heap_graph import KERNEL; print(KERNEL.compiled)"
    done = python("-c", script, env=environment(**{"CLREVENTS_REQUIRE_COMPILED": "", **given}))
    assert said in done.stdout + done.stderr
    assert (done.returncode == 0) == (said == "False")


def test_a_list_of_a_million(engine: Kernel) -> None:
    """Nothing recurses: a list is as deep as it is long."""
    count = 1_000_000 if engine.compiled else 20_000
    offsets = np.minimum(np.arange(count + 1, dtype=np.int64), count - 1)
    targets = np.arange(1, count, dtype=np.int32)
    graph = HeapGraph(
        count,
        np.concatenate([offsets, [count, count + 1]]),
        np.concatenate([targets, np.array([0, count], dtype=np.int32)]),
        engine,
    )
    found = graph.domination(np.ones(count, dtype=np.int64))
    assert found.of_objects(found.retained, count, 0).tolist() == list(range(count, 0, -1))
    assert graph.reach().parent.tolist() == [count, *range(count - 1)]


def test_a_ladder_that_is_compressed_again_and_again(engine: Kernel) -> None:
    """Two chains with rungs both ways: nothing on them dominates anything but the first of each."""
    count = 2000
    edges: list[list[int]] = [[] for _ in range(2 * count)]
    for at in range(count - 1):
        edges[at] += [at + 1, count + at + 1]
        edges[count + at] += [count + at + 1, at + 1]
    targets = [to for mine in edges for to in mine] + [0, count, 2 * count]
    offsets = np.cumsum([0, *map(len, edges), 2, 1]).astype(np.int64)
    found = HeapGraph(2 * count, offsets, np.array(targets, dtype=np.int32), engine).domination(
        np.ones(2 * count, dtype=np.int64)
    )
    above = found.objects_above(2 * count, 1).tolist()
    assert above == [2 * count] * 2 * count


def tree(rng: Random, count: int) -> tuple[Any, Any]:
    """A random tree with groups; its root is a group of its own."""
    above = np.array([0, *(rng.randrange(at) for at in range(1, count))], dtype=np.int32)
    return above, np.array([9, *(rng.randrange(3) for _ in range(count - 1))], dtype=np.int32)


def test_trees_of_types(engine: Kernel) -> None:
    """A line for each chain of one type below the same line, against folding by hand."""
    rng = Random(9)
    for _ in range(HEAPS):
        count = rng.randint(1, 25)
        above, group = tree(rng, count)
        paths: list[tuple[int, ...]] = []
        for at in range(count):
            upper = paths[above[at]] if at else ()
            paths.append(upper if upper and upper[-1] == group[at] else (*upper, int(group[at])))
        weight = np.array([sum(paths[k] == paths[at] for k in range(count)) for at in range(count)], dtype=np.int64)
        made = type_tree(above, group, np.ones(count, dtype=np.bool_), weight, 1, 25, engine)
        lines = []
        for line in made.lines:
            lines.append((*(lines[line.above] if line.above >= 0 else ()), line.group))
        assert sorted(lines) == sorted(set(paths))
        assert [lines[line] for line in made.line.tolist()] == paths
        assert [line.first for line in made.lines] == [paths.index(path) for path in lines]


def test_heavy_lines_only(engine: Kernel) -> None:
    """What weighs too little is left out with everything below, and so is what is too deep."""
    above = np.array([0, 0, 0, 1, 2, 4], dtype=np.int32)
    group = np.array([9, 1, 2, 3, 3, 1], dtype=np.int32)
    weight = np.array([100, 60, 40, 30, 35, 34], dtype=np.int64)
    wanted = np.ones(6, dtype=np.bool_)
    assert type_tree(above, group, wanted, weight, 35, 9, engine).line.tolist() == [0, 1, 2, -1, 3, -1]
    assert type_tree(above, group, wanted, weight, 1, 1, engine).line.tolist() == [0, 1, 2, -1, -1, -1]
    wanted[1] = wanted[3] = False
    assert type_tree(above, group, wanted, weight, 1, 9, engine).line.tolist() == [0, -1, 1, -1, 2, 3]
