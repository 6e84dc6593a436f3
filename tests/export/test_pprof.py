"""pprof's profile, decoded by protobuf's own library against the published message; and each byte of it is known."""

from __future__ import annotations

import gzip
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.shared.samples.samples import Samples
from clrevents.analysis.shared.weights.weighing import Unit
from clrevents.export.flame.flame_formats import flame_bytes
from clrevents.export.look import Look
from hand_made import Row, hand_made
from profile_message import profile_class

pytestmark = pytest.mark.full

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
Profile = profile_class()

rows = st.lists(
    st.tuples(
        st.integers(1, 3), st.integers(0, 1 << 40),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple), st.booleans(),
    ),
    max_size=20,
)  # fmt: skip


def decoded(samples: Samples, look: Look) -> Any:
    """The message; it has no field that is not published, and is as short as the library would write it."""
    data = gzip.decompress(flame_bytes(samples, "pprof", look))
    found = Profile.FromString(data)
    found.DiscardUnknownFields()
    assert found.ByteSize() == len(data)
    check_references(found)
    return found


def check_references(found: Any) -> None:
    """What the comments of the message demand."""
    texts = list(found.string_table)
    assert texts[0] == ""
    assert len(set(texts)) == len(texts)
    functions = {function.id for function in found.function}
    locations = {location.id for location in found.location}
    mappings = {mapping.id for mapping in found.mapping}
    for ids, entries in ((functions, found.function), (locations, found.location), (mappings, found.mapping)):
        assert len(ids) == len(entries)
        assert 0 not in ids
    for location in found.location:
        assert {line.function_id for line in location.line} <= functions
        assert location.mapping_id in mappings
    for sample in found.sample:
        assert set(sample.location_id) <= locations
        assert len(sample.value) == len(found.sample_type) == 2


def stacks(found: Any) -> Counter[tuple[str, tuple[str, ...]]]:
    """Weights by thread and stack, outermost first."""
    texts = found.string_table
    functions = {function.id: texts[function.name] for function in found.function}
    names = {location.id: functions[location.line[0].function_id] for location in found.location}
    weights: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for sample in found.sample:
        labels = {texts[label.key]: texts[label.str] for label in sample.label}
        weights[labels.get("thread", ""), tuple(names[n] for n in reversed(sample.location_id))] += sample.value[1]
    return weights


@given(rows, st.booleans())
def test_weights_by_thread_and_stack(drawn: list[Row], merge: bool) -> None:
    found = decoded(hand_made(drawn), Look(merge_threads=merge))
    expected: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for thread, weight, stack, _ in drawn:
        expected["" if merge else f"thread {thread}", stack] += weight
    assert stacks(found) == expected
    assert sum(sample.value[0] for sample in found.sample) == len(drawn)


@pytest.mark.parametrize(
    ("unit", "timed", "types"),
    [
        ("nanoseconds", True, [("samples", "count"), ("wall", "nanoseconds")]),
        ("bytes", False, [("events", "count"), ("Sold", "bytes")]),
        ("none", False, [("events", "count"), ("Sold", "count")]),
    ],
)
def test_types_of_values(unit: Unit, timed: bool, types: list[tuple[str, str]]) -> None:
    found = decoded(hand_made([(1, 300, ("a",), False)], unit=unit, timed=timed), Look())
    texts = found.string_table
    assert [(texts[t.type], texts[t.unit]) for t in found.sample_type] == types
    assert texts[found.default_sample_type] == types[1][0]


def test_facts() -> None:
    drawn: list[Row] = [(1, 300, ("a", "b"), False), (1, 700, ("x",), False), (2, 5, ("a",), True)]
    samples = hand_made(drawn, modules={"a": "App", "b": "Lib"})
    found = decoded(samples, Look("app.nettrace", "clrevents 1.2", start=START))
    texts = found.string_table
    assert found.time_nanos == 1767323045_678901_000 + 1000
    assert found.duration_nanos == 1000
    assert [texts[n] for n in found.comment] == ["app.nettrace (clrevents 1.2)"]
    assert [(texts[m.filename], m.has_functions) for m in found.mapping] == [
        ("App", True), ("Lib", True), ("[unknown]", True),
    ]  # fmt: skip
    names = [(texts[f.name], texts[f.system_name], texts[f.filename]) for f in found.function]
    assert names == [("a", "raw!a", "App"), ("b", "raw!b", "Lib"), ("x", "raw!x", "")]


def test_weights_that_are_floats_are_rounded() -> None:
    found = decoded(hand_made([(1, 2.6, ("a",), False)], timed=False, unit="none"), Look())
    assert [list(sample.value) for sample in found.sample] == [[1, 3]]


@pytest.mark.parametrize("year", [1, 1969, 9999])
def test_a_date_that_the_message_cannot_hold_is_left_out(year: int) -> None:
    start = datetime(year, 12, 31, 23, 59, 58, tzinfo=UTC)
    assert decoded(hand_made([(1, 5, ("a",), False)]), Look(start=start)).time_nanos == 0
