"""The flame graph's page: it holds the tree as data only, asks for nothing, and does in a browser what it promises.

The tests with a browser need Chromium on the path and are skipped without one.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest

from browser_page import CHROMIUM, needs_browser
from built_page import data_of
from clrevents._util.words import safe
from clrevents.analysis.shared.weights.weighing import CAVEAT
from clrevents.export.flame.flame_html import render
from clrevents.export.look import Look
from hand_made import Row, hand_made

ROWS: list[Row] = [
    (7, 400, ("Main", "Pay"), False),
    (7, 300, ("Main", "Pay", "Wait"), True),
    (8, 200, ("Run", "Wait", "Pay"), False),
    (8, 100, ("Run",), False),
]


class Page(HTMLParser):
    """The elements of a page, their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.scripts and self.get_starttag_text() and self.cdata_elem == "script":
            self.scripts[-1] += data


def test_the_data() -> None:
    samples = hand_made(ROWS, modules={"Main": "App", "Pay": "App"}, reasons={"Wait": "no rundown"}, advice="do better")
    data = data_of(render(samples, Look("app.nettrace")))
    assert data["title"] == "app.nettrace"
    assert data["about"] == "4 samples on 2 threads"
    assert data["note"] == f"{CAVEAT.capitalize()}. Many names are missing: do better"
    assert data["threads"] == ["thread 7", "thread 8"]
    assert data["frames"] == ["Main", "Pay", "Wait", "Run"]
    assert [data["modules"][n] for n in data["module"]] == ["App", "App", "", ""]
    assert data["reasons"] == ["", "", "no rundown", ""]
    nodes = list(zip(data["parent"], data["frame"], data["own"], strict=True))
    assert nodes == [
        (-1, -1, 0), (-1, -2, 0), (0, 0, 0), (1, 3, 100), (2, 1, 400), (3, 2, 0), (4, 2, 300), (5, 1, 200),
    ]  # fmt: skip


def test_threads_may_be_merged() -> None:
    data = data_of(render(hand_made(ROWS), Look(merge_threads=True)))
    assert data["threads"] == []
    assert sum(data["own"]) == 1000
    assert min(data["frame"]) == 0


@pytest.mark.parametrize(
    "name",
    ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "&lt;", "\u2028", "${x}", "`", "__DATA__", "\\"],
)
def test_no_name_gets_out_of_the_data(name: str) -> None:
    plain = Page(render(hand_made(ROWS), Look("t")).decode())
    page = Page(render(hand_made([(7, 1, (name,), False)], modules={name: name}), Look(name)).decode())
    assert (page.elements, page.attributes) == (plain.elements, plain.attributes)
    assert page.scripts[1:] == plain.scripts[1:]
    data = json.loads(page.scripts[0])
    assert data["frames"] == data["modules"] == [safe(name)]
    assert data["title"] == safe(name)


def test_it_asks_for_nothing() -> None:
    """No address but the names of XML vocabularies, and a policy under which the browser would refuse one."""
    text = render(hand_made(ROWS), Look("t")).decode()
    assert set(re.findall(r"\w+://[^\"'\s]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not {name for name, _ in Page(text).attributes} & {"src", "href"}
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|innerHTML|outerHTML|document\.write|eval\(", text)
    assert "default-src 'none'" in text


Browser = Callable[..., Any]


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """Open a page in Chromium, run a script behind its own, and give back what that returns."""

    def browser(page: bytes, script: str) -> Any:
        assert CHROMIUM is not None
        path = tmp_path / "page.html"
        probe = (
            f"<pre id=probe></pre><script>at('probe').textContent = JSON.stringify((() => {{ {script} }})())</script>"
        )
        path.write_bytes(page.replace(b"</body>", probe.encode() + b"</body>"))
        options = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1000,600",
            "--virtual-time-budget=3000",
        )
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        done = subprocess.run(
            [CHROMIUM, *options, profile, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=120
        )
        found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found is not None, done.stderr[-2000:]
        return json.loads(html.unescape(found[1]))

    return browser


SHOWN: Final = """
const boxes = () => [...svg.querySelectorAll("g")].map((g) => [
  g.node.frame === null ? "all" : label(g.node.frame), g.node.depth, g.node.total,
  Math.round(1000 * g.querySelector("rect").getAttribute("width") / svg.clientWidth),
  g.classList.contains("found")]).sort();
const box = (name) => [...svg.querySelectorAll("g")].find((g) => g.node.frame !== null && label(g.node.frame) === name);
const click = (name) => box(name).querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
const type = (text) => { at("search").value = text; at("search").dispatchEvent(new Event("input")); };
const check = (id) => { at(id).checked = true; at(id).dispatchEvent(new Event("change")); };
"""


@needs_browser
def test_zoom_and_search_in_a_browser(browser: Browser) -> None:
    found = browser(
        render(hand_made(ROWS, modules={"Main": "App"}), Look("app.nettrace")),
        SHOWN
        + """
        at("merge").click();
        const told = { title: document.title, about: at("about").textContent, all: boxes() };
        type("WAIT"); told.matched = at("matched").textContent;
        click("Main"); told.zoomed = boxes(); told.status = at("weight").textContent;
        told.inside = at("matched").textContent;
        type("/^(main|pay)$/"); told.pattern = at("matched").textContent;
        type("/(/"); told.broken = at("matched").textContent;
        type("");
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
        told.back = boxes(); told.none = at("matched").textContent;
        return told;
        """,
    )
    # Whole, then each box: name, depth, weight, width in thousandths, whether it was searched for.
    everything = [
        ["Main", 2, 700, 700, False],
        ["Pay", 3, 700, 700, False],
        ["Pay", 4, 200, 200, False],
        ["Run", 2, 300, 300, False],
        ["Wait", 3, 200, 200, False],
        ["Wait", 4, 300, 300, False],
        ["all", 0, 1000, 1000, False],
        ["thread 7", 1, 700, 700, False],
        ["thread 8", 1, 300, 300, False],
    ]
    assert found["title"] == "app.nettrace · flame graph"
    assert found["about"] == "4 samples on 2 threads, 1.00 µs in all"
    assert found["all"] == found["back"] == everything
    assert found["matched"] == "50.00 % found, 500 ns"
    assert found["zoomed"] == [
        ["Main", 2, 700, 1000, False],
        ["Pay", 3, 700, 1000, False],
        ["Wait", 4, 300, 429, True],
        ["all", 0, 1000, 1000, False],
        ["thread 7", 1, 700, 1000, False],
    ]
    assert found["inside"] == "42.86 % found, 300 ns"
    assert found["status"] == "700 ns, 70.00 % of all · 100.00 % of what is shown · 0 ns in it alone · module App"
    assert found["pattern"] == "100.00 % found, 700 ns"
    assert found["broken"] == "0.00 % found, 0 ns"
    assert found["none"] == ""


@needs_browser
def test_it_opens_merged_and_turns_round_in_a_browser(browser: Browser) -> None:
    found = browser(
        render(hand_made(ROWS), Look("t")),
        SHOWN + 'const merged = boxes(); check("reverse"); return [merged, boxes()];',
    )
    merged, reverse = ([box[:3] for box in boxes] for boxes in found)
    assert merged == [
        ["Main", 1, 700], ["Pay", 2, 700], ["Pay", 3, 200], ["Run", 1, 300], ["Wait", 2, 200], ["Wait", 3, 300],
        ["all", 0, 1000],
    ]  # fmt: skip
    assert reverse == [
        ["Main", 2, 400], ["Main", 3, 300], ["Pay", 1, 600], ["Pay", 2, 300], ["Run", 1, 100], ["Run", 3, 200],
        ["Wait", 1, 300], ["Wait", 2, 200], ["all", 0, 1000],
    ]  # fmt: skip


@needs_browser
def test_hostile_names_in_a_browser(browser: Browser) -> None:
    """Names are shown as they are; none of them becomes an element or runs."""
    names = ("</script><img src=x onerror=window.broken=1>", "<b>bold</b>", "a\u2028b", "__proto__", "constructor")
    found = browser(
        render(hand_made([(7, 1000, names, False)], modules={names[0]: names[0]}), Look(names[0])),
        SHOWN
        + """
        const over = new MouseEvent("mouseover", { bubbles: true });
        for (const box of svg.querySelectorAll("g rect")) box.dispatchEvent(over);
        return [boxes().map((b) => b[0]), document.querySelectorAll("img, b:not(#name)").length, window.broken || 0,
          document.title];
        """,
    )
    # A separator of lines is shown as its escape.
    shown = [name.replace("\u2028", "\\u2028") for name in names]
    assert found == [sorted(["all", *shown]), 0, 0, f"{names[0]} · flame graph"]


@needs_browser
def test_deep_and_wide_in_a_browser(browser: Browser) -> None:
    """Ten thousand calls inside each other, and as many side by side, of which most are too thin to be drawn."""
    rows: list[Row] = [(7, 50_000, tuple(f"deep{n}" for n in range(10_000)), False)]
    rows += [(7, 1, (f"wide{n}",), False) for n in range(10_000)]
    drawn, height = browser(
        render(hand_made(rows), Look("t")),
        'return [svg.querySelectorAll("g").length, Number(svg.getAttribute("height"))];',
    )
    assert 10_000 < drawn < 10_100
    assert height > 10_000
