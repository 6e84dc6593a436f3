"""Brackets in many groups at once are what a stack for each group gives; keys are equal where values are."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.gathering.groups import first_in_first_out, group_numbers, pair
from clrevents.decode.payload.column import from_values
from clrevents.table.table import Column, ColumnType
from slow_pairs import pairs as slow_pairs


def paired(rows: list[tuple[int, bool]]) -> list[tuple[int, int]]:
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    opens = np.array([opens for _, opens in rows], dtype=np.bool_)
    begins, ends = pair(groups, opens)
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans())))
def test_as_a_stack_for_each_group(rows: list[tuple[int, bool]]) -> None:
    assert paired(rows) == slow_pairs(rows)


@given(st.lists(st.tuples(st.sampled_from([0, 1, 1 << 20]), st.booleans()), max_size=60))
def test_as_a_queue_for_each_group(rows: list[tuple[int, bool]]) -> None:
    waiting: dict[int, list[int]] = {}
    expected = []
    for place, (group, opens) in enumerate(rows):
        if opens:
            waiting.setdefault(group, []).append(place)
        elif waiting.get(group):
            expected.append((waiting[group].pop(0), place))
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    begins, ends = first_in_first_out(groups, np.array([opens for _, opens in rows], dtype=np.bool_))
    assert list(zip(begins.tolist(), ends.tolist(), strict=True)) == sorted(expected)


def test_an_end_alone_does_not_shift_what_follows() -> None:
    assert paired([(0, False), (0, False), (0, True), (0, False), (1, False), (1, True), (1, False)]) == [
        (2, 3),
        (5, 6),
    ]


def test_more_groups_than_sixteen_bits_hold() -> None:
    groups = [group % 70_000 for group in range(150_000)]
    rows = [(group, (group * 7 + place // 70_000) % 3 > 0) for place, group in enumerate(groups)]
    assert paired(rows) == slow_pairs(rows)


def test_a_million_pairs_in_a_second() -> None:
    """Half of that on the machine it was written on; the bound is for slow ones."""
    groups = np.random.default_rng(1).integers(0, 1000, 2_000_000)
    opens = np.random.default_rng(2).random(2_000_000) < 0.5
    start = time.process_time()
    begins, _ = pair(groups, opens)
    assert time.process_time() - start < 3
    assert len(begins) > 900_000


# Keys

KINDS: dict[str, st.SearchStrategy[Any]] = {
    "uint64": st.sampled_from([0, 1, 1 << 63, (1 << 64) - 1]),
    "int64": st.sampled_from([0, 1, -1, -(1 << 63)]),
    "uint8": st.integers(0, 3),
    "uint32": st.integers(1 << 31, (1 << 31) + 5),
    "bool": st.booleans(),
    "float64": st.sampled_from([0.0, 1.5, -2.0]),
    "string": st.sampled_from(["", "a", "é"]),
    "binary": st.sampled_from([b"", b"\0", b"\0\0"]),
    "timestamp": st.sampled_from([0, 1]),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[list[Any]], list[str], int]:
    """Values of two tables behind each other for some keys, the keys' kinds, and where the second table begins."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    size = draw(st.integers(0, 12))
    values = [draw(st.lists(st.none() | KINDS[kind], min_size=size, max_size=size)) for kind in kinds]
    return values, kinds, draw(st.integers(0, size))


def column(kind: str, values: list[Any]) -> Column:
    if kind == "timestamp":
        good = np.array([v is not None for v in values], dtype=np.bool_)
        return Column(ColumnType(kind), len(values), np.array([v or 0 for v in values], dtype=np.int64), valid=good)
    return from_values(ColumnType(kind), values)


@given(columns())
def test_equal_numbers_are_equal_values(drawn: tuple[list[list[Any]], list[str], int]) -> None:
    values, kinds, cut = drawn
    size = len(values[0])
    parts = [[column(k, v[:cut]), column(k, v[cut:])] for k, v in zip(kinds, values, strict=True)]
    numbers, count = group_numbers(parts, [cut, size - cut])
    rows = list(zip(*values, strict=True))
    assert all(-1 <= n < max(count, 1) for n in numbers.tolist())
    for a in range(size):
        assert (numbers[a] == -1) == (None in rows[a])
        for b in range(size):
            if None not in rows[a] and None not in rows[b]:
                assert (numbers[a] == numbers[b]) == (rows[a] == rows[b])


def test_without_keys_all_are_one_group() -> None:
    assert group_numbers([], [2, 1])[0].tolist() == [0, 0, 0]
    assert group_numbers([], [0, 0])[0].tolist() == []


@pytest.mark.parametrize("kinds", [("list", "list"), ("string", "uint8")])
def test_what_cannot_be_compared(kinds: tuple[str, str]) -> None:
    made = [
        from_values(ColumnType("list", (ColumnType("uint8"),)), [[1]]) if k == "list" else column(k, [None])
        for k in kinds
    ]
    with pytest.raises(TypeError, match="cannot be paired"):
        group_numbers([made], [1, 1])


def test_many_keys_with_many_values() -> None:
    """Products of what there are of each are far beyond 64 bits."""
    size = 1 << 16
    column = Column(ColumnType("int64"), size, np.arange(size))
    other = Column(ColumnType("int64"), size, np.roll(np.arange(size), 1))
    rest = [column] * 4
    numbers, _ = group_numbers(
        [[one, two] for one, two in zip([column, *rest], [other, *rest], strict=True)], [size] * 2
    )
    assert len(set(numbers.tolist())) == 2 * size
