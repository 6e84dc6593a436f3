"""The heap report on built snapshots: everything that may be missing, repeated, shared, weak or impossible."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import attrs
import numpy as np
import pytest

import clrevents
from built_heaps import (
    FINALIZER,
    HANDLE,
    INTERIOR,
    NOWHERE,
    PINNED,
    STACK,
    WEAK,
    Heap,
    Root,
    Static,
    Thing,
    Writing,
    add_heap,
    heap_trace,
)
from clrevents.analysis import HeapSnapshot, heap_growth, heap_snapshots
from clrevents.analysis.reports.heap import HeapReport
from clrevents.testing.builder import TraceBuilder

# `list` holds two links; both refer to `shared`, the second to `own` too. Nobody holds `lost`, which refers to `own`.
SMALL = Heap(
    {
        "list": Thing("Space.List`1[System.Int32]", 40, ("one",)),
        "one": Thing("Link", 24, ("two", "shared")),
        "two": Thing("Link", 24, ("shared", "own")),
        "shared": Thing("System.Byte[]", 1000),
        "own": Thing("System.String", 50),
        "lost": Thing("System.String", 30, ("own",)),
    },
    [Root("list", STACK)],
)


def report_of(data: bytes, **options: Any) -> HeapReport:
    with clrevents.open(data, errors="salvage") as trace:
        return trace.report("heap", **options)


def snapshots_of(data: bytes) -> tuple[HeapSnapshot, ...]:
    with clrevents.open(data, errors="salvage") as trace:
        return heap_snapshots(trace)


def types(report: HeapReport) -> dict[str, tuple[int, int, int | None]]:
    return {row.type: (row.count, row.bytes, row.retained_bytes) for row in report.types}


def notes(report: HeapReport) -> list[str]:
    return [note.id for note in report.notes if note.id != "not-recorded"]


def test_a_small_heap() -> None:
    report = report_of(heap_trace(SMALL))
    assert types(report) == {
        "Space.List<int>": (1, 40, 1138),
        "Link": (2, 48, 1098),
        "byte[]": (1, 1000, 1000),
        "string": (2, 80, 50),
    }
    (snapshot,) = report.snapshots
    assert (snapshot.nodes, snapshot.edges, snapshot.roots, snapshot.bytes) == (6, 6, 1, 1168)
    assert (snapshot.reached, snapshot.reached_bytes, snapshot.unreached) == (5, 1138, 1)
    assert snapshot.complete
    assert not snapshot.lossy
    assert [(line.outline, line.count, line.retained_bytes) for line in report.dominators] == [
        ("stack", 0, 1138),
        ("  List<int>", 1, 1138),
        ("    Link", 2, 1098),
        ("      byte[]", 1, 1000),
        ("      string", 1, 50),
    ]
    assert [line.parent_row for line in report.dominators] == [None, 0, 1, 2, 2]
    assert report.metrics["nodes"].value == 6
    assert report.metrics["unreached_bytes"].value == 30
    assert notes(report) == []


def test_paths_to_a_type() -> None:
    report = report_of(heap_trace(SMALL), type="System.String")
    assert list(types(report)) == ["string"]
    (path,) = report.paths
    assert path.path == "stack → List<int> → Link → string"
    assert path.steps == ("stack", "Space.List<int>", "Link", "string")
    assert (path.count, path.bytes, path.distance, path.root, path.static_field) == (1, 50, 4, "stack", None)
    assert path.example == SMALL.address("own")
    assert report.facts.kept_by == ("stack → List<int> → Link → string (1)",)
    assert len(report_of(heap_trace(SMALL), type="*Li*").types) == 2
    assert list(types(report_of(heap_trace(SMALL), type="List"))) == ["Space.List<int>"]
    raw = report_of(heap_trace(SMALL), raw=True)
    assert "Space.List`1[System.Int32]" in types(raw)
    assert raw.paths[0].path.startswith("stack → Space.List`1[System.Int32]")


def test_a_type_that_is_not_there() -> None:
    report = report_of(heap_trace(SMALL), type="Lonk")
    assert (len(report.types), len(report.paths), notes(report)) == (0, 0, ["no-such-type"])
    assert "did you mean Link?" in report.notes[-1].message


def test_types_are_found_by_the_order_of_their_blocks_not_of_events() -> None:
    """The blocks come in any order; their numbers say what belongs together."""
    expected = report_of(heap_trace(SMALL))
    for seed in range(10):
        # Not backwards: then everything would fit by itself again.
        shuffled = heap_trace(SMALL, Writing(1, 1, blocks=lambda blocks: Random(seed).sample(blocks, len(blocks))))  # noqa: B023
        assert report_of(shuffled).types == expected.types
        assert report_of(shuffled).dominators == expected.dominators


def without(kind: str, place: int) -> Callable[[Any], Any]:
    def change(blocks: Any) -> Any:
        lost = [block for block in blocks if block[0] == kind][place]
        return [block for block in blocks if block is not lost]

    return change


def again(kind: str, place: int) -> Callable[[Any], Any]:
    return lambda blocks: [*blocks, [block for block in blocks if block[0] == kind][place]]


@pytest.mark.parametrize(
    ("kind", "place", "nodes", "words"),
    [
        ("node", 0, 4, "1 of 3 blocks of objects are missing"),
        ("node", 1, 4, "1 of 3 blocks of objects are missing"),
        ("node", 2, 4, "6 references are there, and the objects announce 5"),
        ("edge", 0, 6, "1 of 2 blocks of references are missing"),
        ("edge", 1, 6, "3 references are there, and the objects announce 6"),
    ],
)
def test_a_lost_block(kind: str, place: int, nodes: int, words: str) -> None:
    """What came is counted; what belongs to what is not guessed."""
    report = report_of(heap_trace(SMALL, Writing(blocks=without(kind, place))))
    (snapshot,) = report.snapshots
    assert (snapshot.complete, snapshot.linked, snapshot.nodes) == (False, False, nodes)
    assert snapshot.reached is None
    assert sum(row.count for row in report.types) == nodes
    assert {row.retained_bytes for row in report.types} == {None}
    assert {row.retained_bytes for row in report.roots} <= {None}
    assert (len(report.dominators), len(report.paths)) == (0, 0)
    assert report.metrics["reached_bytes"].value is None
    assert notes(report) == ["incomplete-snapshot"]
    assert words in report.notes[-1].message
    (arrays,) = snapshots_of(heap_trace(SMALL, Writing(blocks=without(kind, place))))
    assert (len(arrays.targets), arrays.coverage.linked) == (0, False)
    with pytest.raises(ValueError, match="incomplete"):
        arrays.retained  # noqa: B018


@pytest.mark.parametrize(("kind", "place"), [("node", 0), ("edge", 0), ("node", 3)])
def test_a_block_that_comes_twice(kind: str, place: int) -> None:
    """Also where the numbers of references would still agree: the fourth object has none."""
    report = report_of(heap_trace(SMALL, Writing(nodes=1, blocks=again(kind, place))))
    assert notes(report) == ["incomplete-snapshot"]
    assert "1 block came twice" in report.notes[-1].message
    assert {row.retained_bytes for row in report.types} == {None}


def test_no_end() -> None:
    report = report_of(heap_trace(SMALL, Writing(end=False)))
    (snapshot,) = report.snapshots
    assert (snapshot.complete, snapshot.nodes, snapshot.end_ns) == (False, 6, None)
    assert "the end of its collection is missing" in report.notes[-1].message


def test_a_collection_that_was_not_recorded() -> None:
    """Without events of collections nobody knows where a snapshot ends; the next one begins with its first block."""
    builder = TraceBuilder().thread(7)
    for _ in range(2):
        add_heap(builder, SMALL, Writing(start=False, end=False))
    report = report_of(builder.build())
    assert [(row.nodes, row.collection, row.complete) for row in report.snapshots] == [(6, None, False)] * 2


def test_two_snapshots() -> None:
    """Each is its own; growth is from the first to the last."""
    more = attrs.evolve(
        SMALL,
        things={**SMALL.things, "new": Thing("Link", 24), "old": Thing("Other", 8)},
        roots=[Root("one"), Root("new")],
    )
    fewer = attrs.evolve(more, things={k: v for k, v in more.things.items() if k != "lost"})
    builder = add_heap(TraceBuilder().thread(7), SMALL)
    add_heap(builder, more, Writing(collection=2))
    add_heap(builder, fewer, Writing(collection=3))
    data = builder.build()
    report = report_of(data)
    assert [(s.snapshot, s.collection, s.nodes) for s in report.snapshots] == [(1, 1, 6), (2, 2, 8), (3, 3, 7)]
    assert report.metrics["nodes"].value == 7
    assert (report.facts.snapshot, report.facts.baseline) == (3, 1)
    growth = {
        row.type: (row.count_before, row.count_after, row.count_change, row.bytes_change) for row in report.growth
    }
    assert growth["Link"] == (2, 3, 1, 24)
    assert growth["Other"] == (0, 1, 1, 8)
    assert growth["string"] == (2, 1, -1, -30)
    assert report.growth[0].type == "Link"
    assert report.growth[-1].type == "string"
    other = report_of(data, snapshot=2, baseline=3)
    assert {row.type: row.count_change for row in other.growth}["string"] == 1
    assert report_of(data, snapshot=1).facts.baseline is None
    assert notes(report_of(data, snapshot=9)) == ["no-such-snapshot"]
    first, second, third = snapshots_of(data)
    assert list(heap_growth(first, third)) == list(report.growth)
    assert len(second) == 8


def test_references_to_what_did_not_come() -> None:
    """A reference, a root and a static field to nowhere: all else is counted, and it is said."""
    heap = Heap(
        {"a": Thing("A", 16, ("b", NOWHERE)), "b": Thing("B", 32)},
        [Root("a"), Root(NOWHERE), Root(0)],
        [Static("gone", NOWHERE), Static("none", 0)],
    )
    report = report_of(heap_trace(heap))
    (snapshot,) = report.snapshots
    assert (snapshot.complete, snapshot.linked, snapshot.unknown_roots) == (False, True, 2)
    assert types(report) == {"A": (1, 16, 48), "B": (1, 32, 32)}
    assert notes(report) == ["unknown-objects"]
    assert report.notes[-1].numbers == {"references": 1, "roots": 2}


def test_addresses_that_come_twice() -> None:
    """References mean the first; the other is held by nothing, and counted."""
    heap = Heap(
        {"a": Thing("A", 16, ("b",)), "b": Thing("B", 32), "c": Thing("C", 64)},
        [Root("a")],
        addresses={"b": 0x500, "c": 0x500},
    )
    report = report_of(heap_trace(heap))
    assert types(report) == {"A": (1, 16, 48), "B": (1, 32, 32), "C": (1, 64, 0)}
    assert report.snapshots[0].repeated_addresses == 1
    assert notes(report) == ["repeated-addresses"]


def test_no_roots() -> None:
    heap = attrs.evolve(SMALL, roots=[])
    report = report_of(heap_trace(heap))
    assert {row.retained_bytes for row in report.types} == {0}
    assert (len(report.dominators), len(report.paths), report.snapshots[0].unreached) == (0, 0, 6)
    assert report.snapshots[0].complete


def test_nothing_on_the_heap() -> None:
    report = report_of(heap_trace(Heap({})))
    assert (report.snapshots[0].nodes, len(report.types), report.snapshots[0].complete) == (0, 0, True)
    assert report.metrics["bytes"].value == 0


def test_kinds_of_roots() -> None:
    """Weak ones hold nothing, interior ones what they point into; what two kinds hold is kept by neither alone."""
    heap = Heap(
        {name: Thing(name.upper(), 16) for name in "abcdef"},
        [
            Root("a", HANDLE, WEAK),
            Root("b", HANDLE, PINNED),
            Root(0x10000 + 2 * 0x1000 + 15, STACK, INTERIOR),
            Root(0x10000 + 3 * 0x1000 + 16, STACK, INTERIOR),
            Root("e", FINALIZER),
            Root("e", STACK),
            Root("f", 77),
        ],
    )
    report = report_of(heap_trace(heap))
    assert {row.kind: (row.count, row.retained_bytes) for row in report.roots} == {
        "pinned handle": (1, 16),
        "stack": (2, 16),
        "finalizer queue": (1, 0),
        "root of kind 77": (1, 16),
    }
    (snapshot,) = report.snapshots
    assert (snapshot.weak_roots, snapshot.unknown_roots, snapshot.reached) == (1, 1, 4)
    # `e` is held by two kinds of roots: it is above all others, below neither.
    assert [line.outline for line in report.dominators if line.depth == 0 and line.name == "E"] == ["E"]


def test_static_fields() -> None:
    """The array that they live in does not hold what they hold, but it holds what else is in it."""
    heap = Heap(
        {
            "fields": Thing("System.Object[]", 80, ("cache", "cache", "log", "other")),
            "cache": Thing("Cache", 16, ("data",)),
            "data": Thing("Data", 1000),
            "log": Thing("Log", 8),
            "other": Thing("Other", 4),
        },
        [Root("fields", HANDLE, PINNED)],
        [Static("s_cache", "cache", "fields", 8), Static("t_log", "log", "fields", 24, flags=1)],
    )
    report = report_of(heap_trace(heap))
    assert [(row.kind, row.name, row.type, row.retained_bytes) for row in report.roots] == [
        # The array has another element with the cache, so its field alone does not keep it.
        ("pinned handle", None, "object[]", 84),
        ("thread static", "t_log", "Log", 8),
        ("static", "s_cache", "Cache", 0),
    ]
    alone = attrs.evolve(
        heap, things={**heap.things, "fields": Thing("System.Object[]", 80, ("cache", "log", "other"))}
    )
    found = {row.label: row.retained_bytes for row in report_of(heap_trace(alone)).roots}
    assert found == {"static s_cache": 1016, "pinned handle": 84, "thread static t_log": 8}
    (snapshot,) = snapshots_of(heap_trace(alone))
    data = int(snapshot.of_type("Data")[0])
    assert snapshot.root_name(data) == "static s_cache"
    assert snapshot.path(data) == (1, 2)
    shared = attrs.evolve(alone, statics=[*alone.statics, Static("s_same", "cache")])
    found = {row.label: row.retained_bytes for row in report_of(heap_trace(shared)).roots}
    assert (found["static s_cache"], found["static s_same"]) == (0, 0)


def test_values_of_weak_tables_live_as_long_as_their_keys() -> None:
    heap = Heap(
        {
            "key": Thing("Key", 16, ("k",)),
            "k": Thing("K", 8),
            "value": Thing("Value", 32),
            "dead": Thing("Dead", 8),
            "last": Thing("Last", 8),
        },
        [Root("key")],
        dependents=[("key", "value"), ("dead", "last")],
    )
    report = report_of(heap_trace(heap))
    assert types(report) == {
        "Key": (1, 16, 56), "K": (1, 8, 8), "Value": (1, 32, 32), "Dead": (1, 8, 0), "Last": (1, 8, 0),
    }  # fmt: skip
    assert report.snapshots[0].dependents == 2
    assert report.snapshots[0].edges == 1


def test_types_without_a_name() -> None:
    report = report_of(heap_trace(SMALL, Writing(untyped=["Link"])))
    (snapshot,) = report.snapshots
    assert (snapshot.complete, snapshot.linked, snapshot.untyped) == (False, True, 2)
    assert sum(row.retained_bytes or 0 for row in report.types if row.type.startswith("unknown type 0x")) == 1098
    assert notes(report) == ["unnamed-types"]


def test_an_id_that_is_used_again_for_another_type() -> None:
    """Each snapshot names types as the trace did when it was written, also by descriptions that come late."""
    builder = add_heap(TraceBuilder().thread(7), Heap({"a": Thing("Before", 16)}), Writing(blocks=lambda b: b[::-1]))
    add_heap(builder, Heap({"a": Thing("After", 16)}), Writing(collection=2, blocks=lambda b: b[::-1]))
    first, second = snapshots_of(builder.build())
    assert ([t.name for t in first.types], [t.name for t in second.types]) == (["Before"], ["After"])


@pytest.mark.parametrize("event", [16, 17, 18, 19, 36, 38, 15])
def test_hostile_counts(event: int) -> None:
    """An event that announces four thousand million elements in few bytes is a problem, and the rest is read."""
    head = (0xFFFFFFFF).to_bytes(4, "little")
    payload = (head if event in (36, 38, 15) else bytes(4) + head) + bytes(40)
    builder = TraceBuilder().thread(7)
    blocks: list[Any] = []
    heap_trace(SMALL, Writing(blocks=lambda mine: blocks.extend(mine) or mine))
    builder.event(clrevents.events.GCStart_V2(1, 2, 1, 0, 0, 0))
    builder.raw("Microsoft-Windows-DotNETRuntime", event, 0, payload)
    for _, record in blocks:
        builder.event(record)
    builder.event(clrevents.events.GCEnd_V1(1, 2, 0))
    report = report_of(builder.build())
    assert types(report)["Link"] == (2, 48, 1098)


def test_impossible_numbers() -> None:
    """Sizes and counts beyond everything: nothing overflows, nothing is believed."""
    for change in ({"Size": (1 << 64) - 1}, {"EdgeCount": (1 << 64) - 1}, {"EdgeCount": 1 << 63}):

        def blocks(mine: Any, change: Any = change) -> Any:
            found = []
            for name, record in mine:
                if name == "node":
                    values = [attrs.evolve(value, **change) for value in record.Values]
                    record = attrs.evolve(record, Values=values)
                found.append((name, record))
            return found

        report = report_of(heap_trace(SMALL, Writing(blocks=blocks)))
        assert [row.linked for row in report.snapshots] == [False]
        assert sum(row.count for row in report.types) == 6
        assert notes(report) == ["incomplete-snapshot"]
    last = (1 << 64) - 1
    edge = Heap(
        {"a": Thing("A", 16, ("b",)), "b": Thing("B", 8)}, [Root(last, STACK, INTERIOR)], addresses={"a": last, "b": 0}
    )
    assert types(report_of(heap_trace(edge))) == {"A": (1, 16, 24), "B": (1, 8, 8)}


def test_snapshots_are_plain_values() -> None:
    (snapshot,) = snapshots_of(heap_trace(SMALL))
    assert snapshot.retained.sum() == 1138 + 1098 + 74 + 1000 + 50
    copy = pickle.loads(pickle.dumps(snapshot))
    assert np.array_equal(copy.retained, snapshot.retained)
    assert repr(copy) == "<heap snapshot 1: 6 objects of 1,168 bytes>"
    assert copy.references(1).tolist() == [2, 3]
    with pytest.raises(IndexError, match="object 6 of 6"):
        snapshot.path(6)
