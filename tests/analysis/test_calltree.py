"""Sums by stack, the tree of calls and the lists of hot methods, against slow and obvious adding up."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.shared.samples.calltree import call_tree, hottest, stack_sums, summed_up
from clrevents.analysis.shared.samples.samples import Samples
from hand_made import Row, hand_made

rows = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.integers(0, 9),
        st.lists(st.sampled_from(("a", "b", "System.c", "System.d")), min_size=1, max_size=6).map(tuple),
        st.booleans(),
    ),
    max_size=25,
)


def paths(samples: Samples, merge: bool) -> dict[tuple[str, ...], int]:
    """Every node of the tree by its path, with its total; and its parents stand in front of it."""
    tree = call_tree(samples, merge)
    found: list[tuple[str, ...]] = []
    for node, (parent, frame) in enumerate(zip(tree.parent.tolist(), tree.frame.tolist(), strict=True)):
        assert parent < node
        name = str(samples.threads[-1 - frame]) if frame < 0 else samples.frames[frame].name
        found.append((*(found[parent] if parent >= 0 else ()), name))
    assert len(set(found)) == len(found)
    totals = dict(zip(found, tree.totals().tolist(), strict=True))
    owns: Counter[tuple[str, ...]] = Counter()
    for path, own in zip(found, tree.own.tolist(), strict=True):
        for depth in range(1, len(path) + 1):
            owns[path[:depth]] += own
    assert owns == Counter(totals)
    return totals


@given(rows, st.booleans())
def test_the_tree_adds_up(drawn: list[Row], merge: bool) -> None:
    samples = hand_made(drawn)
    expected: Counter[tuple[str, ...]] = Counter()
    for thread, weight, stack, _ in drawn:
        path = stack if merge else (f"thread {thread}", *stack)
        for depth in range(1, len(path) + 1):
            expected[path[:depth]] += weight
    assert paths(samples, merge) == dict(expected)


@given(rows, st.booleans())
def test_sums_by_stack(drawn: list[Row], merge: bool) -> None:
    samples = hand_made(drawn)
    weights: Counter[tuple[int, tuple[str, ...]]] = Counter()
    counts: Counter[tuple[int, tuple[str, ...]]] = Counter()
    outside: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for thread, weight, stack, external in drawn:
        key = (0 if merge else thread, stack)
        weights[key] += weight
        counts[key] += 1
        outside[key] += weight * external
    sums = stack_sums(samples, merge)
    keys = [
        (
            0 if merge else samples.threads[t].thread_id,
            tuple(samples.frames[f].name for f in reversed(samples.frame_ids(s))),
        )
        for t, s in zip(sums.thread.tolist(), sums.stack.tolist(), strict=True)
    ]
    assert keys == list(counts)
    assert sums.weight.tolist() == [weights[key] for key in counts]
    assert sums.count.tolist() == list(counts.values())
    assert sums.external.tolist() == [outside[key] for key in counts]


@given(rows)
def test_hot_methods(drawn: list[Row]) -> None:
    exclusive: Counter[str] = Counter()
    inclusive: Counter[str] = Counter()
    external: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for _, weight, stack, outside in drawn:
        exclusive[stack[-1]] += weight
        external[stack[-1]] += weight * outside
        count[stack[-1]] += 1
        for name in set(stack):
            inclusive[name] += weight
    found = hottest(hand_made(drawn))
    assert {hot.name for hot in found} == set(inclusive)
    for hot in found:
        name = hot.name
        assert (hot.exclusive, hot.inclusive, hot.samples) == (exclusive[name], inclusive[name], count[name])
        assert hot.external == external[name]
    assert list(found) == sorted(found, key=lambda hot: (-hot.exclusive, -hot.inclusive, hot.name))


@given(rows)
def test_own_methods_around_hot_ones(drawn: list[Row]) -> None:
    outer: dict[str, Counter[str]] = defaultdict(Counter)
    inner: dict[str, Counter[str]] = defaultdict(Counter)
    for _, weight, stack, _ in drawn:
        for name in set(stack):
            innermost = len(stack) - 1 - stack[::-1].index(name)
            for around, kin in ((stack[:innermost][::-1], outer), (stack[innermost + 1 :], inner)):
                nearest = next((one for one in around if not one.startswith("System.")), None)
                if nearest is not None:
                    kin[name][nearest] += weight
    for hot in hottest(hand_made(drawn)):
        for frame, kin in ((hot.own_caller, outer), (hot.own_callee, inner)):
            weights = kin[hot.name]
            assert (frame is None) == (not weights)
            assert frame is None or weights[frame.name] == max(weights.values())


def test_large_weights_stay_exact() -> None:
    samples = hand_made([(1, (1 << 60) + 1, ("a",), False), (1, 1, ("a",), False)])
    assert stack_sums(samples).weight.tolist() == [(1 << 60) + 2]
    assert hottest(samples)[0].inclusive == (1 << 60) + 2


def test_sums_beyond_64_bits_are_the_most_that_they_hold() -> None:
    most = (1 << 63) - 1
    parent, own = np.array([-1, 0, 0]), np.array([5, most, 7])
    assert summed_up(parent, own).tolist() == [most, most, 7]
