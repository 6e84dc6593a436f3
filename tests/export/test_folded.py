"""Folded lines."""

from __future__ import annotations

import pytest

from clrevents.analysis.shared.samples.samples import SampledThread
from clrevents.export.flame.flame_formats import folded as render
from clrevents.export.look import Look
from hand_made import Row, hand_made

ROWS: list[Row] = [(7, 5, ("a", "b"), False), (8, 3, ("a",), True), (7, 2, ("a", "b"), False), (7, 0, ("z",), False)]


def test_lines() -> None:
    assert render(hand_made(ROWS), Look()).decode() == "thread 7;a;b 7\nthread 8;a 3\n"
    assert render(hand_made(ROWS), Look(merge_threads=True)).decode() == "a 3\na;b 7\n"
    assert render(hand_made([]), Look()) == b""


@pytest.mark.parametrize("name", ["a;b", "a\nb", "a\rb", "a\x85b", "a\u2028b", "a\ud800b"])
def test_what_would_end_a_name_is_replaced(name: str) -> None:
    text = render(hand_made([(1, 4, ("x", name), False)]), Look()).decode()
    assert text == f"thread 1;x;a{':' if ';' in name else ' '}b 4\n"


def test_names_that_are_alike_are_one_line() -> None:
    rows: list[Row] = [(1, 4, ("x;",), False), (1, 3, ("x:",), False)]
    assert render(hand_made(rows), Look()).decode() == "thread 1;x: 7\n"


def test_threads_of_several_processes() -> None:
    threads = {1: SampledThread(10, 100), 2: SampledThread(10, 200, "Main"), 3: SampledThread(None, None)}
    rows: list[Row] = [(n, 1, ("a",), False) for n in threads]
    assert render(hand_made(rows, threads=threads), Look()).decode().splitlines() == [
        "thread 10 (Main) of process 200;a 1",
        "thread 10 of process 100;a 1",
        "unknown thread;a 1",
    ]


def test_floats_are_rounded() -> None:
    rows: list[Row] = [(1, 1.75, ("a",), False), (1, 0.25, ("b",), False)]
    assert render(hand_made(rows), Look()).decode() == "thread 1;a 2\n"
