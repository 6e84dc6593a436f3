"""docs/security.md has every limit with its default, and links lead to it."""

from __future__ import annotations

import dataclasses
import re

from clrevents import Limits
from project_files import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")


def test_every_limit_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|(.+)\|(.+)\|(.+)\|$", PAGE, re.MULTILINE)
    found = {name: int(default.replace(",", "")) for name, default, *_ in rows}
    assert found == {field.name: field.default for field in dataclasses.fields(Limits)}
    assert all(cell.strip() for row in rows for cell in row)


def test_links_lead_to_the_page() -> None:
    assert "blob/main/docs/security.md" in (ROOT / "README.md").read_text("utf-8")
    assert "](docs/security.md)" in (ROOT / "SECURITY.md").read_text("utf-8")
