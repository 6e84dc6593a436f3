"""A flame graph of two traces: widths of one, changes against the other, in the data and in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from browser_page import needs_browser, opened
from built_page import HOSTILE, MS, built_page, data_of
from clrevents._util.words import safe
from clrevents.export.flame.flame_formats import flame_bytes
from clrevents.export.flame.flame_html import compared_data
from clrevents.export.look import Look
from clrevents.export.page.report_page import PageAgainst, report_page
from clrevents.testing.builder import TraceBuilder
from hand_made import Row, hand_made

AFTER: Final[list[Row]] = [(7, 600, ("Main", "Pay"), False), (8, 300, ("Main", "New"), False), (8, 100, ("Run",), True)]
BEFORE: Final[list[Row]] = [
    (3, 500, ("Main", "Pay"), False),
    (3, 300, ("Old", "Deep"), True),
    (3, 1200, ("Run",), True),
]
STACKS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)
ROWS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50), STACKS, st.booleans()), min_size=1, max_size=30)


def test_the_data() -> None:
    data = data_of(flame_bytes(hand_made(AFTER), "html", Look("a.nettrace"), against=("b.nettrace", hand_made(BEFORE))))
    assert data["about"] == "3 samples on 2 threads, compared with 3 samples on 1 thread of b.nettrace"
    assert (data["against"], data["threads"]) == ("b.nettrace", [])
    names = [data["frames"][frame] for frame in data["frame"]]
    found = dict(zip(names, zip(data["own"], data["before"], strict=True), strict=True))
    assert found == {
        "Main": (0, 0), "Run": (100, 1200), "Old": (0, 0), "Pay": (600, 500), "New": (300, 0), "Deep": (0, 300),
    }  # fmt: skip


@given(ROWS, ROWS, st.integers(1, 12))
def test_light_boxes_lose_no_weight(after: list[Row], before: list[Row], most: int) -> None:
    data = compared_data(hand_made(after), hand_made(before), "b", Look(), most)
    assert sum(data["own"]) == sum(row[1] for row in after)
    assert sum(data["before"]) == sum(row[1] for row in before)


def test_other_periods_and_events_are_said() -> None:
    def samples(period: int) -> Any:
        return hand_made([(1, period, ("a",), False)] * 3 + [(1, 0, ("a",), False)])

    said = compared_data(samples(10 * MS), samples(MS), "b", Look())["note"]
    assert said.endswith("Threads were sampled every 10.0 ms here and every 1.00 ms in b; weights are times in both")
    assert "every" not in compared_data(samples(MS), samples(MS + 1), "b", Look())["note"]
    with clrevents.open(built_page()) as trace:
        thrown = clrevents.analysis.read_samples(trace, weight="exceptions")
    sold = hand_made([(1, 1, ("a",), False)], timed=False, unit=thrown.unit)
    assert compared_data(thrown, sold, "b", Look())["note"] == "Stacks are from ExceptionThrown here and from Sold in b"


def against(trace: bytes) -> PageAgainst:
    with clrevents.open(trace) as opened_trace:
        return PageAgainst.of(opened_trace)


def test_a_page_says_what_it_compared() -> None:
    """A trace with samples and exceptions, and one with samples only, of which seven events are lost."""
    builder = TraceBuilder().method_load("Shop", "Main", address=0x1000).thread(7)
    lossy = builder.at(MS).sample(0x1010).lose(7).at(3 * MS).sample(0x1010).build()
    with clrevents.open(built_page()) as trace:
        with pytest.warns(clrevents.TraceWarning, match="7 events"):
            other = against(lossy)
        data = data_of(report_page(trace, other))
        alone = data_of(report_page(trace))
    assert [flame["name"] for flame in data["flames"]] == [
        "time", "exceptions", "time, compared with trace in memory",
    ]  # fmt: skip
    assert data["flames"][:2] == alone["flames"]
    assert data["facts"][:-1] == alone["facts"]
    name, text = data["facts"][-1]
    assert name == "compared with"
    assert text.startswith(
        "trace in memory, 3.00 ms; flame graphs of time; not of exceptions, which it has no stacks of; 7 events were "
    )
    with clrevents.open(lossy) as trace, pytest.warns(clrevents.TraceWarning, match="7 events"):
        text = data_of(report_page(trace, against(built_page())))["facts"][-1][1]
    assert text.endswith("; flame graphs of time; not of exceptions, which only it has stacks of")


SHARES: Final = """() => [...document.querySelectorAll("#flame-graph g")].map(
  (g) => [g.textContent, g.querySelector("rect").getAttribute("fill")])"""


@needs_browser
def test_a_page_of_two_traces_in_a_browser(browser: Any, tmp_path: Path) -> None:
    """Hostile names after, harmless ones before: everything is new, what was there is gone, all of it text."""
    path = tmp_path / "page.html"
    with clrevents.open(built_page(HOSTILE)) as trace:
        path.write_bytes(report_page(trace, against(built_page())))
    with opened(browser, path) as page:
        page.tab.select_option("#flame-what", label="time, compared with trace in memory")
        note = (
            "22 samples on 2 threads, compared with 22 samples on 2 threads of trace in memory, 20.0 ms now and 20.0 ms"
        )
        assert page.tab.inner_text("#flame-note").startswith(f"{note} before in all.")
        boxes = page.tab.evaluate(SHARES)
        assert [text for text, _ in boxes[1:]] == [f"▲ Shop.{safe(name)}()" for name in HOSTILE]
        assert {fill for _, fill in boxes[1:]} == {"#ee8f50"}
        assert [text.strip() for text in page.texts("#flame-legend span")] == [
            "▼ 5 or more", "▼ 1 to 5", "▼ 0.1 to 1", "about the same", "▲ 0.1 to 1", "▲ 1 to 5", "▲ 5 or more",
        ]  # fmt: skip
        gone = "Gone: 1 call of trace in memory without any weight now: 20.0 ms, 100.00 % of all before"
        assert page.tab.inner_text("#flame-gone summary") == gone
        page.tab.click("#flame-gone summary")
        assert page.texts("#flame-gone li") == ["Shop.Main(): 20.0 ms, 100.00 % of all before"]
        page.tab.focus("#flame-graph")
        page.tab.keyboard.press("ArrowDown")
        told = "+20.0 ms: 0 ns → 20.0 ms, 0.00 % → 100.00 % of all · new · 0 ns in it alone"
        assert page.tab.inner_text("#flame-weight").startswith(told)
        page.tab.fill("#flame-search", "/./")
        assert page.tab.inner_text("#flame-matched") == "100.00 % found, 20.0 ms; before 100.00 %, 20.0 ms"
        assert page.serious("tbody tr:nth-child(n + 3)", "svg g") == []
        page.tab.click("#theme")
        assert {fill for _, fill in page.tab.evaluate(SHARES)[1:]} == {"#9c500d"}
        assert page.serious("tbody tr:nth-child(n + 3)", "svg g") == []
        assert page.tab.evaluate("window.broken || 0") == 0
        assert page.tab.locator("img").count() == 0
        # Back to one trace: no legend, and nothing is gone.
        page.tab.select_option("#flame-what", label="time")
        assert page.tab.locator("#flame-legend").is_hidden()
        assert page.tab.locator("#flame-gone").is_hidden()


@needs_browser
def test_shares_decide_about_the_colour(browser: Any, tmp_path: Path) -> None:
    """Pay weighs 100 ns more and its share is 35 points higher; Run's is 50 points lower."""
    path = tmp_path / "flame.html"
    path.write_bytes(
        flame_bytes(hand_made(AFTER), "html", Look("a.nettrace"), against=("b.nettrace", hand_made(BEFORE)))
    )
    tab = browser.new_page()
    tab.goto(path.as_uri())
    fills = """() => [...document.querySelectorAll("#graph g")].map(
      (g) => [g.textContent, g.querySelector("rect").getAttribute("fill")])"""
    assert dict(tab.evaluate(fills)) == {
        "all": "#e4e4ea", "▲ Main": "#ee8f50", "▲ Pay": "#ee8f50", "▲ New": "#ee8f50", "▼ Run": "#74a6e8",
    }  # fmt: skip
    tab.locator("#graph g", has_text="▲ Pay").click()
    assert tab.inner_text("#weight") == (
        "+100 ns: 500 ns → 600 ns, 25.00 % → 60.00 % of all · 100.00 % of what is shown · 600 ns in it alone"
    )
    assert tab.locator("#gone summary").text_content() == (
        "Gone: 1 call of b.nettrace without any weight now: 300 ns, 15.00 % of all before"
    )
    tab.check("#reverse")
    assert tab.locator("#gone li").all_text_contents() == ["Deep: 300 ns, 15.00 % of all before"]
    tab.close()


@needs_browser
def test_the_same_trace_has_no_change(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "flame.html"
    path.write_bytes(flame_bytes(hand_made(AFTER), "html", Look("a"), against=("b", hand_made(AFTER))))
    tab = browser.new_page()
    tab.goto(path.as_uri())
    fills = """() => [...document.querySelectorAll("#graph g rect")].map((rect) => rect.getAttribute("fill"))"""
    assert tab.evaluate(fills) == ["#e4e4ea"] * 5
    assert tab.locator("#gone").is_hidden()
    tab.locator("#graph g", has_text="Pay").click()
    assert tab.inner_text("#weight").startswith("no change: 600 ns → 600 ns, 60.00 % → 60.00 % of all")
    tab.close()
