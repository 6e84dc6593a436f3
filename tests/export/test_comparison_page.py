"""The page of a comparison: its tables are the comparison's, its flame graphs add up to those of both traces."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clrevents
from browser_page import needs_browser, opened
from built_page import HOSTILE, built_page, data_of
from clrevents._util.words import safe
from clrevents.analysis import read_samples
from clrevents.analysis.compare.comparison import verdict_text
from clrevents.analysis.shared.samples.calltree import call_tree, without_address
from clrevents.analysis.shared.samples.samples import Samples
from clrevents.export.flame.flame_formats import flame_bytes
from clrevents.export.flame.flame_html import compared_data
from clrevents.export.look import Look
from clrevents.export.page.comparison_page import comparison_page
from clrevents.export.page.page_flames import PageStacks
from hand_made import Row, hand_made
from project_files import FIXTURES

GARBAGE, CONVOY = (FIXTURES / f"net10-{name}.nettrace.gz" for name in ("garbage", "convoy"))
STACKS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=6).map(tuple)
ROWS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50), STACKS, st.booleans()), min_size=1, max_size=30)
AFTER: Final[list[Row]] = [(7, 600, ("Main", "Pay"), False), (8, 300, ("Main", "New"), False), (8, 100, ("Run",), True)]
BEFORE: Final[list[Row]] = [
    (3, 900, ("Main", "Pay"), False),
    (3, 50, ("Old", "Deep"), True),
    (3, 100, ("Run",), True),
]


def by_path(names: list[str], parent: list[int], frame: list[int], own: list[int]) -> dict[tuple[str, ...], int]:
    """What each path of calls weighs alone."""
    paths: list[tuple[str, ...]] = []
    found: dict[tuple[str, ...], int] = defaultdict(int)
    for up, place, weight in zip(parent, frame, own, strict=True):
        paths.append((*(paths[up] if up >= 0 else ()), names[place]))
        if weight:
            found[paths[-1]] += weight
    return dict(found)


def of_flame(samples: Samples) -> dict[tuple[str, ...], int]:
    """The same of the flame graph of one trace."""
    tree = call_tree(samples, merge_threads=True)
    names = [without_address(frame).name for frame in samples.frames]
    return by_path(names, tree.parent.tolist(), tree.frame.tolist(), tree.own.tolist())


def check_sums(data: Any, after: Samples, before: Samples) -> None:
    tree = data["frames"], data["parent"], data["frame"]
    assert by_path(*tree, data["own"]) == of_flame(after)
    assert by_path(*tree, data["before"]) == of_flame(before)


# Nothing is lost between the two flame graphs and their difference. ------------------------------------------------


@given(ROWS, ROWS)
def test_sums_are_those_of_both_flame_graphs(after: list[Row], before: list[Row]) -> None:
    sides = hand_made(after), hand_made(before)
    check_sums(compared_data(*sides, "b", Look()), *sides)


@pytest.mark.parametrize("weight", [None, "alloc"])
def test_sums_of_real_traces_are_those_of_both_flame_graphs(weight: str | None) -> None:
    with clrevents.open(GARBAGE) as one, clrevents.open(CONVOY) as other:
        after, before = (read_samples(trace, weight=weight) for trace in (one, other))
    data = compared_data(after, before, "b", Look())
    assert (sum(data["own"]), sum(data["before"])) == (after.total, before.total)
    check_sums(data, after, before)


def test_methods_that_were_numbered_anew_are_the_same() -> None:
    after, before = (hand_made([(1, 5, ("Main", f"Shop.Cart+<>c.<Pay>b__{n}_0"), False)]) for n in (4, 7))
    data = compared_data(after, before, "b", Look())
    assert (data["own"], data["before"]) == ([0, 5], [0, 5])
    assert data["frames"] == ["Main", "Shop.Cart+<>c.<Pay>b__4_0"]


# The page. ---------------------------------------------------------------------------------------------------------


def test_the_page_says_what_the_comparison_says() -> None:
    found = clrevents.compare(CONVOY, GARBAGE)
    with clrevents.open(CONVOY) as base, clrevents.open(GARBAGE) as new:
        data = data_of(comparison_page(found, [PageStacks.of(base)], [PageStacks.of(new)]))
    texts = data["texts"]
    metrics, *tables = data["tables"]
    verdicts = dict(zip(*([texts[place] for place in metrics["columns"][n]["texts"]] for n in (0, 5)), strict=True))
    assert verdicts == {
        change.key: verdict_text(change)
        for change in found.changes
        if change.verdict != "not comparable" and (change.base or change.new)
    }
    for table in tables:
        rows = [row for row in found.rows if row.family == table["name"]]
        assert sorted(table["columns"][1]["values"]) == sorted(row.base or 0 for row in rows)
    assert [flame["name"] for flame in data["flames"]] == ["time", "allocations"]
    flame = data["flames"][0]
    seconds = [one.span_ns / 1e9 for one in (found.new[0], found.base[0])]
    assert flame["scales"] == [pytest.approx(1 / second) for second in seconds]
    assert (flame["per"], flame["widths"]) == ("/s", "changes")


def test_a_page_replaces_no_trace() -> None:
    found = clrevents.compare(CONVOY, CONVOY)
    with pytest.raises(ValueError, match="the trace itself"):
        clrevents.write_comparison(found, CONVOY)


# In a browser. -----------------------------------------------------------------------------------------------------


BOXES: Final = """() => [...document.querySelectorAll("#graph g")].map((g) => [
  g.querySelector("text")?.textContent ?? "", Number(g.querySelector("rect").getAttribute("width")),
  [...g.querySelectorAll("line")].map(
    (bar) => [bar.getAttribute("stroke-dasharray"), bar.x2.baseVal.value - bar.x1.baseVal.value])])"""


@needs_browser
def test_what_cancels_and_what_is_gone_has_a_width(browser: Any, tmp_path: Path) -> None:
    """Main lost 300 in Pay and gained 300 in New; Deep lost 50; Run stayed, and has no width."""
    path = tmp_path / "flame.html"
    path.write_bytes(
        flame_bytes(hand_made(AFTER), "html", Look("a.nettrace"), against=("b.nettrace", hand_made(BEFORE)))
    )
    tab = browser.new_page(viewport={"width": 1300, "height": 700})
    tab.goto(path.as_uri())
    tab.select_option("#widths", "changes")
    boxes = tab.evaluate(BOXES)
    whole = boxes[0][1]
    assert {name: round(650 * wide / whole) for name, wide, _ in boxes} == {
        "▼ all": 650, "Main": 600, "− Old": 50, "▼ Pay": 300, "+ New": 300, "− Deep": 50,
    }  # fmt: skip
    bars = {name: {dash: round(650 * wide / whole) for dash, wide in found} for name, _, found in boxes}
    assert bars["Main"] == {"4 2": 300, "none": 300}
    assert bars["− Old"] == {"4 2": 50}
    assert bars["+ New"] == {"none": 300}
    tab.locator("#graph g", has_text="Main").click()
    assert tab.inner_text("#weight").startswith("no change: 900 ns → 900 ns")
    assert "beneath: +300 ns and −300 ns" in tab.inner_text("#weight")
    # From the other end the same amounts changed, and nothing cancels that did not before.
    tab.check("#reverse")
    turned = {name: round(650 * wide / whole) for name, wide, _ in tab.evaluate(BOXES)}
    assert turned["▼ all"] == 650
    assert turned["▼ Pay"] == turned["+ New"] == 300
    assert turned["− Deep"] == 50
    assert tab.locator("#gone").is_hidden()
    tab.close()


@needs_browser
def test_the_page_in_a_browser(browser: Any, tmp_path: Path) -> None:
    traces = [tmp_path / f"{name}.nettrace" for name in ("base", "new")]
    traces[0].write_bytes(built_page())
    traces[1].write_bytes(built_page(HOSTILE))
    page_path = tmp_path / "page.html"
    with clrevents.open(traces[0]) as base, clrevents.open(traces[1]) as new:
        clrevents.write_comparison(clrevents.compare(base, new), page_path, base=base, new=new)
    for scheme in ("light", "dark"):
        with opened(browser, page_path, scheme=scheme) as page:
            assert page.tab.inner_text("h1") == "base.nettrace → new.nettrace"
            assert "methods" in page.texts("#tables h3")
            shown = page.tab.locator("#flame-graph text").all_text_contents()
            assert {f"+ Shop.{safe(name)}()" for name in HOSTILE[:2]} <= set(shown)
            assert "− Shop.Main()" in shown
            assert page.tab.evaluate("window.broken || 0") == 0
            assert page.tab.locator("img").count() == 0
            assert page.serious("tbody tr:nth-child(n + 3)", "svg g") == []


def test_a_group_is_drawn_as_one() -> None:
    measured = [clrevents.measure(CONVOY)] * 4
    found = clrevents.compare(measured, measured)
    with clrevents.open(CONVOY) as trace:
        stacks = PageStacks.of(trace)
    flame, *_ = data_of(comparison_page(found, [stacks] * 4, [stacks] * 4))["flames"]
    assert sum(flame["own"]) == sum(flame["before"]) == 4 * stacks.samples["time"].total
    assert flame["own"] == flame["before"]
    assert flame["against"] == "4 recordings"
