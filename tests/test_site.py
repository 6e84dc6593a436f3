"""The documentation as a site: it builds without a warning, and a search finds every name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from clrevents.analysis.framework.run.listing import report_names
from clrevents.cli import root
from project_files import ROOT, tool

pytestmark = pytest.mark.full

_ID: Final = re.compile(r'\bid="([^"]+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def commands() -> set[str]:
    """Without those of reports, which have a page of their own."""
    return set(tool("derived/commands").known()) - set(report_names())


def events() -> set[str]:
    return set(re.findall(r"^### (\w+)$", (ROOT / "docs" / "events.md").read_text("utf-8"), re.MULTILINE))


def public_names() -> set[str]:
    api = tool("derived/api")
    return {item.name for section in api.SECTIONS for item in api.items(section)}


def problems() -> set[str]:
    page = (ROOT / "docs" / "errors.md").read_text("utf-8")
    return set(re.findall(r"^\| `([a-z-]+)` \| (?:note|payload|damage)", page, re.MULTILINE))


@cache
def _sections(index: Path) -> dict[str, str]:
    """The text of each place which a search can lead to, by its address."""
    return {
        each["location"]: f"{each['title']} {each['text']}" for each in json.loads(index.read_text("utf-8"))["docs"]
    }


NAMES: Final = {
    "api": public_names,
    "commands": commands,
    "errors": problems,
    "events": events,
    "reports": lambda: set(report_names()),
}


@pytest.mark.parametrize("page", NAMES)
def test_every_name_has_an_anchor_and_is_found(site: Path, page: str) -> None:
    wanted = NAMES[page]()
    anchors = {each.lower() for each in _ID.findall((site / f"{page}.html").read_text("utf-8"))}
    assert not {name for name in wanted if name.lower() not in anchors}
    places = _sections(site / "search" / "search_index.json")
    text = " ".join(said for place, said in places.items() if place.startswith(f"{page}.html"))
    words = set(re.findall(r"[\w-]+", text))
    assert not wanted - words


def test_the_names_are_all(site: Path) -> None:
    """So that the test above cannot pass because it looks for nothing."""
    assert commands() | set(report_names()) == set(root.list_commands(None))  # type: ignore[arg-type]
    assert events() >= {event.name for event in tool("derived/events").builtin()}
    assert len(problems()) > 20
    assert len(public_names()) > 80


def test_pages_need_no_network(site: Path) -> None:
    """Styles and scripts are the site's own."""
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link rel="stylesheet"|img)[^>]*(?:src|href)="(https?:[^"]+)"', page.read_text("utf-8")
        )
        assert not loaded, page.name


def test_the_list_of_commands_is_current() -> None:
    docs = tool("derived/commands")
    assert docs.PAGE.read_text("utf-8") == docs.render(), "stale: run python tools/make.py"
