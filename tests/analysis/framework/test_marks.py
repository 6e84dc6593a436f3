"""`Marks` and `holes_of`: which spans touch which holes, against a slow answer for each span."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.framework.model.needs import Hole, Marks, holes_of
from clrevents.analysis.framework.vocabulary.answer_values import FOREVER
from clrevents.trace import Loss

TIMES = st.integers(0, 30)
THREADS = st.integers(1, 3)
HOLES = st.lists(
    st.tuples(st.none() | THREADS, TIMES, TIMES).map(lambda t: Hole(t[0], 1, min(t[1:]), max(t[1:]), "loss")),
    max_size=8,
)
SPANS = st.lists(
    st.tuples(TIMES, TIMES, THREADS, THREADS).map(lambda t: (min(t[:2]), max(t[:2]), *t[2:])), min_size=1, max_size=8
)


def columns(spans: list[tuple[int, int, int, int]]) -> list[np.ndarray]:
    return [np.array(values, dtype=kind) for values, kind in zip(zip(*spans, strict=True), "qqQQ", strict=True)]


@given(HOLES, SPANS)
def test_a_span_is_touched_by_holes_of_its_threads(holes: list[Hole], spans: list[tuple[int, int, int, int]]) -> None:
    starts, ends, first, second = columns(spans)
    found = Marks(holes).touched(starts, ends, [first, second])
    slow = [
        any(h.thread_id in (None, a, b) and h.start_ns <= end and h.end_ns >= start for h in holes)
        for start, end, a, b in spans
    ]
    assert found.tolist() == slow


def test_holes_are_in_the_order_of_their_ends() -> None:
    losses, destroyed = [Loss(1, 2, 10, 50), Loss(-1, 1, 0, 40)], [Loss(2, 3, 20, 45)]
    assert holes_of(losses, destroyed, 3, 3) == (
        Hole(None, 1, 0, 40, "loss"),
        Hole(2, 3, 20, 45, "damage"),
        Hole(1, 2, 10, 50, "loss"),
    )


def test_what_a_limited_list_leaves_out_may_be_anywhere_after_it() -> None:
    assert holes_of([Loss(1, 2, 10, 50)], [], 9, 0) == (
        Hole(1, 2, 10, 50, "loss"),
        Hole(None, 7, 10, FOREVER, "loss"),
    )
