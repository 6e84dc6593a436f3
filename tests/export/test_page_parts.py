"""What a page puts together, and that it says so: light boxes, short intervals, spans that lie on one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from built_page import MS, built_page
from clrevents.analysis.shared.samples.calltree import call_tree
from clrevents.events import WaitHandleWaitSource, WaitHandleWaitStart_V0, WaitHandleWaitStop_V0
from clrevents.export.flame.flame_html import FlameCut
from clrevents.export.page import page_timeline
from clrevents.export.page.page_assembly import PageTexts, shown_text
from clrevents.testing.builder import TraceBuilder
from clrevents.trace import Loss
from hand_made import Row, hand_made

STACKS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)
ROWS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50), STACKS, st.booleans()), min_size=1, max_size=40)


@given(ROWS, st.integers(1, 12))
def test_light_boxes_lose_their_names_and_no_weight(rows: list[Row], most: int) -> None:
    samples = hand_made(rows)
    whole = call_tree(samples)
    cut = FlameCut.of(whole, len(samples.frames), most)
    tree = cut.tree
    kept = len(whole) - cut.gone
    assert kept == min(most, len(whole))
    assert tree.own.sum() == whole.own.sum()
    assert (np.asarray(tree.parent) < np.arange(len(tree))).all()
    # Every box that stayed has the weight that it had.
    before, after = whole.totals(), tree.totals()
    stayed = np.flatnonzero(tree.frame[cut.place] == whole.frame)
    assert len(stayed) >= kept
    small = tree.frame == len(samples.frames)
    assert small.sum() <= kept + 1
    for node in stayed[~small[cut.place[stayed]]].tolist():
        assert after[cut.place[node]] == before[node]


def timeline(trace: bytes) -> tuple[dict[str, Any], list[str]]:
    texts = PageTexts()
    with clrevents.open(trace) as opened:
        made = page_timeline.page_timeline(opened.reports(), (), opened.duration_ns, texts)
    return made, texts.all


def test_lanes_and_tracks() -> None:
    made, texts = timeline(built_page())
    tick = made["tick_ns"]
    assert [texts[lane["title"]] for lane in made["lanes"]] == ["7 main", "8 main"]
    (lane, _) = made["lanes"]
    assert [made["states"][state] for state in lane["states"]] == ["running"]
    assert [lane["starts"][0] * tick, lane["ends"][0] * tick] == pytest.approx([10 * MS, 21.5 * MS], abs=tick)
    track, compiled = made["tracks"]
    # The begins of their compilations are not in the trace.
    assert (compiled["title"], compiled["count"], compiled["unplaced"]) == ("JIT", 2, 2)
    assert compiled["starts"] == []
    assert (track["title"], track["count"], track["unplaced"]) == ("exceptions", 2, 0)
    assert [start * tick for start in track["starts"]] == pytest.approx([22 * MS, 23 * MS], abs=tick)
    assert [texts[label] for label in track["labels"]] == ["Main", "Pay"]


def test_short_intervals_of_one_part_are_one() -> None:
    """Of four parts of a time, the second has three intervals: two of a state that took three quarters of it."""
    starts = np.array([0, 100, 150, 175, 300])
    lasted = np.array([100, 50, 25, 25, 100])
    assert page_timeline._grouped(starts, lasted, 100).tolist() == [0, 1, 1, 1, 2]
    assert page_timeline._grouped(starts, lasted, 1000).tolist() == [0, 0, 0, 0, 0]
    assert page_timeline._grouped(starts[:0], lasted[:0], 100).tolist() == []


def test_the_shortest_wait_is_all_of_its_piece() -> None:
    start, stop = WaitHandleWaitStart_V0(WaitHandleWaitSource(0), 0, 0), WaitHandleWaitStop_V0(0)
    made, _ = timeline(TraceBuilder().thread(7).at(MS).event(start).at(MS + 1).event(stop).build())
    assert [lane["shares"] for lane in made["lanes"]] == [[100]]


def test_losses_have_a_track() -> None:
    texts = PageTexts()
    losses = [Loss(-1, 3, 500, 900), Loss(7, 2, 0, 400)]
    made = page_timeline.page_timeline({}, losses, 1000, texts)
    (track,) = made["tracks"]
    assert (track["starts"], track["ends"], track["rows"]) == ([0, 500], [400, 900], [0, 0])
    assert [texts.all[label] for label in track["labels"]] == ["2 events of thread 7", "3 events of thread unknown"]


def test_spans_at_once_lie_below_one_another() -> None:
    items = [page_timeline._Item(start, start + 10, 1, 0) for start in (0, 1, 2, 10, 11)]
    assert page_timeline._packed(items) == [0, 1, 2, 0, 1]


def test_texts_are_held_once_and_safe() -> None:
    texts = PageTexts()
    assert [texts.place(text) for text in ("a", "b\u202e", "a")] == [0, 1, 0]
    assert texts.all == ["a", "b\\u202e"]
    assert shown_text("a\nb\x1b") == "a\nb\\x1b"
    assert shown_text("x" * 700) == f"{'x' * 600}… (700 characters)"
