"""Pages of real traces, large, lossy and broken: small enough, open without a complaint, nothing left in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from shared_files import SHARED, needs_shared

import clrevents
from browser_page import CHROMIUM, opened
from clrevents.export.page.report_page import MOST_BYTES, report_page
from project_files import fixture, unpacked

pytestmark = [
    needs_shared,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path"),
    pytest.mark.filterwarnings("ignore::clrevents.TraceWarning"),
]

OWN: Final = SHARED / "traces" / "own"
NAMES: Final = ("net10-web", "net10-big", "net10-lossy", "net8-killed")


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens(browser: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "page.html"
    with clrevents.open(OWN / f"{name}.nettrace.gz") as trace:
        lost = trace.lost
        clrevents.write_report(trace, path)
    assert path.stat().st_size <= MOST_BYTES
    with opened(browser, path, width=390, scheme="dark") as page:
        page.tab.click("#open-all")
        assert page.tab.evaluate("document.documentElement.scrollWidth") == 390
        assert page.tab.locator("#trust li", has_text="were lost while recording").count() == (lost > 0)


def test_a_damaged_trace_has_a_page(browser: Any, tmp_path: Path) -> None:
    data = bytearray(unpacked(fixture("net10-convoy")))
    for place in (len(data) // 3, len(data) // 2):
        del data[place : place + 5000]
    path = tmp_path / "page.html"
    for mode in ("salvage", "report"):
        with clrevents.open(bytes(data), errors=mode) as trace:
            path.write_bytes(report_page(trace))
        with opened(browser, path) as page:
            assert page.tab.inner_text(".trust b").startswith("✗ Parts of this trace are missing")
            ended = page.tab.locator("#trust li", has_text="reading ended early").count()
            assert ended == (mode == "report")
            page.tab.click("#open-all")
