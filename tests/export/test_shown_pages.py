"""`show()`: one sandboxed frame of bounded size in a notebook, a page in a browser elsewhere, and nothing in between.

The test with a browser needs Chromium on the path and is skipped without one.
"""

from __future__ import annotations

import json
import re
import stat
import webbrowser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlparse

import attrs
import pytest

import clrevents
from browser_page import needs_browser
from clrevents._util.words import duration_text
from clrevents.analysis import ReportTable, read_samples
from clrevents.analysis.reports.threads import ThreadsReport
from clrevents.analysis.shared.samples.calltree import call_tree
from clrevents.export.flame.flame_html import SMALL, FlameCut, render
from clrevents.export.look import Look
from clrevents.export.page.shown import MOST_BYTES, answer_frame, flame_frame, framed
from hand_made import Row, hand_made
from project_files import fixture

HOSTILE: Final = "'\"></iframe><script>alert(1)</script>&amp;&#39;"


class Frames(HTMLParser):
    """The elements of some HTML, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def page_in(frame: str) -> str:
    ((tag, attributes),) = Frames(frame).elements
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts"
    found = attributes["srcdoc"]
    assert found is not None
    return found


def data_in(frame: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page_in(frame), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize("name", ["plain", HOSTILE])
def test_the_page_comes_out_of_the_frame_as_it_went_in(name: str) -> None:
    samples = hand_made([(7, 5, (name, "Pay"), False)], modules={name: name})
    look = Look(name)
    assert page_in(flame_frame(samples, look)) == render(samples, look).decode()
    ((_, attributes),) = Frames(framed(b"<p>'&quot;</p>", name, 99)).elements
    assert attributes["title"] == name
    assert attributes["srcdoc"] == "<p>'&quot;</p>"
    assert "height:99px" in (attributes["style"] or "")


def many_boxes() -> list[Row]:
    """More boxes than a frame can hold: threads, callers and callees with weights that fall."""
    return [
        (n % 9, 1 + n % 700, (f"App.Root{n % 9}", f"App.Caller{n % 997}", f"Callee{n}"), False) for n in range(60_000)
    ]


def test_a_large_graph_is_cut_at_its_lightest_boxes_and_says_so() -> None:
    samples = hand_made(many_boxes())
    frame = flame_frame(samples, Look("large"))
    assert 0.7 * MOST_BYTES < len(frame.encode()) <= MOST_BYTES
    data = data_in(frame)
    whole = call_tree(samples)
    assert sum(data["own"]) == samples.total
    kept = len(data["own"]) - data["frame"].count(data["frames"].index(SMALL))
    assert f"{len(whole) - kept:,} light boxes of {len(whole):,} are drawn as one for each caller" in data["note"]
    assert set(range(len(data["frames"]))) == {frame for frame in data["frame"] if frame >= 0}
    assert len(data["threads"]) == 9
    # What stays weighs what it weighed, and nothing that stays is lighter than what went.
    totals, names = totals_of(data)
    told = totals_of_tree(samples)
    assert totals == {path: told[path] for path in totals}
    assert min(totals.values()) >= max(weight for path, weight in told.items() if path not in totals)
    assert names["Callee699"] == 1


def totals_of(data: Any) -> tuple[dict[tuple[str, ...], int], dict[str, int]]:
    """The weight of each box by its path, without those that stand for many; how often a name is there."""
    names = [data["threads"][-1 - f] if f < 0 else data["frames"][f] for f in data["frame"]]
    paths: list[tuple[str, ...]] = []
    for parent, name in zip(data["parent"], names, strict=True):
        paths.append((*(paths[parent] if parent >= 0 else ()), name))
    totals = dict.fromkeys(paths, 0)
    for path, own in zip(paths, data["own"], strict=True):
        for depth in range(1, len(path) + 1):
            totals[path[:depth]] += own
    return {p: w for p, w in totals.items() if SMALL not in p}, Counter(names)


def totals_of_tree(samples: Any) -> dict[tuple[str, ...], int]:
    tree = call_tree(samples)
    names = [str(samples.threads[-1 - f]) if f < 0 else samples.frames[f].name for f in tree.frame.tolist()]
    paths: list[tuple[str, ...]] = []
    for parent, name in zip(tree.parent.tolist(), names, strict=True):
        paths.append((*(paths[parent] if parent >= 0 else ()), name))
    return dict(zip(paths, tree.totals().tolist(), strict=True))


def test_long_names_and_many_threads_do_not_make_it_large() -> None:
    long = hand_made([(n, 1000 - n, (f"{n}" + "<x" * 30_000,), False) for n in range(40)])
    assert len(flame_frame(long, Look("long")).encode()) <= MOST_BYTES
    threads = hand_made([(n, 1, ("Main",), False) for n in range(50_000)])
    frame = flame_frame(threads, Look("threads"))
    assert len(frame.encode()) <= MOST_BYTES
    assert len(data_in(frame)["threads"]) < 50_000


def test_a_cut_moves_weights_and_loses_none() -> None:
    tree = call_tree(hand_made([(1, 5, ("A", "B"), False), (1, 3, ("A", "C"), False), (1, 2, ("A", "D"), False)]))
    cut = FlameCut.of(tree, 99, 3)
    assert cut.gone == 2
    assert list(zip(cut.tree.parent.tolist(), cut.tree.frame.tolist(), cut.tree.own.tolist(), strict=True)) == [
        (-1, -1, 0),
        (0, 0, 0),
        (1, 1, 5),
        (1, 99, 5),
    ]


def many_threads() -> ThreadsReport:
    """An answer with long tables."""
    threads = clrevents.open(fixture("net10-starvation")).report("threads")
    return attrs.evolve(threads, threads=ReportTable.joined(threads.threads.row_class, [threads.threads] * 800))


@pytest.mark.full
def test_an_answer_has_its_tables_in_the_frame_as_far_as_it_may_be_large() -> None:
    found = clrevents.open(fixture("net10-starvation")).report("threads")
    section = data_in(answer_frame(found))["section"]
    tables = {table["name"]: table for table in section["tables"]}
    assert section["question"] == found.question.text
    assert tables["threads"]["shown"] == tables["threads"]["rows"] == len(found.threads)
    assert tables["intervals"]["shown"] == 0
    assert section["charts"][0]["svg"].startswith("<svg")
    long = many_threads()
    frame = answer_frame(long)
    assert len(frame.encode()) <= MOST_BYTES
    (threads,) = [table for table in data_in(frame)["section"]["tables"] if table["name"] == "threads"]
    assert threads["rows"] == len(long.threads) == 800 * len(found.threads)
    assert 0 < threads["shown"] <= 500
    assert f"{threads['shown']:,} " in threads["how"]


# In a notebook and out of it. --------------------------------------------------------------------------------------


def executed(*cells: str) -> Any:
    import nbformat
    from nbclient import NotebookClient

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    return book


@pytest.mark.full
def test_a_notebook_has_the_frame_and_a_text_for_who_cannot_see_it() -> None:
    path = str(fixture("net8-netperf3"))
    book = executed(
        f"import clrevents, clrevents.analysis\nsamples = clrevents.analysis.read_samples(clrevents.open({path!r}))",
        "samples.show(title='why', height=345)",
    )
    (shown,) = book.cells[1].outputs
    assert shown.output_type == "display_data"
    assert "height:345px" in shown.data["text/html"]
    data = data_in(shown.data["text/html"])
    assert data["title"] == "why"
    assert sum(data["own"]) == read_samples(clrevents.open(path)).total
    assert shown.data["text/plain"].startswith("<Samples: ")


def test_elsewhere_a_browser_gets_the_whole_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    samples = hand_made(many_boxes())
    samples.show(title="large", merge_threads=True)
    (url,) = opened
    path = Path(unquote(urlparse(url).path))
    assert path.read_bytes() == render(samples, Look("large", merge_threads=True))
    assert len(path.read_bytes()) > MOST_BYTES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_browser_it_says_where_the_page_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    with pytest.raises(OSError, match=r"no browser can be started here; the page is .*clrevents-.*\.html"):
        hand_made([(7, 5, ("Main",), False)]).show()
    (path,) = tmp_path.iterdir()
    assert b"Main" in path.read_bytes()


@contextmanager
def in_a_tab(browser: Any, path: Path) -> Iterator[Any]:
    """A page in whose console nothing is said."""
    said: list[str] = []
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    yield page
    page.close()
    assert said == []


@needs_browser
def test_tables_of_an_answer_are_sorted_and_searched_inside_of_the_frame(browser: Any, tmp_path: Path) -> None:
    found = clrevents.open(fixture("net10-starvation")).report("threads")
    path = tmp_path / "notebook.html"
    path.write_text(f"<meta charset=utf-8>{answer_frame(found)}", "utf-8")
    with in_a_tab(browser, path) as page:
        table = page.frame_locator("iframe").locator("[data-table=threads]")
        table.get_by_role("button", name="life").click()
        longest = max(thread.life_ns for thread in found.threads)
        place = table.locator("th").all_inner_texts().index("life")
        first = table.locator("tbody tr").first.locator("td").nth(place)
        assert first.inner_text() == duration_text(longest)
        table.get_by_role("searchbox").fill("finalizer")
        assert table.locator("tbody tr").count() == sum(thread.role == "finalizer" for thread in found.threads) == 1


@needs_browser
def test_it_zooms_inside_of_its_frame_and_reaches_nothing_else(browser: Any, tmp_path: Path) -> None:
    rows: list[Row] = [(7, 600, ("Main", "Pay"), False), (7, 400, ("Main", HOSTILE), False)]
    path = tmp_path / "notebook.html"
    path.write_text(f"<meta charset=utf-8><p id=out>cell</p>{flame_frame(hand_made(rows), Look('t'))}", "utf-8")
    with in_a_tab(browser, path) as page:
        inside = page.frame_locator("iframe")
        inside.locator("g", has_text="Pay").click()
        assert inside.locator("#name").inner_text() == "Pay"
        assert inside.locator("#weight").inner_text().startswith("600 ns, 60.00 % of all")
        assert inside.locator("g.box").count() == 1
        inside.locator("#reset").click()
        assert inside.locator("g.box").count() == 4
        (frame,) = [frame for frame in page.frames if frame.parent_frame is not None]
        with pytest.raises(Exception, match="cross-origin"):
            frame.evaluate("parent.document.getElementById('out').textContent")
        assert page.inner_text("#out") == "cell"
