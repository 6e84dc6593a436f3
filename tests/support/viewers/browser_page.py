"""Chromium with one page open: what its console said, what it asked for, and what axe-core finds in it.

Used by tests of pages. Knows no trace and no page of ours.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def needs_browser(test: Any) -> Any:
    """A test in a browser, which the full tier has."""
    return pytest.mark.full(pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium on the path")(test))


class OpenPage:
    """A page in a tab. `said` are errors and warnings of its console, `asked` all addresses but its own."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.said: list[str] = []
        self.asked: list[str] = []
        tab.on("console", lambda message: self._hear(message.type, message.text))
        tab.on("pageerror", lambda error: self._hear("error", str(error)))
        tab.on("request", lambda request: self.asked.append(request.url))

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.said.append(text)

    def open(self, path: Path) -> None:
        """Open a file, and wait until the page says that it is ready."""
        self.tab.goto(path.as_uri())
        self.tab.wait_for_selector("html[data-ready]", timeout=30_000)
        assert self.asked == [path.as_uri()]
        self.asked.clear()

    def texts(self, selector: str) -> list[str]:
        """What is read in all elements of a selector."""
        found: list[str] = self.tab.locator(selector).all_inner_texts()
        return found

    def serious(self, *unlooked: str) -> list[str]:
        """What axe-core finds serious or critical: the rule and the elements. `unlooked` selects what to pass over."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.tab, {"exclude": [[selector] for selector in unlooked]}).response["violations"]
        return [
            f"{one['id']}: {', '.join(str(node['target']) for node in one['nodes'][:5])}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser; give it to `opened`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, path: Path, width: int = 1366, scheme: str = "light") -> Iterator[OpenPage]:
    """A tab with this file in it. In the end nothing was complained of and nothing was asked for."""
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    try:
        page = OpenPage(tab)
        page.open(path)
        yield page
        assert page.said == []
        assert page.asked == []
    finally:
        tab.close()
