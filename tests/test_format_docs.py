"""docs/format.md is what the source cites: every heading that is named exists, and what the page shows is so.

Code and tests cite it as `docs/format.md, "Heading"`, with `and "Heading"` or `, "Heading"` for more; pages link to
`format.md#anchor`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Final
from uuid import UUID

import pytest

import clrevents
from clrevents.encode.values import EventRecord, MetadataRecord
from clrevents.schema.codes import (
    BlockKind,
    HeaderFlag,
    LabelKind,
    MetadataItem,
    MetadataTag,
    ObjectTag,
    ThreadItem,
    TypeCode,
)
from in_memory import ended
from oldest_writer import NetPerf12Writer
from project_files import ROOT, fixture, unpacked

PAGE: Final = ROOT / "docs" / "format.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
PROSE: Final = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
HEADINGS: Final = re.findall(r"^#+ (.+)$", PROSE, re.MULTILINE)

_NAME: Final = "docs/" + PAGE.name
_QUOTED: Final = r'"([^"]+)"'
_CITATION: Final = re.compile(rf"{re.escape(_NAME)}, ({_QUOTED}(?:(?:, | and ){_QUOTED})*)")


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _sources() -> Iterator[Path]:
    for folder in ("src", "tests", "tools", "benchmarks"):
        for pattern in ("*.py", "*.pxd"):
            yield from (path for path in sorted((ROOT / folder).rglob(pattern)) if path != Path(__file__))
    yield from (path for path in sorted((ROOT / "docs").rglob("*.md")) if path != PAGE)
    yield ROOT / "README.md"


def _running(path: Path) -> str:
    """A file's text with wrapped lines (also of comments) joined."""
    return re.sub(r"\s*\n\s*(?:#:? )?", " ", path.read_text(encoding="utf-8"))


def test_every_heading_has_an_anchor_of_its_own() -> None:
    anchors = [_anchor(heading) for heading in HEADINGS]
    assert len(anchors) > 40
    assert sorted(set(anchors)) == sorted(anchors)


def test_citations_name_headings() -> None:
    cited: dict[str, set[str]] = {}
    for path in _sources():
        text = _running(path)
        if path.suffix != ".md":
            vague = len(re.findall(re.escape(_NAME), text)) - len(_CITATION.findall(text))
            assert not vague, f'{path.relative_to(ROOT)}: {vague} citations without a heading; write {_NAME}, "Heading"'
        for match in _CITATION.finditer(text):
            for heading in re.findall(_QUOTED, match[1]):
                cited.setdefault(heading, set()).add(str(path.relative_to(ROOT)))
    wrong = {heading: sorted(paths) for heading, paths in cited.items() if heading not in HEADINGS}
    assert not wrong, f"no such heading in {_NAME}: {wrong}"
    assert len(cited) > 20


def test_nothing_cites_sections_by_number() -> None:
    """Numbers are those of documents that are no part of the project, and change."""
    for path in (*_sources(), PAGE):
        assert chr(0xA7) not in path.read_text(encoding="utf-8"), path.relative_to(ROOT)


def test_links_lead_to_headings() -> None:
    anchors = {_anchor(heading) for heading in HEADINGS}
    assert set(re.findall(r"\]\(#([^)]+)\)", PROSE)) <= anchors
    for path in (*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"):
        linked = set(re.findall(r"\]\([^)]*\bformat\.md#([^)]+)\)", path.read_text(encoding="utf-8")))
        assert linked <= anchors, path.relative_to(ROOT)


def test_every_quirk_says_where() -> None:
    rows = _table("Quirks")
    assert len(rows) > 30
    assert all(len(row) == 3 and all(row) for row in rows)


# What the page shows


def _table(heading: str, which: int = -1) -> list[list[str]]:
    """The rows of a section's last table (or of another one), without its head."""
    section = re.split(rf"^#+ {re.escape(heading)}$", PROSE, maxsplit=1, flags=re.MULTILINE)[1]
    section = re.split(r"^#+ ", section, maxsplit=1, flags=re.MULTILINE)[0]
    table = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[which]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_headers_shown_are_in_the_file() -> None:
    data = unpacked(fixture("net8-sample"))
    lines = re.findall(r"^0x([0-9a-f]+)  ((?:[0-9a-f]{2} )+)", TEXT, re.MULTILINE)
    assert len(lines) > 10
    at = 0
    for place, shown in lines:
        start, part = int(place, 16), bytes.fromhex(shown)
        assert data[start : start + len(part)] == part, place
        # The two headers have no gap but the payload of the first.
        assert start in (at, at + 91) or not at, place
        at = start + len(part)


def test_parts_of_compressed_headers_are_those_that_are_written() -> None:
    bits = [int(row[0].strip("`"), 16) for row in _table("Compressed event headers") if row[0] != "–"]
    assert bits == [flag.value for flag in HeaderFlag]


@pytest.mark.parametrize(
    ("heading", "which", "codes"),
    [
        ("Objects", 0, ObjectTag),
        ("NetTrace 6", -1, BlockKind),
        ("Description tags", -1, MetadataTag),
        ("Description rows", -1, MetadataItem),
        ("Threads", -1, ThreadItem),
        ("Label lists", -1, LabelKind),
        ("Type codes", -1, TypeCode),
    ],
)
def test_codes_are_those_that_are_read_and_written(heading: str, which: int, codes: type[IntEnum]) -> None:
    numbers = [number for row in _table(heading, which) for number in row[0].split(", ") if number.isdigit()]
    assert list(map(int, numbers)) == [code.value for code in codes]


@pytest.mark.parametrize(("guid", "name"), [[c.strip("`") for c in row] for row in _table("Provider GUIDs")])
def test_guids_stand_for_these_providers(guid: str, name: str) -> None:
    writer = NetPerf12Writer(io.BytesIO(), 1)
    writer.metadata([MetadataRecord(1, "", 9999, provider_guid=UUID(guid))])
    writer.events([EventRecord(1, 1)])
    with clrevents.open(ended(writer)) as trace:
        assert [event.provider for event in trace.events()] == [name]
