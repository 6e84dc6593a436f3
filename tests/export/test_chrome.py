"""Chrome's trace events: the rules of the published format, and slices that are what the samples say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clrevents.analysis.shared.samples.samples import SampledThread
from clrevents.export.flame.chrome import render
from clrevents.export.look import Look
from hand_made import Row, hand_made
from viewer_rules import check_trace_events

rows = st.lists(
    st.tuples(
        st.integers(1, 3), st.integers(0, 9), st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple),
        st.booleans(),
    ),
    max_size=20,
)  # fmt: skip


def written(drawn: list[Row], **options: Any) -> list[dict[str, Any]]:
    found = json.loads(render(hand_made(drawn, **options), Look("app.nettrace", "clrevents 1.2")))
    check_trace_events(found)
    assert found["otherData"]["producer"] == "clrevents 1.2"
    events: list[dict[str, Any]] = found["traceEvents"]
    return events


@given(rows)
def test_slices_at_every_moment_are_the_stack(drawn: list[Row]) -> None:
    """In the middle of each nanosecond, the slices of a thread from the longest to the shortest."""
    events = [e for e in written(drawn) if e["ph"] == "X"]
    now = dict.fromkeys((1, 2, 3), 1000)
    for thread, weight, stack, _ in drawn:
        for moment in range(now[thread], now[thread] + int(weight)):
            middle = (moment + 0.5) / 1000
            open_ = [e for e in events if e["tid"] == thread and e["ts"] < middle < e["ts"] + e["dur"]]
            assert tuple(e["name"] for e in open_) == stack
        now[thread] += int(weight)


def test_calls_that_samples_share_are_one_slice() -> None:
    drawn: list[Row] = [
        (7, 2000, ("a", "b"), False),
        (7, 3000, ("a", "b", "c"), False),
        (7, 1000, ("a", "x"), False),
        (7, 0, ("y",), False),
    ]
    slices = [(e["name"], e["ts"], e["dur"]) for e in written(drawn) if e["ph"] == "X"]
    assert slices == [("a", 1, 6), ("b", 1, 5), ("c", 3, 3), ("x", 6, 1)]


def test_calls_end_where_a_sample_was_taken_out() -> None:
    """Only samples of running threads, for example: in between the thread waited."""
    drawn: list[Row] = [(7, 2000, ("a", "b"), False), (7, 3000, ("a", "w"), False), (7, 1000, ("a", "b"), False)]
    samples = hand_made(drawn)
    kept = samples.shaped(exclude="w")
    found = json.loads(render(kept, Look("app.nettrace")))
    slices = [(e["name"], e["ts"], e["dur"]) for e in found["traceEvents"] if e["ph"] == "X"]
    assert slices == [("a", 1, 2), ("b", 1, 2), ("a", 6, 1), ("b", 6, 1)]


def test_what_is_no_time_is_an_instant() -> None:
    events = written([(7, 3, ("a", "b"), False), (8, 4, ("a",), False)], timed=False, unit="bytes")
    instants = [(e["tid"], e["name"], e["ts"], e["args"]) for e in events if e["ph"] == "i"]
    assert instants == [
        (7, "b", 1, {"weight": 3, "stack": ["b", "a"]}),
        (8, "a", 1, {"weight": 4, "stack": ["a"]}),
    ]


def test_threads_and_processes_have_names() -> None:
    threads = {1: SampledThread(10, 100, "Main"), 2: SampledThread(11, 200), 3: SampledThread(None, None)}
    events = written([(n, 1, ("a",), False) for n in threads], threads=threads)
    names = [(e["name"], e["pid"], e["tid"], e["args"]["name"]) for e in events if e["ph"] == "M"]
    assert names == [
        ("process_name", 100, 0, "app.nettrace"),
        ("process_name", 200, 0, "app.nettrace"),
        ("process_name", 0, 0, "app.nettrace"),
        ("thread_name", 100, 10, "thread 10 (Main)"),
        ("thread_name", 200, 11, "thread 11"),
        ("thread_name", 0, 0, "unknown thread"),
    ]


def test_threads_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="cannot be merged"):
        render(hand_made([]), Look(merge_threads=True))
