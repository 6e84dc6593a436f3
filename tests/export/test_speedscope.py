"""speedscope's JSON: what its published schema demands, and that nothing is lost on the way."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.shared.weights.weighing import Unit
from clrevents.export.flame.flame_formats import speedscope as render
from clrevents.export.look import Look
from hand_made import Row, hand_made
from viewer_rules import check_speedscope

rows = st.lists(
    st.tuples(
        st.integers(1, 3), st.integers(0, 9), st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple),
        st.booleans(),
    ),
    max_size=20,
)  # fmt: skip


def written(drawn: list[Row], look: Look, **options: Any) -> Any:
    found = json.loads(render(hand_made(drawn, **options), look))
    check_speedscope(found)
    return found


@given(rows, st.booleans(), st.booleans())
def test_weights_by_thread_and_stack(drawn: list[Row], merge: bool, timed: bool) -> None:
    found = written(drawn, Look(merge_threads=merge), timed=timed)
    names = [frame["name"] for frame in found["shared"]["frames"]]
    ours: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for profile in found["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            ours[profile["name"], tuple(names[frame] for frame in stack)] += weight
    expected: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for thread, weight, stack, _ in drawn:
        expected["all threads" if merge else f"thread {thread}", stack] += weight
    assert ours == expected


def test_neighbours_that_are_alike_are_one() -> None:
    drawn: list[Row] = [(7, 5, ("a",), False), (8, 1, ("a",), False), (7, 2, ("a",), True), (7, 3, ("b",), False)]
    found = written([*drawn, (7, 0, ("a",), False)], Look("app.nettrace", "clrevents 1.2"))
    (first, second) = found["profiles"]
    assert (first["samples"], first["weights"]) == ([[0], [1], [0]], [7, 3, 0])
    assert (first["startValue"], first["endValue"], first["unit"]) == (1000, 1010, "nanoseconds")
    assert (second["name"], second["weights"]) == ("thread 8", [1])
    assert (found["name"], found["exporter"], found["activeProfileIndex"]) == ("app.nettrace", "clrevents 1.2", 0)


def test_it_opens_with_the_heaviest_thread() -> None:
    assert written([(7, 1, ("a",), False), (8, 2, ("a",), False)], Look())["activeProfileIndex"] == 1


def test_frames_have_their_module_as_file() -> None:
    found = written([(7, 1, ("a", "b"), False)], Look(), modules={"a": "App"})
    assert found["shared"]["frames"] == [{"name": "a", "file": "App"}, {"name": "b"}]


@pytest.mark.parametrize(
    ("unit", "shown"), [("nanoseconds", "nanoseconds"), ("bytes", "bytes"), ("count", "none"), ("none", "none")]
)
def test_units(unit: Unit, shown: str) -> None:
    (profile,) = written([(7, 1, ("a",), False)], Look(), unit=unit, timed=False)["profiles"]
    assert (profile["unit"], profile["startValue"], profile["endValue"]) == (shown, 0, 1)
