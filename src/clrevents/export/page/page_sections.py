"""The sections of a page: one for each report that has data, with its headline, caveats, tables and charts.

Lays out answers; works nothing out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.needs import NOT_RECORDED
from clrevents.analysis.framework.render.show import fact_lines, note_text
from clrevents.analysis.framework.run.catalogue import find_report
from clrevents.export.page.page_charts import page_charts
from clrevents.export.page.page_tables import page_tables
from clrevents.export.page.page_texts import PageTexts, shown_text

_HEADLINE: Final = 3
_VERDICT: Final = "verdict"


def page_sections(
    answers: Mapping[str, Answer[Any]], charts: Mapping[str, list[dict[str, str]]], most: int, texts: PageTexts
) -> list[dict[str, Any]]:
    """A section for each answer with data; no table has more than `most` rows."""
    return [_section(name, found, charts[name], most, texts) for name, found in answers.items() if name in charts]


def charts_of(answers: Mapping[str, Answer[Any]]) -> dict[str, list[dict[str, str]]]:
    """The charts of every answer that has data, by its name."""
    return {name: page_charts(found) for name, found in answers.items() if has_data(found)}


def has_data(found: Answer[Any]) -> bool:
    """Whether an answer tells anything: what it needs was recorded, or it has rows all the same."""
    return found.coverage != "none" or any(len(found.table(table.name)) for table in found.tables())


def _section(
    name: str, found: Answer[Any], charts: list[dict[str, str]], most: int, texts: PageTexts
) -> dict[str, Any]:
    declared = find_report(name)
    facts = [(key, value) for key, value in fact_lines(found) if key != "unknown"]
    unknown = [value for key, value in fact_lines(found) if key == "unknown"]
    verdicts = [fact for fact in facts if fact[0] == _VERDICT]
    headline = [*verdicts, *(fact for fact in facts if fact not in verdicts)][:_HEADLINE]
    notes = [(note.severity, note_text(note)) for note in found.notes if note.id != NOT_RECORDED]
    lacking = [what for note in found.notes if note.id == NOT_RECORDED for what in note.touches]
    return {
        "name": name,
        "question": declared.question,
        "about": declared.description.split("\n\n")[0],
        "coverage": found.coverage,
        "headline": _safe(headline),
        "facts": _safe(facts),
        "unknown": [shown_text(text) for text in unknown],
        "lacking": lacking,
        "notes": _safe(notes),
        "charts": charts,
        "tables": page_tables(declared, found, most, texts),
    }


def _safe(lines: list[tuple[Any, str]]) -> list[tuple[str, str]]:
    return [(shown_text(name), shown_text(value)) for name, value in lines]
