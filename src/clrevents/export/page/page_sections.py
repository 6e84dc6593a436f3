"""The sections of a page: one for each report that has data, with its headline, caveats, tables and charts.

Every cell is the text that a terminal shows, with a number for the script to sort by, if JavaScript's numbers can
represent it. Bulk tables are only counted. Charts are SVG in the page's own colours; without the drawing library the
page says so. Computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from clrevents._util.words import counted
from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.model.declaration import AnyReport
from clrevents.analysis.framework.model.needs import NOT_RECORDED
from clrevents.analysis.framework.render.charts import COARSE, Chart
from clrevents.analysis.framework.render.show import fact_lines, note_text
from clrevents.analysis.framework.run.asking import find_report
from clrevents.analysis.framework.vocabulary.cells import ColumnDeclaration, heading, is_number
from clrevents.analysis.framework.vocabulary.report_table import (
    ReportTable,
    TableDeclaration,
    column_texts,
    people_columns,
    shape_of,
    text_last,
)
from clrevents.export.page.page_assembly import PageTexts, shown_text
from clrevents.export.page.page_drawings import Begin, drawn_later

NO_CHARTS: Final = "charts need the extra plot: pip install 'clrevents[plot]'"

_LARGEST: Final = 200_000
"""No chart of the page has more bytes than this."""


def page_charts(answer: Answer[object], begin: Begin = drawn_later) -> list[Callable[[], dict[str, str]]]:
    """What gives the charts of an answer that draw something. Each has an `svg`, or the reason why it has none."""
    return [_page_chart(answer, chart, begin) for chart in answer.charts() if not chart.empty]


def _page_chart(answer: Answer[object], chart: Chart, begin: Begin) -> Callable[[], dict[str, str]]:
    page_chart = {"name": chart.name, "about": chart.declared.description, "svg": "", "why": ""}
    drawn = begin(chart, _LARGEST)

    def finished() -> dict[str, str]:
        try:
            svg, coarser = drawn()
        except ImportError:
            return {**page_chart, "why": NO_CHARTS}
        if not svg:
            return {
                **page_chart,
                "why": f"too large for this page; clrevents {answer.name} FILE --chart {chart.name} draws it",
            }
        return {**page_chart, "svg": svg, "about": f"{page_chart['about']}{COARSE if coarser else ''}"}

    return finished


_EXACT: Final = 1 << 53
"""Integers below this are exact in JavaScript, and numbers have a fraction."""


def page_tables(declared: AnyReport, answer: Answer[object], most: int, texts: PageTexts) -> list[dict[str, object]]:
    """The tables of an answer that have rows, the headline first; none has more than `most` rows."""
    first = (declared.headline, *declared.beside)
    tables = sorted(answer.tables(), key=lambda table: (table.name != declared.urgent, table.name not in first))
    return [_page_table(declared, answer, table, most, texts) for table in tables if len(answer.table(table.name))]


def _page_table(
    declared: AnyReport, answer: Answer[object], table: TableDeclaration, most: int, texts: PageTexts
) -> dict[str, object]:
    rows = answer.table(table.name)
    page_table: dict[str, object] = {
        "name": table.name,
        "about": table.description,
        "rows": len(rows),
        "command": f"clrevents {declared.name} FILE --table {table.name}",
    }
    if table.bulk or rows.left_out is not None:
        return {**page_table, "shown": 0, "how": "", "columns": []}
    in_headline = table.name in (declared.headline, *declared.beside)
    if in_headline and declared.sort:
        name, _, direction = declared.sort.partition(":")
        # A column's largest values come first by default, but for texts.
        falls = direction == "desc" if direction else rows.column(name).type.kind != "string"
        rows = rows.sorted_by(name, falls)
    head, how = _head(rows, most, sorted_already=in_headline)
    columns = _columns(head, declared.shown if in_headline else ())
    lossy = [row for row, spoilt in enumerate(head.column("lossy").tolist()) if spoilt]
    values = column_texts(head, columns, indent="\u2003")
    return {
        **page_table,
        "shown": len(head),
        "how": how,
        "lossy": lossy,
        "columns": [_page_column(head, column, shown, texts) for column, shown in zip(columns, values, strict=True)],
    }


def _head(rows: ReportTable[object], most: int, sorted_already: bool) -> tuple[ReportTable[object], str]:
    """The rows that are shown, and how they were chosen: the longest, if they have durations; otherwise the first
    ones."""
    if len(rows) <= most:
        return rows, ""
    span = shape_of(rows.row_class).span
    if shape_of(rows.row_class).tree is not None:
        return rows.head(most), f"the {most:,} heaviest of {counted(len(rows), 'row')}"
    if span is None or sorted_already:
        return rows.head(most), f"the first {most:,} of {counted(len(rows), 'row')}"
    starts, ends = rows.column(span[0]), rows.column(span[1])
    # One without an end comes last: nobody knows how long it was.
    lasted = np.where(starts.known & ends.known, ends.filled(0) - starts.filled(0), -1)
    longest = np.sort(np.argsort(-lasted, kind="stable")[:most])
    return rows.take(longest), f"the {most:,} longest of {counted(len(rows), 'row')}"


def _columns(rows: ReportTable[object], wanted: tuple[str, ...]) -> list[ColumnDeclaration]:
    """As the command shows them: the declared ones first."""
    known = {column.name: column for column in people_columns(rows) if column.name != "lossy"}
    first = [known[name] for name in wanted if name in known]
    rest = [column for column in known.values() if column not in first]
    return [*first, *sorted(rest, key=text_last)]


def _page_column(
    rows: ReportTable[object], column: ColumnDeclaration, shown: list[str], texts: PageTexts
) -> dict[str, object]:
    data: dict[str, object] = {
        "name": column.name,
        "title": heading(column.name, column.cell),
        "about": column.description,
        "right": is_number(column.cell),
        "importance": column.importance,
    }
    values = rows.column(column.name).tolist()
    data["texts"] = [None if value is None else texts.place(text) for value, text in zip(values, shown, strict=True)]
    if column.cell.python is not str and not column.many and all(value is None or _plain(value) for value in values):
        data["values"] = [int(value) if isinstance(value, bool) else value for value in values]
    return data


def _plain(value: Any) -> bool:
    return math.isfinite(value) and abs(value) < _EXACT


_HEADLINE: Final = 3


def page_sections(
    answers: Mapping[str, Answer[object]], charts: Mapping[str, list[dict[str, str]]], most: int, texts: PageTexts
) -> list[dict[str, object]]:
    """A section for each answer with data; no table has more than `most` rows."""
    return [_section(name, answer, charts[name], most, texts) for name, answer in answers.items() if name in charts]


def charts_of(answers: Mapping[str, Answer[object]], begin: Begin) -> dict[str, list[Callable[[], dict[str, str]]]]:
    """What gives the charts of every answer that has data, by its name."""
    return {
        name: page_charts(answer, begin)
        for name, answer in answers.items()
        # What it needs was recorded, or it has rows anyway.
        if answer.coverage != "none" or any(len(answer.table(table.name)) for table in answer.tables())
    }


def _section(
    name: str, answer: Answer[object], charts: list[dict[str, str]], most: int, texts: PageTexts
) -> dict[str, Any]:
    declared = find_report(name)
    facts = [(key, value) for key, value in fact_lines(answer) if key != "unknown"]
    unknown = [value for key, value in fact_lines(answer) if key == "unknown"]
    notes = [(note.severity, note_text(note)) for note in answer.notes if note.id != NOT_RECORDED]
    lacking = [what for note in answer.notes if note.id == NOT_RECORDED for what in note.touches]
    return {
        "name": name,
        "question": declared.question,
        "about": declared.description.split("\n\n")[0],
        "coverage": answer.coverage,
        "headline": _safe(facts[:_HEADLINE]),
        "facts": _safe(facts),
        "unknown": [shown_text(text) for text in unknown],
        "lacking": lacking,
        "notes": _safe(notes),
        "charts": charts,
        "tables": page_tables(declared, answer, most, texts),
    }


def failed_section(name: str, error: Exception) -> dict[str, object]:
    """The section of a report that has a fault: what it was, and nothing else."""
    why = f"this report failed, by a fault of clrevents: {type(error).__name__}: {error}"
    empty: dict[str, object] = {key: [] for key in ("facts", "unknown", "lacking", "charts", "tables")}
    declared = find_report(name)
    about = declared.description.split("\n\n")[0]
    return {
        **empty,
        **{"name": name, "question": declared.question, "about": about, "coverage": "none"},
        "headline": _safe([("report", "failed")]),
        "notes": _safe([("error", f"error: {why}")]),
    }


def _safe(lines: list[tuple[Any, str]]) -> list[tuple[str, str]]:
    return [(shown_text(name), shown_text(value)) for name, value in lines]
