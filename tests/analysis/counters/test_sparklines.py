"""Sparklines: what they draw, and where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from built_counters import SECOND, counter, increased, polled, told
from clrevents.analysis.reports.counters import sparkline, sparklines
from clrevents.testing.builder import TraceBuilder

BARS = "▁▂▃▄▅▆▇█"
OTHERS = "_.-~=+*#"


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([], ""),
        ([None, None], "  "),
        ([0, 0.0], "▁▁"),
        ([5, 5], "██"),
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        # From 0, so that what hardly changes looks like that.
        ([98, 100], "██"),
        ([-7, 0], "▁█"),
        ([-7, None, 7], "▁ █"),
        ([-1.7e308, 1.7e308], "▁█"),
    ],
)
def test_bars(values: list[float | None], wanted: str) -> None:
    assert sparkline(values, BARS) == wanted
    assert sparkline(values, OTHERS) == wanted.translate(str.maketrans(BARS, OTHERS))


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=30))
def test_higher_bars_are_larger_values(values: list[float | None]) -> None:
    drawn = sparkline(values, BARS)
    assert len(drawn) == len(values)
    pairs = sorted((value, BARS.index(bar)) for value, bar in zip(values, drawn, strict=True) if value is not None)
    assert [bar for _, bar in pairs] == sorted(bar for _, bar in pairs)
    assert {bar for value, bar in zip(values, drawn, strict=True) if value is None} <= {" "}


def drawn(builder: TraceBuilder, width: int, **options: Any) -> dict[str, str]:
    found = told(builder, **options)
    return dict(zip(found.series["name"], sparklines(found, found.series, width, BARS), strict=True))


def counters() -> TraceBuilder:
    """One that is told each second, one that vanishes, one that only begins later, until eight seconds."""
    builder = TraceBuilder().thread(7)
    for second in range(1, 9):
        counter(builder.at(second * SECOND), increased("all", float(second - 1)), id=5)
        if second <= 2:
            counter(builder, polled("vanishes", 4.0))
        if second > 6:
            counter(builder, polled("late", 4.0))
    return builder


def test_all_rows_have_the_same_axis_and_a_value_fills_its_interval() -> None:
    assert drawn(counters(), 8) == {"all": "▁▂▃▄▅▆▇█", "vanishes": "██      ", "late": "      ██"}
    assert drawn(counters(), 16)["vanishes"] == "████            "
    # Of several values in one place the largest.
    assert drawn(counters(), 4) == {"all": "▂▄▆█", "vanishes": "█   ", "late": "   █"}


def test_the_axis_is_that_of_the_window() -> None:
    assert drawn(counters(), 4, start=9 * SECOND // 4, end=25 * SECOND // 4) == {"all": "▄▅▇█"}


def test_what_was_left_out_of_a_saved_answer_is_not_drawn() -> None:
    found = told(counters())
    short = type(found).from_dict(found.to_dict())
    assert sparklines(short, short.series, 8, BARS) == ["", "", ""]


def test_crafted_times_are_drawn_somewhere() -> None:
    builder = counter(TraceBuilder().at(SECOND), polled(IntervalSec=3e9))
    counter(builder.at(1 << 61), polled(IntervalSec=1.0))
    (text,) = drawn(builder, 10).values()
    assert len(text) == 10
