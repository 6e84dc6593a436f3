"""The page of a whole trace, in Chromium: it opens without a complaint or a request, and everything on it works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

import clrevents
from browser_page import needs_browser, opened
from built_page import HOSTILE, MS, built_page, data_of
from clrevents._util.words import duration_text, safe
from clrevents.analysis.framework.vocabulary.cells import cell_text
from clrevents.analysis.framework.vocabulary.report_table import columns_of
from clrevents.events import GCStart_V2
from clrevents.export.page.report_page import MOST_BYTES, report_page
from clrevents.testing.builder import TraceBuilder
from project_files import fixture

TRACES: Final = (
    "net10-convoy",
    "net10-garbage",
    "net8-counters",
    "net8-netperf3",
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of each trace."""
    folder = tmp_path_factory.mktemp("pages")
    for name in TRACES:
        with clrevents.open(fixture(name)) as trace:
            clrevents.write_report(trace, folder / f"{name}.html")
    return folder


def test_a_report_that_fails_is_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong with one, the page has the others, and says which failed and of what."""
    from clrevents.analysis.reports.stubs import StubCollector

    with clrevents.open(fixture("net10-convoy")) as trace:
        sound = data_of(report_page(trace))
        monkeypatch.setattr(StubCollector, "finish", lambda self, context: {}["absent"])
        page = data_of(report_page(trace))
    (failed,) = (section for section in page["sections"] if section["coverage"] == "none" and section["notes"])
    assert failed["name"] == "stubs"
    assert failed["notes"] == [
        ["error", "error: this report failed, by a fault of clrevents: KeyError: 'absent'"],
    ]
    others = [section for section in page["sections"] if section["name"] != "stubs"]
    assert others == [section for section in sound["sections"] if section["name"] != "stubs"]


def test_the_command_line_is_there_and_empty_charts_are_not() -> None:
    with clrevents.open(fixture("net10-convoy")) as trace:
        page = data_of(report_page(trace))
    assert ["command", "/usr/share/dotnet/dotnet /app/scn/Scenarios.dll convoy 11"] in page["facts"]
    charts = [(s["name"], chart["name"]) for s in page["sections"] for chart in s["charts"]]
    assert charts == [("activities", "activities"), ("alloc", "rate"), ("threads", "states")]


def test_names_of_threads_are_shown_where_they_are_known() -> None:
    builder = TraceBuilder(format="nettrace6").thread(7, "pump").at(MS).sample().at(2 * MS).sample()
    page = data_of(report_page(clrevents.open(builder.build())))
    (threads,) = (section["tables"] for section in page["sections"] if section["name"] == "threads")
    (names,) = (c["texts"] for c in threads[0]["columns"] if c["name"] == "name")
    assert [page["texts"][name] for name in names] == ["pump"]


UNREADABLE: Final = """[...document.querySelectorAll(".chart")].flatMap((chart) => {
  const room = chart.getBoundingClientRect();
  const texts = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  const bad = ([, a], place) => a.left < room.left || texts.slice(place + 1).some(([, b]) => meet(a, b));
  return texts.filter(bad).map(([text]) => text);
})"""
"""Texts of charts that lie on one another, or begin outside of the picture."""

ALIKE: Final = ("tbody tr:nth-child(n + 3)", "svg g")
"""What axe-core needs not look at: rows like those above them, and the insides of pictures."""


@needs_browser
@pytest.mark.parametrize("name", TRACES)
def test_every_section_opens_in_light_and_dark(browser: Any, pages: Path, name: str) -> None:
    path = pages / f"{name}.html"
    data = data_of(path.read_bytes())
    assert path.stat().st_size < MOST_BYTES
    with opened(browser, path) as page:
        names = [section["name"] for section in data["sections"]]
        assert page.texts("details.report > summary h3") == names
        assert page.tab.locator("details.report[open]").count() == 0
        page.tab.click("#open-all")
        assert page.tab.locator("details.report[open]").count() == len(names)
        shown = [table for section in data["sections"] for table in section["tables"] if table["columns"]]
        assert page.tab.locator("div.table").count() == len(shown)
        charts = [chart for section in data["sections"] for chart in section["charts"] if chart["svg"]]
        assert page.tab.locator("figure svg").count() == len(charts)
        assert page.tab.evaluate("document.documentElement.scrollWidth") == 1366
        for width in (1200, 800):
            page.tab.set_viewport_size({"width": width, "height": 900})
            assert page.tab.evaluate(UNREADABLE) == []
        page.tab.set_viewport_size({"width": 1366, "height": 900})
        paper = "getComputedStyle(document.body).backgroundColor"
        assert page.tab.evaluate(paper) == "rgb(255, 255, 255)"
        assert page.serious(*ALIKE) == []
        page.tab.click("#theme")
        assert page.tab.locator("#theme").get_attribute("aria-pressed") == "true"
        assert page.tab.evaluate(paper) == "rgb(22, 23, 27)"
        assert page.serious(*ALIKE) == []


@needs_browser
def test_sort_and_search(browser: Any, pages: Path) -> None:
    """The methods of a trace, by the time of their compilation and by a word, as the report has them."""
    with clrevents.open(fixture("net10-garbage")) as trace:
        rows = trace.report("jit").table("methods")
    times = [duration_text(time) for time in sorted(rows.numbers("compile_ns").tolist())]
    assert len(times) == 195
    with opened(browser, pages / "net10-garbage.html") as page:
        assert page.texts("#report-alloc .first") == ["types: System.Byte[] bytes 113 MB, share 98.6 %, samples 1,053"]
        page.tab.click("#report-jit > summary")
        table = page.tab.locator("#report-jit [data-table=methods]")
        table.locator("th button").first.wait_for()
        heads = table.locator("th button").all_text_contents()
        column = heads.index("compile") + 1

        def shown() -> list[str]:
            found: list[str] = table.locator(f"tbody tr td:nth-child({column})").all_inner_texts()
            return found

        head = table.locator(f"th:nth-child({column})")
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert shown() == times[::-1][:25]
        head.locator("button").focus()
        page.tab.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        assert shown() == times[:25]
        table.get_by_role("button", name="Show all 195 rows").click()
        assert shown() == times
        table.get_by_role("searchbox").fill("STRING")
        found = sum("string" in method.lower() for method in rows.column("method").tolist())
        assert 0 < found < 195
        assert len(shown()) == found
        assert table.get_by_role("status").inner_text() == f"{found} of 195 rows found"


@needs_browser
def test_the_flame_graph_of_a_state(browser: Any, tmp_path: Path) -> None:
    """Two threads of ten milliseconds each: all, then only what ran, zoomed by a click and back by a key."""
    path = written(tmp_path, built_page())
    with opened(browser, path) as page:
        assert page.tab.locator("#flame-whats").is_visible()
        boxes = "#flame-graph g"
        assert page.tab.locator(boxes).all_text_contents() == ["all", "Shop.Main()", "Shop.Pay()"]
        assert page.tab.inner_text("#flame-note").startswith("22 samples on 2 threads, 20.0 ms in all.")
        page.tab.select_option("#flame-state", "running")
        page.tab.uncheck("#flame-merge")
        assert page.tab.locator(boxes).all_text_contents() == ["all", "thread 7", "Shop.Main()", "Shop.Pay()"]
        page.tab.locator(boxes).nth(2).click()
        assert page.tab.inner_text("#flame-weight").startswith("10.0 ms, 100.00 % of all · 100.00 % of what is shown")
        assert page.tab.locator("#flame-reset").is_enabled()
        page.tab.mouse.move(0, 0)
        page.tab.focus("#flame-graph")
        page.tab.keyboard.press("Escape")
        assert page.tab.locator("#flame-reset").is_disabled()
        page.tab.keyboard.press("ArrowDown")
        assert page.tab.inner_text("#flame-name") == "thread 7"
        page.tab.fill("#flame-search", "pay")
        assert page.tab.inner_text("#flame-matched") == "100.00 % found, 10.0 ms"
        assert page.tab.locator(f"{boxes}.found").count() == 1
        page.tab.select_option("#flame-what", label="exceptions")
        assert page.tab.inner_text("#flame-note").startswith("2 ExceptionThrown events on 1 thread, 2 in all")
        assert page.tab.locator("#flame-states").is_hidden()


@needs_browser
def test_the_timeline_by_keys(browser: Any, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, built_page())) as page:
        told: list[str] = []
        page.tab.focus("#timeline-canvas")
        for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown"):
            page.tab.keyboard.press(key)
            told.append(page.tab.inner_text("#timeline-told"))
        assert told == [
            "exceptions: Main, at 22.0 ms",
            "exceptions: Pay, at 23.0 ms",
            "thread 7 main: running, from 10.0 ms to 21.5 ms, 11.5 ms",
            "thread 8 main: native, from 10.0 ms to 21.5 ms, 11.5 ms",
        ]
        assert page.tab.locator("#timeline-whole").is_disabled()
        page.tab.keyboard.press("+")
        assert page.tab.locator("#timeline-whole").is_enabled()
        page.tab.keyboard.press("Home")
        assert page.tab.locator("#timeline-whole").is_disabled()
        assert page.texts("#timeline-legend li") == ["running", "native"]


@needs_browser
@pytest.mark.parametrize("width", [390, 1366])
def test_hostile_names_are_texts(browser: Any, tmp_path: Path, width: int) -> None:
    """They are read as they are, but for what cannot be seen; none of them runs or becomes markup."""
    shown = [safe(name) for name in HOSTILE]
    with opened(browser, written(tmp_path, built_page(HOSTILE, HOSTILE[0])), width=width) as page:
        page.tab.click("#open-all")
        for button in page.tab.get_by_role("button", name=re.compile("Show all")).all():
            button.click()
        messages = page.texts("#report-exceptions [data-table=groups] tbody td")
        methods = page.texts("#report-top [data-table=methods] tbody td")
        frames = page.tab.evaluate("[...document.querySelectorAll('#flame-graph g')].map((g) => g.node.frame)")
        assert len(frames) == len(HOSTILE) + 1
        for name in shown:
            assert any(name in text for text in messages), name
            assert any(name in text for text in methods), name
        lane = page.tab.evaluate("data.timeline.lanes.map((lane) => data.texts[lane.title])")
        assert lane == [f"7 other {shown[0]}", "8 other"]
        own = ".headline b, .notes b, .trust b, #flame-name"
        assert page.tab.locator("img").count() == 0
        assert page.tab.locator("b").count() == page.tab.locator(own).count()
        assert page.tab.evaluate("window.broken || 0") == 0
        assert page.tab.evaluate("document.scripts.length") == 2
        assert page.tab.evaluate("document.documentElement.scrollWidth") == width


@needs_browser
def test_a_script_that_is_not_the_pages_does_not_run(browser: Any, tmp_path: Path) -> None:
    """Should a name become markup after all, the page's policy is there."""
    path = written(tmp_path, built_page())
    page = path.read_bytes().replace(b"</body>", b"<script>window.broken = 1</script><img src='http://x/y'></body>")
    path.write_bytes(page)
    tab = browser.new_page()
    asked: list[str] = []
    tab.on("requestfinished", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready]")
    assert tab.evaluate("window.broken || 0") == 0
    assert asked == [path.as_uri()]
    tab.close()


@needs_browser
def test_cells_are_written_as_the_command_writes_them(browser: Any, pages: Path) -> None:
    with clrevents.open(fixture("net10-garbage")) as trace:
        answers = trace.reports()
    path = pages / "net10-garbage.html"
    data = data_of(path.read_bytes())
    compared = 0
    with opened(browser, path) as page:
        for section in data["sections"]:
            for table in section["tables"]:
                rows = answers[section["name"]].table(table["name"])
                if not table["columns"] or table["rows"] != len(rows) or table["how"]:
                    continue
                cells = {column.name: column for column in columns_of(rows.row_class)}
                for column in table["columns"]:
                    if "values" not in column:
                        continue
                    cell = cells[column["name"]].cell
                    wanted = [cell_text(cell, value) for value in rows.column(column["name"]).tolist()]
                    script = "(column) => column.texts.map((_, row) => cellText(column, row))"
                    assert sorted(page.tab.evaluate(script, column)) == sorted(wanted), column["name"]
                    compared += len(wanted)
        assert compared > 5000
        # What the script adds up itself, it writes as everything else does.
        spans = [0, 1, 999, 1_000, 340_000, 999_499, 999_500, 9_995_000, 12_200_000, 1_780_345_112, 99_950_000_000]
        assert page.tab.evaluate("(spans) => spans.map(durationText)", spans) == [duration_text(ns) for ns in spans]


def test_shortened_tables_say_so() -> None:
    """Of 6,023 compiled methods the page has the first 500; single compilations are counted."""
    with clrevents.open(fixture("net8-netperf3")) as trace:
        data = data_of(report_page(trace))
        rows = trace.report("jit").table("methods")
    (jit,) = (section for section in data["sections"] if section["name"] == "jit")
    assert jit["headline"][:2] == [["compilations", "6,033"], ["methods", "6,023"]]
    tables = {table["name"]: table for table in jit["tables"]}
    methods = tables["methods"]
    assert (methods["rows"], methods["shown"]) == (len(rows), 500) == (6023, 500)
    assert methods["how"] == "the first 500 of 6,023 rows"
    assert methods["command"] == "clrevents jit FILE --table methods"
    column = next(column for column in methods["columns"] if column["name"] == "compile_ns")
    times = rows.column("compile_ns").tolist()
    assert column["values"] == sorted((time for time in times if time is not None), reverse=True)[:500]
    assert (tables["compilations"]["rows"], tables["compilations"]["columns"]) == (6033, [])


def test_the_same_trace_gives_the_same_page() -> None:
    with clrevents.open(fixture("net8-counters")) as one, clrevents.open(fixture("net8-counters")) as other:
        assert report_page(one) == report_page(other)


@pytest.mark.filterwarnings("ignore::clrevents.TraceWarning")
def test_the_head_says_what_is_missing() -> None:
    """A loss of seven events, and a second half that is not there."""
    builder = TraceBuilder().thread(5).at(MS).event(GCStart_V2(1, 0, 0, 0, 0, 1)).lose(7).at(3 * MS)
    lossy = builder.event(GCStart_V2(2, 0, 0, 0, 0, 2)).build()
    whole = data_of(report_page(clrevents.open(built_page())))["trust"]
    assert (whole["level"], whole["lines"]) == ("info", [])
    lost = data_of(report_page(clrevents.open(lossy)))
    assert lost["trust"]["level"] == "error"
    texts = ["7 events were lost while recording, on 1 thread", "7 lost between 1.000 ms and 3.000 ms"]
    assert lost["trust"]["lines"] == [["error", text] for text in texts]
    track = next(track for track in lost["timeline"]["tracks"] if track["title"] == "events missing")
    assert [lost["texts"][label] for label in track["labels"]] == ["7 events of thread 5"]


def written(folder: Path, trace: bytes) -> Path:
    path = folder / "page.html"
    with clrevents.open(trace) as opened_trace:
        clrevents.write_report(opened_trace, path)
    return path
