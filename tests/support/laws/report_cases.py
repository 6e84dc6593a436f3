"""Which reports the laws are held against: all that are registered, and a sample, tried on made traces too."""

from __future__ import annotations

import re
from typing import Any, Final

import sample_pauses
from clrevents.analysis.framework.model.declaration import ReportDeclaration
from clrevents.analysis.framework.run.asking import find_report, report_names
from project_files import ROOT

_BETTER: Final = {
    **dict.fromkeys(("threads", "top", "callers"), "net10-convoy"),
    **dict.fromkeys(("requests", "activities"), "net10-starvation"),
    **dict.fromkeys(("alloc", "sample-pauses"), "net10-garbage"),
}
"""Fixtures with more of a report, or smaller ones, than that of its page."""


def made_for(name: str) -> str:
    """The fixture with most of what a report is about: by default the first that its page shows."""
    if name in _BETTER:
        return _BETTER[name]
    page = ROOT / "docs" / f"{name}.md"
    # Without a page, or a fixture in it, the laws of this report fail and say so; those of others are still collected.
    shown = re.findall(r"fixtures/([\w-]+)\.net", page.read_text(encoding="utf-8")) if page.exists() else []
    return str(shown[0]) if shown else f"no fixture is shown in docs/{name}.md"


def every_report() -> dict[str, ReportDeclaration[Any, Any]]:
    """All of them by name."""
    return {**{name: find_report(name) for name in report_names()}, "sample-pauses": sample_pauses.REPORT}
