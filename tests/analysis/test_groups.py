"""Numbers of equal things, groups and changes of rows, and sums by number: against the plain way to find each."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.gathering.groups import Interned, groups, numbered, sum_by

FEW = st.lists(st.integers(-2, 3), max_size=12)


def ints(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


@given(st.lists(st.one_of(st.none(), st.text("ab", max_size=2)), max_size=12))
def test_equal_things_have_one_number_in_order_of_their_first(things: list[str | None]) -> None:
    of, distinct = numbered(things)
    assert distinct == list(dict.fromkeys(things))
    assert of.tolist() == [distinct.index(thing) for thing in things]
    assert of.dtype == np.int64


def test_numbers_go_on_from_those_that_are_given() -> None:
    known = Interned({"": 0})
    assert (known["b"], known["a"], known["b"], known[""]) == (1, 2, 1, 0)
    assert list(known) == ["", "b", "a"]


@given(FEW, st.data())
def test_the_rows_of_each_number(values: list[int], data: st.DataObject) -> None:
    numbers = ints(values)
    ordered = sorted(enumerate(values), key=itemgetter(1))
    expected = [(number, [place for place, _ in mine]) for number, mine in groupby(ordered, key=itemgetter(1))]
    assert [(number, rows.tolist()) for number, rows in groups(numbers)] == expected
    chosen = data.draw(st.lists(st.sampled_from(range(len(values))), unique=True)) if values else []
    some = [(number, [place for place in chosen if values[place] == number]) for number in sorted(set(values))]
    assert [(n, rows.tolist()) for n, rows in groups(numbers, ints(chosen))] == [(n, rows) for n, rows in some if rows]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9)), max_size=12))
def test_sums_of_each_number(rows: list[tuple[int, int]]) -> None:
    of, values = ints([row[0] for row in rows]), ints([row[1] for row in rows])
    assert sum_by(of, values, 5).tolist() == [sum(value for n, value in rows if n == number) for number in range(5)]
    assert sum_by(of, values.astype(np.float64), 5).dtype == np.float64
