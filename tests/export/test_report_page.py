"""The page of a whole trace, in Chromium: it opens without a complaint or a request, and everything on it works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import clrevents
from browser_page import chromium, needs_browser, opened
from clrevents.analysis.reports import run_reports
from clrevents.export.page.report_page import MOST_BYTES
from project_files import fixture

TRACES: Final = (
    "net10-convoy",
    "net10-exceptions",
    "net10-garbage",
    "net8-counters",
    "net8-netperf3",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page of each trace."""
    folder = tmp_path_factory.mktemp("pages")
    for name in TRACES:
        with clrevents.open(fixture(name)) as trace:
            clrevents.write_report(trace, folder / f"{name}.html")
    return folder


def data_of(page: bytes) -> Any:
    found = re.search(rb'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


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
        rows = run_reports(trace, ["jit"])["jit"].table("methods")
    times = [f"{time / 1e6:,.3f}" for time in sorted(rows.numbers("compile_ns").tolist())]
    assert len(times) == 195
    with opened(browser, pages / "net10-garbage.html") as page:
        page.tab.click("#report-jit > summary")
        table = page.tab.locator("#report-jit [data-table=methods]")
        heads = table.locator("th button").all_text_contents()
        column = heads.index("compile ms") + 1

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
