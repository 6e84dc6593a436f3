"""docs/events.md is what the registry says, and what the registry says of each event is fit to be read."""

from __future__ import annotations

import re
from collections import Counter

from clrevents.schema.registry import EventInfo
from project_files import ROOT, tool
from registered import each_event

DOCUMENT = ROOT / "docs" / "events.md"


def test_document_is_current() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == tool("derived/events").render(), "run python tools/make.py"


def test_every_heading_is_its_own_place() -> None:
    """Types are linked to their enums by heading."""
    text = DOCUMENT.read_text(encoding="utf-8")
    headings = Counter(h.lower() for h in re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert [h for h, n in headings.items() if n > 1] == []
    assert set(re.findall(r"\]\(#(\w+)\)", text)) <= set(headings)


@each_event
def test_meaning_is_one_short_sentence_or_two(info: EventInfo) -> None:
    text = info.record.__doc__ or ""
    assert "\n" not in text.strip()
    assert text[0].isupper()
    assert text.endswith(".")
    assert len(text) <= 110


@each_event
def test_what_a_version_adds_are_its_fields(info: EventInfo) -> None:
    """`Adds X and Y.` names fields that the version before lacks; other words than names are free."""
    named = re.search(r" Adds ([A-Z]\w+(?:(?:, | and )[A-Z]\w+)*)\.$", info.record.__doc__ or "")
    if named is None:
        return
    older = info.record.__mro__[1].__layout__.fields
    added = [f.name for f in info.layout.fields[len(older) :]]
    assert re.split(r", | and ", named[1]) == added
