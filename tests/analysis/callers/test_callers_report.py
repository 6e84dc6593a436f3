"""Callers and callees: exact trees, recursion, laws, and a model in plain Python on random stacks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from analysis.test_stack_shapes import fits, samples_of
from clrevents.analysis.reports.callers import CallersReport, CallNodes, call_sides
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.samples.stack_shapes import matched, name_patterns
from clrevents.testing.builder import TraceBuilder
from project_files import fixture

NETPERF = fixture("net8-netperf3")
MS = 1_000_000
NAMES = ("A.Run", "B.Run", "A.Main", "Lib.Go")
STACKS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6).map(tuple), min_size=1, max_size=12)


def nodes_of(nodes: CallNodes, samples: Samples) -> dict[tuple[str, ...], tuple[int, int, int]]:
    """Inclusive weight, exclusive weight and samples by the way from the method."""
    ways: list[tuple[str, ...]] = []
    found = {}
    columns = (nodes.parent, nodes.frame, nodes.depth, nodes.inclusive, nodes.exclusive, nodes.samples)
    for parent, frame, depth, *weights in zip(*(column.tolist() for column in columns), strict=True):
        way = () if parent < 0 else (*ways[parent], samples.frames[frame].name.removesuffix("()"))
        assert depth == len(way)
        ways.append(way)
        assert way not in found
        found[way] = tuple(weights)
    return found


def model(
    stacks: list[tuple[str, ...]], pattern: str, depth: int | None
) -> tuple[dict[tuple[str, ...], tuple[int, int, int]], ...]:
    """The long way round: every stack by itself."""
    sums: list[dict[tuple[str, ...], Counter[str]]] = [{}, {}]
    for weight, stack in enumerate(stacks, 1):
        outermost = max((n for n, name in enumerate(stack) if fits(name, pattern)), default=None)
        if outermost is None:
            continue
        own = weight if fits(stack[0], pattern) else 0
        entered = next(n for n, name in enumerate(stack) if fits(name, pattern))
        while entered + 1 < len(stack) and fits(stack[entered + 1], pattern):
            entered += 1
        ways = stack[entered + 1 :], tuple(reversed(stack[:outermost]))
        for side, way in enumerate(ways):
            for length in range(len(way if depth is None else way[:depth]) + 1):
                leaf = own if side == 0 else weight if length == len(way) else 0
                sums[side].setdefault(way[:length], Counter()).update(w=weight, o=leaf, n=1)
    return tuple({way: (c["w"], c["o"], c["n"]) for way, c in side.items()} for side in sums)


@given(STACKS, st.sampled_from(["Run", "A.*", "Main", "*", "Nothing", "Lib.Go"]), st.none() | st.integers(0, 4))
def test_trees_are_those_of_the_model(stacks: list[tuple[str, ...]], pattern: str, depth: int | None) -> None:
    samples = samples_of(*stacks, weights=list(range(1, len(stacks) + 1)))
    patterns = name_patterns("method", pattern)
    focus = np.array([matched(patterns, frame) for frame in samples.frames])
    sides = call_sides(samples, focus, depth)
    callers, callees = model(stacks, pattern, depth)
    assert nodes_of(sides.callers, samples) == callers
    assert nodes_of(sides.callees, samples) == callees
    weights = [weight for weight, stack in enumerate(stacks, 1) if any(fits(name, pattern) for name in stack)]
    assert (sides.inclusive, sides.samples) == (sum(weights), len(weights))


def built() -> bytes:
    """9 ms in Fib called twice by itself, 5 ms in Log below it, 3 ms in Fib from another caller, 2 ms without it."""
    builder = TraceBuilder().thread(7)
    for place, name in enumerate(("Main", "Fib", "Log", "Other")):
        builder.method_load("Shop", name, address=0x1000 * (place + 1))
    main, fib, log, other = (0x1000 * n for n in range(1, 5))
    builder.at(11 * MS).sample(fib, fib, fib, main, kind=2)
    builder.at(20 * MS).sample(log, fib, fib, main, kind=2)
    builder.at(25 * MS).sample(fib, other, main, kind=2)
    builder.at(28 * MS).sample(other, main, kind=2)
    return builder.at(30 * MS).sample(main, kind=2).build()


def lines(rows: object) -> list[tuple[int, str, int | None, int | None, int]]:
    return [(r.depth, r.name, r.inclusive_ns, r.exclusive_ns, r.samples) for r in rows]  # type: ignore[attr-defined]


def test_every_row_of_a_small_trace() -> None:
    with clrevents.open(built()) as trace:
        report = trace.report("callers", method="Fib")
        top = {row.name: row for row in trace.report("top").methods}
    assert lines(report.callers) == [
        (0, "Shop.Fib()", 17 * MS, 12 * MS, 3),
        (1, "Shop.Main()", 14 * MS, 9 * MS, 2),
        (1, "Shop.Other()", 3 * MS, 3 * MS, 1),
        (2, "Shop.Main()", 3 * MS, 3 * MS, 1),
    ]
    assert lines(report.callees) == [
        (0, "Shop.Fib()", 17 * MS, 3 * MS, 3),
        (1, "Shop.Fib()", 14 * MS, 0, 2),
        (2, "Shop.Fib()", 9 * MS, 9 * MS, 1),
        (2, "Shop.Log()", 5 * MS, 5 * MS, 1),
    ]
    assert [(r.node, r.parent_node) for r in report.callers] == [(0, None), (1, 0), (2, 0), (3, 2)]
    metrics = {name: metric.value for name, metric in report.metrics.items()}
    assert metrics == {
        "samples": 3,
        "inclusive": 17 * MS,
        "exclusive": 12 * MS,
        "total": 19 * MS,
        "unsampled_total": 0,
        "cut_total": 0,
    }
    fib = top["Shop.Fib()"]
    assert (fib.inclusive_ns, fib.exclusive_ns, fib.inclusive_samples) == (17 * MS, 12 * MS, 3)


def test_methods_that_match_are_added_up_and_listed() -> None:
    with clrevents.open(built()) as trace:
        report = trace.report("callers", method="Fib;Log")
    assert [(r.name, r.inclusive_ns, r.exclusive_ns) for r in report.methods] == [
        ("Shop.Fib()", 17 * MS, 12 * MS),
        ("Shop.Log()", 5 * MS, 5 * MS),
    ]
    assert report.callers[0].name == "Fib;Log"
    assert (report.callers[0].inclusive_ns, report.callers[0].exclusive_ns) == (17 * MS, 17 * MS)
    assert report.facts.methods == 2
    assert [note.id for note in report.notes] == ["clock-time", "several-methods"]


def test_a_method_stays_where_everything_else_folds() -> None:
    with clrevents.open(built()) as trace:
        report = trace.report("callers", method="Log", fold="*")
        whole = trace.report("callers", method="*", fold="Shop.Fib")
    assert lines(report.callers) == [(0, "Shop.Log()", 5 * MS, 5 * MS, 1)]
    assert [row[:3] for row in lines(whole.callees)] == [
        (0, "*", 19 * MS),
        (1, "Shop.Main()", 19 * MS),
        (2, "Shop.Log()", 5 * MS),
        (2, "Shop.Other()", 5 * MS),
    ]
    assert [row[:4] for row in lines(whole.callers)] == [(0, "*", 19 * MS, 19 * MS)]


def test_depth_and_what_is_refused() -> None:
    with clrevents.open(built()) as trace:
        report = trace.report("callers", method="Fib", depth=1)
        assert [row[:4] for row in lines(report.callees)] == [
            (0, "Shop.Fib()", 17 * MS, 3 * MS),
            (1, "Shop.Fib()", 14 * MS, 0),
        ]
        assert report.notes[-1].id == "cut-depth"
        for wrong in ({"depth": -1}, {"method": ""}, {"by": "alloc", "weight": "alloc"}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                trace.report("callers", **wrong)  # type: ignore[arg-type]
        none = trace.report("callers", method="fibb")
    assert (len(none.callers), len(none.callees), len(none.methods)) == (0, 0, 0)
    assert (none.notes[-1].id, none.notes[-1].remedy) == ("no-method", "did you mean Shop.Fib")


@pytest.fixture(scope="module")
def report() -> CallersReport:
    with clrevents.open(NETPERF) as trace:
        return trace.report("callers", method="Program.Tail?")
